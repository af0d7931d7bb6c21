"""What editors know of case files: one case is a line of JSONL, several are the list of a YAML file."""

from __future__ import annotations

from pydantic import TypeAdapter

from evalward.suites.command.case import CommandTask

CASES: TypeAdapter[CommandTask | list[CommandTask]] = TypeAdapter(CommandTask | list[CommandTask])
