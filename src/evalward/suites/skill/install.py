"""The folder that an agent is given: the case's files, and the skills of an arm where agents look for them.

What is installed is what the suite read, byte by byte: a skill whose files have changed since is a problem, and no
other skill. Its own evals are not in it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evalward.opening import read_inside
from evalward.records.problem import wrong
from evalward.suites.skill.case import SkillCase
from evalward.suites.skill.skill_file import FOR_MODELS, PLACES, SKILL_FILE, Skill
from evalward.writing import Folder

MOST_BYTES = 64 << 20
"""Of one file."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def installed_name(skill: Skill) -> str:
    """The folder in which the skill is installed: its name, where that can be one, else its own folder's name.

    Raises `InputError` where neither can be.
    """
    found = next((name for name in (skill.name, skill.folder_name) if _NAME.fullmatch(name)), None)
    if found is None:
        raise wrong(skill.file, f"{skill.name!r} can't be the name of a folder", "Use letters, digits and hyphens.")
    return found


def assemble(folder: Path, case: SkillCase, skills: Sequence[Skill]) -> None:
    """Write the case's files and the skills into a folder of ours. Blocking. Raises `InputError` and `OSError`."""
    place = Folder(folder)
    for path, content, runs in _case_files(case):
        _put(place, folder, path, content, runs=runs)
    for skill in skills:
        name = installed_name(skill)
        for path, content, runs in skill_files(skill):
            for where in PLACES:
                _put(place, folder, f"{where}/{name}/{path}", content, runs=runs)


def skill_files(skill: Skill) -> Iterator[tuple[str, bytes, bool]]:
    """The files of a skill: path below its folder, content, whether it can be run. Raises `InputError`."""
    for path, fingerprint in skill.files.items():
        content = _read(skill.root, _below(skill.folder, path), skill.file)
        form, _, sha = fingerprint.partition(":")
        if hashlib.sha256(content).hexdigest() != sha:
            raise wrong(skill.file, f"{path} in the skill's folder has changed since it was read", "Run it again.")
        yield path, content, form == "x"


def _below(folder: str, path: str) -> str:
    return path if folder == "." else f"{folder}/{path}"


def _case_files(case: SkillCase) -> Iterator[tuple[str, bytes, bool]]:
    for path, source in case.files.items():
        content = _read(case.root, source, case.place.file)
        yield path, content, case.fingerprints.get(path, "").startswith("x:")


def _read(root: Path, name: str, shown: str) -> bytes:
    try:
        return read_inside(root, name, MOST_BYTES)
    except OSError as error:
        raise wrong(shown, f"{name} can't be read: {error.strerror or error}", "Check its name.") from error


def _put(place: Folder, folder: Path, path: str, content: bytes, *, runs: bool) -> None:
    place.write(path, content)
    (folder / path).chmod(0o755 if runs else 0o644)


def listing(skills: Sequence[Skill]) -> str:
    """What the built-in agent is told of the skills, as the Agent Skills specification has it for agents with files.

    Names and descriptions are a repository's own words; they are written so that none ends the list.
    """
    if not skills:
        return ""
    entries = "\n".join(_entry(skill) for skill in skills)
    return f"{LISTED}\n\n<available_skills>\n{entries}\n</available_skills>"


LISTED = """\
Skills are installed: folders with instructions for certain tasks. If one of those below fits what you are asked for, \
read the file at its location with the shell before you do anything else, and do as it says. Paths in it count from \
its own folder."""


def _entry(skill: Skill) -> str:
    fields: Mapping[str, str] = {
        "name": skill.name,
        "description": skill.description,
        "location": f"{FOR_MODELS}/{installed_name(skill)}/{SKILL_FILE}",
    }
    lines = [f"    <{key}>{_xml(text)}</{key}>" for key, text in fields.items()]
    return "\n".join(["  <skill>", *lines, "  </skill>"])


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
