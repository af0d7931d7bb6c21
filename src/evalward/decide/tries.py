"""The same commit judged again: earlier tries count, so that nobody re-runs a red check until chance makes it green.

A try leaves what it said and the fresh trials of its failed cases. A later one pools these with its own: where they
are worse than the baseline by more than allowed, and not by chance, it fails, whatever its own trials say. What failed
once stays failed as long as all trials together still point that way; where they don't, a pass after a failure is
inconclusive. Earlier tries only ever make a verdict stricter: whoever forges them gains nothing, and chance fails no
more unchanged commits than their first try does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalward.decide.anchor import allowance
from evalward.decide.baseline import dump_baseline
from evalward.decide.history_file import short_digest
from evalward.decide.statistics.multiple import holm
from evalward.decide.statistics.stratified import CaseTrials, stratified_worse
from evalward.decide.succession import align
from evalward.records.base import digest, digest_text
from evalward.records.baseline import Baseline, BaselineRun
from evalward.records.codes import Statement
from evalward.records.codes.advice import Advice
from evalward.records.codes.notices import EarlierTries, UnknownTries
from evalward.records.codes.reasons import EarlierFailure, OutcomeName, TriesTogether
from evalward.records.metric import EPSILON
from evalward.records.policy import Policy
from evalward.records.report import Report, Run
from evalward.records.result import Result, Status
from evalward.records.tries import MOST_TRIALS, Ends, TriedRun, Try
from evalward.records.verdict import Judgement, Outcome, Reason, RuleOutcome, Verdict

REFUTED = 0.5
"""p of all trials together from which on they no longer point the way of a try that failed."""


def rules_key(policy: Policy, baseline: Baseline | None) -> str:
    """What tells the rules of one verdict from those of another: policy and baseline, whatever blocks by them."""
    baseline_digest = digest_text(dump_baseline(baseline)) if baseline else ""
    return short_digest(digest([policy.model_dump(mode="json", exclude={"fail_on", "profile"}), baseline_digest]))


def try_of(judgement: Judgement, report: Report, rules: str, number: tuple[int, int]) -> Try:
    """What is to be remembered of a verdict, as the page says it; `number` are the workflow's run and attempt."""
    run, attempt = number
    runs = {_name(each): _tried(each) for each in report.runs if each.cases}
    return Try(run=run, attempt=attempt, outcome=judgement.verdict.outcome, rules=rules, runs=runs)


def _name(run: Run) -> str:
    return short_digest(digest([run.suite, run.target, run.kind]))


def _tried(run: Run) -> TriedRun:
    definitions = sorted({(result.id, result.definition) for result in run.cases})
    return TriedRun(
        subject=short_digest(run.subject.hash),
        cases=short_digest(digest([list(each) for each in definitions])),
        fresh=_ends(run.confirmation),
    )


def _ends(results: Iterable[Result]) -> dict[str, Ends]:
    """By case: how its valid trials ended."""
    found: dict[str, Ends] = {}
    for result in results:
        if result.valid:
            key = _case(result.id)
            passed, failed = found.get(key, Ends(0, 0))
            good = result.status is Status.PASSED
            found[key] = Ends(min(passed + good, MOST_TRIALS), min(failed + (not good), MOST_TRIALS))
    return found


def _case(case_id: str) -> str:
    return short_digest(digest([case_id]))


# --- judging again --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KnownTries:
    """What is known of this commit from before. `attempt` is the workflow run's; `rules` are those of this verdict."""

    tries: Sequence[Try]
    rules: str
    attempt: int = 1

    @property
    def judged(self) -> list[Try]:
        """Those that the same rules judged, or rules that nobody kept."""
        return [one for one in self.tries if one.rules in {None, self.rules}]


def stricter_by_tries(judgement: Judgement, report: Report, baseline: Baseline | None, again: KnownTries) -> Judgement:
    """The judgement with what earlier tries of the commit gave: never a greener one."""
    verdict = judgement.verdict
    if not again.tries:
        return _with(judgement, verdict, notices=[UnknownTries(attempt=again.attempt)] if again.attempt > 1 else [])
    tries = _outcomes(again.tries)
    earlier = EarlierTries(tries=tries)
    if verdict.outcome not in {Outcome.PASS, Outcome.INCONCLUSIVE}:
        return _with(judgement, verdict, notices=[earlier])
    failed = any(one.outcome is Outcome.FAIL for one in again.judged)
    worse = _pooled(judgement, report, baseline, again.tries, failed=failed)
    if worse:
        return _with(judgement, verdict, worse, [earlier])
    return _with(judgement, verdict, [_doubt(tries)]) if failed else _with(judgement, verdict, notices=[earlier])


def _with(
    judgement: Judgement, verdict: Verdict, reasons: Sequence[Reason] = (), notices: Sequence[Statement] = ()
) -> Judgement:
    return judgement.model_copy(update={"verdict": verdict.noting(*notices).with_reasons(reasons)})


def _outcomes(tries: Sequence[Try]) -> tuple[OutcomeName, ...]:
    return tuple(one.outcome.value for one in tries)


def _doubt(tries: tuple[OutcomeName, ...]) -> Reason:
    return Reason(
        stage="validity",
        outcome=Outcome.INCONCLUSIVE,
        statements=[EarlierFailure(tries=tries)],
        advice=[Advice(code="advice.new_commit")],
    )


# --- earlier trials, pooled -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pool:
    """One run's fresh trials of all tries against the baseline; `cases` are comparable, `pairs` were tried again."""

    run: Run
    pairs: Sequence[CaseTrials]
    cases: int
    tries: int
    allowed: float
    alpha: float

    @property
    def loss(self) -> float:
        """What the cases that were tried again cost the suite, in its pass rate."""
        return -math.fsum(pair.difference for pair in self.pairs) / self.cases

    def proves(self, p: float) -> bool:
        """True where more is lost than allowed, and not by chance."""
        return p <= self.alpha and self.loss > self.allowed + EPSILON


def _pooled(
    judgement: Judgement, report: Report, baseline: Baseline | None, tries: Sequence[Try], *, failed: bool
) -> list[Reason]:
    """A failure for each run that all tries together prove to be worse, or, after one that `failed`, don't refute."""
    rules = judgement.verdict.rules
    pairs = [pair for pair in align(report, baseline).chosen if pair.run.random]
    found = [_pool(pair.run, pair.base, tries, rules) for pair in pairs if pair.base is not None]
    pools = [pool for pool in found if pool is not None]
    corrected = holm([stratified_worse(pool.pairs) for pool in pools])
    return [
        _proof(pool, p)
        for pool, p in zip(pools, corrected, strict=True)
        if pool.proves(p) or (failed and p <= REFUTED and pool.loss > EPSILON)
    ]


def _pool(run: Run, base: BaselineRun, tries: Sequence[Try], rules: Sequence[RuleOutcome]) -> _Pool | None:
    """`None` where there is nothing to pool: no rule on what passes, or no earlier try of the same thing."""
    guard, ours = allowance(run, rules), _tried(run)
    same = [one.runs[_name(run)] for one in tries if _name(run) in one.runs]
    same = [one for one in same if (one.subject, one.cases) == (ours.subject, ours.cases)]
    if guard is None or not any(one.fresh for one in same):
        return None
    definitions = {result.id: result.definition for result in run.cases}
    before = {
        _case(case.id): case.tally
        for case in base.cases
        if definitions.get(case.id) == case.definition and case.tally is not None
    }
    fresh = _sum([ours.fresh, *(one.fresh for one in same)])
    pairs = [
        CaseTrials(tally.passed, tally.trials, fresh[case].passed, fresh[case].valid)
        for case, tally in before.items()
        if case in fresh and fresh[case].valid
    ]
    return _Pool(run, pairs, len(before), 1 + len(same), *guard) if pairs else None


def _sum(counts: Iterable[Mapping[str, Ends]]) -> dict[str, Ends]:
    found: dict[str, Ends] = {}
    for each in counts:
        for case, ends in each.items():
            known = found.get(case, Ends(0, 0))
            found[case] = Ends(known.passed + ends.passed, known.failed + ends.failed)
    return found


def _proof(pool: _Pool, p: float) -> Reason:
    together = TriesTogether(
        suite=pool.run.suite,
        target=pool.run.target,
        tries=pool.tries,
        cases=len(pool.pairs),
        failed=sum(pair.trials_now - pair.passed_now for pair in pool.pairs),
        trials=sum(pair.trials_now for pair in pool.pairs),
        loss=pool.loss,
        allowed=pool.allowed,
        p=p,
        proven=pool.proves(p),
    )
    return Reason(
        stage="drop",
        outcome=Outcome.FAIL,
        statements=[together],
        advice=[Advice(code="advice.no_rerun")],
        suite=pool.run.suite,
        target=pool.run.target,
    )
