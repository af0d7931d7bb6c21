"""Layer 1 from transcripts: the worked examples. Their numbers are guesses, and that is known."""

from __future__ import annotations

import pytest

from evalward.suites.re2_pattern import compiled
from evalward.suites.scenario.details import Interaction
from evalward.suites.scenario.interaction import interaction_of
from evalward.suites.scenario.patterns import (
    AnyToolInTranscript,
    BinaryInTranscript,
    LinePattern,
    WrittenPattern,
    transcript_pattern,
)
from evalward.suites.scenario.transcript import exit_code_of, transcript_commands

GENERIC = AnyToolInTranscript()
CREATE = "taskmgr create --title 'One'"

# name, pattern, transcript, (total, unique, errors, repeats, help), (error, retry, first try, iteration), after failure
EXAMPLES: list[tuple[str, LinePattern, str, tuple[int, ...], tuple[float, ...], int]] = [
    ("A2", GENERIC, "taskmgr create --title 'Milk'", (1, 1, 0, 0, 0), (0, 0, 1, 1), 0),
    (
        "A3",
        GENERIC,
        f"{CREATE}\ntaskmgr create --title 'Two'\ntaskmgr list",
        (3, 2, 0, 1, 0),
        (0, 1 / 3, 2 / 3, 2 / 3),
        0,
    ),
    ("A4", GENERIC, f"{CREATE}\nError: no such list\n{CREATE}", (2, 1, 1, 1, 0), (1 / 2, 1 / 2, 0, 1 / 2), 1),
    (
        "A5",
        GENERIC,
        f"taskmgr --help\n{CREATE}\ntaskmgr list --help",
        (3, 2, 0, 1, 2),
        (0, 1 / 3, 2 / 3, 2 / 3),
        0,
    ),
    (
        "A6",
        GENERIC,
        "taskmgr create\n" * 3 + "taskmgr list\n" * 2,
        (5, 2, 0, 3, 0),
        (0, 3 / 5, 2 / 5, 2 / 5),
        0,
    ),
    (
        "A7",
        GENERIC,
        "taskmgr create\nexit code: 0\ntaskmgr delete\nExit Status: 127\ntaskmgr search\nexit code 255",
        (3, 3, 2, 0, 0),
        (2 / 3, 0, 1 / 3, 1),
        0,
    ),
    ("A9", GENERIC, "taskmgr check\n0 errors found", (1, 1, 1, 0, 0), (1, 0, 0, 1), 0),
    (
        "A11",
        GENERIC,
        "taskmgr create\nexit code: 1\ntaskmgr list\nexit code: 0\ntaskmgr create\nexit code: 0",
        (3, 2, 1, 1, 0),
        (1 / 3, 1 / 3, 1 / 3, 2 / 3),
        1,
    ),
    (
        "A13",
        WrittenPattern(r"my-tool\s+(\S+)"),
        "my-tool exit\nexit code: 0\nmy-tool list\nexit code: 0",
        (2, 2, 0, 0, 0),
        (0, 0, 1, 1),
        0,
    ),
    (
        "A15",
        BinaryInTranscript("mytool"),
        "mytool create\nmytool list\nothertool list",
        (2, 2, 0, 0, 0),
        (0, 0, 1, 1),
        0,
    ),
]


def measured(text: str, pattern: LinePattern) -> Interaction:
    commands = transcript_commands(text, pattern)
    return interaction_of(commands, completed=True, per_subcommand=pattern.has_subcommands)


@pytest.mark.parametrize(
    ("name", "pattern", "text", "counts", "rates", "after"), EXAMPLES, ids=[e[0] for e in EXAMPLES]
)
def test_worked_examples(  # noqa: PLR0917 - a table
    name: str, pattern: LinePattern, text: str, counts: tuple[int, ...], rates: tuple[float, ...], after: int
) -> None:
    found = measured(text, pattern)
    assert (
        found.total_commands,
        found.unique_commands,
        found.error_count,
        found.retry_count,
        found.help_invocations,
    ) == counts
    known = (found.error_rate, found.retry_rate, found.first_try_success_rate, found.iteration_ratio)
    assert known == pytest.approx(rates)
    assert found.retries_after_failure == after
    assert found.commands_per_unique == counts[0] / counts[1]


def test_a1__nothing_gives_no_rates() -> None:
    found = measured("", GENERIC)
    assert (found.total_commands, set(found.rates().values())) == (0, {None})


def test_a7__the_exit_codes() -> None:
    text = next(example[2] for example in EXAMPLES if example[0] == "A7")
    assert [command.exit_code for command in transcript_commands(text, GENERIC)] == [0, 127, 255]


def test_a17__an_invalid_pattern_is_told() -> None:
    with pytest.raises(ValueError, match="not an RE2 pattern"):
        compiled("(")


def test_the_window_ends_at_the_next_command_however_far_away() -> None:
    text = "taskmgr create\n" + "Fine\n" * 100 + "exit code: 3\ntaskmgr list\nexit code: 7"
    assert [command.exit_code for command in transcript_commands(text, GENERIC)] == [3, 7]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("", 0),
        ("exit status 4", 4),
        ("EXIT CODE: 9", 9),
        ("exit code -1", -1),
        ("exit code 99999999999999", -1),
        ("exit code 3000000000", -1),
        ("no exit code was given", 1),
        ("ended non-zero", 1),
        ("it Failed", 1),
        ("done", 0),
    ],
)
def test_exit_codes_that_a_text_suggests(said: str, code: int) -> None:
    assert exit_code_of(said) == code


def test_colours_and_carriage_returns_are_no_hindrance() -> None:
    text = "\x1b[32mtaskmgr create\x1b[0m\r\nexit code: 2\r\n\x1b]0;title\x07taskmgr list\r\n"
    assert [(c.identity, c.exit_code) for c in transcript_commands(text, GENERIC)] == [("create", 2), ("list", 0)]


def test_the_generic_default_holds_only_where_no_target_is_known() -> None:
    assert transcript_pattern(None, " ") == GENERIC
    assert transcript_pattern("todo", None) == BinaryInTranscript("todo")
    assert transcript_pattern("todo", "x") == WrittenPattern("x")


def test_several_commands_in_a_line__dont_share_what_the_text_suggests() -> None:
    pattern = WrittenPattern(r"todo (\w+)")
    lines = "$ todo bad; todo hello\nexit code: 0\n$ todo a && todo b\nok"
    assert [command.exit_code for command in transcript_commands(lines, pattern)] == [None, 0, 0, 0]
