"""The built-in agent: the agent loop, with a model or a recording of one, and a shell in the scenario's workspace."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from evalward.records.case import Case
from evalward.records.trace import Text, ToolCall, ToolUse, Trace, Turn, add_usage
from evalward.sandbox.base import Execution, FileType, SandboxError
from evalward.suites.base import TrialBrokenError
from evalward.suites.loop import ConversationSetup, Conversed, Deadline, LoopBounds, converse_within, keep, tool_text
from evalward.suites.scenario.recorded import (
    RECORDED_TOOL,
    SHELL_ARGUMENTS,
    SHELL_NAMES,
    RecordedWork,
    as_recorded,
    refuse_unrepeatable,
)
from evalward.suites.tool import ShellTool, ToolPrompting
from evalward.targets.agents.base import AgentJob, AgentPlace, AgentRun, Limit
from evalward.targets.base import BrokeOffError, Target, TrialSkippedError, in_batches

MOST_TURNS = 100
"""Turns of a trial where neither scenario nor suite bounds them."""
MOST_WORKING = 32
"""Trials under way together whose requests go in batches."""
SHELL = ("bash", "-c")

SYSTEM = """\
You are working in a bash shell through the tool `bash`, in the folder of a project. Do what the task asks. If there \
is an AGENTS.md, read it first: it says how things are done here. Each call is a new shell in the same folder: files \
stay, variables and functions don't. There is nobody to answer questions: decide yourself. When the task is done, say \
so in one sentence without another tool call."""

TOOL = ShellTool(arguments=SHELL_ARGUMENTS)


class _WorkShell:
    """The shell of one trial; no command outlives the trial's time."""

    def __init__(self, place: AgentPlace, env: Mapping[str, str], deadline: Deadline) -> None:
        self._place, self._env, self._deadline = place, env, deadline
        self.timed_out = False

    async def run(self, script: str) -> Execution:
        """Run a script in a shell of its own."""
        left = max(0.001, self._deadline.left_s)
        done = await self._place.run([*SHELL, script], env=self._env, timeout_s=left)
        self.timed_out = self.timed_out or done.timed_out
        note = f"{SHELL[0]}: ended, the time of the trial is up\n" if done.timed_out else ""
        note += f"{SHELL[0]}: {done.dropped_bytes} bytes of output dropped\n" if done.dropped_bytes else ""
        return Execution(done.stdout, done.stderr + note, done.exit_code, done.duration_ms)

    def file_type(self, path: str) -> FileType | None:  # noqa: ARG002 - files are the gates' affair
        """Nothing: the loop runs commands and looks at no files."""
        return None

    def read_file(self, path: str) -> bytes | None:  # noqa: ARG002
        """Nothing."""
        return None


class BuiltInAgent:
    """A target that one talks with, as an agent."""

    readable: Sequence[Path] = ()

    def __init__(
        self,
        target: Target,
        prompting: ToolPrompting,
        part: Callable[[Trace], Trace | None] = lambda recording: recording,
    ) -> None:
        """`part`: what of a recorded trial is repeated; where that is `None` nothing of it is."""
        self._target, self._prompting, self._part = target, prompting, part

    @property
    def id(self) -> str:
        """The target's."""
        return self._target.id

    @property
    def random(self) -> bool:
        """As the target."""
        return self._target.random

    @property
    def subject(self) -> Mapping[str, str]:
        """The target's; what it is told is the suite's."""
        return self._target.subject

    @property
    def priced(self) -> bool:
        """As the target."""
        return self._target.priced

    @property
    def missing_key(self) -> str | None:
        """As the target."""
        return self._target.missing_key

    @property
    def at_once(self) -> int | None:
        """As the target; but when a batch is answered all go on together, and their programs share this machine."""
        return min(self._target.at_once or MOST_WORKING, MOST_WORKING) if self.in_batches else self._target.at_once

    @property
    def in_batches(self) -> bool:
        """As the target."""
        return in_batches(self._target)

    def prepare(self) -> None:
        """As the target."""
        self._target.prepare()

    async def close(self) -> None:
        """As the target."""
        await self._target.close()

    async def work(self, case: Case, trial: int, job: AgentJob) -> AgentRun:
        """One conversation. Raises `TrialSkippedError`; `TrialBrokenError` and `BrokeOffError` with what happened."""
        if job.budget_usd is not None and not self._target.priced:
            raise TrialSkippedError("budget", f"the price of {self.id} is unknown, so cost.max_usd can't be kept")
        chat = self._target.open(case, trial)
        recording = chat.recording
        if recording is not None:
            recording = self._part(recording)
            if recording is None:
                raise TrialSkippedError("not_recorded", f"the recording of {self.id} has no such part of the trial")
            refuse_unrepeatable(recording)
            chat = RecordedWork(recording)
        deadline = Deadline(time.monotonic() + job.timeout_s)
        shell = _WorkShell(job.workspace, job.env, deadline)
        system = job.system or self._prompting.system
        asked = ConversationSetup(system, self._prompting.tool, TOOL if recording is None else RECORDED_TOOL)
        most = job.max_turns or MOST_TURNS
        bounds = LoopBounds(most, deadline, lambda turns: _spent(turns, job) is not None)
        if recording is not None:
            bounds = LoopBounds(len(recording.messages) + 1, deadline)
        try:
            done = await converse_within(chat, shell, asked, job.prompt, bounds)
        except TrialBrokenError as error:
            if isinstance(error.__cause__, SandboxError):  # whoever knows the workspace knows whether it was lost
                raise BrokeOffError(error.trace, error.__cause__) from error
            raise
        try:
            return self._ran(job, done, shell, recording, most)
        except Exception as error:
            raise BrokeOffError(done.trace, error) from error

    def _ran(self, job: AgentJob, done: Conversed, shell: _WorkShell, recording: Trace | None, most: int) -> AgentRun:
        timed_out = done.timed_out or shell.timed_out
        trace = keep(done.trace if recording is None else as_recorded(done.trace, recording))
        natural = trace.natural_stop and not timed_out
        return AgentRun(
            trace=trace.model_copy(update={"natural_stop": natural}),
            transcript=transcript_of(trace),
            exit_code=None if timed_out else 0 if natural else 1,
            timed_out=timed_out,
            limit=None if natural or timed_out or recording else _limit(trace, job, most),
            recording=recording,
        )


def _spent(turns: Sequence[Turn], job: AgentJob) -> Limit | None:
    usage = add_usage(turn.usage for turn in turns)
    if job.budget_usd is not None and (usage.cost_usd or 0.0) >= job.budget_usd:
        return "usd"
    tokens = (usage.total_input_tokens or 0) + (usage.output_tokens or 0)
    return "tokens" if job.budget_tokens is not None and tokens >= job.budget_tokens else None


def _limit(trace: Trace, job: AgentJob, most: int) -> Limit | None:
    return _spent(trace.turns, job) or ("turns" if len(trace.turns) >= most else None)


def transcript_of(trace: Trace) -> str:
    """What was said and run, in order, as people read it: `$ command`, its output, the model's words."""
    calls = list(trace.tool_calls)
    lines: list[str] = []
    for message in trace.messages:
        if message.role != "assistant":
            continue
        for block in message.content:
            if isinstance(block, Text) and block.text:
                lines.append(block.text)
            elif isinstance(block, ToolUse) and calls and block.name in SHELL_NAMES:
                lines += _call_lines(calls.pop(0))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _call_lines(call: ToolCall) -> list[str]:
    code = 0 if call.exit_code is None else call.exit_code
    return [f"$ {call.commands}", tool_text(Execution(call.stdout, call.stderr, code, call.duration_ms))]
