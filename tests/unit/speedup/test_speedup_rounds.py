"""Sides are measured in turns, and each process counts once."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

from evalward.suites.speedup.measure.adapters import Times
from evalward.suites.speedup.measure.rounds import interleave, order

SIDES = ("nop", "oracle", "agent")


def test_everybody_is_at_every_place_equally_often() -> None:
    rounds = [order(SIDES, number) for number in range(6)]
    assert rounds[:3] == [["nop", "oracle", "agent"], ["oracle", "agent", "nop"], ["agent", "nop", "oracle"]]
    assert all(set(Counter(place).values()) == {2} for place in zip(*rounds, strict=True))


def test_everybody_follows_everybody_else_equally_often() -> None:
    """Otherwise the agent's side always came after the quick oracle, and the untouched code after the agent's."""
    after = Counter(pair for number in range(6) for pair in pairwise(order(SIDES, number)))
    assert after == dict.fromkeys(permutations(SIDES, 2), 2)


async def test_rounds_go_over_all_sides_in_turns() -> None:
    asked: list[str] = []

    async def once(name: str) -> tuple[Times, str | None]:
        asked.append(name)
        return {"a": [len(asked), len(asked) + 2, 100.0]}, None

    found = await interleave(SIDES, 2, once)
    assert asked == ["nop", "oracle", "agent", "oracle", "agent", "nop"]
    assert found["nop"].samples == {"a": [3, 8]}  # medians of what the 1st and the 6th process gave


async def test_a_drift_hits_all_sides_alike() -> None:
    clock = 0

    async def once(name: str) -> tuple[Times, str | None]:
        nonlocal clock
        clock += 1
        return {"a": [float(clock)]}, None

    found = await interleave(SIDES, 6, once)
    assert len({sum(side.samples["a"]) for side in found.values()}) == 1


async def test_a_side_that_gives_nothing_twice_in_a_row_is_left_alone() -> None:
    asked: Counter[str] = Counter()

    async def once(name: str) -> tuple[Times, str | None]:
        asked[name] += 1
        if name == "agent":
            return {}, "it crashed"
        return ({"a": [1.0]} if asked[name] != 2 else {}), None

    found = await interleave(SIDES, 5, once)
    assert asked == {"nop": 5, "oracle": 5, "agent": 2}
    assert found["agent"].notes == ["it crashed"]
    assert len(found["nop"].samples["a"]) == 4
