"""The files that an eval brings: found within bounds, hashed, and given their place in the agent's folder."""

from __future__ import annotations

import hashlib
import posixpath
import stat
from dataclasses import dataclass, field
from pathlib import Path

from evalward.opening import MOST_BYTES, inside, kind_inside, walk_inside, why
from evalward.records.problem import InputError
from evalward.records.words import shown

MOST_FILES = 500
_PREFIXES = ("evals/files/", "evals/")
"""Folders of a skill's evals whose files agents find at the top."""
_TAKEN = (".claude", ".agents", ".opencode", ".codex")
"""Folders of the agent's in which skills are installed."""


class CaseFileError(Exception):
    """A file of an eval that can't be used: why not, in words."""


@dataclass
class CaseFiles:
    """The files of one eval: path in the agent's folder → file below `root`, and what identifies each."""

    root: Path
    files: dict[str, str] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)

    def add(self, there: str, name: str) -> None:
        """A file of the repository at a path of the agent's folder; of a folder all in it. Raises `CaseFileError`."""
        try:
            kind = kind_inside(self.root, name)
            if kind is None:
                raise CaseFileError(f"there is no file {shown(name)}")
            if kind == "file":
                self._put(there, name)
                return
            found = [entry for entry in walk_inside(self.root, name) if not entry.is_folder]
        except (InputError, OSError) as error:
            raise CaseFileError(f"the file {shown(name)} can't be used: {why(error)}") from error
        for entry in found:
            self.add(f"{there}/{entry.path}", f"{name}/{entry.path}")

    def _put(self, there: str, name: str) -> None:
        if there.split("/", maxsplit=1)[0] in _TAKEN:
            raise CaseFileError(
                f"agents have their skills in {there.split('/', maxsplit=1)[0]}: no eval puts a file there"
            )
        if self.files.get(there, name) != name:
            raise CaseFileError(f"{shown(self.files[there])} and {shown(name)} would both be {shown(there)}")
        if len(self.files) >= MOST_FILES and there not in self.files:
            raise CaseFileError(f"the eval has more than {MOST_FILES} files")
        self.files[there], self.fingerprints[there] = name, _fingerprint(self.root, name)


def found_in_skill(name: str, folder: str, root: Path) -> str:
    """The file that an eval names: from its skill's folder, else from the evals'. Raises `CaseFileError`."""
    plain = posixpath.normpath(name)
    if plain.startswith("/") or plain.split("/")[0] in {"..", "."} or "\0" in name:
        raise CaseFileError(f"the path {shown(name)} leads out of the skill's folder")
    for above in ("", *_PREFIXES):
        path = posixpath.normpath(posixpath.join(folder, above, plain))
        try:
            if kind_inside(root, path) is not None:
                return path
        except (InputError, OSError) as error:
            raise CaseFileError(f"the file {shown(name)} can't be used: {why(error)}") from error
    raise CaseFileError(f"there is no file {shown(name)} in the skill's folder")


def place_of_file(name: str, found: str, prompt: str) -> str:
    """Where an agent finds a file of an eval: at the path that the prompt names, else without the evals' folder.

    `name` is how the eval names it, `found` its path from the skill's folder.
    """
    named = next((path for path in (found, posixpath.normpath(name)) if path in prompt), None)
    if named is not None:
        return named
    return next((found.removeprefix(prefix) for prefix in _PREFIXES if found.startswith(prefix)), found)


def _fingerprint(root: Path, name: str) -> str:
    sha = hashlib.sha256()
    with inside(root, name) as found:
        for block in found.blocks(MOST_BYTES):
            sha.update(block)
        runs = bool(found.mode & stat.S_IXUSR)
    return f"{'x' if runs else '-'}:{sha.hexdigest()}"
