"""A skill as it lies in a repository: SKILL.md with its front matter, and the files of its folder."""

from __future__ import annotations

import hashlib
import posixpath
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from evalward.config.yaml_positions import YamlError, YamlTree, read_yaml
from evalward.opening import FolderEntry, read_inside, walk_inside
from evalward.records.base import digest
from evalward.records.problem import wrong

SKILL_FILE = "SKILL.md"
FOR_MODELS = ".agents/skills"
"""Where skills are installed for codex and the built-in agent."""
PLACES = (".claude/skills", FOR_MODELS)
"""Where they are installed: the first is claude-code's; opencode looks in both."""
EVALS = "evals"
"""The folder of a skill's own evals: it belongs to the definition, and is never installed."""
TRIGGER_LISTS = ("trigger-evals.json", "trigger-eval.json", "triggers.json", "trigger_evals.json")
NOT_INSTALLED = frozenset({EVALS, *TRIGGER_LISTS})
"""What lies in a skill's folder and is no part of the skill: names of its top level."""
_NOT_MEANT = frozenset({".git", "__pycache__", ".DS_Store", "node_modules"})
MOST_FILES = 2_000
MOST_BYTES = 64 << 20
LONGEST_FILE = 1 << 20
"""Bytes of a SKILL.md."""
_FENCE = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class FrontMatter:
    """What stands between the lines `---`: values by key, and the line of each in the file. `there`: there is one.

    `broken` says what is wrong with it as YAML; then the values are read line by line, as some agents do.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    there: bool = False
    broken: str = ""

    def text(self, key: str) -> str:
        """The text of a key; empty where there is none."""
        value = self.values.get(key)
        return " ".join(value.split()) if isinstance(value, str) else ""


@dataclass(frozen=True)
class Skill:
    """A skill. `file` and `folder` count from the configuration's folder below `root`; the skill at the top has ".".

    `name` and `description` are what agents show that go by the front matter. `files` are those of its folder that are
    installed, each with its fingerprint, by path from there.
    """

    root: Path
    file: str
    name: str
    description: str
    body: str
    front: FrontMatter
    files: Mapping[str, str]

    @property
    def folder(self) -> str:
        """The skill's folder."""
        return posixpath.dirname(self.file) or "."

    @property
    def folder_name(self) -> str:
        """What the folder is called; empty at the top."""
        return posixpath.basename(posixpath.dirname(self.file))

    @cached_property
    def digest(self) -> str:
        """The hash of all that is installed."""
        return digest(dict(self.files))


def read_skill(root: Path, file: str) -> Skill:
    """The skill of a SKILL.md below `root`. Raises `InputError` for what can't be read at all."""
    text = _text(root, file)
    front, body = split_front_matter(text)
    folder = posixpath.dirname(file) or "."
    name = front.text("name") or posixpath.basename(posixpath.dirname(file))
    return Skill(root, file, name, front.text("description"), body, front, _files(root, folder, file))


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Front matter and body of a SKILL.md."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found = _FENCE.match(text)
    if found is None:
        return FrontMatter(), text
    tree, broken = YamlTree(), ""
    try:
        tree = read_yaml(found[1])
    except YamlError as error:
        broken = error.mistake.message
    body = text[found.end() :]
    if broken or not isinstance(tree.value, dict):
        return FrontMatter(_by_line(found[1]), {}, True, broken or "it is not a mapping of keys to values"), body
    lines = {str(key): (tree.line((key,)) or 1) + 1 for key in tree.value}
    return FrontMatter({str(key): value for key, value in tree.value.items()}, lines, True), body


def _by_line(text: str) -> dict[str, object]:
    pairs = (line.partition(":") for line in text.split("\n") if line[:1].strip() and ":" in line)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _text(root: Path, file: str) -> str:
    try:
        return read_inside(root, file, LONGEST_FILE).decode("utf-8")
    except UnicodeDecodeError:
        raise wrong(file, "the file is not UTF-8 text", "Save it as UTF-8.") from None
    except OSError as error:
        raise wrong(file, f"the file can't be read: {error.strerror}", "Check its name.") from error


def _files(root: Path, folder: str, file: str) -> dict[str, str]:
    found: dict[str, str] = {}
    total = 0
    try:
        for entry in walk_inside(root, folder, _NOT_MEANT):
            if entry.is_folder or entry.path.split("/")[0] in NOT_INSTALLED:
                continue
            total += entry.size
            if len(found) >= MOST_FILES or total > MOST_BYTES:
                limit = f"{MOST_FILES:,} files or {MOST_BYTES >> 20} MiB"
                raise wrong(
                    file, f"the skill's folder has more than {limit}", "Put the skill into a folder of its own."
                )
            found[entry.path] = _fingerprint(entry, file)
    except OSError as error:
        raise wrong(file, f"the skill's folder can't be read: {error.strerror}", "Check its permissions.") from error
    return found


def _fingerprint(entry: FolderEntry, file: str) -> str:
    if entry.is_link:
        raise wrong(file, f"{entry.path} in the skill's folder is a link", "Replace the link by the file itself.")
    if not entry.is_file:
        raise wrong(file, f"{entry.path} in the skill's folder is neither a file nor a folder", "Remove it.")
    sha = hashlib.sha256()
    for block in entry.blocks():
        sha.update(block)
    return f"{'x' if entry.mode & stat.S_IXUSR else '-'}:{sha.hexdigest()}"
