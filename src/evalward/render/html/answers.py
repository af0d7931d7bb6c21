"""What a maintainer asks first: did it get worse, where, how sure is that, and what now."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from evalward.records.codes.arms import ArmUnproven, ArmWorse
from evalward.records.comparison import Comparison, RunComparison
from evalward.records.evidence import Evidence
from evalward.records.verdict import Judgement, Outcome, Reason, RuleOutcome
from evalward.render.html.changes import ChangedCase
from evalward.render.names import quoted
from evalward.render.numbers import format_delta
from evalward.render.view import JudgementPage

_NAMED = 5  # cases
_SEEN = 3  # metrics of which it says what could have been seen


class CountTile(Struct, frozen=True):
    """How many cases something is true of; `link` is the fragment of where they are listed, empty without any."""

    count: int
    word: str
    mark: str
    colour: str
    link: str


class Answers(Struct, frozen=True):
    """`tiles` count the cases, `named` are the ones to look at first, as names with the fragments of their places."""

    tiles: list[CountTile]
    named: list[tuple[str, str]]
    more: int
    sure: list[str]


def answers(judgement: Judgement, page: JudgementPage, failing: Sequence[ChangedCase], prefix: str) -> Answers:
    """The answers of a judgement; `failing` are the cases that broke, and those that are new and fail."""
    named = [(each.entry.id, each.anchor) for each in failing[:_NAMED] if each.anchor]
    total = page.broken.total + page.new.total
    return Answers(_tiles(judgement.comparison, page, prefix), named, total - len(named), _sure(judgement))


def _tiles(comparison: Comparison, page: JudgementPage, prefix: str) -> list[CountTile]:
    new = "new, failing" if page.compared else "failing"
    found = [
        CountTile(page.broken.total, "broken", "✗", "red", "broken"),
        CountTile(page.new.total, new, "✗", "red", "new"),
        CountTile(page.unsafe.total, "unsafe", "!", "red", "unsafe"),
        CountTile(
            page.excused.total,
            "flaky failure" if page.excused.total == 1 else "flaky failures",
            "?",
            "yellow",
            "excused",
        ),
        CountTile(page.still.total, "still failing", "–", "dim", "still"),
        CountTile(page.fixed.total, "fixed", "✓", "green", "fixed"),
    ]
    shown = [each for each in found if each.count or each.word == "broken"]
    cases = sum(run.total for run in comparison.runs)
    total = CountTile(cases, "case" if cases == 1 else "cases", "", "plain", "cases")
    every = [*shown, total] if page.compared else [*(each for each in shown if each.count), total]
    return [CountTile(each.count, each.word, each.mark, each.colour, _link(each, prefix)) for each in every]


def _link(tile: CountTile, prefix: str) -> str:
    return f"{prefix}{tile.link}" if tile.count else ""


def _sure(judgement: Judgement) -> list[str]:
    """Of what decided, how it was; of a pass, what could have been seen."""
    verdict = judgement.verdict
    if verdict.outcome is Outcome.PASS:
        return _seen(judgement)
    first = verdict.reasons[0] if verdict.reasons else None
    if first is None:
        return []
    if first.stage == "arm":
        return _by_arms(first) or _exact(first, judgement.comparison.runs)
    decided = [rule for rule in verdict.rules if (rule.suite, rule.target, rule.rule.metric) == _about(first)]
    said = [line for rule in decided if rule.evidence for line in _proof(rule.evidence)]
    return said[:2] or _exact(first, judgement.comparison.runs)


def _by_arms(reason: Reason) -> list[str]:
    """What a comparison of arms rests on; nothing where chance plays no part, or nothing was compared."""
    tested = [each for each in reason.statements if isinstance(each, ArmWorse | ArmUnproven)]
    way = "worse" if any(isinstance(each, ArmWorse) for each in tested) else "better"
    chance = [f"Chance alone looks as much {way} with p = {each.p:.2g}." for each in tested[:1]]
    return ["Decided on the planned trials that are valid in both arms.", *chance] if tested else []


def _proof(evidence: Evidence) -> list[str]:
    """What the decision rests on, and how often chance does the like."""
    basis = "Decided on the planned trials."
    if evidence.confirmed:
        basis = "Decided on retrials of the cases that failed."
    if evidence.beside:
        basis = "Decided on head and base, measured now, in turns."
    if evidence.corrected is None:
        return [basis]
    chance = f"Chance alone does this with p = {evidence.corrected:.2g}; below {evidence.alpha:g} it is excluded."
    return [basis, chance]


def _about(reason: Reason) -> tuple[str | None, str | None, str | None]:
    return reason.suite, reason.target, reason.metric


def _exact(reason: Reason, runs: Sequence[RunComparison]) -> list[str]:
    """Where chance has no part in it."""
    run = next((run for run in runs if (run.suite, run.target) == (reason.suite, reason.target)), None)
    if reason.stage not in {"drop", "limit", "arm"} or run is None or run.random:
        return []
    return [f"{quoted(run.target)} gives the same result for the same input, so every difference is real."]


def _seen(judgement: Judgement) -> list[str]:
    """What a drop would have had to be, to be seen."""
    found = [rule for rule in judgement.verdict.rules if rule.evidence and rule.evidence.detectable is not None]
    lines = [_seen_by(rule) for rule in found[:_SEEN]]
    random = [run for run in judgement.comparison.runs if run.random and not run.missing]
    if lines or random or judgement.comparison.baseline is None:
        return lines
    return ["No target here is random: the same input gives the same result, and any difference would show."]


def _seen_by(rule: RuleOutcome) -> str:
    unit = rule.value.unit if rule.value else "ratio"
    size = rule.evidence.detectable if rule.evidence and rule.evidence.detectable is not None else 0.0
    drop = "drop" if rule.rule.max_drop is not None else "rise"
    much = format_delta(size, unit)[1:]
    return f"A {drop} of {much} in {quoted(rule.rule.metric)} would have been detected at least four times out of five."
