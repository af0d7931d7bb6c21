"""Running a grader: in a process of its own behind walls, with a copy of what was left, and without our environment.

A grader is code of the head. It gets no network, no secret, bounded time, memory, processes and output, and it sees its
own files, the trial's, and installed programs. What it answers is text that is read like anybody else's.
"""

from __future__ import annotations

import asyncio
import json
import os
import posixpath
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import evalward
from evalward.graders.record import Call, Grade, grade_of, last_lines, place_of
from evalward.graders.source import PYTHON, Reference, Source, parse_reference
from evalward.records.base import clean_text
from evalward.records.case import Case
from evalward.records.trace import Text, ToolCall, Trace
from evalward.sandbox.base import NoWorkspaceError, SandboxError, cut
from evalward.sandbox.process import Finished, SandboxLimits, Workspace, WorkspaceSettings
from evalward.sandbox.process.places import Copied
from evalward.sandbox.process.temporary import temporary_folder

SECONDS = 30.0
MOST_LEFT_MB, MOST_LEFT_FILES = 512, 50_000
MOST_STREAM, MOST_STREAMS = 1_000_000, 32_000_000  # characters of one output, and of all outputs of a trial
MOST_DETAIL = 500
FILES, ELSEWHERE, OWN, OURS = "files", "elsewhere", "grader", "evalward"
_LIMITS = SandboxLimits(
    memory_mb=1024,
    processes=64,
    output_bytes=200_000,
    disk_mb=2 * MOST_LEFT_MB,
    entries=4 * MOST_LEFT_FILES,
)
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from evalward.graders.inside import main; main()"
_ENV = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1"}
_NOT_STARTED = (126, 127)
_TRACEBACK = "Traceback (most recent call last):"


class GraderError(Exception):
    """A grader that gave no answer: the suite's mistake, and not the target's failure."""


class TooMuchLeftError(Exception):
    """The target left more than a grader is given: its own doing."""


@runtime_checkable
class Leaves(Protocol):
    """Where a target worked."""

    @property
    def home(self) -> str:
        """What relative paths count from, as the target knew it."""
        ...

    async def copy_out(self, files: Path, elsewhere: Path, most_mb: int) -> Copied:
        """Copy what was left: the home folder to `files`, other absolute paths below `elsewhere`.

        Raises `SandboxError`, and `OSError` where it can't be written.
        """
        ...


@dataclass(frozen=True)
class ToGrade:
    """What a grader is told of a trial, beside the files."""

    case: Case
    prompt: str
    said: Sequence[str] = ()
    calls: Sequence[ToolCall] = ()

    @classmethod
    def of(cls, case: Case, prompt: str, trace: Trace) -> ToGrade:
        """From what happened in the trial."""
        texts = [
            "".join(block.text for block in message.content if isinstance(block, Text))
            for message in trace.messages
            if message.role == "assistant"
        ]
        return cls(case, prompt, [text for text in texts if text], trace.tool_calls)

    def data(self) -> dict[str, Any]:
        """As JSON data. Output beyond the bounds is cut in its middle."""
        most = min(MOST_STREAM, MOST_STREAMS // (2 * len(self.calls) or 1))
        calls = [Call(c.commands, cut(c.stdout, most), cut(c.stderr, most), c.exit_code) for c in self.calls]
        return {
            "id": self.case.id,
            "category": self.case.category,
            "prompt": self.prompt,
            "case": self.case.written(),
            "said": list(self.said),
            "calls": [asdict(call) for call in calls],
        }


@dataclass(frozen=True)
class Grader:
    """A grader and the bounds that it runs in. `allow_unisolated`: as the suite has it."""

    source: Source
    timeout_s: float = SECONDS
    allow_unisolated: bool = False
    reference: Reference = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reference", parse_reference(self.source.reference))

    async def grade(self, answered: ToGrade, leaves: Leaves) -> Grade:
        """Its answer. Raises `GraderError`, `TooMuchLeftError`, and `SandboxError` where the sandbox breaks."""
        with temporary_folder("grading") as stage:
            left_out = await _leave(leaves, stage)
            data = {**answered.data(), "home": leaves.home, "left_out": left_out}
            done = await self._run(stage, data)
        if done.timed_out:
            raise self._error(f"gave no answer in {self.timeout_s:g} s")
        if done.exceeded is not None:
            raise self._error(f"was ended, it used too much {done.exceeded}")
        try:
            return _of_script(done) if self.reference.script else _of_function(done)
        except (GraderError, ValueError) as error:
            raise self._error(str(error)) from None

    async def look_up(self) -> None:
        """Find the function, where it is one, by importing its module behind the same walls.

        Raises `GraderError`, and `NoWorkspaceError` where the walls can't be built.
        """
        if self.reference.script:
            await self._build_walls()
            return
        with temporary_folder("grading") as place:
            for name in (FILES, ELSEWHERE):
                (place / name).mkdir()
            done = await self._run(place, None)
        if done.timed_out:
            raise self._error(f"can't be imported in {self.timeout_s:g} s")
        if _last_object(done.stdout) == {"found": True}:
            return
        try:
            _of_function(done)
        except (GraderError, ValueError) as error:
            raise self._error(str(error)) from None

    def _error(self, why: str) -> GraderError:
        return GraderError(clean_text(f"the grader {self.source.reference}: {why}")[:MOST_DETAIL])

    async def _run(self, stage: Path, data: Mapping[str, Any] | None) -> Finished:
        """One run. Raises `NoWorkspaceError`."""
        try:
            return await self._run_behind_walls(stage, data)
        except (SandboxError, OSError) as error:
            raise NoWorkspaceError(f"a grader can't be run here: {error}") from error

    async def _build_walls(self) -> None:
        try:
            await (await Workspace.create(None, self._settings)).close()
        except SandboxError as error:
            raise NoWorkspaceError(f"a grader can't be run here: {error}") from error

    @property
    def _settings(self) -> WorkspaceSettings:
        return WorkspaceSettings(
            limits=_LIMITS, network="none", readable=_interpreter(), allow_unisolated=self.allow_unisolated
        )

    async def _run_behind_walls(self, stage: Path, data: Mapping[str, Any] | None) -> Finished:
        """In a workspace of its own, which ends with all that it started."""
        await asyncio.to_thread(_write, self.source, stage / OWN)
        await asyncio.to_thread(_write_ours, stage / OURS)
        async with await Workspace.create(stage, self._settings, left_out=()) as workspace:
            folder = workspace.folder
            request = {FILES: str(folder / FILES), ELSEWHERE: str(folder / ELSEWHERE), **(data or {})}
            if not self.reference.script:
                request = self._call(folder / OWN, request if data is not None else None)
            done = await workspace.run(
                self._words(folder),
                env=_ENV,
                cwd=FILES,
                timeout_s=self.timeout_s,
                stdin=json.dumps(request).encode("ascii"),
            )
            if not self.reference.script and done.exit_code in _NOT_STARTED:
                raise SandboxError(f"{sys.executable} can't be started there; install Evalward where all users can")
            return _without_places(done, (f"{folder / OWN}/", f"{folder}/"))

    def _call(self, folder: Path, graded: Mapping[str, Any] | None) -> dict[str, Any]:
        called = {
            "folder": str(folder),
            "module": self.reference.module,
            "function": self.reference.function,
            "own": bool(self.source.files),
        }
        return called if graded is None else {**called, "graded": graded}

    def _words(self, folder: Path) -> list[str]:
        script = self.reference.script
        if not script:
            return [sys.executable, "-I", "-B", "-X", "utf8", "-c", _PROGRAM, str(folder / OURS)]
        path = str(folder / OWN / script)
        if script.endswith(PYTHON):
            return [sys.executable, "-E", "-s", "-B", "-X", "utf8", path]
        return [path] if self.source.files[script].program else ["sh", path]


def _interpreter() -> tuple[Path, ...]:
    """What our own interpreter is made of, with what is installed in it."""
    return tuple(dict.fromkeys([Path(sys.prefix), Path(sys.base_prefix)]))


def _without_places(done: Finished, places: Sequence[str]) -> Finished:
    """What it said, without folders whose names differ from run to run: what several trials met is compared."""
    out, error = done.stdout, done.stderr
    for place in places:
        out, error = out.replace(place, ""), error.replace(place, "")
    return replace(done, stdout=out, stderr=error)


async def _leave(leaves: Leaves, stage: Path) -> int:
    """Copy what was left, with links that stay in it; how many entries were left out."""
    files, elsewhere = stage / FILES, stage / ELSEWHERE
    files.mkdir()
    elsewhere.mkdir()
    try:
        copied = await leaves.copy_out(files, elsewhere, MOST_LEFT_MB)
        await asyncio.to_thread(_lead_inside, stage, leaves.home)
    except OSError as error:
        raise SandboxError(f"what was left could not be copied for a grader: {error.strerror or error}") from error
    if copied.full or copied.files > MOST_LEFT_FILES:
        most = f"{MOST_LEFT_MB} MB or {MOST_LEFT_FILES:,} files"
        raise TooMuchLeftError(f"not graded: more than {most} were left")
    return copied.skipped


def _lead_inside(stage: Path, home: str) -> None:
    """Make every link lead to the copy of what it led to where the target worked, and so to nothing else.

    Else a target could name files of the grader's as its answer. What a link now says is a path without `..` below
    one of the two folders, seen from where the link lies; so no way through several of them leads out either.
    """
    for top, above in ((stage / FILES, home), (stage / ELSEWHERE, "/")):
        for place, folders, files in os.walk(top):
            for name in (*folders, *files):
                link = Path(place, name)
                if link.is_symlink():
                    was = posixpath.join(above, link.parent.relative_to(top).as_posix(), str(link.readlink()))
                    copy = stage / place_of(was, home, FILES, ELSEWHERE)
                    link.unlink()
                    link.symlink_to(os.path.relpath(copy, place))


def _write(source: Source, folder: Path) -> None:
    folder.mkdir()
    for path, file in source.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.content)
        place.chmod(0o755 if file.program else 0o644)


def _write_ours(folder: Path) -> None:
    """What a grader imports of ours: where we run from a checkout it isn't installed where the walls let it look."""
    package = Path(evalward.__file__).parent
    for path in ("__init__.py", "graders/__init__.py", "graders/record.py", "graders/inside.py"):
        place = folder / "evalward" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes((package / path).read_bytes())


# --- answers ----------------------------------------------------------------------------------------------------------


def _of_function(done: Finished) -> Grade:
    """What our own end of the grader's process wrote, as far as the grader let it."""
    answer = _last_object(done.stdout)
    if answer is None:
        raise GraderError(f"it ended without an answer ({_how(done)})")
    if "broken" in answer:
        raise GraderError(str(answer["broken"]))
    return _bounded(grade_of(answer))


def _of_script(done: Finished) -> Grade:
    """A JSON line with `passed`, else the exit code: 0 passes, 1 doesn't, anything else is no answer."""
    if done.exit_code not in {0, 1} or (done.exit_code == 1 and _TRACEBACK in done.stderr):
        raise GraderError(f"it ended without an answer ({_how(done)})")
    answer = _last_object(done.stdout)
    if answer is not None and "passed" in answer:
        return _bounded(grade_of(answer))
    output = " ".join(done.stdout.split()) or " ".join(done.stderr.split())
    return _bounded(Grade(done.exit_code == 0, None, output or f"exit code {done.exit_code}"))


def _bounded(grade: Grade) -> Grade:
    return Grade(grade.passed, grade.score, clean_text(grade.detail)[:MOST_DETAIL])


def _how(done: Finished) -> str:
    stderr = last_lines(done.stderr.splitlines(), 3)
    return f"exit code {done.exit_code}" + (f": {stderr}" if stderr else "")


def _last_object(text: str) -> dict[str, Any] | None:
    """The last line that says something, where it is a JSON object. Raises `ValueError` for NaN in it."""
    lines = text.strip().splitlines()
    if not lines or not lines[-1].lstrip().startswith("{"):
        return None
    try:
        value = json.loads(lines[-1], parse_constant=_no_constant)
    except (json.JSONDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _no_constant(name: str) -> Any:
    raise ValueError(f"its answer has {name} in it")
