"""Parts put together: the reports of all shards of one plan become the report that one machine would have made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from evalward.records.base import acyclic
from evalward.records.part import Part
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.report import Provenance, Report, Run
from evalward.records.result import NOT_RUN, Result, Status
from evalward.records.texts import MOST_IN_REPORT, bounded_texts
from evalward.render.names import short_hash
from evalward.render.numbers import plural
from evalward.suites.across import diagnose
from evalward.suites.base import kind_named
from evalward.suites.batched import findings_of

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


class MergedParts(Struct, frozen=True):
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
    for other in given:
        why = next(_differences(first, other), None)
        if why is not None:
            message = f"it doesn't belong to the same run as {first.folder}: {why}"
            raise wrong(other.folder, message, "Judge the parts of one run together, all of one commit.")
        if other.part.index > other.part.total:
            message = f"it says that it is shard {other.part.index} of {other.part.total}"
            raise wrong(other.folder, message, "Measure it again with `evalward run --shard I/N`.")


def _differences(one: NamedPart, other: NamedPart) -> Iterator[str]:
    """What of another part isn't as of a run's first one, the plainest first."""
    mine, theirs = one.report.provenance, other.report.provenance
    if one.report.tool.version != other.report.tool.version:
        yield f"it was made by Evalward {other.report.tool.version}, not by {one.report.tool.version}"
    if mine.commit != theirs.commit:
        yield f"it is of {_commit(theirs)}, not of {_commit(mine).removeprefix('commit ')}"
    if mine.config_sha256 != theirs.config_sha256:
        yield "it was measured with another configuration"
    if one.part.total != other.part.total:
        yield f"it is of {plural(other.part.total, 'shard')}, not of {one.part.total:,}"
    if one.part.plan != other.part.plan:
        yield "it is of another plan: targets, cases, trials, prompts, versions or the baseline differ"


def _commit(made: Provenance) -> str:
    return f"commit {short_hash(made.commit)}" if made.commit else "an unknown commit"


def _newest(given: Sequence[NamedPart]) -> tuple[dict[int, NamedPart], list[str]]:
    """The part of each shard that holds: of several that of the last attempt, and of one attempt the last made.

    Raises `InputError` where two are of one attempt and time and say something else.
    """
    found: dict[int, NamedPart] = {}
    unsure: dict[int, InputError] = {}
    for each in sorted(given, key=_age):
        index, before = each.part.index, found.get(each.part.index)
        found[index] = each
        if before is None or _age(before) != _age(each):
            unsure.pop(index, None)
        elif before.report != each.report:
            message = f"it is {each.part.name} of the same attempt and time as {before.folder}, with other results"
            unsure[index] = wrong(each.folder, message, "Keep one of them.")
    if unsure:
        raise next(iter(unsure.values()))
    doubled = Counter(each.part.index for each in given)
    notes = [
        f"{found[index].part.name}: there are {count} parts of it; the newest counts ({found[index].folder})"
        for index, count in sorted(doubled.items())
        if count > 1
    ]
    return found, notes


def _age(each: NamedPart) -> tuple[int, str]:
    return each.part.attempt, each.report.created_at


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
    depends = {case: found for part in parts for case, found in part.depends.items()}
    return remeasured(first.model_copy(update={"depends": depends}), cases)


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
            "findings": findings_of(kind, cases, measurement),
        }
    )


def trial_paths(report: Report) -> Iterable[str]:
    """Where a report's trials lie, below its folder."""
    return (result.trace for run in report.runs for result in run.cases if result.trace is not None)
