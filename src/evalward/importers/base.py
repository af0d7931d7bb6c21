"""What every format has in common, and the registry. A format is one file in this room and one line here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Protocol, cast

from evalward.records.report import Report, Run
from evalward.records.result import Trial

IMPORTERS = {
    "bashkit-eval": "evalward.importers.bashkit_eval:read",
    "caro": "evalward.importers.caro:read",
    "llm-tool-test": "evalward.importers.llm_tool_test:read",
}
EXPORTERS = {"bashkit-eval": "evalward.importers.bashkit_eval:write", "caro": "evalward.importers.caro_export:write"}
IMPORT_POINTS, EXPORT_POINTS = "evalward.importers", "evalward.exporters"


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


class Exporter(Protocol):
    """Writes one run with its trials. Raises `InputError` when the run can't be told in the format."""

    def __call__(self, report: Report, run: Run, trials: Sequence[Trial]) -> str: ...  # noqa: D102 - said above


@cache
def known_importers() -> dict[str, str]:
    """Format → `module:attribute`."""
    return {point.name: point.value for point in entry_points(group=IMPORT_POINTS)} | IMPORTERS


@cache
def known_exporters() -> dict[str, str]:
    """Format → `module:attribute`."""
    return {point.name: point.value for point in entry_points(group=EXPORT_POINTS)} | EXPORTERS


def importer_named(name: str) -> Importer:
    """The importer of a format; `KeyError` when there is none."""
    return cast(Importer, _loaded(known_importers()[name]))


def exporter_named(name: str) -> Exporter:
    """The exporter of a format; `KeyError` when there is none."""
    return cast(Exporter, _loaded(known_exporters()[name]))


def _loaded(where: str) -> object:
    module, _, attribute = where.partition(":")
    return getattr(import_module(module), attribute)
