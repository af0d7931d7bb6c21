"""What people see of a skill run: its arms side by side, which skills were taken for which, and each skill."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum
from statistics import fmean

from evalward.decide.contrasts import contrasts_of
from evalward.decide.kinds import ComparedKind
from evalward.decide.statistics.permutation import CaseValues, permutation_tails
from evalward.records.baseline import BaselineRun
from evalward.records.comparison import SKILL_DESCRIPTION_OF
from evalward.records.metric import Metric, Unit
from evalward.records.report import Run
from evalward.records.result import Result
from evalward.records.sections import GridRow, Note, RunListing, Section
from evalward.render.numbers import NOT_AVAILABLE, format_delta, format_number
from evalward.suites.skill.confusion import queries_of, skill_pairs
from evalward.suites.skill.details import ArmName, ArmOutcome
from evalward.suites.skill.evidence import NO_SKILL
from evalward.suites.skill.metrics import NUMBERS, details_of, held_share, measure, valid_arm

Arms = Mapping[str, Sequence[ArmOutcome]]
"""The trials of one arm, task by task."""
NOTHING = "–"
ALPHA = 0.05  # of the sentences under the table; a rule has its own
_ROWS: Sequence[tuple[str, str, Unit]] = (
    ("tokens", "uplift_tokens", "tokens"),
    ("cost", "uplift_cost_usd", "usd"),
    ("time", "uplift_duration_ms", "ms"),
)
"""Means of a trial: label, whose number, and its unit."""
_PAIRS = "Queries by the skill that they should load and the one that was loaded first, of all that should load it."
_SKILLS = (
    "Loaded: queries that should load the skill. Near misses: queries that shouldn't. Held: expectations of its tasks."
)
_REPLAY = "Replay: recorded turns, executed again. Changed descriptions make no difference to them."


def sections(run: Run, base: BaselineRun | None, kind: ComparedKind) -> list[Section]:
    """Arms, confused skills and single skills of a run, beside the same cases of its base; what a replay is."""
    now = [result for result in run.cases if result.valid]
    before = _same_cases(now, base)
    found = [_arms(run, now, before, kind), _pairs(now, before, _rewritten(run, base)), _skills(now, before)]
    return [*(each for each in found if each.rows), *_replay(now)]


def _same_cases(now: Sequence[Result], base: BaselineRun | None) -> list[Result]:
    """The base's trials of the cases that are measured now, as far as their definitions are equal."""
    known = {(result.id, result.definition) for result in now}
    cases = [case for case in base.cases if (case.id, case.definition) in known] if base else []
    return [result for case in cases for result in case.results() if result.valid]


# --- arms -----------------------------------------------------------------------------------------------------------


def _arms(run: Run, now: Sequence[Result], before: Sequence[Result], kind: ComparedKind) -> RunListing:
    """Tasks with their skill, without it, and with the base's."""
    sides = [("with", _outcomes(now, "with")), ("without", _outcomes(now, "without"))]
    sides = [*sides, ("baseline's", _outcomes(before, "with"))]
    sides = [(name, cases) for name, cases in sides if cases]
    rows = []
    if len(sides) > 1:
        once = bool(before) and any(len({len(arms) for arms in cases.values()}) > 1 for _, cases in sides)
        rows = [GridRow(label="trials", values=[f"{sum(map(len, cases.values())):,}" for _, cases in sides])]
        rows.append(GridRow(label="expectations held", values=[_held(cases, once=once) for _, cases in sides]))
        means = [(label, [_mean(cases, metric, unit) for _, cases in sides]) for label, metric, unit in _ROWS]
        rows += [
            GridRow(label=f"{label} per trial", values=values)
            for label, values in means
            if set(values) != {NOT_AVAILABLE}
        ]
    notes = (_than_nothing(run, kind), _than_before(run, now, before), _of_tasks(dict(sides)))
    note = " ".join(part for part in notes if part)
    return RunListing(
        title="With and without",
        head="tasks",
        columns=[name for name, _ in sides],
        rows=rows,
        note=note,
        open=True,
        counted=False,
    )


def _outcomes(results: Iterable[Result], name: ArmName) -> Arms:
    found: dict[str, list[ArmOutcome]] = {}
    for result in results:
        arm = valid_arm(result, name)
        if arm is not None:
            found.setdefault(result.id, []).append(arm)
    return found


def _of_tasks(sides: Mapping[str, Arms]) -> str:
    """Which tasks the baseline's column is of, where that isn't all of them."""
    now, before = sides.get("with", {}), sides.get("baseline's", {})
    if not before or before.keys() == now.keys():
        return ""
    return f"The baseline's are of {len(before):,} of {len(now):,} tasks: the others are new or ask something else."


def _held(cases: Arms, *, once: bool) -> str:
    """The share that held. `once`: each task counts once, as tasks have different numbers of trials."""
    if once:
        means = [(fmean(arm.held for arm in arms), fmean(arm.expectations for arm in arms)) for arms in cases.values()]
        every = fsum(of for _, of in means)
        return format_number(fsum(held for held, _ in means) / every, "ratio") if every else NOT_AVAILABLE
    arms = [arm for several in cases.values() for arm in several]
    held, of = sum(arm.held for arm in arms), sum(arm.expectations for arm in arms)
    return f"{format_number(held / of, 'ratio')} ({held:,}/{of:,})" if of else NOT_AVAILABLE


def _mean(cases: Arms, metric: str, unit: Unit) -> str:
    """The mean of the tasks' means: where the trials of some are many more, they say no more."""
    values = [[NUMBERS[metric](arm) for arm in arms] for arms in cases.values()]
    known = [[value for value in each if value is not None] for each in values]
    if any(len(some) < len(each) for some, each in zip(known, values, strict=True)):
        return NOT_AVAILABLE
    mean = fmean(fmean(each) for each in known)
    return format_number(round(mean) if unit in {"tokens", "ms"} else mean, unit).removesuffix(" tokens")


def _than_nothing(run: Run, kind: ComparedKind) -> str:
    """Better than nothing? What the exact test says, or, where chance plays no part, what is seen."""
    found = next(iter(contrasts_of(run, run.cases, kind, ["uplift_pass_rate"])), None)
    if found is None or found.value is None:
        return ""
    start = f"Per task, against no skill: {format_delta(found.value, found.unit)}"
    if found.p_better is None or found.p_worse is None:
        return f"{start}."
    return f"{start}, {_proof(found.gained, found.p_better, found.p_worse)}."


def _proof(gained: float, p_better: float, p_worse: float) -> str:
    if p_better <= ALPHA and gained > 0:
        return f"better (p = {p_better:.2g})"
    if p_worse <= ALPHA and gained < 0:
        return f"worse (p = {p_worse:.2g})"
    return f"which may be chance (p = {min(p_better, p_worse):.2g})"


def _than_before(run: Run, now: Sequence[Result], before: Sequence[Result]) -> str:
    """Better than before? The same test over the cases that both sides have."""
    was, shares = _shares(before), _shares(now)
    cases = [CaseValues(was[case], shares[case]) for case in was if case in shares]
    if not cases:
        return ""
    moved = fmean(fmean(case.now) - fmean(case.before) for case in cases)
    start = f"Per task, against the baseline's: {format_delta(moved, 'points')}"
    if not run.random or not moved:
        return f"{start}."
    tails = permutation_tails(cases)
    return f"{start}, {_proof(moved, tails.high, tails.low)}."


def _shares(results: Iterable[Result]) -> dict[str, list[float]]:
    """Of each case the share of expectations that held in each trial with the skill."""
    found: dict[str, list[float]] = {}
    for result in results:
        arm = valid_arm(result, "with")
        share = held_share(arm) if arm is not None else None
        if share is not None:
            found.setdefault(result.id, []).append(share)
    return found


# --- pairs and skills -----------------------------------------------------------------------------------------------


def _rewritten(run: Run, base: BaselineRun | None) -> set[str]:
    """The skills whose description differs from the base's."""
    if base is None:
        return set()
    now, before = run.subject.parts, base.subject.parts
    parts = [part for part in now if part.startswith(SKILL_DESCRIPTION_OF) and part in before]
    return {part.removeprefix(SKILL_DESCRIPTION_OF) for part in parts if now[part] != before[part]}


def _pairs(now: Sequence[Result], before: Sequence[Result], rewritten: set[str]) -> RunListing:
    pairs = skill_pairs(now) if any(details_of(result).loaded for result in now) else []
    was = {(pair.wanted, pair.won): pair.trials for pair in skill_pairs(before)}
    marked = any({pair.wanted, pair.won} & rewritten for pair in pairs)
    rows = []
    for pair in pairs:
        values = [_of(pair.trials, pair.of)]
        if before:
            queries = queries_of(before, pair.wanted, pair.won)
            values.append(_of(was.get((pair.wanted, pair.won), 0), queries) if queries else NOTHING)
        if marked:
            values.append(", ".join(name for name in (pair.wanted, pair.won) if name in rewritten) or NOTHING)
        rows.append(GridRow(label=f"{pair.wanted} → {pair.won}", values=values))
    columns = ["trials", *(["baseline"] if before else []), *(["description changed"] if marked else [])]
    return RunListing(
        title="Confused skills",
        head="should load → loaded",
        columns=columns,
        rows=rows,
        note=_PAIRS,
        open=any(pair.is_pattern for pair in pairs),
    )


def _skills(now: Sequence[Result], before: Sequence[Result]) -> RunListing:
    groups, was = _by_skill(now), _by_skill(before)
    columns: Sequence[tuple[str, Callable[[Metric], str], str]] = (
        ("loaded", _share, "trigger_recall"),
        ("near misses", _share, "near_miss_rate"),
        ("held", _share, "expectation_pass_rate"),
    )
    measured = {name: measure(group).metrics for name, group in groups.items()}
    earlier = {name: measure(group).metrics for name, group in was.items()}
    shown = [each for each in columns if any(metrics[each[2]].denominator for metrics in measured.values())]
    rows = []
    for name in sorted(groups) if len(groups) > 1 else ():
        values = []
        for _, text, metric in shown:
            values.append(text(measured[name][metric]))
            if before:
                values.append(text(earlier[name][metric]) if name in earlier else NOTHING)
        rows.append(GridRow(label=name, values=values))
    heads = [head for name, _, _ in shown for head in (name, *(["before"] if before else []))]
    return RunListing(title="Skills", head="skill", columns=heads, rows=rows, note=_SKILLS)


def _by_skill(results: Iterable[Result]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(details_of(result).skill or result.category or NO_SKILL, []).append(result)
    return groups


def _share(metric: Metric) -> str:
    return _of(round(metric.numerator or 0), round(metric.denominator)) if metric.denominator else NOTHING


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}"


def _replay(now: Sequence[Result]) -> list[Section]:
    return [Note(about="replay", text=_REPLAY)] if any(details_of(result).replayed for result in now) else []
