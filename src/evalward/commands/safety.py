"""`evalward safety`: how dangerous shell commands are, and why, without running them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evalward.commands.emitting import emit
from evalward.commands.world import World
from evalward.records.base import clean_text
from evalward.records.exits import EXIT_FAILED, EXIT_OK
from evalward.render.console import Screen
from evalward.render.escape import one_line
from evalward.safety import VERSION, Assessment, SafetyLevel, allowed, assess

SHOWN = 200  # characters of a command, and of the words that a finding is about
_COLOURS = {"safe": "green", "moderate": "yellow", "high": "red", "critical": "red"}


@dataclass(frozen=True)
class SafetyOptions:
    """What `safety` was asked. `level`: what is allowed, `None` where the exit code shall not depend on it."""

    commands: Sequence[str]
    level: SafetyLevel | None = None
    format: Literal["terminal", "json"] = "terminal"


def safety(world: World, options: SafetyOptions) -> int:
    """0; with a level 1 where it forbids one of the commands."""
    assessed = [(command, assess(command)) for command in options.commands]
    screen = Screen(world.colour(world.out), world.width)
    for command, assessment in assessed:
        if options.format == "json":
            line = _line(command, assessment, options.level)
        else:
            line = _text(command, assessment, screen)
        emit(world, line, None)
    level = options.level
    forbidden = level is not None and not all(allowed(assessment, level) for _, assessment in assessed)
    return EXIT_FAILED if forbidden else EXIT_OK


def _text(command: str, assessment: Assessment, screen: Screen) -> str:
    risk = screen.paint(f"{assessment.level!s:<8}", _COLOURS[str(assessment.level)])
    lines = [f"{risk}  {one_line(command, SHOWN)}"]
    lines += [
        f"          {finding.rule}: {one_line(finding.message, SHOWN)} ({one_line(finding.words, SHOWN)})"
        for finding in assessment.findings
    ]
    return "\n".join(lines)


def _line(command: str, assessment: Assessment, level: SafetyLevel | None) -> str:
    """One JSON object per command, on one line."""
    found = {
        "command": clean_text(command),
        "risk": str(assessment.level),
        "parsed": assessment.parsed,
        "findings": [
            {
                "rule": finding.rule,
                "risk": str(finding.level),
                "message": clean_text(finding.message),
                "words": clean_text(finding.words),
            }
            for finding in assessment.findings
        ],
        "validator": VERSION,
    }
    if level is not None:
        found["allowed"] = allowed(assessment, level)
    return json.dumps(found, ensure_ascii=True)
