"""What takes the place of what: a model of its predecessor, a suite of one of another name, a case of its old id.

The head says so (`replaces:`), and the head is what is judged. So nothing is paired but a run that is there no more
with one that is new, of the same kind, and a target with one of its own form: the reference solution takes no model's
place. Each has one predecessor at most. Whatever can't be paired stays missing, which blocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct, field, structs

from evalward.decide.pooling import Key, run_key
from evalward.decide.sides import RunSides, cases_of, sides_of
from evalward.records.baseline import Baseline, BaselineCase, BaselineRun
from evalward.records.codes import Statement
from evalward.records.codes.base import FIRST
from evalward.records.codes.notices import AmbiguousNames, NotReplaced, Refusal, SeveralReplace
from evalward.records.report import ANY_TARGET, Partial, Report, Run
from evalward.records.succession import same_definitions
from evalward.records.target_id import target_id


class RunPair(Struct, frozen=True, dict=True):
    """A run of the report, and the run of the baseline that it is compared with, with today's names of its cases.

    `old` is that run as the baseline has it, where its name is another; `named`: the configuration says that it was
    replaced. `renamed` gives the former id of each case that has another one now.
    """

    run: Run
    base: BaselineRun | None
    old: BaselineRun | None = None
    named: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)
    partial: Partial | None = None

    @cached_property
    def sides(self) -> RunSides:
        """Its cases on both sides, as far as a partial report's selection covers them."""
        return sides_of(self.run, self.base, self.partial)

    @property
    def known_as(self) -> tuple[str, str] | None:
        """The suite and target that the baseline knows it by; `None` where it doesn't."""
        known = self.old or self.base
        return (known.suite, known.target) if known is not None else None


class Aligned(Struct, frozen=True, dict=True):
    """Report and baseline, run by run; `gone` are the baseline's runs that have no counterpart.

    `notes` say what was not paired although the configuration, or an equal definition, asks for it.
    """

    report: Report
    baseline: Baseline | None
    pairs: Sequence[RunPair]
    gone: Sequence[BaselineRun]
    notes: Sequence[Statement] = ()

    @cached_property
    def chosen(self) -> list[RunPair]:
        """The pairs that a partial report's selection covers: all others are not looked at."""
        return [pair for pair in self.pairs if _chosen(self.report.partial, pair.run)]

    @cached_property
    def missing(self) -> list[BaselineRun]:
        """The runs without a counterpart that the selection covers."""
        return [run for run in self.gone if _covers(self.report.partial, run)]

    def runs(self) -> list[BaselineRun]:
        """The baseline's runs under today's names."""
        return [pair.base for pair in self.pairs if pair.base is not None] + list(self.gone)


def _chosen(partial: Partial | None, run: Run) -> bool:
    """True for a run that the selection covers; where cases were chosen, of what has none nothing was to be run."""
    if partial is None:
        return True
    there = run.planned > 0 or bool(run.cases) or run.not_measured is not None
    return partial.covers(run.suite, run.target) and (there or not partial.by_case)


def _covers(partial: Partial | None, run: BaselineRun) -> bool:
    """True for a run of the baseline of which the selection covers a case."""
    return partial is None or (
        partial.covers(run.suite, run.target) and (bool(cases_of(run, partial)) or not partial.by_case)
    )


def _with_all_targets(report: Report, baseline: Baseline | None) -> Report:
    """With a run for each target of the baseline, of suites that weren't measured and don't say who is evaluated."""
    if baseline is None or all(run.target != ANY_TARGET for run in report.runs):
        return report
    runs: list[Run] = []
    for run in report.runs:
        names = [old.target for old in baseline.runs if (old.suite, old.kind) == (run.suite, run.kind)]
        whole = run.target == ANY_TARGET and names
        runs += [run.model_copy(update={"target": name}) for name in names] if whole else [run]
    return report.model_copy(update={"runs": runs})


def align(report: Report, baseline: Baseline | None) -> Aligned:
    """Who is compared with whom. A run of equal suite, target and kind always is its own counterpart."""
    report = _with_all_targets(report, baseline)
    known = {run_key(run): run for run in baseline.runs} if baseline else {}
    here = {run_key(run) for run in report.runs}
    gone = {key: run for key, run in known.items() if key not in here}
    came = [run for run in report.runs if run_key(run) not in known]
    named, refused, notes = _named(came, known, gone)
    taken = {run_key(old) for old in named.values()}
    left = [run for run in came if run_key(run) not in named and run_key(run) not in refused]
    guessed = _by_form(report, left, [run for key, run in gone.items() if key not in taken])
    pairs = []
    for run in report.runs:
        key = run_key(run)
        old = named.get(key) or guessed.get(key)
        pair, pair_notes = _pair(report, run, old or known.get(key))
        notes += pair_notes
        pairs.append(structs.replace(pair, old=old, named=key in named))
    taken = {run_key(pair.old) for pair in pairs if pair.old is not None}
    return Aligned(report, baseline, pairs, [run for key, run in gone.items() if key not in taken], notes)


# --- runs -----------------------------------------------------------------------------------------------------------


def _named(
    came: Sequence[Run], known: Mapping[Key, BaselineRun], gone: Mapping[Key, BaselineRun]
) -> tuple[dict[Key, BaselineRun], set[Key], list[Statement]]:
    """The predecessors that the configuration names, as far as they may be, by the key of the new run; the keys of
    those that may not have theirs, and why.
    """
    claims: dict[Key, list[Run]] = defaultdict(list)
    refused: set[Key] = set()
    notes: list[Statement] = []
    for run in came:
        claimed = _claimed_key(run)
        if claimed is None or not _is_in_baseline(claimed, known):
            continue  # its predecessor is forgotten: the baseline knows it no more
        refusal = _refusal(run, claimed, gone)
        if refusal:
            refused.add(run_key(run))
            place = {"old_suite": claimed[0], "old_target": claimed[1]}
            notes.append(NotReplaced(suite=run.suite, target=run.target, why=refusal, **place))
        else:
            claims[claimed].append(run)
    for claimed, runs in claims.items():
        if len(runs) > 1:
            refused.update(map(run_key, runs))
            several = tuple(run.name for run in runs[:FIRST])
            notes.append(SeveralReplace(suite=claimed[0], target=claimed[1], runs=several))
    return {run_key(runs[0]): gone[claimed] for claimed, runs in claims.items() if len(runs) == 1}, refused, notes


def _claimed_key(run: Run) -> Key | None:
    replaces = run.replaces
    return None if replaces is None else (replaces.suite or run.suite, replaces.target or run.target, run.kind)


def _is_in_baseline(claimed: Key, known: Mapping[Key, BaselineRun]) -> bool:
    return any(key[:2] == claimed[:2] for key in known)


def _refusal(run: Run, claimed: Key, gone: Mapping[Key, BaselineRun]) -> Refusal | None:
    """Why a run may not take a place that the baseline has, `None` where it may."""
    if claimed not in gone:
        return "still_run"
    ours, theirs = form_of(run.target), form_of(claimed[1])
    return None if run.target == claimed[1] or (ours == theirs and ours != "fixed") else "other_form"


def form_of(target: str) -> str:
    """What sort of target an id names. Only of one sort can one take another's place, and `fixed` ones never can.

    Models are alike, whoever provides them, and so are the coding agents that we know. Recordings, programs, patches,
    logs and agents of one's own are alike among themselves.
    """
    parsed = target_id(target)
    if parsed.mark == "/":
        return "model" if parsed.form == "model" else "agent"
    return f"{parsed.head}:" if parsed.mark else "fixed"


def sort_of(target: str) -> Literal["model", "agent", "target"]:
    """How people call a target of this form."""
    form = form_of(target)
    return "model" if form == "model" else "agent" if form in {"agent", "agent:"} else "target"


def _by_form(report: Report, came: Sequence[Run], gone: Sequence[BaselineRun]) -> dict[Key, BaselineRun]:
    """Where exactly one target of a suite went and one of its form came: one is the other's successor."""
    went: dict[Key, list[BaselineRun]] = defaultdict(list)
    for base in gone:
        went[base.suite, form_of(base.target), base.kind].append(base)
    new: dict[Key, list[Run]] = defaultdict(list)
    for run in came:
        new[_former_suite(run, gone), form_of(run.target), run.kind].append(run)
    found = {}
    for place, runs in new.items():
        olds = went.get(place, [])
        if len(runs) == len(olds) == 1 and place[1] != "fixed" and _is_gone(report, runs[0], olds[0]):
            found[run_key(runs[0])] = olds[0]
    return found


def _former_suite(run: Run, gone: Sequence[BaselineRun]) -> str:
    former = run.replaces.suite if run.replaces else None
    return former if former is not None and any(base.suite == former for base in gone) else run.suite


def _is_gone(report: Report, run: Run, old: BaselineRun) -> bool:
    """True where the old run would have been in the report, if it were still there."""
    return report.partial is None or report.partial.covers(run.suite, old.target)


# --- cases ----------------------------------------------------------------------------------------------------------


def _pair(report: Report, run: Run, base: BaselineRun | None) -> tuple[RunPair, list[Statement]]:
    """A run and its counterpart under today's names, and what could not be told apart."""
    if base is None:
        return RunPair(run, None, partial=report.partial), []
    renamed, notes = ({}, []) if report.partial and report.partial.by_case else _renamed(run, base)
    update: dict[str, object] = {"suite": run.suite, "target": run.target}
    if renamed:
        now = {old: new for new, old in renamed.items()}
        update["cases"] = [_with_id(case, now.get(case.id, case.id)) for case in base.cases]
    same = not renamed and run_key(run) == run_key(base)
    known = base if same else base.model_copy(update=update)
    return RunPair(run, known, renamed=renamed, partial=report.partial), notes


def _with_id(case: BaselineCase, name: str) -> BaselineCase:
    return case if case.id == name else case.model_copy(update={"id": name})


def _renamed(run: Run, base: BaselineRun) -> tuple[dict[str, str], list[Statement]]:
    """The former id of each new case, where just one case of its definition came and just one went."""
    now = {result.id: result.definition for result in reversed(run.cases)}
    before = {case.id: case.definition for case in base.cases}
    groups = same_definitions(now, before)
    found = {came[0]: went[0] for came, went in groups if len(came) == len(went) == 1}
    return found, list(_ambiguous(run, [(came, went) for came, went in groups if came[0] not in found]))


def _ambiguous(run: Run, groups: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Iterator[Statement]:
    for came, went in groups:
        yield AmbiguousNames(suite=run.suite, target=run.target, went=tuple(went[:FIRST]), came=tuple(came[:FIRST]))
