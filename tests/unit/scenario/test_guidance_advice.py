"""What the guidance should say: failures that repeat, with what worked instead, before the patterns' own advice."""

from __future__ import annotations

import pytest

from evalward.records.result import Result
from evalward.suites.scenario.details import FailedCommand
from evalward.suites.scenario.findings import interpret
from evalward.suites.scenario.guidance import MOST_ADVICE, advise
from evalward.suites.scenario.interaction import ToolCommand, interaction_of
from evalward.suites.scenario.metrics import measure
from support.scenarios import trial


def failing(said: str = "error: no --text", command: str = "jot add --text x", **more: str) -> FailedCommand:
    return FailedCommand(subcommand=more.pop("subcommand", "add"), command=command, exit_code=2, said=said, **more)


def results(*failures: list[FailedCommand]) -> list[Result]:
    return [trial(counts=(10, 2, 1), interaction={"failed": failed}) for failed in failures]


def advice(*failures: list[FailedCommand]) -> list[str]:
    found = results(*failures)
    return advise(found, interpret(found, measure(found)))


def test_failures_of_one_kind_are_counted_in_trials() -> None:
    once = failing("error: other", "jot list --all", subcommand="list")
    found = advice([failing(), failing()], [failing(command="jot add --text y")], [once])
    assert found[0] == "`jot add --text x` failed in 2 of 3 trials: error: no --text. Say what to write instead."
    assert not any("jot list" in one for one in found)  # a single time is no pattern


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("usage: jot\njot: error: no", "jot: error: no"),
        ("no such thing\ntry jot --help", "no such thing"),
        ('Traceback (most recent call last):\n  File "x"\nKeyError: 1', "KeyError: 1"),
        ("", "exit code 2"),
        ("a `quoted` error", "a 'quoted' error"),
    ],
)
def test_the_line_that_says_what_was_wrong(said: str, shown: str) -> None:
    found = advice([failing(said)], [failing(said)])
    assert found[0].startswith(f"`jot add --text x` failed in 2 of 2 trials: {shown}. ")


def test_there_is_never_more_than_can_be_read() -> None:
    many = [failing(f"error {n}", f"jot x{n}", subcommand=f"x{n}") for n in range(10)]
    assert len(advice(many, many)) == MOST_ADVICE


def test_what_worked_in_the_end_is_kept_with_the_failure() -> None:
    commands = [
        ToolCommand("add", "jot add --text x", 2, "error"),
        ToolCommand("add", "jot add --help", 0),
        ToolCommand("list", "jot list", 0),
        ToolCommand("add", "jot add x --tag y", 0),
        ToolCommand("add", "jot add z", 2, "error"),
    ]
    first, last = interaction_of(commands, completed=True, per_subcommand=True).failed
    assert (first.worked, last.worked) == ("jot add x --tag y", None)
