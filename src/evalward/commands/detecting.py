"""What `import auto` finds: which format files and folders have, by their content. Where two fit, none is guessed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from evalward.importers import batch_importer, importers_of, known_importers
from evalward.opening import FolderEntry, walk_inside
from evalward.records.problem import wrong
from evalward.registry import FORMATS, installed
from evalward.suites.external.formats.base import ForeignFile, formats_of
from evalward.suites.external.formats.find import file_at, file_named

MOST_FILES = 200_000  # of a folder that is looked through
MOST_LOOKED_AT = 50  # of these, the files that are opened to see whose they are; a run's first ones may be empty


@dataclass(frozen=True)
class _Fit:
    """Whose a file or a folder can be: importers by name, and formats of other harnesses."""

    importers: Collection[str]
    formats: Collection[str]


def importer_of(paths: Sequence[Path]) -> str | None:
    """The importer whose files these are; `None` where they are another harness's, whose reader tells which.

    Raises `InputError`: nobody's, of several formats, of different ones, or a folder where single files are read.
    """
    names = {_importer(path): path for path in paths}
    if len(names) > 1:
        (one, first), (other, second), *_ = names.items()
        message = f"{first} is of {_named(one)}, {second} of {_named(other)}"
        raise wrong(str(first), message, "Import each format into a report of its own.")
    return next(iter(names))


def _named(importer: str | None) -> str:
    return f"format {importer}" if importer else "another harness"


def _importer(path: Path) -> str | None:
    try:
        fit = _of_folder(path) if path.is_dir() else _of_file(path)
    except OSError as error:
        raise wrong(str(path), f"it can't be read: {error.strerror}", "Check its name.") from error
    if not fit.importers and not fit.formats:
        raise wrong(str(path), "its content is of no format that is known", f"Formats: {_all_formats()}. Name one.")
    if not fit.importers:
        return None
    if len(fit.importers) + len(fit.formats) > 1:
        both = ", ".join([*fit.importers, *fit.formats])
        raise wrong(str(path), f"its content fits several formats: {both}", "Name the format.")
    return next(iter(fit.importers))


def _all_formats() -> str:
    return ", ".join([*known_importers(), *installed(FORMATS)])


def _of_file(path: Path) -> _Fit:
    found = file_named(path.parent, path.name)
    if not found:
        raise wrong(str(path), "there is no such file, and no folder with result files", "Check its name.")
    (file,) = found
    return _Fit(importers_of(file), formats_of(file))


def _of_folder(path: Path) -> _Fit:
    """By the files in it that some reader takes of a folder; those of single files have to be named themselves."""
    files = file_named(path, ".")
    formats = _formats(files)
    single = list(dict.fromkeys(name for file in files[:MOST_LOOKED_AT] for name in importers_of(file, single=True)))
    names = sorted(times_in(path))
    batches = [name for name in known_importers() if _has_files_of(name, path, names)]
    if single and not formats and not batches:
        raise wrong(str(path), f"it is a folder, and {single[0]} has single files", "Name the files.")
    return _Fit([*batches, *single], formats)


def _formats(files: Sequence[ForeignFile]) -> list[str]:
    return list(dict.fromkeys(name for file in files for name in formats_of(file)))


def _has_files_of(name: str, path: Path, names: Sequence[str]) -> bool:
    batch = batch_importer(name)
    if batch is None:
        return False
    files = [file for file in batch.of_folder(names) if not file.endswith("/")][:MOST_LOOKED_AT]
    return any(name in importers_of(file_at(path, file)) for file in files)


def times_in(path: Path) -> dict[str, float]:
    """The files and folders in a folder with when each last was changed, in seconds since 1970.

    A folder's name ends with `/`. What is neither, such as a link, is left out. Raises `InputError` for more than
    anybody's results have; `OSError`.
    """
    entries = list(islice(map(_listed, walk_inside(path, ".")), MOST_FILES + 1))
    if len(entries) > MOST_FILES:
        message = f"it holds more than {MOST_FILES:,} files and folders"
        raise wrong(str(path), message, "Name the folder of one run.")
    return {name: when for name, when in entries if name}


def _listed(entry: FolderEntry) -> tuple[str, float]:
    name = entry.path if entry.is_file else f"{entry.path}/" if entry.is_folder else ""
    return name, entry.changed
