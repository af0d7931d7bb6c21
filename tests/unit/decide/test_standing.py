"""What is said of a broken case of a random target: is it this change, or was it always so?"""

from __future__ import annotations

import pytest
from scipy import stats

from evalward.records.comparison import CaseChange
from support.outcomes import judgement, known, measured, steady


def cases(
    before: dict[str, str], now: dict[str, str], fresh: dict[str, str] | None = None, random: bool = True
) -> dict[str, CaseChange]:
    found = judgement(measured(now, fresh, random=random), known(before, random=random))
    return {case.id: case for case in found.comparison.runs[0].cases}


@pytest.mark.parametrize(
    ("before", "now", "fresh", "standing"),
    [
        ("PPPPP", "F", "", None),  # it failed once: nothing more is known
        ("PPPPP", "F", "PPPP", "not_repeated"),
        ("PPPPP", "F", "PPPF", "not_repeated"),
        ("PPPPP", "F", "PPFF", "repeated"),
        ("FPPPP", "F", "PPFF", "repeated"),
        ("FFPPP", "F", "", "unreliable"),
        ("FFPPP", "F", "FFPP", "unreliable"),
        ("FFPPP", "F", "PPPP", "not_repeated"),
        ("PPPPPPPPPP", "F", "FFFF", "regressed"),
        ("FFFPPPPPPP", "F", "PPFF", "repeated"),  # seven of ten are just reliable
        ("FFFFFPPPPPP", "F", "", "unreliable"),
        ("PPPPP", "FFFFF", "", "regressed"),
        ("PPPPP", "P", "", None),
        ("FFFFF", "F", "", None),  # not broken
        ("PPPPP", "E", "", None),
    ],
)
def test_standing__of_one_case_among_four(before: str, now: str, fresh: str, standing: str | None) -> None:
    rest = steady(4, before[:1].replace("F", "P") * len(before))
    found = cases(rest | {"c1": before}, steady(4, "P" * len(now), c1=now), {"c1": fresh} if fresh else {})
    assert found["c1"].standing == standing
    assert found["c1"].excused is (standing in {"not_repeated", "unreliable"})


def test_deterministic_targets__have_no_standing() -> None:
    found = cases(steady(4, "PPPPP"), steady(4, c1="F"), random=False)
    assert {(case.p, case.q, case.standing) for case in found.values()} == {(None, None, None)}


def test_p__is_fishers_and_fresh_trials_speak_instead_of_the_planned() -> None:
    found = cases(steady(4, "PPPPP"), steady(4, c1="F", c2="F"), {"c1": "FFFF", "c2": "PPPF"})
    assert found["c1"].p == pytest.approx(stats.fisher_exact([[0, 4], [5, 0]], alternative="less").pvalue)
    assert found["c2"].p == pytest.approx(stats.fisher_exact([[3, 1], [5, 0]], alternative="less").pvalue)
    alone = cases(steady(4, "PPPPP"), steady(4, c1="F"))
    assert alone["c1"].p == pytest.approx(1 / 6)


def test_q__is_corrected_for_all_cases_that_were_looked_at() -> None:
    now = steady(12, "PPPPP", c1="FFFFF", c2="FFFFP", c3="FFPPP")
    found = cases(steady(12, "PPPPP"), now)
    ps = [case.p for case in found.values() if case.p is not None]
    assert [case.q for case in found.values()] == pytest.approx(list(stats.false_discovery_control(ps)))
    few = cases(steady(2, "PPPPP"), {"c0": "PPPPP", "c1": "FFFFP"})
    assert few["c1"].standing == "regressed"
    many = cases(steady(60, "PPPPP"), steady(60, "PPPPP", c1="FFFFP"))
    assert many["c1"].standing is None  # one of sixty: that may be chance
    assert found["c1"].standing == "regressed"


def test_standing__informs_and_decides_nothing() -> None:
    """Every case on its own may be chance; that three of them fail is none."""
    fresh = {f"c{n}": "FFFF" for n in range(3)}
    found = judgement(measured(steady(37, c0="F", c1="F", c2="F"), fresh), known(steady(37, "PPPPP")))
    assert [case.standing for case in found.comparison.runs[0].of("broken")] == ["repeated"] * 3
    assert found.verdict.outcome == "fail"
