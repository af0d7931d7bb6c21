"""What the hashes in a plan's report stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evalward.engine.plan import PlannedRun
from evalward.records.case import case_text
from evalward.records.texts import MOST_IN_REPORT, bounded_texts


def planned_texts(runs: Iterable[PlannedRun]) -> dict[str, str]:
    """The prompts of the runs, then their cases, in their order, each once and as many as a report keeps."""
    return bounded_texts(_texts(list(runs)), MOST_IN_REPORT)


def _texts(runs: Sequence[PlannedRun]) -> Iterator[tuple[str, str]]:
    for run in runs:
        yield from run.suite.texts.items()
    known: set[str] = set()
    for case in (case for run in runs for case in run.cases):
        if case.definition not in known:
            known.add(case.definition)
            yield case.definition, case_text(case)
