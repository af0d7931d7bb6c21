"""Rules that can be read and of which a part has no effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.config.load import parse_config
from evalward.config.odd import odd_rules

CONFIG = """\
version: 1
suites: [{name: s, kind: bash, cases: c.yaml, targets: [oracle]}]
policy:
  - metric: pass_rate
"""


def odd(text: str) -> list[str]:
    return list(odd_rules(parse_config(CONFIG + text, "evalward.yml", Path())))


@pytest.mark.parametrize(
    ("bounds", "why"),
    [
        ("floor: 0.9\n    goal: 0.5", "0.5 is not above the floor 0.9, so it never warns. Write a higher one,"),
        ("floor: 0.9\n    goal: 0.9", "0.9 is not above the floor 0.9, so it never warns. Write a higher one,"),
        ("ceiling: 0.1\n    goal: 0.2", "0.2 is not below the ceiling 0.1, so it never warns. Write a lower one,"),
    ],
)
def test_a_goal_beyond_its_bound_never_warns(bounds: str, why: str) -> None:
    (note,) = odd(f"    {bounds}\n")
    assert note.startswith(f"evalward.yml:6: policy[0].goal: {why}")


@pytest.mark.parametrize(
    "bounds", ["floor: 0.5\n    goal: 0.9", "goal: 0.9", "floor: 0.9", "ceiling: 0.2\n    goal: 0.1"]
)
def test_a_goal_within_its_bound_is_as_it_should_be(bounds: str) -> None:
    assert odd(f"    {bounds}\n") == []


def test_rules_of_profiles_are_looked_at_too() -> None:
    profile = "    goal: 0.9\nprofiles:\n  main:\n    policy: [{metric: pass_rate, floor: 0.8, goal: 0.7}]\n"
    (note,) = odd(profile)
    assert note.startswith("evalward.yml:8: profiles.main.policy[0].goal: 0.7 is not above the floor 0.8")
