"""Findings of a speedup run: what the numbers hide."""

from __future__ import annotations

from evalward.records.report import Finding
from evalward.records.result import Result
from evalward.suites.speedup.details import BenchmarkSpeed, Samples
from evalward.suites.speedup.failure import merge
from evalward.suites.speedup.findings import interpret, is_noisy, noise
from evalward.suites.speedup.log import read_log
from evalward.suites.speedup.metrics import measure
from support.speedups import KEY, ORACLE, details, evidence, log, ran_with, snapshot_of, speeds, trial_of


def found(*results: Result) -> dict[str, Finding]:
    return {finding.id: finding for finding in interpret(results, measure(results))}


def test_a_clean_run_has_nothing_to_tell() -> None:
    assert found(trial_of("t", details(speeds(("m.S.a", 2, 1))), cost=0.1)) == {}


def test_fallbacks_are_told() -> None:
    finding = found(trial_of("t", details(speeds(("m.S.a", 2, 1)), tests=ran_with(1))))["fallback"]
    assert (finding.cases, finding.evidence) == (["t"], "tests failed in 1, snapshots in 0")


def test_dropped_and_resurrected_benchmarks_are_told() -> None:
    good = trial_of("t", details(speeds(("m.S.a", 2, 1), ("m.S.b, c", 0, 1))))
    bad = trial_of("u", details(speeds(("m.S.c", None, 1)), tests=ran_with(1)))
    finding = found(good, bad)["dropped_benchmarks"]
    assert finding.message == "No valid speedup of 2 of 3 benchmarks: left out of every mean"
    assert finding.evidence == "m.S.b, c, m.S.c"


def test_an_oracle_that_fails_is_told_in_its_run_and_in_the_others() -> None:
    agents = [
        evidence(ORACLE, speeds(("m.S.a", 2, 2)), snapshot=snapshot_of(1)),
        evidence(KEY, speeds(("m.S.a", 3, 2))),
    ]
    made = merge(agents)
    assert "oracle_fallback" in found(trial_of("t", made[ORACLE]))
    assert "oracle_failed" in found(trial_of("t", made[KEY]))


def test_a_negative_advantage_makes_cost_weighting_reward_spending() -> None:
    slow = details(speeds(("m.S.a", 1, 2)))
    assert "negative_cost_weighting" in found(trial_of("t", slow, cost=0.1))
    told = found(trial_of("t", slow, cost=0.1))["negative_cost_weighting"].evidence
    assert told == "agent_advantage −1.00×, cost_weighted_advantage −10"
    assert "negative_cost_weighting" not in found(trial_of("t", slow))


def sampled(nop: list[float], agent: list[float], ratio: float) -> BenchmarkSpeed:
    return BenchmarkSpeed(name="m.f", agent=ratio, oracle=1, samples=Samples(nop=nop, agent=agent))


def test_noise_above_the_effect_is_told_and_no_change_claims_none() -> None:
    wild = sampled([1.0, 1.2, 0.8, 1.1, 0.9], [1.0, 1.15, 0.85, 1.1, 0.9], 1.05)
    assert is_noisy(wild)
    one = found(trial_of("t", details([wild])))["noise_above_effect"]
    two = found(trial_of("t", details([wild, wild.model_copy(update={"name": "m.g"})])))["noise_above_effect"]
    assert one.message == "1 benchmark varies by chance as much as it changed"
    assert two.message == "2 benchmarks vary by chance as much as they changed"
    assert not is_noisy(sampled([1.0, 1.01, 0.99], [0.5, 0.505, 0.495], 2.0))
    assert not is_noisy(sampled([1.0, 1.2, 0.8], [1.0, 1.2, 0.8], 1.0))
    assert noise(sampled([1.0], [1.0], 2.0)) is None
    assert noise(sampled([0.0] * 3, [1.0] * 3, 2.0)) is None


def test_levels_of_different_size_are_told() -> None:
    finding = found(trial_of("t", details(speeds(("a.S.f", 2, 1), ("a.S.g", 2, 1)))))["level_groups"]
    assert finding.evidence == "module 1, class 1, function 2, overall 1"


def test_a_speedup_that_nobody_believes_is_told() -> None:
    finding = found(trial_of("t", details(speeds(("m.S.a", 2000, 10), ("m.S.b", 999, 10)))))["incredible_speedup"]
    assert (finding.cases, finding.evidence) == (["t"], "m.S.a 2e+03×, oracle 10×")
    assert "incredible_speedup" not in found(trial_of("t", details(speeds(("m.S.a", 1000, 10)))))


def test_a_log_with_a_block_twice_is_told() -> None:
    def of(text: str) -> Result:
        return trial_of("t", merge([read_log(text).evidence(KEY)])[KEY])

    assert found(of(log() + log(tests={"passed": 0, "failed": 12})))["repeated_blocks"].cases == ["t"]
    assert "repeated_blocks" not in found(of(log()))
