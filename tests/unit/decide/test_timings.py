"""Single benchmarks against the baseline, by their samples; and what a drop of a speedup is without them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest

from evalward.commands.pipeline import decide_report
from evalward.records.policy import Policy, Rule
from evalward.records.report import Report, Run, Subject, Tool
from evalward.records.result import Result
from evalward.records.sections import Bars
from evalward.records.verdict import Judgement, Outcome
from evalward.render import sentences as english
from evalward.suites.base import kind_named
from evalward.suites.speedup.details import BenchmarkSpeed, Samples
from evalward.suites.speedup.measure.evidence import speeds
from evalward.suites.speedup.measure.rounds import SideSamples
from evalward.suites.speedup.metrics import measure
from evalward.suites.speedup.timings import timings_of
from support.speedups import details, ran_with, trial_of
from support.written import make_baseline

NAME = "m.S.time_a"


def jittered(middle: float, count: int = 7, seed: int = 1) -> list[float]:
    chance = random.Random(seed)
    return [middle * chance.uniform(0.98, 1.02) for _ in range(count)]


def benchmark(agent: Sequence[float], nop: Sequence[float], oracle: float = 0.2) -> BenchmarkSpeed:
    sides = [SideSamples({NAME: list(samples)}) for samples in (nop, [oracle], agent)]
    return speeds(*sides)[0]


def result(agent: float, *, nop: float = 1.0, count: int = 7, seed: int = 1, failed: int = 0) -> Result:
    found = benchmark(jittered(agent, count, seed), jittered(nop, count, seed + 100))
    return trial_of("tiny", details([found], tests=ran_with(failed)))


def report(made: Result, target: str = "patch:mine") -> Report:
    run = Run(
        suite="fast",
        kind="speedup",
        target=target,
        trials=1,
        planned=1,
        subject=Subject(hash="sha256:x"),
        metrics=measure([made]).metrics,
        cases=[made],
    )
    return Report(tool=Tool(version="1"), created_at="2026-11-21T08:00:00Z", runs=[run])


def judged(before: Result, now: Result, target: str = "patch:mine") -> Judgement:
    baseline = make_baseline(report(before, target), "report.json", None, {"speedup": kind_named("speedup")})
    policy = Policy(rules=[Rule(metric="mean_speedup", max_drop=0.05)])
    return decide_report(report(now, target), baseline, policy)


def test_a_slower_benchmark_is_named_with_factor_and_p() -> None:
    found = timings_of([result(0.5)], [result(0.7, seed=2)])
    assert found is not None
    assert (found.tested, found.untestable) == (1, 0)
    assert (found.slower[0].case, found.slower[0].benchmark) == ("tiny", NAME)
    assert found.slower[0].factor == pytest.approx(1.4, rel=0.05)
    assert found.slower[0].p < 0.002


def test_a_slower_machine_is_no_slower_benchmark() -> None:
    found = timings_of([result(0.5)], [result(1.5, nop=3.0, seed=2)])
    assert found is not None
    assert (found.tested, found.slower, found.suspected) == (1, [], 0)


def beside(agent: float, oracle: float, seed: int = 1) -> Result:
    """Both changes' times, as shares of the untouched code's."""
    sides = [jittered(1.0, seed=seed + 100), jittered(oracle, seed=seed + 200), jittered(agent, seed=seed)]
    found = speeds(*[SideSamples({NAME: side}) for side in sides])[0]
    return trial_of("tiny", details([found], tests=ran_with(0)))


def test_another_interpreter_is_no_slower_benchmark() -> None:
    """The human patch lost as much as the change did: what is different is where they ran."""
    found = timings_of([beside(0.14, 0.13)], [beside(0.20, 0.19, seed=2)])
    assert found is not None
    assert (found.tested, found.slower, found.suspected) == (1, [], 0)


def test_a_change_that_lost_more_than_the_human_patch_is_slower() -> None:
    found = timings_of([beside(0.14, 0.13)], [beside(0.28, 0.13, seed=2)])
    assert found is not None
    assert found.slower[0].factor == pytest.approx(2.0, rel=0.06)


@pytest.mark.parametrize("count", [1, 5])
def test_under_six_samples_nothing_is_proved(count: int) -> None:
    found = timings_of([result(0.5)], [result(5.0, count=count, seed=2)])
    assert found is not None
    assert (found.tested, found.untestable, found.slower) == (0, 1, [])


def test_a_change_that_fell_back_has_no_times() -> None:
    assert timings_of([result(0.5)], [result(5.0, failed=1)]) is None
    assert timings_of([], [result(0.5)]) is None


def test_a_proven_slowdown_fails() -> None:
    judgement = judged(result(0.5), result(0.7, seed=2))
    assert judgement.verdict.outcome is Outcome.FAIL
    assert "a benchmark of tiny is slower: 1.4" in english.headline(judgement.verdict)
    assert any(
        f"{NAME} of tiny is slower: 1.4" in warning for warning in english.warnings(judgement.comparison.notices)
    )


def test_noise_is_no_drop() -> None:
    judgement = judged(result(0.5), result(0.52, seed=2))
    assert judgement.comparison.runs[0].metrics[0].delta is not None
    assert judgement.comparison.runs[0].metrics[0].delta < -0.05
    assert judgement.verdict.outcome is Outcome.PASS
    assert "no benchmark is slower beyond chance (1 tested)" in english.explanation(judgement.verdict.rules[0])


@pytest.mark.parametrize("target", ["nop", "oracle"])
def test_the_measure_itself_does_not_fall(target: str) -> None:
    judgement = judged(result(0.5), result(0.9, seed=2), target)
    assert judgement.verdict.outcome is Outcome.PASS
    assert f"{target} is what others are measured by" in english.explanation(judgement.verdict.rules[0])


def test_what_could_not_be_tested_is_inconclusive() -> None:
    judgement = judged(result(0.5, count=3), result(0.9, count=3, seed=2))
    assert judgement.verdict.outcome is Outcome.INCONCLUSIVE
    assert "1 with too few samples" in english.headline(judgement.verdict)


def test_a_broken_case_is_proof_enough() -> None:
    assert judged(result(0.5), result(0.5, failed=1)).verdict.outcome is Outcome.FAIL


def test_samples_pair_by_round() -> None:
    """The untouched code's time of the same round: a slow minute moves both, and no ratio."""
    slow = [1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 1.0]
    drifting = benchmark([time / 2 for time in slow], slow)
    steady = benchmark([0.5 + number / 1e6 for number in range(7)], [1.0] * 7)
    found = timings_of([trial_of("tiny", details([steady]))], [trial_of("tiny", details([drifting]))])
    assert found is not None
    assert (found.slower, found.suspected) == ([], 0)


def test_a_tasks_speedup_stands_beside_the_oracles_and_its_own_before() -> None:
    (bars,) = judged(result(0.5), result(0.5, failed=1)).comparison.runs[0].sections
    assert isinstance(bars, Bars)
    (task,) = bars.groups
    assert (task.name, task.values) == ("tiny", [1.0, pytest.approx(5.0, rel=0.05)])
    assert re.fullmatch(r"fell back, was (1\.9\d|2(\.0\d)?)×", task.mark)


def test_samples_of_a_baseline_are_bounded() -> None:
    found = benchmark(jittered(0.5, 100), jittered(1.0, 100))
    kept = details([found]).summary().benchmarks[0].samples
    assert isinstance(kept, Samples)
    assert len(kept.agent) == 30
