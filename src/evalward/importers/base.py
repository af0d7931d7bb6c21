"""What every format has in common, and the doors to them. A format is one file here and one line in the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from evalward.records.parts import loaded
from evalward.records.report import Report, Run
from evalward.records.result import Trial
from evalward.registry import EXPORTERS, IMPORTERS, installed
from evalward.suites.external.formats.base import ForeignFile


@dataclass(frozen=True)
class SourceFile:
    """A file to read. `file` is its name for messages, `changed` when it last was, in seconds since 1970.

    A name with `/` at its end is a folder's, of which nothing but its name is told.
    """

    text: bytes
    file: str
    changed: float | None = None

    @property
    def is_folder(self) -> bool:
        """True for a folder."""
        return self.file.endswith("/")


@dataclass(frozen=True)
class Imported:
    """What a file gave: runs, the trials behind them (empty where the format has no traces), its own cases.

    `cases` are JSON lines by file name, for a suite that asks the same; `created_at` is the file's own time.
    """

    runs: Sequence[Run]
    trials: Sequence[Trial] = ()
    cases: Sequence[dict[str, object]] = ()
    created_at: str | None = None
    warnings: Sequence[str] = field(default=())


class Importer(Protocol):
    """Reads one file. `file` is its name for messages. Raises `InputError`."""

    def __call__(self, text: bytes, file: str) -> Imported: ...  # noqa: D102 - said above


class KnowingImporter(Importer, Protocol):
    """An importer that knows its files by their content: `import auto` finds it. The others have to be named."""

    @property
    def title(self) -> str:
        """What was recognised, for messages: "results of caro"."""
        ...

    def recognises(self, file: ForeignFile, head: bytes) -> bool:
        """Whether a file is of this format: `head` is its beginning. Reads within bounds, and never raises."""
        ...


@dataclass(frozen=True)
class FileImporter:
    """A `KnowingImporter` of single files, from its two functions."""

    title: str
    reads: Callable[[bytes, str], Imported]
    knows: Callable[[bytes], bool]

    def __call__(self, text: bytes, file: str) -> Imported:
        """See `Importer`."""
        return self.reads(text, file)

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - the protocol's
        """By the beginning alone."""
        return self.knows(head)


class BatchImporter(Importer, Protocol):
    """An importer whose files belong together: logs of one run, each of one task. Raises `InputError`."""

    def together(self, files: Sequence[SourceFile]) -> list[tuple[str, Imported]]:
        """What the files gave, each with the name of the file that it comes from, or of the first of several."""
        ...

    def of_folder(self, names: Sequence[str]) -> list[str]:
        """What is read of a folder, of all that is in it; names count from there, and those of folders end with `/`."""
        ...


@dataclass(frozen=True)
class Exported:
    """The text of a file, and how many results are in it."""

    text: str
    results: int


class Exporter(Protocol):
    """Writes one run with its trials. Raises `InputError` when the run can't be told in the format.

    `trials` are those of which a file was kept. A bare text doesn't say how many results are in it.
    """

    def __call__(self, report: Report, run: Run, trials: Sequence[Trial]) -> Exported | str: ...  # noqa: D102 - said above


def known_importers() -> Mapping[str, str]:
    """Format → `module:attribute`."""
    return installed(IMPORTERS)


def known_exporters() -> Mapping[str, str]:
    """Format → `module:attribute`."""
    return installed(EXPORTERS)


def importer_named(name: str) -> Importer:
    """The importer of a format; `KeyError` when there is none."""
    return cast(Importer, loaded(IMPORTERS, name))


def batch_importer(name: str) -> BatchImporter | None:
    """The importer of a format whose files belong together, `None` where each stands alone."""
    importer = importer_named(name)
    return cast(BatchImporter, importer) if hasattr(importer, "together") else None


def knowing_importer(name: str) -> KnowingImporter | None:
    """The importer of a format that knows its files, `None` where it has to be named."""
    importer = importer_named(name)
    return cast(KnowingImporter, importer) if hasattr(importer, "recognises") else None


def importers_of(file: ForeignFile, *, single: bool = False) -> list[str]:
    """The names of the importers that know a file by its content; `single`: of those alone that read single files."""
    head = file.head()
    names = [name for name in known_importers() if not single or batch_importer(name) is None]
    knowing = {name: knowing_importer(name) for name in names}
    return [name for name, one in knowing.items() if one is not None and one.recognises(file, head)]


def read_files(name: str, files: Sequence[SourceFile]) -> list[tuple[str, Imported]]:
    """Files of a format: one by one, or together where the format has files that belong together."""
    batch = batch_importer(name)
    if batch is not None:
        return batch.together(files)
    importer = importer_named(name)
    return [(source.file, importer(source.text, source.file)) for source in files]


def exporter_named(name: str) -> Exporter:
    """The exporter of a format; `KeyError` when there is none."""
    return cast(Exporter, loaded(EXPORTERS, name))
