"""Trials that are kept in memory, as an output folder has them on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalward.records.result import Result, Trial
from evalward.records.sections import FileText
from evalward.records.trace import Message, Text, ToolCall, ToolResult, ToolUse, Trace, Turn, Usage


@dataclass
class KeptHere:
    """Trials by their path; `asked` are the paths that were read."""

    trials: Mapping[str, Trial]
    asked: list[str] = field(default_factory=list)

    def trial(self, path: str) -> Trial | None:
        self.asked.append(path)
        return self.trials.get(path)

    def files(self, folder: str) -> Sequence[FileText]:
        return []


def conversation(prompt: str, command: str, stdout: str, answer: str = "Done.", stderr: str = "") -> Trace:
    """One call and an answer."""
    call = ToolCall(commands=command, stdout=stdout, stderr=stderr, exit_code=1 if stderr else 0, duration_ms=12)
    usage = Usage(input_tokens=100, output_tokens=10, cost_usd=0.01)
    return Trace(
        messages=[
            Message(role="user", content=[Text(text=prompt)]),
            Message(role="assistant", content=[ToolUse(id="1", name="bash", input={"commands": command})]),
            Message(role="tool_result", content=[ToolResult(tool_use_id="1", content=stdout)]),
            Message(role="assistant", content=[Text(text=answer)]),
        ],
        tool_calls=[call],
        turns=[Turn(usage=usage, stop="tool_use", wall_ms=900), Turn(usage=usage, wall_ms=400)],
    )


def kept(results: Sequence[Result], trace: Trace) -> KeptHere:
    """The files that results name, all with the same conversation."""
    return KeptHere({str(each.trace): _trial(each, trace) for each in results})


def _trial(result: Result, trace: Trace) -> Trial:
    return Trial(suite="bash-tools", kind="bash", target="replay:haiku", subject="s", result=result, trace=trace)
