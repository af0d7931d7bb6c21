"""The agent loop: ask the model, run the tool calls it makes, show it what they gave, until it stops."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from evalward.records.base import clean_text, why_of
from evalward.records.result import Status
from evalward.records.trace import Block, Message, Text, ToolCall, ToolResult, ToolUse, Trace, Turn
from evalward.sandbox.base import Execution, SandboxError, Shell, cut
from evalward.suites.base import TrialBrokenError
from evalward.suites.tool import BASH_TOOL, ShellTool
from evalward.targets.base import (
    BrokeOffError,
    Chat,
    ConversationPart,
    NoAnswerError,
    Reply,
    Request,
    ToolSpec,
    TrialSkippedError,
    in_batches,
)
from evalward.targets.failures import Cause, TargetError

NO_GOING_ON = {"end", "refusal", "content_filter", "context_length"}  # whatever else the turn holds
USAGE_ERROR = 2  # the exit code of a call that could not be run at all, as a shell's own usage errors have

NOT_AGAIN = "(not done again)"  # what a recorded use of a tool without effects is told
MAX_NESTING = 100  # of a tool use's arguments: pydantic writes no more than 255 levels, the trace's own included


@dataclass
class Deadline:
    """When a trial's time is up, in seconds of `time.monotonic`. A wait for a batch puts it off."""

    until: float

    @property
    def left_s(self) -> float:
        """Seconds that are left; 0 or less when the time is up."""
        return self.until - time.monotonic()


@dataclass
class Conversation:
    """What has happened so far in a trial. The only thing in the loop that changes.

    `batches_s`: seconds of waiting for batches, which no clock of the trial counts.
    """

    messages: list[Message]
    calls: list[ToolCall] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    natural_stop: bool = False
    timed_out: bool = False
    batches_s: float = 0.0


@dataclass(frozen=True)
class LoopBounds:
    """What ends a conversation beside the model itself: turns, time, and what was spent.

    The time bounds waiting for the model; how long a command may take is its shell's affair. `spent` is asked after
    each turn whether the turns so far have used up what they may.
    """

    max_turns: int
    deadline: Deadline | None = None
    spent: Callable[[Sequence[Turn]], bool] | None = None


@dataclass(frozen=True)
class Conversed:
    """A conversation that has ended. `timed_out`: because its time was up."""

    trace: Trace
    timed_out: bool = False


@dataclass(frozen=True)
class UsedTool:
    """What came of a model's use of a tool: what it reads, and what was executed. `over`: nothing more can be used."""

    result: ToolResult
    call: ToolCall | None = None
    over: bool = False


class Toolbox(Protocol):
    """The tools of one conversation."""

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """What the model is offered."""
        ...

    async def use(self, use: ToolUse) -> UsedTool:
        """Execute a use of any tool, whatever the model sent. Raises `SandboxError` when the sandbox breaks."""
        ...

    async def broken(self, trace: Trace, error: SandboxError) -> TrialBrokenError | BrokeOffError:
        """What such an error means for the trial."""
        ...


async def converse(chat: Chat, shell: Shell, *, system: str, tool: ToolSpec, prompt: str, max_turns: int) -> Trace:
    """Run one conversation to its end: the model's own stop, or `max_turns` round trips. As `converse_within`."""
    done = await converse_within(chat, shell, ConversationSetup(system, tool), prompt, LoopBounds(max_turns))
    return done.trace


async def broken_shell(shell: Shell, trace: Trace, error: SandboxError) -> TrialBrokenError | BrokeOffError:
    """What a broken shell means: where it knows that its sandbox still stands, the scripts have broken it."""
    lost = getattr(shell, "lost", None)
    if lost is not None and not await lost():
        return BrokeOffError(trace, error)
    return TrialBrokenError(trace, Cause.SANDBOX, str(error), begun=True)


@dataclass(frozen=True)
class ConversationSetup:
    """What stays the same over a conversation. `form` is how a use of the tool is recognised and read."""

    system: str
    tool: ToolSpec
    form: ShellTool = BASH_TOOL


async def converse_within(
    chat: Chat, shell: Shell, asked: ConversationSetup, prompt: str, bounds: LoopBounds
) -> Conversed:
    """Run one conversation with a shell as its tool. As `converse_with`."""
    return await converse_with(chat, ShellTools(shell, asked), asked.system, prompt, bounds)


async def converse_with(chat: Chat, toolbox: Toolbox, system: str, prompt: str, bounds: LoopBounds) -> Conversed:
    """Run one conversation to its end: the model's own stop, or its bounds.

    The trace's calls hold the whole output, for the checks; `keep` cuts it for the file. Raises `TrialBrokenError`,
    with the trace so far, when target or sandbox break, and `BrokeOffError` when what the model said can't be read.
    """
    started = time.monotonic()
    talk = Conversation([Message(role="user", content=[Text(text=prompt)])])
    try:
        await _converse(talk, chat, toolbox, system, bounds)
    except TargetError as error:
        trace = _trace(talk, chat, started)
        if error.rule.counted is Status.FAILED:
            raise BrokeOffError(trace, error) from error
        raise TrialBrokenError(trace, error.cause, error.message, stops_run=error.rule.stops_run) from error
    except SandboxError as error:
        raise await toolbox.broken(_trace(talk, chat, started), error) from error
    except TrialSkippedError:
        raise
    except Exception as error:  # what a model says must not be able to break off its trial
        raise BrokeOffError(_trace(talk, chat, started), error) from error
    return Conversed(_trace(talk, chat, started), talk.timed_out)


async def _converse(talk: Conversation, chat: Chat, toolbox: Toolbox, system: str, bounds: LoopBounds) -> None:
    while len(talk.turns) < bounds.max_turns:
        part = _part(len(talk.turns), bounds.max_turns)
        request = Request(system, tuple(talk.messages), tuple(toolbox.tools), part=part)
        sent = await _sent(talk, chat, request, bounds)
        if sent is None:
            return
        reply = Reply(writable(sent.message), sent.turn)
        talk.turns.append(reply.turn)
        talk.messages.append(reply.message)
        used = [await _used(use, toolbox, talk) for use in reply.message.tool_uses]
        if used:
            talk.messages.append(Message(role="tool_result", content=[each.result for each in used]))
        if any(each.over for each in used):
            return
        if _is_over(reply):
            talk.natural_stop = reply.turn.stop in {"end", "tool_use"}
            return
        if bounds.spent is not None and bounds.spent(talk.turns):
            return


async def _used(use: ToolUse, toolbox: Toolbox, talk: Conversation) -> UsedTool:
    used = await toolbox.use(use)
    if used.call is not None:
        talk.calls.append(used.call)
    return used


async def _sent(talk: Conversation, chat: Chat, request: Request, bounds: LoopBounds) -> Reply | None:
    """The model's next answer; `None` when the time is up. What an answer that nobody waited for costs is unknown."""
    left = None if bounds.deadline is None else bounds.deadline.left_s
    if left is not None and left <= 0:
        talk.timed_out = True
        return None
    if in_batches(chat):
        return await _when_batched(talk, chat, request, bounds)
    waiting = asyncio.timeout(left)
    try:
        async with waiting:
            return await _reply(chat, request)
    except TimeoutError as error:
        if not waiting.expired():
            raise TargetError(Cause.OURS, why_of(error), target="") from error
        talk.timed_out = True
        talk.turns.append(Turn(stop="other"))
        return None


async def _when_batched(talk: Conversation, chat: Chat, request: Request, bounds: LoopBounds) -> Reply:
    """The answer, however long it takes: of that, only what the model itself took is the trial's time."""
    began = time.monotonic()
    worked_s = 0.0
    try:
        reply = await _reply(chat, request)
        worked_s = reply.turn.wall_ms / 1000
        return reply
    finally:
        waited = max(0.0, time.monotonic() - began - worked_s)
        talk.batches_s += waited
        if bounds.deadline is not None:
            bounds.deadline.until += waited


def _part(turn: int, max_turns: int) -> ConversationPart:
    """Which part of the conversation turn `turn` (from 0) asks for."""
    if turn + 1 < max_turns:
        return "more"
    return "last" if turn else "alone"


async def _reply(chat: Chat, request: Request) -> Reply:
    """The answer. What a chat raises beyond its contract is no doing of the model's: that has said nothing yet."""
    try:
        return await chat.send(request)
    except (TargetError, NoAnswerError, SandboxError, TrialSkippedError, TimeoutError):
        raise
    except Exception as error:
        raise TargetError(Cause.OURS, why_of(error), target="") from error


def _trace(talk: Conversation, chat: Chat, started: float) -> Trace:
    waited = sum(turn.wall_ms - turn.working_ms for turn in talk.turns)
    elapsed = round((time.monotonic() - started - talk.batches_s) * 1000)
    return Trace(
        messages=talk.messages,
        tool_calls=talk.calls,
        turns=talk.turns,
        natural_stop=talk.natural_stop,
        duration_ms=elapsed,
        working_ms=max(0, elapsed - waited),
        total=chat.recording.total if chat.recording else None,
    )


def writable(message: Message) -> Message:
    """The message as a file can hold it; itself where nothing is wrong with it."""
    blocks = [_writable_block(block) for block in message.content]
    return message if blocks == message.content else message.model_copy(update={"content": blocks})


def _writable_block(block: Block) -> Block:
    """The block with lone surrogates replaced, and without arguments that are nested too deeply."""
    if isinstance(block, ToolUse) and _deeper(block.input, MAX_NESTING):
        block = block.model_copy(update={"input": None})
    text = json.dumps(block.model_dump(), ensure_ascii=False)
    clean = clean_text(text)
    return block if clean == text else type(block).model_validate_json(clean)


def _deeper(value: Any, limit: int) -> bool:
    if limit == 0:
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_deeper(item, limit - 1) for item in inner)


def _is_over(reply: Reply) -> bool:
    """A stop token ends the loop even beside tool uses; so does a turn without any, unless the provider paused it.

    An empty answer stays in the trace, as a message without content; what goes to a provider leaves it out.
    """
    return reply.turn.stop in NO_GOING_ON or (not reply.message.tool_uses and reply.turn.stop != "pause")


class ShellTools:
    """A shell as the only tool. See `Toolbox`."""

    def __init__(self, shell: Shell, asked: ConversationSetup) -> None:
        self._shell, self._form, self.tools = shell, asked.form, (asked.tool,)

    async def use(self, use: ToolUse) -> UsedTool:
        """Run the script of a use; one that can't be run is told why."""
        if use.name in self._form.passed_over:
            return UsedTool(ToolResult(tool_use_id=use.id, content=NOT_AGAIN))
        script = script_of(use, self._form)
        if isinstance(script, Unusable):
            call = ToolCall(commands=script.shown, stderr=script.why, exit_code=USAGE_ERROR, ran=False)
            return UsedTool(ToolResult(tool_use_id=use.id, content=script.why, is_error=True), call)
        execution = await self._shell.run(script)
        call = ToolCall(
            commands=script,
            stdout=execution.stdout,
            stderr=execution.stderr,
            exit_code=execution.exit_code,
            duration_ms=execution.duration_ms,
        )
        failed = execution.exit_code != 0
        return UsedTool(ToolResult(tool_use_id=use.id, content=tool_text(execution), is_error=failed), call)

    async def broken(self, trace: Trace, error: SandboxError) -> TrialBrokenError | BrokeOffError:
        """The scripts have broken it, where its sandbox still stands."""
        return await broken_shell(self._shell, trace, error)


@dataclass(frozen=True)
class Unusable:
    """A tool use that can't be run: what the model sent, and what it is told."""

    shown: str
    why: str


def script_of(use: ToolUse, form: ShellTool = BASH_TOOL) -> str | Unusable:
    """The script of a tool use: its `commands` or `script`; otherwise why there is none, in words that help."""
    if use.name not in form.names:
        known = repr(form.names[0])
        return Unusable(str(use.name), f"There is no tool {use.name!r}. The only tool is {known}.")
    arguments: Any = use.input
    if not isinstance(arguments, dict):
        return Unusable(str(arguments), 'The arguments are no JSON object. Send {"commands": "…"}.')
    given = next((arguments[key] for key in form.arguments if key in arguments), None)
    if not isinstance(given, str):
        return Unusable(str(arguments), 'The arguments lack the text `commands`. Send {"commands": "…"}.')
    return given


def tool_text(execution: Execution) -> str:
    """What the model reads after a call: stdout, `STDERR: …` if any, `Exit code: N` if not 0, else `(no output)`."""
    parts = [cut(execution.stdout)] if execution.stdout else []
    if execution.stderr:
        parts.append(f"STDERR: {cut(execution.stderr)}")
    if execution.exit_code != 0:
        parts.append(f"Exit code: {execution.exit_code}")
    return "\n".join(parts) or "(no output)"


def keep(trace: Trace) -> Trace:
    """The trace as it is written down: long output cut, with the number of characters that were left out."""
    return trace.model_copy(update={"tool_calls": [_cut_call(call) for call in trace.tool_calls]})


def _cut_call(call: ToolCall) -> ToolCall:
    stdout, stderr = cut(call.stdout), cut(call.stderr)
    left_out = len(call.stdout) - len(stdout) + len(call.stderr) - len(stderr)
    return call.model_copy(update={"stdout": stdout, "stderr": stderr, "cut": left_out}) if left_out else call
