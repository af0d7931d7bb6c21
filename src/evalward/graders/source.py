"""Which graders there are: how a check names one, and the files of the repository that it is made of.

A grader sees these files of the repository and no others, and they are hashed into the definition of every case that it
judges: so it can't change without a case being redefined. Reading them runs nothing.
"""

from __future__ import annotations

import posixpath
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from evalward.opening import MIB, inside, kind_inside, walk_inside, why
from evalward.records.base import Record, digest, short_fingerprint
from evalward.records.problem import InputError

FORMS = "package.module:function, folder/script"
MOST_FILES, MOST_ENTRIES, MOST_BYTES = 500, 20_000, 8 * MIB
PYTHON = ".py"
_FUNCTION = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+:[A-Za-z_]\w*", re.ASCII)
LEFT_OUT = ("__pycache__", ".git", "node_modules", ".venv")


@dataclass(frozen=True)
class Reference:
    """What a check names: a function of a module, or a script. Paths count from the configuration's folder."""

    text: str
    module: str = ""
    function: str = ""
    script: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """Where it lies, the first that exists: the script, or one of the forms of a module."""
        path = self.module.replace(".", "/")
        return (self.script,) if self.script else (f"{path}.py", f"{path}/__init__.py")

    @property
    def folder(self) -> str:
        """The folder whose Python files it may import; empty where it is alone."""
        if self.script and not self.script.endswith(PYTHON):
            return ""
        return posixpath.dirname(self.files[0])

    def belongs(self, path: str) -> bool:
        """Whether a file of the repository belongs to it."""
        if path in self.files:
            return True
        if not path.endswith(PYTHON) or set(PurePosixPath(path).parts) & set(LEFT_OUT):
            return False
        above = posixpath.dirname(path)
        if self.folder and (above + "/").startswith(self.folder + "/"):
            return True
        is_package = bool(self.module) and posixpath.basename(path) == "__init__.py"
        return is_package and (self.folder + "/").startswith(above + "/")


def is_grader(text: str) -> bool:
    """Whether a check names a grader; none of the other checks looks like one."""
    return bool(_FUNCTION.fullmatch(text)) or text.startswith("./") or ("/" in text and ":" not in text)


def parse_reference(text: str) -> Reference:
    """What a check names. Raises `ValueError` that says what is wrong with it."""
    if _FUNCTION.fullmatch(text):
        module, _, function = text.partition(":")
        return Reference(text, module=module, function=function)
    if not is_grader(text):
        raise ValueError(f"{text[:80]!r} names no grader. Known forms: {FORMS}")
    path = posixpath.normpath(text)
    if text.startswith("/") or path.split("/")[0] == ".." or path == "." or "\0" in text or text.endswith("/"):
        raise ValueError(f"{text[:80]!r} is not a script of the repository: its path counts from the configuration's")
    return Reference(text, script=path)


class File(Record):
    """A file of a grader, and whether it can be run."""

    content: bytes
    program: bool = False


class Source(Record):
    """What a grader is made of: the repository's files by path, or the distribution that it is installed with."""

    reference: str
    files: Mapping[str, File] = {}
    installed: str = ""

    @property
    def fingerprint(self) -> str:
        """The hash of all of it."""
        files = {path: [file.content.hex(), file.program] for path, file in self.files.items()}
        return digest({"files": files, "installed": self.installed})


def fingerprints(graders: Mapping[str, Source]) -> dict[str, dict[str, str]]:
    """What people see of graders that a definition covers: the start of each one's hash; nothing where none is."""
    return (
        {"graders": {name: short_fingerprint(grader.fingerprint) for name, grader in graders.items()}}
        if graders
        else {}
    )


Read = Callable[[str], Source]


def reader(root: Path) -> Read:
    """Reads the graders of a repository, each once. See `read_source`."""
    known: dict[str, Source] = {}

    def read(text: str) -> Source:
        if text not in known:
            known[text] = read_source(root, text)
        return known[text]

    return read


def read_source(root: Path, text: str) -> Source:
    """The grader that a check names, found below `root` or among the installed distributions.

    Raises `ValueError` that says what is wrong with it.
    """
    reference = parse_reference(text)
    try:
        found = next((path for path in reference.files if kind_inside(root, path) == "file"), None)
        if found is not None:
            return _own(root, reference, found)
    except InputError as error:
        raise ValueError(f"the grader {text} can't be read: {why(error)}") from error
    except OSError as error:
        raise ValueError(f"the grader {text} can't be read: {error.strerror}") from error
    if reference.script:
        raise ValueError(f"there is no script {reference.script}; its path counts from the configuration's folder")
    return Source(reference=text, installed=_distribution(reference))


def _own(root: Path, reference: Reference, found: str) -> Source:
    files = {found: _read(root, found, MOST_BYTES, script=bool(reference.script))}
    if reference.script and not files[found].program and not found.endswith((PYTHON, ".sh")):
        raise ValueError(f"the script {found} isn't executable: chmod +x, or name it .py or .sh")
    left = MOST_BYTES - len(files[found].content)
    for path in _neighbours(root, reference):
        if path in files:
            continue
        files[path] = _read(root, path, left)
        left -= len(files[path].content)
        if len(files) > MOST_FILES:
            raise ValueError(
                f"there are more than {MOST_FILES} Python files next to the grader {reference.text}: give it its own "
                "folder"
            )
    return Source(reference=reference.text, files=dict(sorted(files.items())))


def _neighbours(root: Path, reference: Reference) -> Iterator[str]:
    """The Python files that it may import: those of its folder and below, and of the packages that it lies in."""
    if reference.module:
        parents = PurePosixPath(reference.files[0]).parents
        yield from (
            name
            for name in (f"{parent}/__init__.py" for parent in parents if str(parent) != ".")
            if kind_inside(root, name) == "file"
        )
    if not reference.folder:
        return
    for number, entry in enumerate(walk_inside(root, reference.folder, LEFT_OUT)):
        if number > MOST_ENTRIES:
            raise ValueError(f"there are too many files next to the grader {reference.text}: give it its own folder")
        if entry.is_file and entry.path.endswith(PYTHON):
            yield f"{reference.folder}/{entry.path}"


def _read(root: Path, path: str, most: int, *, script: bool = False) -> File:
    with inside(root, path) as found:
        return File(content=found.read(max(most, 0)), program=script and bool(found.mode & stat.S_IXUSR))


def _distribution(reference: Reference) -> str:
    """Name and version of what an installed module comes with. Nothing of it is imported. Raises `ValueError`."""
    from importlib.metadata import PackageNotFoundError, packages_distributions, version  # noqa: PLC0415 - slow

    top = reference.module.partition(".")[0]
    names = sorted(set(packages_distributions().get(top, ())))
    try:
        found = [f"{name} {version(name)}" for name in names]
    except PackageNotFoundError:
        found = []
    if not found:
        where = " or ".join(reference.files)
        raise ValueError(f"there is no module {reference.module}: neither {where} nor an installed one")
    return ", ".join(found)
