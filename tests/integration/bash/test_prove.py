"""Proving a set: what is wrong with a task is found without a model."""

from __future__ import annotations

from typing import Any

import pytest

from evalward.suites.bash.prove import prove_cases
from evalward.suites.shells import VirtualShells
from support.cases import case


async def problems(**task: Any) -> list[str]:
    proof = await prove_cases([case(**task)], VirtualShells())
    return [problem.message for problem in proof.problems]


GOOD: dict[str, Any] = {
    "files": {"/w/in.txt": "3\n4\n"},
    "solution": "awk '{ s += $1 } END { print \"sum=\" s }' /w/in.txt | tee /w/out.txt",
    "expectations": [
        {"check": "stdout_regex:(?m)^sum=7$"},
        {"check": "file_contains:/w/out.txt:sum=7"},
        {"check": "exit_code:0"},
        {"check": "stderr_empty"},
        {"check": "tool_calls_max:5"},
    ],
}


async def test_a_good_task_has_no_problem() -> None:
    assert await problems(**GOOD) == []


async def test_a_solution_that_fails_a_check_is_told_with_what_was_there() -> None:
    assert await problems(**{**GOOD, "solution": "echo sum=8 | tee /w/out.txt"}) == [
        "the solution fails 'stdout_regex:(?m)^sum=7$': no call's stdout matches; the last call printed 'sum=8'",
        "the solution fails 'file_contains:/w/out.txt:sum=7': 'sum=7' isn't in it; it reads 'sum=8'",
    ]


@pytest.mark.parametrize(
    ("expectations", "lazy"),
    [
        ([{"check": "stderr_empty"}], "doing nothing"),
        ([{"check": "exit_code:0"}], "one empty command"),
        ([{"check": "stdout_contains:4"}, {"check": "exit_code:0"}], "printing all input files"),
    ],
)
async def test_a_task_that_lazy_answers_pass_is_told(expectations: list[dict[str, str]], lazy: str) -> None:
    found = await problems(**{**GOOD, "expectations": expectations, "solution": None})
    assert f"the task passes by {lazy}" in found


async def test_a_check_that_no_wrong_answer_fails_is_told() -> None:
    weak = [*GOOD["expectations"], {"check": "dir_exists:/home"}]
    assert await problems(**{**GOOD, "expectations": weak}) == []  # taking /home away is a wrong answer that fails it
    weak = [*GOOD["expectations"], {"check": "stdout_regex:.*"}, {"check": "tool_calls_min:0"}]
    assert await problems(**{**GOOD, "expectations": weak}) == [
        "no wrong answer that was tried fails 'tool_calls_min:0'"
    ]


async def test_a_judged_check_is_not_asked_to_fail() -> None:
    assert await problems(**{**GOOD, "expectations": [*GOOD["expectations"], {"check": "llm_judge:nice?"}]}) == []


async def test_the_summary_says_what_was_tried() -> None:
    unsolved = case(id="b", solution=None, files={})
    proof = await prove_cases([case(**GOOD), unsolved], VirtualShells())
    assert proof.summary.startswith("1 of 2 solutions run, 1 without a solution, ")
