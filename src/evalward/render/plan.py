"""A plan for people: what a run will probably use and could show, as a page of terminal text or in a few log lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.records.plan import (
    CostPlan,
    ExtraTrials,
    OverBudget,
    PlannedAmount,
    PlannedHarnessUse,
    PlannedRunUse,
    PlannedUse,
    Sight,
    SkippedPart,
    Unseen,
    WallTime,
)
from evalward.render.console import Screen
from evalward.render.escape import one_line
from evalward.render.names import short_hash
from evalward.render.numbers import format_number, format_size, plural
from evalward.render.reports import when
from evalward.render.sentences.words import joined

UNKNOWN = "unknown"
_MINUTE = 60_000.0
_HEADERS = ("trials", "requests", "tokens in", "tokens out", "cost", "time")
_INDENT = "  "
_RULES = 2  # lines of a table's head
_MOST_SHOWN = 3  # names in a log line
BATCH_HOURS = 24  # within which providers answer batches


def plan_text(plan: CostPlan, *, colour: bool, width: int) -> str:
    """The whole plan: a table of what each run uses, then what may be added, could be seen, and is skipped."""
    screen = Screen(colour, width)
    screen.heading(_headline(plan))
    screen.say(_source(plan))
    screen.blank()
    _figures(screen, plan)
    for title, sentences in (
        ("Batches", list(_batches(plan))),
        ("Not known", [*_unknown(plan), *_judged(plan)]),
        ("What may be added", list(_added(plan))),
        ("Budget", [_over(each) for each in plan.over]),
        ("What can be seen", list(_grouped(plan))),
        ("Skipped", [_skip(part) for part in plan.skipped]),
        ("Needed for the run", list(_keys(plan))),
    ):
        if sentences:
            screen.heading(title)
            for sentence in sentences:
                screen.say(sentence, 0, "-")
    return screen.text()


def plan_lines(plan: CostPlan) -> list[str]:
    """The plan as one to four lines of a log."""
    source = f"figures of the baseline of {when(plan.baseline.created_at)}" if plan.baseline else "no baseline"
    lines = [f"Plan: {'; '.join([_totals(plan), source])}."]
    more = [*_batches(plan), *(_over(each) for each in plan.over), *_added(plan)]
    if more:
        lines.append(" ".join(more))
    seen = [run for run in plan.runs if run.seen is not None and run.seen.fewest != 1 and run.random]
    if seen:
        named = [_of_run(run, _not_proof(run.seen, run)) for run in seen[:_MOST_SHOWN] if run.seen]
        rest = f" (and {plural(len(seen) - _MOST_SHOWN, 'more run')})" if len(seen) > _MOST_SHOWN else ""
        lines.append(f"{' '.join(named)}{rest}")
    if plan.skipped:
        shown = [_skip(part).rstrip(".") for part in plan.skipped[:_MOST_SHOWN]]
        others = [f"{len(plan.skipped) - _MOST_SHOWN} more"] if len(plan.skipped) > _MOST_SHOWN else []
        lines.append(f"Skipped: {'; '.join([*shown, *others])}.")
    return [one_line(line, 1000) for line in lines]


# --- figures --------------------------------------------------------------------------------------------------------


def _headline(plan: CostPlan) -> str:
    others = [plural(len(plan.harnesses), "suite") + " of other harnesses"] if plan.harnesses else []
    runs = [plural(len(plan.runs), "run")] if plan.runs or not others else []
    kept = f" ({plural(plan.kept, 'finished one is', 'finished ones are')} kept)" if plan.kept else ""
    return f"Plan: {joined([*runs, *others])}, trials: {_trials(plan)}{kept}. Nothing was run."


def _trials(plan: CostPlan) -> str:
    """The trials that are left: of other harnesses, only they know how many there will be."""
    if not any(each.command for each in plan.harnesses):
        return f"{plan.due:,}"
    return f"≥ {plan.due:,}" if plan.due else UNKNOWN


def _source(plan: CostPlan) -> str:
    if plan.baseline is None:
        return "There is no baseline, so there are no figures of earlier trials. Make one after the first run."
    commit = f", commit {short_hash(plan.baseline.commit)}" if plan.baseline.commit else ""
    return (
        f"Estimated from the baseline of {when(plan.baseline.created_at)}{commit}: what each case used there. "
        "Retries after provider faults are not planned."
    )


def _totals(plan: CostPlan) -> str:
    use = plan.usage
    kept = f" ({plan.kept:,} more {'is' if plan.kept == 1 else 'are'} kept)" if plan.kept else ""
    others = [f"{each.suite} by its own harness" for each in plan.harnesses if each.command]
    figures = (
        f"requests {_count(use.requests)}",
        f"tokens {_tokens(use.input_tokens)} in, {_tokens(use.output_tokens)} out",
        f"cost {_usd(use.cost_usd)}",
        f"time {_time(plan.wall)}",
    )
    return ", ".join([f"trials {_trials(plan)}{kept}", *others, *figures])


def _figures(screen: Screen, plan: CostPlan) -> None:
    rows = [_row(run.name, str(run.due), run.usage, _time(run.wall)) for run in plan.runs]
    rows += [_harness_row(each) for each in plan.harnesses]
    if len(rows) > 1:
        rows.append(_row("total", _trials(plan), plan.usage, _time(plan.wall)))
    if not rows:
        return
    table = Screen(screen.colour, screen.width)
    table.table(list(_HEADERS), [row[1:] for row in rows], "r" * len(_HEADERS))
    head, figures = table.lines[:_RULES], table.lines[_RULES:]
    if len(figures) != len(rows) or max(map(len, table.lines)) + len(_INDENT) > screen.width:
        _listed(screen, rows)
        return
    screen.lines += [_INDENT + line for line in head]
    for row, line in zip(rows, figures, strict=True):
        screen.say(row[0])
        screen.lines.append(_INDENT + line)


def _listed(screen: Screen, rows: Sequence[Sequence[str]]) -> None:
    """The figures where a table is too wide."""
    for name, *figures in rows:
        screen.say(name)
        screen.say(", ".join(f"{what}: {figure}" for what, figure in zip(_HEADERS, figures, strict=True)), 2)


def _row(name: str, trials: str, use: PlannedUse, time: str) -> list[str]:
    read, written = _tokens(use.input_tokens), _tokens(use.output_tokens)
    return [name, trials, _count(use.requests), read, written, _usd(use.cost_usd), time]


def _at_least(figure: PlannedAmount, text: str) -> str:
    return text if figure.complete else f"≥ {text}"


def _count(figure: PlannedAmount) -> str:
    return UNKNOWN if figure.amount is None else _at_least(figure, f"{round(figure.amount):,}")


def _tokens(figure: PlannedAmount) -> str:
    return UNKNOWN if figure.amount is None else _at_least(figure, _short(figure.amount))


def _usd(figure: PlannedAmount) -> str:
    return UNKNOWN if figure.amount is None else _at_least(figure, _dollars(figure.amount))


def _dollars(amount: float) -> str:
    """`$0.12`, `$0.0031`: cents, and more decimals only where cents would say too little; $0 is a fact."""
    return "$0" if amount == 0 else f"${amount:,.2f}" if amount >= 0.1 else format_number(amount, "usd")


def _short(amount: float) -> str:
    """A number of tokens with three digits that count: `8,120`, `120k`, `1.23M`."""
    if amount < 9_999.5:
        return f"{round(amount):,}"
    scale, unit = (1e3, "k") if amount < 999_500 else (1e6, "M")
    scaled = amount / scale
    return f"{scaled:,.{0 if scaled >= 99.95 else 1 if scaled >= 9.995 else 2}f}{unit}"


def _time(wall: WallTime) -> str:
    """`4 to 6 min`; under a minute `< 1 min`."""
    if wall.least_ms is None:
        return UNKNOWN
    least, most = wall.least_ms / _MINUTE, None if wall.most_ms is None else wall.most_ms / _MINUTE
    if most is None:
        return f"≥ {max(1, int(least))} min" if least >= 1 else UNKNOWN
    if most < 1:
        return "< 1 min"
    low, high = max(1, int(least)), max(1, -int(-most // 1))
    return f"{high} min" if low >= high else f"{low} to {high} min"


def _harness_row(each: PlannedHarnessUse) -> list[str]:
    """Where an earlier step has left the results, nothing is run."""
    trials, time = (UNKNOWN, UNKNOWN) if each.command else ("0", "0 min")
    return _row(each.suite, trials, each.usage, time)


# --- sentences ------------------------------------------------------------------------------------------------------


def _batches(plan: CostPlan) -> Iterator[str]:
    """That requests go in batches, where they do."""
    batched = [run.name for run in plan.runs if run.batched]
    if batched:
        whole = len(batched) == sum(not run.free for run in plan.runs)
        which = "" if whole else f" of {joined(batched)}"
        yield f"Requests{which} go in batches, at half price; a batch may take up to {_waiting(plan)}."


def _waiting(plan: CostPlan) -> str:
    """How long the run waits for batches: `5 h`, `90 min`."""
    hours, rest = divmod(plan.batch_wait_s or BATCH_HOURS * 3600, 3600)
    return f"{(hours * 3600 + rest) // 60} min" if rest else f"{hours} h"


def _of_run(run: PlannedRunUse, sentence: str) -> str:
    return f"{run.name}: {sentence}"


def _unknown(plan: CostPlan) -> Iterator[str]:
    for run in plan.runs:
        cost = run.usage.cost_usd
        if run.free or not run.due:
            continue
        if not run.in_baseline:
            yield _of_run(
                run,
                f"the baseline has no figures of {run.target}; make one with `evalward run` and "
                "`evalward baseline update`."
                if plan.baseline
                else "no earlier trials to estimate from.",
            )
        elif cost.without:
            what = "what they cost" if run.usage.input_tokens.complete else "what they used"
            yield _of_run(run, f"of {cost.without} of {plural(run.cases, 'case')} the baseline doesn't say {what}.")
        if run.in_baseline and run.cases_new:
            yield _of_run(run, f"{plural(run.cases_new, 'new case')}, counted as the median of the others.")
    for each in plan.harnesses:
        if each.command:
            known = (
                f"at least one trial of each of the {plural(each.cases, 'case')} in the baseline"
                if each.cases
                else "the baseline has no figures of it"
            )
            yield f"{each.suite}: {each.source}; how much it runs is up to that harness ({known})."


def _judged(plan: CostPlan) -> Iterator[str]:
    for run in plan.runs:
        if run.judges and run.due:
            yield _of_run(run, f"what the judge {joined(run.judges)} uses is not in the baseline.")


def _added(plan: CostPlan) -> Iterator[str]:
    if plan.confirm is not None:
        usual = ""
        if plan.confirm.usual is not None:
            usual = f"; {plan.confirm.usual:.1f} on average while the cases pass as often as in the baseline"
        yield f"Failed cases are retried: at most {_extra(plan.confirm)}{usual}."
    if plan.beside is not None:
        yield f"If doubt remains, both sides are measured: at most {_extra(plan.beside)} more."


def _extra(extra: ExtraTrials) -> str:
    cost = UNKNOWN if extra.most_usd is None else _dollars(extra.most_usd)
    return f"{plural(extra.most, 'trial')} (cost {cost})"


def _over(each: OverBudget) -> str:
    def shown(amount: float) -> str:
        return _dollars(amount) if each.budget == "usd" else f"{_short(amount)} tokens"

    key, needs, limit = f"`budget_{each.budget}`", shown(each.needs), shown(each.limit)
    if not each.surely:
        return f"{key} may stop the run: up to {needs} with the trials that may be added, {limit} allowed."
    if not each.kept:
        return f"{key} will stop the run: {needs} planned, {limit} allowed."
    kept = f"{shown(each.kept)} of {limit} {'is' if each.budget == 'usd' else 'are'} kept for the confirm stage"
    return f"{key} will stop the run: {needs} planned, {shown(each.limit - each.kept)} allowed; {kept}."


_UNSEEN: dict[Unseen, str] = {
    "no_baseline": "there is no baseline to compare with.",
    "not_in_baseline": "the baseline has no such run, so nothing is compared.",
    "no_drop_rule": "no rule asks for a drop in a share of the trials.",
    "no_common_case": "the baseline has none of these cases.",
}


def _grouped(plan: CostPlan) -> Iterator[str]:
    """What can be seen of each run; what holds for several is said once."""
    runs: dict[str, list[str]] = {}
    for run in plan.runs:
        if sentence := _seen(run):
            runs.setdefault(sentence, []).append(run.name)
    for sentence, names in runs.items():
        yield f"{', '.join(names)}: {sentence}"


def _seen(run: PlannedRunUse) -> str:
    if run.seen is None:
        return "" if run.unseen is None else _UNSEEN[run.unseen]
    text = _not_proof(run.seen, run)
    if run.seen.detectable is not None:
        size = format_size(run.seen.detectable, "ratio")
        text += f" A drop of {size} or more over all cases is seen at least four times out of five."
    return text


def _not_proof(seen: Sight, run: PlannedRunUse) -> str:
    trials = f"{plural(seen.cases, 'case')} × {plural(run.trials, 'trial')}"
    if seen.fewest is None:
        return f"with {trials} no drop of {seen.metric} is proof."
    if not run.random:
        return "the same input gives the same answer, so every drop beyond what the rules allow counts."
    if seen.fewest == 1:
        return f"with {trials} one broken case can be proof."
    return f"with {trials} a drop of {seen.metric} by fewer than {plural(seen.fewest, 'case')} is not proof."


def _skip(part: SkippedPart) -> str:
    name = part.suite if part.target is None else f"{part.suite} × {part.target}"
    return f"{name}: {part.why or 'not selected'}."


def _keys(plan: CostPlan) -> Iterator[str]:
    missing = [*(run.missing_key for run in plan.runs), *(each.missing_key for each in plan.harnesses)]
    for variable in dict.fromkeys(missing):
        if variable is not None:
            yield f"{variable} is not set."
