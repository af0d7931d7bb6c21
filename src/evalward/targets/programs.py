"""`program:NAME`: an external program that turns a request into a command.

It is started with its argument list, never through a shell, in the configuration's folder, with an environment that
holds no secret and a home folder that is thrown away. What it prints is an answer like a model's: read, never run.
Failing, printing nothing and taking too long are its own doing.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalward.config import PROMPT_MARK, LoadedConfig, Program
from evalward.opening import program_inside
from evalward.records.base import clean_text, digest
from evalward.records.case import Case
from evalward.records.problem import wrong
from evalward.records.trace import Message, Text, Trace, Turn
from evalward.targets.base import Chat, Free, NoAnswerError, Reply, Request

PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT")
OUTPUT_LIMIT = 1_000_000  # bytes of each stream
ARGUMENT_LIMIT = 100_000  # bytes; the kernel takes 128 KiB
SAID = 200  # characters of stderr in a message
_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_-]*)|\[([0-9]+)\]")


@dataclass(frozen=True)
class Finished:
    """What a program left."""

    stdout: str
    stderr: str
    exit_code: int
    wall_ms: int


class ProgramTarget(Free):
    """A program as a target. It can answer differently each time."""

    random = True

    def __init__(
        self, name: str, program: Program, root: Path, env: Mapping[str, str], started: str | None = None
    ) -> None:
        self.id = f"program:{name}"
        self.program, self.root = program, root
        self.started = program.command[0] if started is None else started
        self.env = {key: env[key] for key in PASSED_ON if key in env}

    @property
    def subject(self) -> Mapping[str, str]:
        """How it is called; what it is made of isn't known."""
        return {"program": digest(self.program.model_dump(mode="json"))}

    def open(self, case: Case, trial: int) -> Chat:  # noqa: ARG002 - every trial asks anew
        """A chat that calls the program with the case's own prompt, without the suite's template."""
        return ProgramChat(self, str(case.written().get("prompt", "")))


class ProgramChat:
    """One call."""

    recording: Trace | None = None

    def __init__(self, target: ProgramTarget, prompt: str) -> None:
        self._target, self._prompt = target, prompt

    async def send(self, request: Request) -> Reply:  # noqa: ARG002 - the program has a prompt of its own
        """Its answer. Raises `NoAnswerError`."""
        prompt = clean_text(self._prompt).replace("\0", "")
        if len(prompt.encode()) > ARGUMENT_LIMIT:
            raise NoAnswerError("the request is too long for an argument of a program")
        program = self._target.program
        words = [self._target.started, *(word.replace(PROMPT_MARK, prompt) for word in program.command[1:])]
        with tempfile.TemporaryDirectory(prefix="evalward-program-") as home:
            env = {**self._target.env, "HOME": home, "TMPDIR": home}
            done = await _run(words, self._target.root, env, program.timeout_s)
        if done.exit_code != 0:
            said = " ".join(done.stderr.split())[-SAID:]
            raise NoAnswerError(f"the program ended with exit code {done.exit_code}" + (f": {said}" if said else ""))
        text = done.stdout if program.output == "text" else pick(done.stdout, program.output)
        message = Message(role="assistant", content=[Text(text=clean_text(text))])
        return Reply(message, Turn(wall_ms=done.wall_ms, working_ms=done.wall_ms))


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


async def _run(words: list[str], folder: Path, env: Mapping[str, str], timeout_s: float) -> Finished:
    """Run a program in a session of its own, so that whatever it started ends with it."""
    clock = asyncio.get_running_loop().time
    started = clock()
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=folder,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise NoAnswerError(f"the program could not be started: {error}") from error
    try:
        async with asyncio.timeout(timeout_s):
            out, err = await asyncio.gather(_read(process.stdout), _read(process.stderr))
            code = await process.wait()
    except TimeoutError:
        raise NoAnswerError(f"the program gave no answer in {timeout_s:g} s") from None
    finally:
        await _end(process)
    return Finished(_text(out), _text(err), code, round((clock() - started) * 1000))


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    """All that it prints, as far as anybody could want it; the rest is read and dropped."""
    kept = b""
    while stream is not None and (chunk := await stream.read(65536)):
        kept += chunk[: max(0, OUTPUT_LIMIT - len(kept))]
    return kept


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def load_program(name: str, loaded: LoadedConfig, env: Mapping[str, str]) -> ProgramTarget:
    """The program of this name. Raises `InputError` when there is no such file to start."""
    program = loaded.config.programs[name]
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
    return ProgramTarget(name, program, loaded.root, env, found)
