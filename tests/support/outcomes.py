"""Decisions on outcomes that a test writes as letters: P passed, F failed, E the provider broke, S skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalward.commands.pipeline import decide_report, default_rules
from evalward.decide.confirm import Retrials, to_confirm
from evalward.records.baseline import Baseline
from evalward.records.evidence import Evidence
from evalward.records.policy import Policy, Rule
from evalward.records.report import Report
from evalward.records.result import Result
from evalward.records.verdict import Judgement, RuleOutcome, Verdict
from support.results import baseline, compared, report, result, run

STATUSES = {"P": "passed", "F": "failed", "E": "error", "S": "skipped"}
TARGET = "anthropic/model"
DROP = Rule(metric="pass_rate", max_drop=0.02)

Letters = Mapping[str, str]


def trials(letters: Letters, first: int = 1, **more: Any) -> list[Result]:
    """One result for each letter, numbered on from `first`."""
    return [
        result(case, STATUSES[letter], trial=number, **more)
        for case, each in letters.items()
        for number, letter in enumerate(each, first)
    ]


def measured(now: Letters, fresh: Letters | None = None, *, random: bool = True, **more: Any) -> Report:
    """A report of one run, with a confirm stage where `fresh` says what it gave."""
    count = max(len(each) for each in now.values())
    confirmation = trials(fresh or {}, count + 1)
    return report(run(trials(now), target=TARGET, trials=count, random=random, confirmation=confirmation, **more))


def known(before: Letters, *, random: bool = True) -> Baseline:
    """The baseline of these outcomes."""
    count = max(len(each) for each in before.values())
    return baseline(run(trials(before), target=TARGET, trials=count, random=random))


def steady(count: int = 37, each: str = "P", **others: str) -> dict[str, str]:
    """So many cases with the same outcomes, but for those that are named: `c0` to `c36`."""
    return {f"c{number}": each for number in range(count)} | others


def judgement(now: Report, before: Baseline | None, *rules: Rule, **policy: Any) -> Judgement:
    """Everything that is decided. Without rules: one on the pass rate, 2 points."""
    return decide_report(now, before, Policy(rules=list(rules or (DROP,)), **policy))


def decided(now: Report, before: Baseline | None, *rules: Rule, **policy: Any) -> Verdict:
    """The verdict."""
    return judgement(now, before, *rules, **policy).verdict


def outcome_of(verdict: Verdict, metric: str = "pass_rate") -> RuleOutcome:
    """What the first rule of this metric says."""
    return next(rule for rule in verdict.rules if rule.rule.metric == metric)


def evidence_of(verdict: Verdict, metric: str = "pass_rate") -> Evidence:
    """What it rests on."""
    found = outcome_of(verdict, metric).evidence
    assert found is not None
    return found


def retried(now: Report, before: Baseline | None, rules: Sequence[Rule] = (DROP,), **policy: Any) -> list[Retrials]:
    """What a confirm stage would try again."""
    return to_confirm(compared(now, before), Policy(rules=list(rules), **policy), default_rules(now))
