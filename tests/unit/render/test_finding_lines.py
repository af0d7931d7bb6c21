"""What commands said stands on lines of its own, bounded, and not inside a sentence."""

from __future__ import annotations

from evalward.records.report import Finding
from evalward.render.console import Screen
from evalward.render.findings import COMMAND_LENGTH, MOST_COMMANDS, finding_line, numbers_and_commands
from evalward.render.templates import render
from evalward.render.terminal_parts import say_finding

EVIDENCE = "errors 50%; $ shelf move map → 4: shelf: E17; $ shelf add → 2: usage: shelf add NAME; and more"


def found(evidence: str) -> Finding:
    return Finding(id="x", level="warning", message="Many errors", evidence=evidence, threshold="> 25%", advice="Look.")


def test_evidence_is_numbers_and_commands() -> None:
    assert numbers_and_commands(EVIDENCE) == (
        "errors 50%",
        ["$ shelf move map → 4: shelf: E17", "$ shelf add → 2: usage: shelf add NAME; and more"],
    )
    assert numbers_and_commands("3 of 4 trials, $ is money") == ("3 of 4 trials, $ is money", [])
    assert numbers_and_commands("$ only → 1") == ("", ["$ only → 1"])


def test_commands_are_few_and_short() -> None:
    _, commands = numbers_and_commands("; ".join(["n", *("$ " + "y" * 1000 for _ in range(50))]))
    assert len(commands) == MOST_COMMANDS
    assert max(map(len, commands)) <= COMMAND_LENGTH + 1


def test_terminal__a_line_for_each_command() -> None:
    screen = Screen(colour=False, width=80)
    say_finding(screen, finding_line(found(EVIDENCE)), 0)
    assert screen.lines == [
        "! Many errors (errors 50%, threshold > 25%)",
        "    $ shelf move map → 4: shelf: E17",
        "    $ shelf add → 2: usage: shelf add NAME; and more",
        "  → Look.",
    ]


def test_markdown__a_line_for_each_command() -> None:
    text = render("findings.md.j2", findings=[finding_line(found(EVIDENCE))])
    assert "- ⚠️ Many errors (errors 50%, threshold &gt; 25%)" in text
    assert "\n  - `$ shelf move map → 4: shelf: E17`\n" in text
    assert text.count("\n  - `$ ") == 2
