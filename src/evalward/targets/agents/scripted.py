"""Agents that need nobody: a script per case (`scripted:NAME`), the case's own solution (`oracle`), nothing (`nop`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import Field, ValidationError

from evalward.config.yaml_positions import YamlError, read_yaml
from evalward.opening import Kind, glob_inside, kind_inside, name_below, read_text_inside
from evalward.records.base import StrictRecord, digest
from evalward.records.case import Case
from evalward.records.model_words import in_words
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.target_id import TargetId
from evalward.records.trace import Message, Text, ToolCall, ToolResult, ToolUse, Trace, Turn
from evalward.records.words import did_you_mean, one_line
from evalward.targets.agents.base import AgentJob, AgentRun, EndedAgent
from evalward.targets.agents.readers.common import call
from evalward.targets.base import NO_MODEL, BrokeOffError, Free, TrialSkippedError, without_solution
from evalward.targets.context import TargetContext

DEFAULT = "default"
SHELL = ("bash", "-c")
SAID = "Done."
HANG = "exec sleep 2147483647"
CRASH = "kill -SEGV $$"
LONGEST_S = 86_400
SUFFIXES = (".yaml", ".yml", ".json", ".sh")
MOST_VALUES = 100_000  # of a file: more steps than anybody writes by hand


class ScriptStep(StrictRecord):
    """One step; exactly one of its fields is set.

    `run` is a shell command, `say` words for people, `sleep` seconds of doing nothing; `exit` ends the agent with this
    code, `hang` until its time is up, `crash` as a program that breaks.
    """

    run: str | None = None
    say: str | None = None
    sleep: Annotated[float, Field(ge=0, le=LONGEST_S, allow_inf_nan=False)] | None = None
    exit: Annotated[int, Field(ge=0, le=255)] | None = None
    hang: bool | None = None
    crash: bool | None = None

    @property
    def command(self) -> str | None:
        """What the step runs in the shell, the agent's own doings included; `None` where it runs nothing."""
        if self.sleep is not None:
            return f"exec sleep {self.sleep:f}"
        return self.run if self.run is not None else HANG if self.hang else CRASH if self.crash else None


class _Session:
    """One trial of a script."""

    def __init__(self, job: AgentJob) -> None:
        self._job, self._left_s = job, job.timeout_s
        self.messages = [Message(role="user", content=[Text(text=job.prompt)])]
        self.calls: list[ToolCall] = []
        self.lines: list[str] = []
        self.spent_ms = 0
        self.exit_code: int | None = None
        self.timed_out = False

    async def play(self, steps: Sequence[ScriptStep]) -> AgentRun:
        """Step by step. Raises `BrokeOffError`."""
        try:
            return await self._played(steps)
        except Exception as error:
            known = Trace(messages=self.messages, tool_calls=self.calls, duration_ms=self.spent_ms)
            raise BrokeOffError(known, error) from error

    async def _played(self, steps: Sequence[ScriptStep]) -> AgentRun:
        for step in steps:
            await self._play(step)
            if self.exit_code is not None or self.timed_out:
                break
        else:
            self._say(SAID)
            self.exit_code = 0
        trace = Trace(
            messages=self.messages,
            tool_calls=self.calls,
            turns=[Turn(usage=NO_MODEL, stop="tool_use") for _ in self.calls] or [Turn(usage=NO_MODEL)],
            natural_stop=self.exit_code == 0,
            duration_ms=self.spent_ms,
            working_ms=self.spent_ms,
        )
        transcript = "".join(f"{line.rstrip()}\n" for line in self.lines)
        return AgentRun(trace, transcript, None if self.timed_out else self.exit_code, self.timed_out)

    async def _play(self, step: ScriptStep) -> None:
        command = step.command
        if step.say is not None:
            self._say(step.say)
        elif step.exit is not None:
            self.exit_code = step.exit
        elif command is not None:
            ended = await self._job.workspace.run([*SHELL, command], env=self._job.env, timeout_s=self._left_s)
            self.spent_ms += ended.duration_ms
            self._left_s = max(0.001, self._left_s - ended.duration_ms / 1000)
            self.timed_out = ended.timed_out
            if step.run is not None:
                self._note(step.run, ended)
            elif step.crash:
                self.exit_code = ended.exit_code

    def _say(self, text: str) -> None:
        self.messages.append(Message(role="assistant", content=[Text(text=text)]))
        self.lines.append(text)

    def _note(self, command: str, ended: EndedAgent) -> None:
        identity = f"call_{len(self.calls) + 1}"
        code = None if ended.timed_out else ended.exit_code
        self.calls.append(call(command, ended.stdout, ended.stderr, code, duration_ms=ended.duration_ms))
        use = ToolUse(id=identity, name="bash", input={"command": command})
        output = "\n".join(text.rstrip("\n") for text in (ended.stdout, ended.stderr) if text)
        result = ToolResult(tool_use_id=identity, content=output, is_error=code != 0)
        self.messages += [Message(role="assistant", content=[use]), Message(role="tool_result", content=[result])]
        self.lines += [f"$ {command}", *([output] if output else [])]


class ScriptedAgent(Free):
    """Hand-written steps per case; `default` stands for the cases without steps of their own."""

    random = False
    readable: Sequence[Path] = ()

    def __init__(self, name: str, scripts: Mapping[str, Sequence[ScriptStep]], shown: str = "") -> None:
        self.id = f"scripted:{name}"
        self._scripts = scripts
        self._shown = shown or self.id

    @property
    def subject(self) -> Mapping[str, str]:
        """The scripts' identity."""
        scripts = {name: [step.model_dump(mode="json") for step in steps] for name, steps in self._scripts.items()}
        return {"script": digest(scripts)}

    async def work(self, case: Case, trial: int, job: AgentJob) -> AgentRun:  # noqa: ARG002 - every trial is the same
        """Play the case's steps. Raises `TrialSkippedError` when there are none."""
        steps = self._scripts.get(case.id, self._scripts.get(DEFAULT))
        if steps is None:
            raise TrialSkippedError("no_script", f"{self.id} has no script for this case")
        return await _Session(job).play(steps)

    def lacking(self, cases: Sequence[Case]) -> Sequence[Problem]:
        """The cases without steps, where there are none for all."""
        if DEFAULT in self._scripts:
            return []
        spare = self._spare(cases)
        return [
            _problem(
                self._shown,
                f"there are no steps for the case {case.id!r}",
                f"{did_you_mean(case.id, spare)} Write them under the id of the case, or some as `default`.".strip(),
            )
            for case in cases
            if case.id not in self._scripts
        ]

    def unused(self, cases: Sequence[Case]) -> Sequence[str]:
        """The names of steps that no case has."""
        return [
            " ".join(
                [
                    f"{self._shown}: no case of {self.id} is called {one_line(name)!r}, so its steps are never taken.",
                    did_you_mean(name, [case.id for case in cases]),
                ]
            ).rstrip()
            for name in self._spare(cases)
        ]

    def _spare(self, cases: Sequence[Case]) -> list[str]:
        called = {DEFAULT, *(case.id for case in cases)}
        return [name for name in self._scripts if name not in called]


class OracleAgent(Free):
    """The case's own solution: what a perfect agent would do."""

    id = "oracle"
    random = False
    readable: Sequence[Path] = ()
    subject: Mapping[str, str] = {}

    async def work(self, case: Case, trial: int, job: AgentJob) -> AgentRun:  # noqa: ARG002 - every trial is the same
        """Run the commands of the reference solution. Raises `TrialSkippedError` when there is none."""
        commands = [text for message in case.reference() for use in message.tool_uses for text in _commands(use)]
        if not commands:
            raise TrialSkippedError("no_solution", "the case has no reference solution")
        return await _Session(job).play([ScriptStep(run=command) for command in commands])

    def lacking(self, cases: Sequence[Case]) -> Sequence[Problem]:
        """The cases without a reference solution."""
        return without_solution(self.id, cases)

    def unused(self, cases: Sequence[Case]) -> Sequence[str]:  # noqa: ARG002 - a solution belongs to its case
        """Nothing."""
        return []


def _commands(use: ToolUse) -> list[str]:
    given: Any = use.input if isinstance(use.input, dict) else {}
    return [text for text in (given.get("command"), given.get("commands")) if isinstance(text, str)]


class NopAgent(Free):
    """Does nothing: what a suite gives away for free."""

    id = "nop"
    random = False
    readable: Sequence[Path] = ()
    subject: Mapping[str, str] = {}

    async def work(self, case: Case, trial: int, job: AgentJob) -> AgentRun:  # noqa: ARG002 - every trial is the same
        """Say that it is done."""
        return await _Session(job).play([])


# ------------------------------------------------------------------------------------------- reading scripts


def script(asked: TargetId, context: TargetContext) -> ScriptedAgent:
    """The target `scripted:NAME`, whose path counts from the configuration's folder."""
    root, path = context.loaded.root, context.entry(context.loaded.config.scripts, asked)
    return load_scripts(asked.name, root / path, path, root)


def load_scripts(name: str, path: Path, shown: str, root: Path | None = None) -> ScriptedAgent:
    """A file with steps per case id (YAML or JSON; a list alone is for all cases), or a folder with a file per case.

    In a folder `CASE.yaml` and `CASE.json` hold a list of steps, `CASE.sh` a command a line. `shown` is its name for
    people; below `root` nothing on the way to it is a link. Raises `InputError` with all that is wrong.
    """
    top = root or path.parent
    file = name_below(top, path)
    if _kind(top, file, shown) == "folder":
        files = [PurePosixPath(each) for each in glob_inside(top / file, "*") if each.endswith(SUFFIXES)]
        found = {each.stem: _value(top, f"{file}/{each}", f"{shown}/{each}") for each in files}
        places = {each.stem: f"{shown}/{each}" for each in files}
    else:
        value = _value(top, file, shown)
        found = value if isinstance(value, dict) else {DEFAULT: value}
        places = {}
    problems: list[Problem] = []
    scripts = {
        str(case): _steps(value, places.get(str(case), shown), str(case), problems) for case, value in found.items()
    }
    if problems:
        raise InputError(problems)
    if not scripts:
        raise wrong(shown, f"scripts {name!r} hold no steps", "Write a list of steps, or steps by case id.")
    return ScriptedAgent(name, scripts, shown)


def _kind(root: Path, name: str, shown: str) -> Kind | None:
    try:
        return kind_inside(root, name)
    except OSError as error:
        raise wrong(shown, f"the script can't be read: {error}", "Name a readable file or folder.") from None


def _value(root: Path, name: str, shown: str) -> Any:
    try:
        text = read_text_inside(root, name)
        if name.endswith(".sh"):
            return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        tree = read_yaml(text, MOST_VALUES)
    except (OSError, UnicodeDecodeError) as error:
        raise wrong(shown, f"the script can't be read: {error}", "Name a readable file or folder.") from None
    except YamlError as error:
        mistake = error.mistake
        raise wrong(shown, mistake.message, mistake.remedy, line=mistake.line) from None
    if tree.mistakes:
        raise InputError(_problem(shown, mistake.message, mistake.remedy, mistake.line) for mistake in tree.mistakes)
    return tree.value


def _steps(value: Any, shown: str, case: str, problems: list[Problem]) -> list[ScriptStep]:
    if not isinstance(value, list):
        problems.append(_problem(shown, f"the steps of {case!r} are not a list", "Write one step per list item."))
        return []
    return [step for number, item in enumerate(value, 1) if (step := _step(item, shown, f"{case}[{number}]", problems))]


def _step(item: Any, shown: str, field: str, problems: list[Problem]) -> ScriptStep | None:
    remedy = "Write a command, or one of run:, say:, sleep:, exit:, hang: true, crash: true."
    try:
        step = ScriptStep.model_validate({"run": item} if isinstance(item, str) else item)
        if len(step.model_dump(exclude_none=True)) == 1:
            return step
        message = "a step has exactly one key"
    except ValidationError as error:
        first = error.errors()[0]
        message, found = in_words(first, ScriptStep.model_fields)
        remedy = found or remedy
        field = f"{field}.{first['loc'][-1]}" if first["loc"] else field
    problems.append(Problem(place=Place(file=shown), field=field, message=message, remedy=remedy))
    return None


def _problem(shown: str, message: str, remedy: str, line: int | None = None) -> Problem:
    return Problem(place=Place(file=shown, line=line), message=message, remedy=remedy)
