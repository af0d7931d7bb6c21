"""One trial as people read it: what was asked, what was said and called, what it cost. Plain text, not yet escaped.

The terminal and the HTML page show it in the same order; both take it from here.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from evalward.records.baseline import BaselineRun
from evalward.records.pairing import PairedBlock, PairedMessage, paired
from evalward.records.report import Run
from evalward.records.result import NOT_RUN, CheckResult, Result, Status, Trial
from evalward.records.sections import TrialSection
from evalward.records.texts import SYSTEM, TOOL_PROMPT
from evalward.records.trace import Opaque, Role, ToolCall, ToolResult, ToolUse, Trace, Usage
from evalward.render.kept import Sources
from evalward.render.numbers import format_count

Voice = Literal["system", "tool", "user", "assistant", "thinking"]
"""Whose words: the system prompt, the tool's description, the task, the model's, its thinking where it was kept."""


class Said(Struct, frozen=True):
    """Words in a conversation."""

    voice: Voice
    text: str


class Called(Struct, frozen=True):
    """A tool call and what it gave. `exit_code` and `duration_ms` are `None` where they aren't known.

    `cut`: characters that weren't kept. `ran` is false where nothing was executed. `answer` is what the model read,
    where the trace has no output apart from it.
    """

    tool: str
    command: str
    stdout: str = ""
    stderr: str = ""
    answer: str = ""
    exit_code: int | None = None
    duration_ms: int | None = None
    cut: int = 0
    ran: bool = True


class TurnEnd(Struct, frozen=True):
    """The end of one round trip to the model: which one, what it used, why it stopped, how long it took."""

    number: int
    usage: Usage
    stop: str
    model: str | None
    wall_ms: int


Step = Said | Called | TurnEnd


class TrialView(Struct, frozen=True):
    """One trial. `missing` says why there is no conversation to show; `before`: of the baseline's side."""

    suite: str
    target: str
    case: str
    category: str
    trial: int
    status: Status
    score: str
    reason: str
    message: str
    checks: list[CheckResult]
    usage: Usage
    judge_usage: Usage | None
    duration_ms: int
    steps: list[Step] = field(default_factory=list)
    sections: list[TrialSection] = field(default_factory=list)
    missing: str = ""
    before: bool = False


def trial_view(
    run: Run | BaselineRun,
    result: Result,
    trial: Trial | None,
    texts: Mapping[str, str],
    *,
    sections: Sequence[TrialSection] = (),
    before: bool = False,
) -> TrialView:
    """What people see of a trial: `trial` is its file, `None` where there is none. `texts` are what hashes stand for.

    `sections` are what its kind shows beside that; `before`: it is the baseline's side.
    """
    own = trial if trial is not None and trial.result.id == result.id else None
    return TrialView(
        suite=run.suite,
        target=run.target,
        case=result.id,
        category=result.category,
        trial=result.trial,
        status=result.status,
        score=f"{format_count(result.score)}/{format_count(result.max_score)}" if result.max_score else "",
        reason=result.reason or "",
        message=result.message or "",
        checks=result.checks,
        usage=result.usage,
        judge_usage=result.judge_usage,
        duration_ms=result.duration_ms,
        steps=[*told_by(run, texts), *_steps(own.trace)] if own else [],
        sections=list(sections),
        missing="" if own else _why_missing(result, trial),
        before=before,
    )


def view_of(sources: Sources, run: Run, result: Result, *, before: bool = False) -> TrialView:
    """The same, with its file, its kind and its texts looked up where the run comes from."""
    kept = sources.kept_before if before else sources.kept
    kind = sources.kinds.get(run.kind)
    folder = result.details.files_kept
    files = kept.files(folder) if folder else []
    sections = kind.trial_sections(result, files) if kind else files
    trial = kept.trial(result.trace) if result.trace else None
    return trial_view(run, result, trial, sources.texts(), sections=sections, before=before)


def _why_missing(result: Result, other: Trial | None) -> str:
    if other is not None:
        return f"The file {result.trace} is another case's."
    if result.trace:
        return f"The file {result.trace} is not there, or can't be read."
    if result.status is Status.SKIPPED or result.reason == NOT_RUN:
        return "Nothing was run."
    return "The report names no file of this trial."


def told_by(run: Run | BaselineRun, texts: Mapping[str, str]) -> Iterator[Said]:
    """What the model reads beside the task, where it was kept."""
    for part, voice in _TOLD.items():
        text = texts.get(run.subject.parts.get(part, ""))
        if text:
            yield Said(voice, text)


_TOLD: dict[str, Voice] = {SYSTEM: "system", TOOL_PROMPT: "tool"}


def _steps(trace: Trace) -> Iterator[Step]:
    turns = _Turns(trace)
    answers = _Answers(trace)
    for message in paired(trace):
        for part in message.parts:
            yield from _step(message.role, part, answers)
        if message.role == "assistant":
            yield from turns.after(message)
    yield from turns.rest()


def _step(role: Role | None, part: PairedBlock, answers: _Answers) -> Iterator[Step]:
    block, call = part.block, part.call
    name = block.name if isinstance(block, ToolUse) else ""
    if call is not None:
        if isinstance(block, ToolUse):
            answers.of(block)
        yield _called(call, name)
    elif isinstance(block, ToolUse):
        yield Called(tool=name, command=_input(block.input), answer=answers.of(block))
    elif isinstance(block, ToolResult):
        if not answers.expected(block):
            yield Called(tool="", command="", answer=block.content)
    elif isinstance(block, Opaque):
        yield Said("thinking", thinking_of(block))
    elif block is not None and block.text:
        yield Said("user" if role == "user" else "assistant", block.text)


def _called(call: ToolCall, tool: str) -> Called:
    return Called(
        tool=tool,
        command=call.commands,
        stdout=call.stdout,
        stderr=call.stderr,
        exit_code=call.exit_code,
        duration_ms=call.duration_ms or None,  # nobody measures agents' calls: 0 says nothing
        cut=call.cut,
        ran=call.ran,
    )


def _input(value: Any) -> str:
    """What a model sent to a tool, as people read it: its only text, or all of it."""
    if isinstance(value, dict) and len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str):
            return only
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


class _Answers:
    """What tool uses gave, by their ids. An id that comes twice answers in order."""

    def __init__(self, trace: Trace) -> None:
        self._uses = {use.id for message in trace.messages for use in message.tool_uses}
        self._answers: dict[str, deque[str]] = defaultdict(deque)
        for message in trace.messages:
            for block in message.content:
                if isinstance(block, ToolResult):
                    self._answers[block.tool_use_id].append(block.content)

    def expected(self, result: ToolResult) -> bool:
        """Whether it belongs to a tool use, so that it is shown there."""
        return result.tool_use_id in self._uses

    def of(self, use: ToolUse) -> str:
        """What the model read after a tool use; empty where nothing is known."""
        found = self._answers.get(use.id)
        return found.popleft() if found else ""


class _Turns:
    """The ends of round trips. Where there are as many as messages of the model, or as messages that use a tool, each
    follows its own; else all come last.
    """

    def __init__(self, trace: Trace) -> None:
        said = [message for message in trace.messages if message.role == "assistant"]
        using = sum(bool(message.tool_uses) for message in said)
        ends = [
            TurnEnd(number, turn.usage, turn.stop, turn.model, turn.wall_ms)
            for number, turn in enumerate(trace.turns, 1)
        ]
        each = len(ends) - len(said) in {0, 1}  # the last one may have broken before it said anything
        self._of_uses = not each and len(ends) == using
        matched = len(said) if each else using if self._of_uses else 0
        self._matched, self._rest = iter(ends[:matched]), ends[matched:]

    def after(self, message: PairedMessage) -> Iterator[TurnEnd]:
        """The end of a message of the model, where it is known."""
        if self._of_uses and not any(isinstance(part.block, ToolUse) for part in message.parts):
            return
        found = next(self._matched, None)
        if found is not None:
            yield found

    def rest(self) -> list[TurnEnd]:
        """The ends that belong to no message."""
        return self._rest


UNREADABLE_THINKING = "(The provider doesn't show this reasoning.)"


def thinking_of(block: Opaque) -> str:
    """The text of a provider's own block, where it has one that people can read; else a sentence that says so.

    `thinking` is a text, `summary` and `content` are lists of texts: each as far as a provider sends it.
    """
    data = block.data
    if not isinstance(data, Mapping):
        return UNREADABLE_THINKING
    kind = data.get("type")
    if isinstance(kind, str) and not _REASONING.search(kind):
        return f"({kind}: a block of the provider's own)"
    texts = [data.get("thinking"), *(_text(part) for name in ("summary", "content") for part in _list(data.get(name)))]
    return "\n\n".join(text for text in texts if isinstance(text, str) and text.strip()) or UNREADABLE_THINKING


_REASONING = re.compile("think|reason")


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _text(part: Any) -> Any:
    return part.get("text") if isinstance(part, Mapping) else None
