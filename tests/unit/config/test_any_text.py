"""No text raises anything but InputError, takes long, or gives a message of several lines."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from evalward.config.load import parse_config
from evalward.records.problem import InputError
from support.patience import little_work

KEYS = [
    "version",
    "suites",
    "name",
    "kind",
    "cases",
    "targets",
    "system",
    "tool",
    "trials",
    "max_turns",
    "timeout_s",
    "policy",
    "metric",
    "floor",
    "ceiling",
    "goal",
    "max_drop",
    "max_rise",
    "suite",
    "target",
    "limits",
    "max_error_rate",
    "min_valid",
    "waive",
    "id",
    "reason",
    "protect",
    "profiles",
    "branches",
    "fail-on",
    "fail_on",
    "baseline",
    "recordings",
    "<<",
    "on",
    "[key]",
    "bash",
]
YAML_PARTS = [
    *"\n\t -:,[]{}&*!|>'\"%@`#?~.\\_^0189eExXinf",
    *(" " * 2, "\n  ", "\n- ", ": ", "- ", "--- ", "...", "\r\n", "\x85", "\u2028", "\ufeff", "\0", "\ud800"),
    *("&a ", "*a", "<<: ", "!!int ", "!!str ", "!!float ", "!!bool ", "!!null ", "!!binary ", "!x ", "! "),
    *("0b_", "0x_", "1:30", ".nan", "1e999", "0o7", '"\\x4', '"\\U00110000"', "%YAML 1.1\n", "%TAG ! x\n", "yes"),
    *(f"{key}: " for key in KEYS),
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**400, max_value=10**401)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["oracle", "replay", "replay:", "bash", "regression", "csr", "*", "../a", "/a", "90%", "[", "["])
)
VALUES = st.recursive(
    SCALARS,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), below),
    max_leaves=40,
)


def can_only_be_told(text: str) -> None:
    problems: tuple[str, ...] = ()
    try:
        with little_work(2):
            parse_config(text, "evalward.yml", Path("/repo"))
    except InputError as error:
        problems = tuple(map(str, error.problems))
        if not problems:
            raise
    assert all(problem.isprintable() and len(problem) < 1000 for problem in problems)


@settings(max_examples=200)
@given(st.text())
def test_any_text(text: str) -> None:
    can_only_be_told(text)


@settings(max_examples=500)
@given(st.lists(st.sampled_from(YAML_PARTS), max_size=40).map("".join))
def test_any_pieces_of_yaml(text: str) -> None:
    can_only_be_told(text)


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_any_values_at_known_keys(values: dict[str, object]) -> None:
    can_only_be_told(json.dumps(values).replace("NaN", ".nan").replace("Infinity", ".inf"))
