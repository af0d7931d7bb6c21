"""Recordings of agents, played again: every shell command that the agent ran, in a fresh copy of the fixture.

Agents have other names for their shell, say one thing in several messages, and have tools that look at files without
changing any. A recording whose agent changed files by other tools can't be repeated honestly and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.records.trace import Message, ToolCall, Trace, Turn
from evalward.suites.divergence import first_divergence
from evalward.suites.tool import ShellTool
from evalward.targets.base import Reply, Request, TrialSkippedError

SHELL_NAMES = ("bash", "Bash", "shell", "exec_command", "local_shell", "run_shell_command")
SHELL_ARGUMENTS = ("commands", "command", "script", "cmd")
WITHOUT_EFFECT = frozenset(
    {"Read", "Glob", "Grep", "LS", "TodoWrite", "TodoRead", "WebFetch", "WebSearch", "BashOutput", "Skill"}
    | {"read", "glob", "grep", "list", "todowrite", "todoread", "webfetch", "skill", "web_search", "todo_list"}
)
RECORDED_TOOL = ShellTool(SHELL_NAMES, SHELL_ARGUMENTS, WITHOUT_EFFECT)


class RecordedWork:
    """Sends the recorded messages to the last one, whatever the tool answers today."""

    def __init__(self, recording: Trace) -> None:
        self.recording: Trace | None = recording
        answers = [message for message in recording.messages if message.role == "assistant"]
        self._last = len(answers) - 1
        self._messages: Iterator[tuple[int, Message]] = iter(enumerate(answers))

    async def send(self, request: Request) -> Reply:  # noqa: ARG002 - a recording doesn't listen
        """The next message; only the last one ends the conversation."""
        place, message = next(self._messages, (self._last, Message(role="assistant", content=[])))
        ends = place == self._last
        return Reply(message, Turn(stop="end" if ends else "tool_use" if message.tool_uses else "pause"))


def as_recorded(today: Trace, recording: Trace) -> Trace:
    """Today's trace, with turns and tokens as they were recorded, at no cost, and the recorded agent's own end."""
    turns = [
        turn.model_copy(update={"usage": turn.usage.repeated, "wall_ms": 0, "working_ms": 0})
        for turn in recording.turns
    ]
    changes = {"turns": turns, "natural_stop": recording.natural_stop, "total": recording.total}
    return today.model_copy(update={**changes, "skills": recording.skills})


def parted(recorded: Sequence[ToolCall], today: Sequence[ToolCall]) -> int | None:
    """The number (from 1) of the first call that was answered otherwise; `None` when all are alike.

    Agents tell standard output and error as one text, and some no exit code: what nobody told can't differ.
    """
    comparable = [
        _as_one(call).model_copy(update={"exit_code": now.exit_code if call.exit_code is None else call.exit_code})
        for call, now in zip(recorded, today, strict=False)
    ]
    return first_divergence([*comparable, *recorded[len(comparable) :]], [_as_one(call) for call in today])


def _as_one(call: ToolCall) -> ToolCall:
    output = "\n".join(part.strip() for part in (call.stdout, call.stderr) if part.strip())
    return call.model_copy(update={"stdout": output, "stderr": ""})


def refuse_unrepeatable(recording: Trace) -> None:
    """Raises `TrialSkippedError` where the recorded agent may have changed files by other means than its shell."""
    uses = [use.name for message in recording.messages for use in message.tool_uses]
    other = next((name for name in uses if name not in SHELL_NAMES and name not in WITHOUT_EFFECT), None)
    if other is not None:
        why = f"the recorded agent used its tool {other!r}, which can't be repeated: only shell commands are run again"
        raise TrialSkippedError("not_replayable", why)
