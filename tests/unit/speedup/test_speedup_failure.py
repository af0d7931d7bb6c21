"""The merge over the agents of a task: the reference's M1 to M7, and the traps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.suites.speedup.details import SpeedupDetails
from evalward.suites.speedup.failure import FailureEvidence, fall_back, merge
from support.speedups import KEY, NOP, ORACLE, evidence, ran_with, snapshot_of, speeds


def merged(
    agent: FailureEvidence | None = None, oracle: FailureEvidence | None = None, nop: FailureEvidence | None = None
) -> dict[str, SpeedupDetails]:
    return merge(
        [
            nop or evidence(NOP, speeds(("m.S.a", 1.0, 1.5))),
            oracle or evidence(ORACLE, speeds(("m.S.a", 1.5, 1.5))),
            agent or evidence(KEY, AGENT),
        ]
    )


AGENT = speeds(("m.S.a", 1.2, 1.5))


def told(details: SpeedupDetails) -> tuple[object, ...]:
    return details.success, details.fallback_to_baseline, details.agent_advantage, details.task_speedup


def test_m1_all_good() -> None:
    found = merged()
    assert told(found[KEY]) == (True, False, pytest.approx(-0.3), 1.2)
    assert found[NOP].agent_advantage == pytest.approx(-0.5)
    assert found[ORACLE].agent_advantage == 0


def test_m2_who_fails_exactly_like_the_oracle_keeps_the_result() -> None:
    bad = ran_with(failed=2)
    found = merged(evidence(KEY, AGENT, tests=bad), evidence(ORACLE, speeds(("m.S.a", 1.5, 1.5)), tests=bad))
    assert told(found[KEY]) == (True, False, pytest.approx(-0.3), 1.2)
    assert not found[KEY].resolved
    assert found[KEY].oracle_failed


def test_one_failure_more_than_the_oracle_is_a_failure() -> None:
    oracle = evidence(ORACLE, speeds(("m.S.a", 1.5, 1.5)), tests=ran_with(failed=2))
    found = merged(evidence(KEY, AGENT, tests=ran_with(failed=3)), oracle)
    assert told(found[KEY]) == (False, True, -0.5, 1.0)


def test_without_an_oracle_any_failure_is_one() -> None:
    found = merge([evidence(KEY, AGENT, tests=ran_with(failed=1))])
    assert told(found[KEY]) == (False, True, -0.5, 1.0)


def test_an_oracle_whose_tests_are_not_known_excuses_nobody() -> None:
    found = merged(evidence(KEY, AGENT, tests=ran_with(failed=1)), FailureEvidence(ORACLE, speeds(("m.S.a", 1.5, 1.5))))
    assert told(found[KEY])[:2] == (False, True)


def test_m4_an_output_that_no_longer_passes_is_a_failure() -> None:
    assert told(merged(evidence(KEY, AGENT, snapshot=snapshot_of(1)))[KEY]) == (False, True, -0.5, 1.0)


def test_m5_the_oracle_falls_back_too() -> None:
    found = merged(oracle=evidence(ORACLE, speeds(("m.S.a", 1.5, 1.5)), snapshot=snapshot_of(1)))
    assert told(found[ORACLE]) == (False, True, -0.5, 1.0)
    assert told(found[KEY]) == (True, False, pytest.approx(-0.3), 1.2)


def test_m7_missing_snapshots_are_a_failure() -> None:
    found = merge([FailureEvidence(KEY, AGENT, tests=ran_with())])
    assert told(found[KEY]) == (False, True, -0.5, 1.0)


def test_nop_never_falls_back() -> None:
    found = merged(nop=evidence(NOP, speeds(("m.S.a", 1.1, 1.5)), tests=ran_with(failed=4)))
    assert told(found[NOP]) == (False, False, pytest.approx(-0.4), 1.1)


def test_two_models_of_one_agent_do_not_collide() -> None:
    found = merge([evidence("a:one", speeds(("m.f", 2, 1))), evidence("a:two", speeds(("m.f", 3, 1)))])
    assert [details.task_speedup for details in found.values()] == [2, 3]
    with pytest.raises(ValueError, match="a:one"):
        merge([evidence("a:one"), evidence("a:one")])


def test_a_fallback_keeps_a_bad_oracle_and_marks_what_it_resurrects() -> None:
    zero, missing, crashed = (fall_back(each) for each in speeds(("a", 2, 0), ("b", 2, None), ("c", 0, 1.5)))
    assert (zero.agent, zero.oracle, zero.valid, zero.resurrected) == (1.0, 0, False, False)
    assert (missing.agent, missing.oracle, missing.valid, missing.resurrected) == (1.0, 1.0, True, True)
    assert (crashed.raw_agent, crashed.oracle, crashed.valid, crashed.resurrected) == (0, 1.5, True, True)


VALUE = st.none() | st.floats(min_value=-10, max_value=1e6)


@given(st.lists(st.tuples(st.text(max_size=5), VALUE, VALUE)), st.integers(0, 3), st.integers(0, 3), st.integers(0, 2))
def test_a_failure_never_gains_speed_and_keeps_every_benchmark(
    entries: list[tuple[str, float | None, float | None]], failed: int, allowed: int, broken: int
) -> None:
    agent = evidence(KEY, speeds(*entries), tests=ran_with(failed), snapshot=snapshot_of(broken))
    oracle = evidence(ORACLE, tests=ran_with(allowed))
    found = merge([agent, oracle])[KEY]
    assert found.success == (failed <= allowed and not broken)
    assert found.fallback_to_baseline == (not found.success)
    assert found.num_benchmarks == len(entries)
    if not found.success:
        assert found.task_speedup in {None, 1.0}
    assert SpeedupDetails.model_validate_json(found.model_dump_json()) == found
