"""The commands among the tool calls of other harnesses' conversations."""

from __future__ import annotations

from typing import Any

_SHELLS = frozenset({"bash", "bash_session", "shell", "exec", "execute", "run_command", "Bash"})
_ARGUMENTS = ("cmd", "command", "commands", "input")
"""Of a shell's tool: those that hold what it runs."""
MOST_TEXT = 1 << 20
"""Characters of one text of a conversation."""


def command_of(tool: str, arguments: Any) -> str | None:
    """What a call of a tool runs in a shell; `None` for other tools."""
    if tool not in _SHELLS or not isinstance(arguments, dict):
        return None
    found = next((arguments[key] for key in _ARGUMENTS if isinstance(arguments.get(key), str)), None)
    return found[:MOST_TEXT] if found is not None else None
