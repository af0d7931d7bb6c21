"""From a report to a baseline, and from a baseline to text that is pleasant in a diff."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from evalward.decide.kinds import Kinds
from evalward.decide.pooling import (
    MOST_TRIALS,
    Key,
    NamedReport,
    changed_parts,
    combine,
    kept_run,
    pooled_run,
    run_key,
    without_skipped,
)
from evalward.decide.succession import align
from evalward.decide.with_base import baseless, with_baseline
from evalward.records.base import acyclic
from evalward.records.baseline import (
    Acceptance,
    Baseline,
    BaselineCase,
    BaselineProvenance,
    BaselineRun,
    BaselineTrial,
    baseline_case,
    baseline_run,
)
from evalward.records.policy import Policy
from evalward.records.problem import InputError, Place, Problem
from evalward.records.reading import parse_record
from evalward.records.report import Report, Run
from evalward.records.result import NOT_RUN, OtherDetails, Result, Status, by_case
from evalward.records.texts import MOST_IN_BASELINE, texts_of
from evalward.records.unchanged import UNCHANGED
from evalward.records.verdict import Outcome, Verdict

RunName = tuple[str, str]
"""Suite and target."""

UPDATE_HINT = "Make it with `evalward baseline update`."
MOST_ACCEPTED = 20

Moved = Mapping[Key, Collection[str]]
"""By run, the ids of the cases that don't do as before."""

NO_POLICY = Policy()
_CLOCK_FIELDS = ("duration_ms", "working_ms")
_CLOCK_METRICS = ("total_duration_ms", "avg_duration_ms")


def read_baseline(text: str | bytes, file: str) -> Baseline:
    """The baseline in a text. Raises `InputError`."""
    with acyclic():
        return parse_record(text, file, Baseline, "a baseline", UPDATE_HINT)


class BaselineUpdate(Struct, frozen=True):
    """What an update comes to.

    `baseline` is the previous one, the very object, when there is no news. `report` is what was measured, as one: what
    a verdict is to be asked for; `None` when all of it is in the baseline already. `notes` are what people should know.
    `spared` names the runs of the previous baseline that stayed as they were instead of being replaced.
    """

    baseline: Baseline
    report: Report | None
    notes: Sequence[str] = ()
    spared: Sequence[str] = ()


def update_baseline(
    measured: Sequence[NamedReport],
    previous: Baseline | None,
    kinds: Kinds,
    *,
    pool: bool = False,
    keep: Moved | None = None,
    policy: Policy = NO_POLICY,
    spare: Mapping[RunName, str] = MappingProxyType({}),
) -> BaselineUpdate:
    """The baseline of one or several reports.

    With `keep` it has all trials of the reports, the fresh ones of a confirm stage, too, and the earlier ones of cases
    that did as before: it says of each run which cases didn't, and a run that isn't in it has the new trials only. With
    `pool` their trials are added to those of `previous`, where case and subject are the same, each once and
    `MOST_TRIALS` per case at most; otherwise they replace them. Skipped trials go where `policy` waives their case, or
    `previous` doesn't know it, and so do the suites that `policy` compares with the base commit. `spare` names runs
    that nothing may replace, each with the reason: their trials are added where they can be, else the run stays as it
    was. Raises `InputError` for reports that can't be a baseline.
    """
    whole, notes = _whole(measured, previous, kinds, policy, errors=keep is not None)
    fed = previous.provenance.reports if previous and (pool or spare or keep is not None) else []
    new, known = _unknown(whole, fed)
    if previous and not new:
        return BaselineUpdate(previous, None, [*notes, "every trial is in the baseline already, and none counts twice"])
    notes += [f"{one.file}: left out, its trials are counted already" for one in known]
    report = combine(new)
    old = {run_key(run): run for run in align(report, previous).runs()}
    runs: list[BaselineRun] = []
    spared: list[str] = []
    for run in with_baseline(report, policy).runs:
        before, why = old.get(run_key(run)), spare.get((run.suite, run.target))
        cases, case_notes = _cases_of(run, before, pool=pool or why is not None, keep=keep)
        if before is not None and why and (cases is None or _older_cases(report, run, previous, before)):
            runs.append(before)
            spared.append(run.name)
            notes.append(f"{run.name}: stays as it was: {why}, and {_not_poolable(run, before)}")
            continue
        runs.append(_make_run(run, before, cases, kinds))
        notes += case_notes
        notes += [f"{run.name}: pooled, not replaced: {why}"] if why and cases is not None and not pool else []
    runs.sort(key=lambda run: (run.suite, run.target))
    source = _source(report, previous if pool or spare or keep is not None else None)
    provenance = BaselineProvenance(
        created_at=source.created_at,
        commit=source.commit,
        evalward=source.evalward,
        reports=[*fed, *sorted(one.digest for one in new)][-MOST_TRIALS:],
        accepted=previous.provenance.accepted if previous else [],
    )
    sources = [previous.texts if previous else {}, *(one.report.texts for one in new)]
    made = Baseline(provenance=provenance, runs=runs, texts=texts_of(runs, sources, MOST_IN_BASELINE))
    kept = previous if previous and _content(made) == _content(previous) else made
    return BaselineUpdate(kept, report, notes, spared)


def _older_cases(report: Report, run: Run, previous: Baseline | None, before: BaselineRun) -> bool:
    """The report was made earlier than the baseline, and has other cases: the newer ones stay."""
    older = previous is not None and previous.provenance.created_at > report.created_at
    return older and {r.id: r.definition for r in run.cases} != {case.id: case.definition for case in before.cases}


def _not_poolable(run: Run, before: BaselineRun) -> str:
    if run.subject.hash != before.subject.hash:
        return f"its trials can't be pooled, because its subject changed ({changed_parts(before, run)})"
    if not run.random:
        return "more trials of a target that always gives the same result add nothing"
    return "its cases are not the same"


def doubted(verdict: Verdict) -> dict[RunName, str]:
    """The runs that look worse by a drop which chance could explain: a doubt must not become the new normal by itself.

    What could not be compared (a redefined case, a prompt that only a replay saw) is no such doubt: nothing of the old
    measurement speaks about it any more.
    """
    return {
        (reason.suite, reason.target): "it looks worse, and chance can't be excluded"
        for reason in verdict.reasons
        if reason.outcome is Outcome.INCONCLUSIVE and reason.stage == "drop" and reason.suite and reason.target
    }


def _cases_of(
    run: Run, old: BaselineRun | None, *, pool: bool, keep: Moved | None
) -> tuple[list[BaselineCase] | None, list[str]]:
    """The cases of both sides, `None` where the report's replace the old ones, and what people should know."""
    if keep is not None:
        return kept_run(run, old, keep.get(run_key(run)))
    return pooled_run(run, old) if pool else (None, [])


def _source(report: Report, pooled: Baseline | None) -> BaselineProvenance:
    """When and at which commit the newest trials were made: an older report that is pooled makes nothing older."""
    made = BaselineProvenance(
        created_at=report.created_at, commit=report.provenance.commit, evalward=report.tool.version
    )
    return pooled.provenance if pooled and pooled.provenance.created_at > made.created_at else made


def with_acceptance(baseline: Baseline, acceptance: Acceptance) -> Baseline:
    """The baseline, and that somebody took a drop on purpose; the newest `MOST_ACCEPTED` of these are kept."""
    accepted = [*baseline.provenance.accepted, acceptance][-MOST_ACCEPTED:]
    return baseline.model_copy(
        update={"provenance": baseline.provenance.model_copy(update={"accepted": accepted})},
    )


def _whole(
    measured: Sequence[NamedReport],
    previous: Baseline | None,
    kinds: Kinds,
    policy: Policy,
    *,
    errors: bool,
) -> tuple[list[NamedReport], list[str]]:
    """The reports without what nobody misses, and what that was. Raises `InputError` when more is missing.

    `errors`: they may have trials that ended in an error, which are in no baseline.
    """
    whole: list[NamedReport] = []
    notes: list[str] = []
    problems: list[Problem] = []
    for one in measured:
        report, left_out = without_skipped(one.report, previous, policy)
        kept = with_baseline(report, policy)
        found = _obstacles(kept, one.file, kinds, errors=errors)
        problems += found if kept.runs or not report.runs else [_baseless(one.file)]
        whole.append(NamedReport(report, one.file))
        notes += left_out + baseless(report, policy)
    if problems:
        raise InputError(problems)
    return whole, notes


def _baseless(file: str) -> Problem:
    message = "no suite of it has a committed baseline: each is compared with the base commit"
    return Problem(place=Place(file=file), message=message, remedy="There is nothing to keep.")


def _unknown(whole: Sequence[NamedReport], fed: Collection[str]) -> tuple[list[NamedReport], list[NamedReport]]:
    """The reports that were not put in before, each once; and the others."""
    seen = set(fed)
    new: list[NamedReport] = []
    known: list[NamedReport] = []
    for one in whole:
        (known if one.digest in seen else new).append(one)
        seen.add(one.digest)
    return new, known


def _obstacles(report: Report, file: str, kinds: Collection[str], *, errors: bool) -> list[Problem]:
    found: list[tuple[str, str]] = []
    if report.partial is not None:
        found.append(("the run was restricted to a part", "Run all suites, targets and cases."))
    if report.part is not None:
        found.append((f"it holds {report.part.name} only", "Put all parts together with `evalward merge`."))
    if report.interrupted:
        found.append((f"the run was interrupted: {report.interrupted}", "Run it to its end."))
    for run in report.runs:
        found += _obstacles_of_run(run, errors=errors)
        if run.kind not in kinds:
            found.append((f"{run.name} is of the kind {run.kind!r}, which isn't installed", "Install it."))
    if not any(run.cases for run in report.runs):
        found.append(("the report has no case", "Run some suites first."))
    return [Problem(place=Place(file=file), message=message, remedy=remedy) for message, remedy in found]


def _obstacles_of_run(run: Run, *, errors: bool) -> Iterator[tuple[str, str]]:
    bad = [r for r in run.cases if not r.valid and not (errors and r.status is Status.ERROR and r.reason != NOT_RUN)]
    if run.not_measured:
        yield f"{run.name} was not measured: {run.not_measured}", "Run it where it can be measured."
    if bad:
        broken = sum(result.status is Status.ERROR for result in bad)
        counts = f"{broken} error{'' if broken == 1 else 's'}, {len(bad) - broken} skipped"
        why = bad[0].message or bad[0].reason or "no reason given"
        yield f"{run.name} is incomplete: {counts} (first: {bad[0].id}: {why})", "Fix that, then run again."
    if run.standing is not None:
        yield f"{run.name}: cases were not measured ({run.standing.cases:,}): {UNCHANGED}", "Measure all of them."
    if run.planned > len(run.cases):
        yield f"{run.name} has {len(run.cases)} of {run.planned} trials", "Run it to its end."


def _make_run(run: Run, old: BaselineRun | None, pooled: list[BaselineCase] | None, kinds: Kinds) -> BaselineRun:
    cases = _with_depends(_replaced(run, old) if pooled is None else pooled, run, old)
    measured = kinds[run.kind].measure([trial for case in cases for trial in case.results()])
    most = None if pooled is None else max((len(case.trials) for case in pooled), default=run.trials)
    return baseline_run(run, cases, measured, most)


def _with_depends(cases: Sequence[BaselineCase], run: Run, old: BaselineRun | None) -> list[BaselineCase]:
    """The cases, each with what its trials depended on: as the run says, where it has a valid trial of the case."""
    known = {case.id: case.depends for case in old.cases} if old else {}
    valid = {result.id for result in run.tries if result.valid}
    found = {case.id: run.depends.get(case.id) if case.id in valid else known.get(case.id) for case in cases}
    return [
        case if case.depends == found[case.id] else case.model_copy(update={"depends": found[case.id]})
        for case in cases
    ]


def _replaced(run: Run, old: BaselineRun | None) -> list[BaselineCase]:
    known = {case.id: case for case in old.cases} if old else {}
    return [_make_case(results, known.get(case_id)) for case_id, results in sorted(by_case(run.cases).items())]


def _make_case(results: Sequence[Result], old: BaselineCase | None) -> BaselineCase:
    made = baseline_case(results[0], sorted(results, key=lambda result: result.trial))
    known = old.model_copy(update={"depends": None}) if old else None  # on what it depends, `_with_depends` says
    return old if old and known and _without_clock(_case_dict(known)) == _without_clock(_case_dict(made)) else made


def _content(baseline: Baseline) -> Any:
    """What makes two baselines differ: all but provenance and durations; of texts, which there are."""
    runs = [_without_clock(_run_dict(run)) for run in baseline.runs]
    for run in runs:
        run["metrics"] = {name: metric for name, metric in run["metrics"].items() if name not in _CLOCK_METRICS}
    return runs, sorted(baseline.texts)


def _without_clock(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_clock(item) for key, item in value.items() if key not in _CLOCK_FIELDS}
    return [_without_clock(item) for item in value] if isinstance(value, list) else value


# --- text -----------------------------------------------------------------------------------------------------------


def dump_baseline(baseline: Baseline) -> str:
    """The text of the file: one line per metric, category, case and text; equal baselines give equal files."""
    runs = ",\n".join(_dump_run(run) for run in baseline.runs)
    provenance = _dump_provenance(baseline.provenance)
    texts = ",\n".join(f"  {_line(key)}: {_visible(_line(text))}" for key, text in baseline.texts.items())
    end = f',\n "texts": {{\n{texts}\n }}' if texts else ""
    return f'{{"schema": "{baseline.schema_}",\n "provenance": {provenance},\n "runs": [\n{runs}\n ]{end}}}\n'


def _visible(text: str) -> str:
    """JSON whose every character people see who review the file: those that turn text around stand as numbers."""
    return text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _dump_provenance(provenance: BaselineProvenance) -> str:
    """One line, and one for each drop that was accepted."""
    data = provenance.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    accepted = ",\n".join(f"   {_line(one)}" for one in data.pop("accepted", []))
    head = _line(data)
    return f'{head[:-1]},\n  "accepted": [\n{accepted}\n  ]}}' if accepted else head


def _dump_run(run: BaselineRun) -> str:
    data = _run_dict(run)
    cases = ",\n".join(f"    {_line(case)}" for case in data.pop("cases"))
    metrics = _dump_map(data.pop("metrics"))
    categories = _dump_map(data.pop("categories"))
    head = _line(data)[1:-1]
    return (
        f'  {{{head},\n   "metrics": {{\n{metrics}\n   }},\n   "categories": {{\n{categories}\n   }},\n'
        f'   "cases": [\n{cases}\n   ]}}'
    )


def _dump_map(items: Mapping[str, Any]) -> str:
    return ",\n".join(f"    {json.dumps(name, ensure_ascii=False)}: {_line(items[name])}" for name in sorted(items))


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _run_dict(run: BaselineRun) -> dict[str, Any]:
    data = run.model_dump(mode="json", include={"suite", "kind", "target", "trials", "random"})
    data["subject"] = {"hash": run.subject.hash, **dict(sorted(run.subject.parts.items()))}
    data["metrics"] = {
        name: metric.model_dump(mode="json", exclude_defaults=True) for name, metric in run.metrics.items()
    }
    data["categories"] = {name: category.model_dump(mode="json") for name, category in run.categories.items()}
    data["cases"] = [_case_dict(case) for case in run.cases]
    return data


def _case_dict(case: BaselineCase) -> dict[str, Any]:
    data = case.model_dump(mode="json", include={"id", "category", "definition", "depends"}, exclude_none=True)
    return {**data, "trials": [_trial_dict(trial) for trial in case.trials]}


def _trial_dict(trial: BaselineTrial) -> dict[str, Any]:
    data = trial.model_dump(mode="json", exclude_defaults=True)
    if not isinstance(trial.details, OtherDetails):
        data["details"] = {"kind": trial.details.kind, **data.get("details", {})}  # the tag is a default, and needed
    return data
