"""Parts put together: the reports of all shards of one plan become the report that one machine would have made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalward.records.base import acyclic
from evalward.records.part import Part
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.report import Report, Run
from evalward.records.result import NOT_RUN, Result, Status
from evalward.records.texts import MOST_IN_REPORT, bounded_texts
from evalward.render.numbers import plural
from evalward.suites.across import diagnose
from evalward.suites.base import kind_named

RUN_AGAIN = "Run these shards again, then judge all parts; complete parts stay as they are."
_MOST_NAMED = 20


class NamedPart(NamedTuple):
    """A part's report, and the folder that it lies in."""

    folder: str
    report: Report

    @property
    def part(self) -> Part:
        """Which shard it is. Raises `InputError` for a report that is none."""
        if self.report.part is None:
            raise wrong(
                self.folder,
                "its report is of a whole run, not of a shard",
                "Judge it by itself with `evalward compare`; parts are made by `evalward run --shard I/N`.",
            )
        return self.report.part


class IncompleteError(Exception):
    """Shards are missing or broke off: nothing can be judged, and nothing is wrong with what was asked for."""


@dataclass(frozen=True)
class MergedParts:
    """The report of all parts, and the folder of the part that each run's case comes from: what a trial's path is
    below. `left` are the suites that no shard measures.
    """

    report: Report
    folders: Mapping[str, str]
    notes: Sequence[str]
    left: Sequence[str] = ()


def merged(given: Sequence[NamedPart]) -> MergedParts:
    """One report of all shards; of two parts of one shard the later one holds.

    Raises `InputError` for parts that are not of one plan, `IncompleteError` with all that is missing.
    """
    if not given:
        raise InputError([Problem(place=Place(file="parts"), message="there is no part", remedy="Name their folders.")])
    _refuse_strangers(given)
    total = given[0].part.total
    newest, notes = _newest(given)
    lacking = _lacking(newest, total)
    if lacking:
        raise IncompleteError(f"{'; '.join(lacking)}. {RUN_AGAIN}")
    parts = [newest[index] for index in range(1, total + 1)]
    with acyclic():
        report = _joined([each.report for each in parts])
    folders = {path: each.folder for each in parts for path in trial_paths(each.report)}
    return MergedParts(report, folders, notes, parts[0].part.left)


def _refuse_strangers(given: Sequence[NamedPart]) -> None:
    first = given[0]
    for other in given[1:]:
        for what, mine, theirs in _identities(first, other):
            if mine != theirs:
                raise wrong(
                    other.folder,
                    f"it is not a part of the run that {first.folder} is a part of: {what} {theirs}, and not {mine}",
                    "Judge the parts of one run together, all of one commit.",
                )


def _identities(one: NamedPart, other: NamedPart) -> Iterable[tuple[str, object, object]]:
    mine, theirs = one.report, other.report
    yield "it was made by Evalward", mine.tool.version, theirs.tool.version
    yield "its commit is", mine.provenance.commit, theirs.provenance.commit
    yield "the digest of its configuration is", mine.provenance.config_sha256, theirs.provenance.config_sha256
    yield "its number of shards is", one.part.total, other.part.total
    yield "the digest of its plan is", one.part.plan, other.part.plan


def _newest(given: Sequence[NamedPart]) -> tuple[dict[int, NamedPart], list[str]]:
    """The part of each shard that holds: of several that of the last attempt, and of one attempt the last made."""
    found: dict[int, NamedPart] = {}
    for each in sorted(given, key=lambda one: (one.part.attempt, one.report.created_at)):
        found[each.part.index] = each
    doubled = Counter(each.part.index for each in given)
    notes = [
        f"{found[index].part.name}: {count} parts of it; the last one holds ({found[index].folder})"
        for index, count in sorted(doubled.items())
        if count > 1
    ]
    return found, notes


def _lacking(newest: Mapping[int, NamedPart], total: int) -> list[str]:
    """What of the plan nobody has measured, shard by shard."""
    gone = [str(index) for index in range(1, total + 1) if index not in newest]
    said = [f"there is no part of {plural(len(gone), 'shard')} of {total}: {listed(gone)}"] if gone else []
    for _, each in sorted(newest.items()):
        report = each.report
        if report.interrupted:
            said.append(f"{each.part.name} ended early ({report.interrupted}): {listed(_unrun(report)) or 'no case'}")
    return said


def _unrun(report: Report) -> list[str]:
    """The cases of which trials were planned and not begun."""
    return list(dict.fromkeys(one.id for run in report.runs for one in run.cases if _not_begun(one)))


def measured_cases(report: Report) -> set[tuple[str, str, str]]:
    """Suite, target and id of every case of which all planned trials were begun."""
    begun = {(run.suite, run.target, one.id) for run in report.runs for one in run.cases}
    return begun - {(run.suite, run.target, one.id) for run in report.runs for one in run.cases if _not_begun(one)}


def _not_begun(result: Result) -> bool:
    return result.status is Status.SKIPPED and result.reason == NOT_RUN


def listed(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _joined(reports: Sequence[Report]) -> Report:
    first = reports[0]
    found: dict[tuple[str, str], list[Run]] = {}
    for run in (run for report in reports for run in report.runs):
        found.setdefault((run.suite, run.target), []).append(run)
    runs = [_one_run(parts) for parts in found.values()]
    texts = bounded_texts([item for report in reports for item in report.texts.items()], MOST_IN_REPORT)
    return first.model_copy(
        update={
            "part": None,
            "created_at": max(report.created_at for report in reports),
            "warnings": list(dict.fromkeys(text for report in reports for text in report.warnings)),
            "findings": diagnose(runs),
            "runs": runs,
            "texts": texts,
        }
    )


def _one_run(parts: Sequence[Run]) -> Run:
    """The run of all shards, measured anew: its cases in the order of their ids."""
    first = parts[0]
    if first.not_measured is not None:
        return first
    cases = sorted((result for part in parts for result in part.cases), key=lambda one: (one.id, one.trial))
    return remeasured(first, cases)


def remeasured(run: Run, cases: Sequence[Result]) -> Run:
    """The run with these results, and the metrics that they come to."""
    kind = kind_named(run.kind)
    measurement = kind.measure(cases)
    return run.model_copy(
        update={
            "cases": list(cases),
            "planned": len(cases),
            "metrics": measurement.metrics,
            "categories": measurement.categories,
            "findings": kind.findings(cases, measurement),
        }
    )


def trial_paths(report: Report) -> Iterable[str]:
    """Where a report's trials lie, below its folder."""
    return (result.trace for run in report.runs for result in run.cases if result.trace is not None)
