"""The folder of `evalward demo`: the example that comes with the package, copied to where people can look at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from evalward.packaged import packaged
from evalward.records.problem import unwritable, wrong
from evalward.writing import Folder

EXAMPLE = "examples/bash-tools"
OUTPUT = "evalward-out"
REMEDY = "Name a new folder with --output."
_UNSEEN = {".gitignore": b"*\n"}  # git shows nothing of the folder in a repository that it was made in
_FILES = ("*.yml", "write_recordings.py", "*/*.jsonl", "prompts/*.md", ".evalward/baseline.json")


def example_files() -> Mapping[str, bytes]:
    """What the demo's folder begins with: contents by their paths."""
    folder = packaged(EXAMPLE)
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in _paths(folder)}
    return {**_UNSEEN, **found}


def lay_out(path: Path, anchor: Path) -> None:
    """Copy the example to a folder that is new, empty, or left by an earlier demo. `anchor` is what a relative path
    counts from.

    Raises `InputError` where anything else lies there, and where the folder can't be written.
    """
    folder, files = Folder(path, anchor), example_files()
    try:
        present = set(_present(folder, files))
        for name in sorted(files.keys() - present):
            folder.write(name, files[name])
    except OSError as error:
        raise unwritable(str(path), error, REMEDY) from error


def _present(folder: Folder, files: Mapping[str, bytes]) -> Iterator[str]:
    """The files of ours that lie there already. Raises `InputError` at the first thing that is not ours."""
    folders = {parent.as_posix() for name in files for parent in PurePosixPath(name).parents}
    for entry in folder.entries():
        if entry.path == OUTPUT or entry.path.startswith(f"{OUTPUT}/"):
            continue  # what is in it is looked at when the check begins
        name = entry.path
        ours = name in folders if entry.is_folder else not entry.strange and _same(folder, name, files.get(name))
        if not ours:
            raise wrong(str(folder.path / name), "is not a file of the demo, or no longer as the demo left it", REMEDY)
        if not entry.is_folder:
            yield name


def _same(folder: Folder, name: str, content: bytes | None) -> bool:
    return content is not None and folder.read(name) == content


def _paths(folder: Path) -> Iterator[Path]:
    return (path for pattern in _FILES for path in sorted(folder.glob(pattern)))
