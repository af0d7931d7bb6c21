"""`program:NAME`: an external program that turns a request into a command.

It is started with its argument list, never through a shell, in a fresh workspace for each call: behind the walls that
agents work behind, with an environment that holds no secret, a home folder that is thrown away, and no network unless
the configuration asks for it. It finds itself in the configuration's folder, which it can read and not change. What it
prints is an answer like a model's: read, never run. Failing, printing nothing and taking too long are its own doing.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from evalward.config import PROMPT_MARK, LoadedConfig, Program
from evalward.opening import program_inside
from evalward.records.base import clean_text, digest
from evalward.records.case import Case
from evalward.records.problem import wrong
from evalward.records.target_id import TargetId
from evalward.records.trace import Message, Text, Trace, Turn
from evalward.sandbox.base import SandboxError
from evalward.sandbox.process import Finished, SandboxLimits, Workspace, WorkspaceSettings
from evalward.targets.base import Chat, Free, NoAnswerError, Reply, Request
from evalward.targets.context import TargetContext
from evalward.targets.failures import Cause, TargetError
from evalward.targets.own_files import program_files
from evalward.targets.repository import case_files, installed_along, repositories

PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT")
OUTPUT_LIMIT = 1_000_000  # bytes of each stream
ARGUMENT_LIMIT = 100_000  # bytes; the kernel takes 128 KiB
SAID = 200  # characters of stderr in a message
_NOT_STARTED = (126, 127)
_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_-]*)|\[([0-9]+)\]")


class ProgramTarget(Free):
    """A program as a target. It can answer differently each time."""

    random = True

    def __init__(self, name: str, program: Program, loaded: LoadedConfig, env: Mapping[str, str], started: str) -> None:
        self.id = f"program:{name}"
        self.program, self.root, self.started = program, loaded.root, started
        self.env = {key: env[key] for key in PASSED_ON if key in env}
        self._loaded = loaded

    @cached_property
    def settings(self) -> WorkspaceSettings:
        """How a workspace for one call is made. What judges the answers isn't shown."""
        return WorkspaceSettings(
            limits=SandboxLimits(wall_s=self.program.timeout_s, output_bytes=OUTPUT_LIMIT),
            network=self.program.network,
            readable=(self.root, *installed_along(self.env.get("PATH", ""))),
            hidden=(*repositories(self.root), *case_files(self._loaded)),
        )

    @cached_property
    def subject(self) -> Mapping[str, str]:
        """How it is called, and the files of the repository that its command names."""
        called = {"program": digest(self.program.model_dump(mode="json"))}
        return {**called, **program_files(self.root, self.program.command)}

    def open(self, case: Case, trial: int) -> Chat:  # noqa: ARG002 - every trial asks anew
        """A chat that calls the program with the case's own prompt, without the suite's template."""
        return ProgramChat(self, str(case.written().get("prompt", "")))


class ProgramChat:
    """One call."""

    recording: Trace | None = None

    def __init__(self, target: ProgramTarget, prompt: str) -> None:
        self._target, self._prompt = target, prompt

    async def send(self, request: Request) -> Reply:  # noqa: ARG002 - the program has a prompt of its own
        """Its answer. Raises `NoAnswerError`, `TargetError`."""
        prompt = clean_text(self._prompt).replace("\0", "")
        if len(prompt.encode()) > ARGUMENT_LIMIT:
            raise NoAnswerError("the request is too long for an argument of a program")
        program = self._target.program
        words = [self._target.started, *(word.replace(PROMPT_MARK, prompt) for word in program.command[1:])]
        done = await self._run(words)
        if done.timed_out:
            raise NoAnswerError(f"the program gave no answer in {program.timeout_s:g} s")
        if done.exit_code in _NOT_STARTED and not done.stdout:
            raise NoAnswerError(f"the program could not be started: {_last_output(done)}")
        if done.exit_code != 0:
            last = _last_output(done)
            raise NoAnswerError(f"the program ended with exit code {done.exit_code}" + (f": {last}" if last else ""))
        text = done.stdout if program.output == "text" else pick(done.stdout, program.output)
        message = Message(role="assistant", content=[Text(text=clean_text(text))])
        return Reply(message, Turn(wall_ms=done.duration_ms, working_ms=done.duration_ms))

    async def _run(self, words: list[str]) -> Finished:
        """One call. Whatever it leaves running ends with the workspace. Raises `TargetError` for a broken sandbox."""
        target = self._target
        try:
            async with await Workspace.create(None, target.settings) as place:
                return await place.run(words, env=target.env, cwd=str(target.root))
        except SandboxError as error:
            raise TargetError(Cause.SANDBOX, str(error), target=target.id) from error


def _last_output(done: Finished) -> str:
    return " ".join(done.stderr.split())[-SAID:]


def pick(text: str, path: str) -> str:
    """The text at a path such as `$.choices[0].text` of a JSON document. Raises `NoAnswerError`."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoAnswerError(f"the program printed no JSON: {error}") from None
    for step in _STEP.finditer(path):
        name, index = step[1], step[2]
        try:
            value = value[name] if name is not None else value[int(index)]
        except (KeyError, IndexError, TypeError):
            raise NoAnswerError(f"the program's JSON has nothing at {path}") from None
    if value is None:
        return ""
    if not isinstance(value, str):
        raise NoAnswerError(f"the program's JSON has no text at {path}")
    return value


def load_program(asked: TargetId, context: TargetContext) -> ProgramTarget:
    """The target `program:NAME`. Raises `InputError` when there is no such file to start."""
    name, loaded, env = asked.name, context.loaded, context.env
    program = context.entry(loaded.config.programs, asked)
    first = program.command[0]
    if "/" in first and not first.startswith("/"):
        found = program_inside(loaded.root, first)
    else:
        found = shutil.which(first, path=env.get("PATH"))
    if found is None:
        place = loaded.line("programs", name, "command")
        remedy = "Name a program on the PATH, or an executable file relative to the configuration's folder."
        message = f"there is no program {first!r} that can be started"
        raise wrong(loaded.file, message, remedy, line=place, field=f"programs.{name}.command")
    return ProgramTarget(name, program, loaded, env, found)
