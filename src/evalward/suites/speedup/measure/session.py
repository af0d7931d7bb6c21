"""One session: every side tested, compared, and measured in turns with the others.

Each command has a fresh workspace, so that nothing is kept from one round, or from one check, to the next.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evalward.records.base import clean_text
from evalward.sandbox.base import FileTooLargeError
from evalward.sandbox.process import Finished, Workspace, WorkspaceSettings
from evalward.sandbox.process.temporary import temporary_folder
from evalward.suites.old_place import lead_here, lead_nowhere
from evalward.suites.speedup.details import PytestSummary
from evalward.suites.speedup.measure.adapters import Times, read_times
from evalward.suites.speedup.measure.changes import put_back, take
from evalward.suites.speedup.measure.clock import Timed, claimed
from evalward.suites.speedup.measure.recorded import Recorded, read_recorded, recorder_env, recorder_files
from evalward.suites.speedup.measure.rounds import SideSamples, interleave
from evalward.suites.speedup.measure.snapshots import read_capture, read_statuses
from evalward.suites.speedup.measure.test_counts import read_counts, read_junit
from evalward.suites.speedup.task import AutoSnapshots, Benchmarks, SnapshotRun, SpeedupTask

CAPTURE = Path(__file__).with_name("capture_script.py")
NEUTRAL = {"PYTHONNOUSERSITE": "1"}
SAID = 200
SAID_LINES = 6


class SetupError(Exception):
    """A side whose setup commands fail."""


@dataclass(frozen=True)
class SideChecks:
    """What tests and outputs of a side gave. It depends on nothing but content, so that it can be kept.

    `outputs` are captures, two of them for the untouched code, or the statuses of the task's own comparison. `recorded`
    is what functions gave while they were benchmarked, as often.
    """

    tests: PytestSummary
    outputs: Sequence[Mapping[str, Any] | None] = ()
    notes: Sequence[str] = ()
    recorded: Sequence[Recorded | None] = ()


@dataclass(frozen=True)
class Conditions:
    """How a session is run: rounds, seconds for one command, workspaces, modules whose results are recorded."""

    rounds: int
    timeout_s: float
    settings: WorkspaceSettings
    modules: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass
class MeasuredCopy:
    """One of the copies: its code, what was checked, what was measured. Every command gets a workspace of its own.

    `earlier`: where the code was when it was set up.
    """

    name: str
    folder: Path
    checked: SideChecks | None = None
    broken: str | None = None
    measured: SideSamples = field(default_factory=SideSamples)
    timed: list[Timed] = field(default_factory=list)
    isolation: str = ""
    earlier: list[Path] = field(default_factory=list)


async def run_session(
    task: SpeedupTask, folders: Mapping[str, Path], conditions: Conditions, known: Mapping[str, SideChecks]
) -> dict[str, MeasuredCopy]:
    """Check and measure the sides, by name. `known` is what earlier sessions checked. Raises `SandboxError`.

    The untouched code comes first: what its setup makes of protected files is what they are on every side.
    """
    with temporary_folder("sides") as place:
        sides = {name: MeasuredCopy(name, folder) for name, folder in folders.items()}
        first = next(iter(sides.values()))
        for side in sides.values():
            await _ready(task, side, first, conditions, Path(place))
            if side.broken is None:
                twice = side.name == "nop"
                side.checked = known.get(side.name) or await _check(task, side, conditions, twice=twice)

        async def once(name: str) -> tuple[Times, str | None]:
            return await _times(task, sides[name], conditions)

        names = [name for name, side in sides.items() if side.broken is None]
        for name, measured in (await interleave(names, conditions.rounds, once)).items() if names else ():
            sides[name].measured = measured
        return sides


async def _ready(
    task: SpeedupTask, side: MeasuredCopy, first: MeasuredCopy, conditions: Conditions, place: Path
) -> None:
    """Run the setup, and keep the folder that it leaves; of HOME nothing."""
    if not task.setup:
        return
    async with await Workspace.create(side.folder, conditions.settings) as workspace:
        try:
            await set_up(task, workspace, conditions.timeout_s)
        except SetupError as error:
            side.broken, side.isolation = str(error), workspace.isolation.words()
            side.checked = SideChecks(PytestSummary(status="invalid"), notes=[f"SETUP: {error}"])
            return
        await workspace.end_processes()
        side.folder = place / side.name
        await asyncio.to_thread(take, workspace, side.folder)
        side.earlier.append(workspace.folder)
    if side is not first:  # a setup runs the change, which may change what it is measured by
        await asyncio.to_thread(put_back, first.folder, side.folder, task.protect)


@asynccontextmanager
async def fresh(
    side: MeasuredCopy, conditions: Conditions, files: Mapping[str, bytes] | None = None
) -> AsyncIterator[Workspace]:
    """A workspace with the side's code, in which nothing has run yet. Raises `SandboxError`."""
    async with await Workspace.create(side.folder, conditions.settings, extra_files=files) as workspace:
        side.isolation = workspace.isolation.words()
        try:
            await lead_here(workspace, side.earlier)
            yield workspace
        finally:
            lead_nowhere(side.earlier)


async def set_up(task: SpeedupTask, workspace: Workspace, timeout_s: float) -> None:
    """Run a task's setup commands. Raises `SetupError` when one fails."""
    for command in task.setup:
        done = await workspace.run(command, env=NEUTRAL, timeout_s=timeout_s)
        if done.exit_code != 0:
            raise SetupError(_how_it_ended("setup", done))


async def _check(task: SpeedupTask, side: MeasuredCopy, conditions: Conditions, *, twice: bool) -> SideChecks:
    output = task.tests.junit or task.tests.counts or ""
    async with fresh(side, conditions) as workspace:
        done, content = await _run_for(workspace, task.tests.command, output, conditions.timeout_s)
    tests, notes = read_junit(content) if task.tests.junit else read_counts(content)
    if tests.status != "passed":
        notes = [*notes, f"TESTS: {_how_it_ended('the command', done)}"]
    times = range(2 if twice else 1)
    outputs = [await _outputs(task, side, conditions) for _ in times]
    recorded = [await _recorded(task, side, conditions) for _ in times]
    return SideChecks(tests, outputs, notes, recorded)


async def _outputs(task: SpeedupTask, side: MeasuredCopy, conditions: Conditions) -> Mapping[str, Any] | None:
    async with fresh(side, conditions) as workspace:
        if task.snapshots is not None:
            return await _own_outputs(task.snapshots, workspace, conditions.timeout_s)
        assert task.auto is not None  # noqa: S101 - a task has one of both
        return await _captured(task.auto, workspace, conditions.timeout_s)


async def _own_outputs(run: SnapshotRun, workspace: Workspace, timeout_s: float) -> Mapping[str, Any] | None:
    _, content = await _run_for(workspace, run.command, run.statuses, timeout_s)
    return read_statuses(content)


async def _captured(auto: AutoSnapshots, workspace: Workspace, timeout_s: float) -> Mapping[str, Any] | None:
    """Written beside the folder, under a name that nobody can know before."""
    output = str(workspace.tmp / f"outputs-{secrets.token_hex(8)}.json")
    asked = {"functions": auto.functions, "path": auto.path, "output": output}
    command = [auto.python, "-c", CAPTURE.read_text("utf-8")]
    _, content = await _run_for(workspace, command, output, timeout_s, json.dumps(asked).encode())
    return read_capture(content)


async def _recorded(task: SpeedupTask, side: MeasuredCopy, conditions: Conditions) -> Recorded | None:
    """The benchmark's command once more, for what its functions give."""
    if not conditions.modules:
        return None
    async with fresh(side, conditions, recorder_files(conditions.modules)) as workspace:
        env = {**NEUTRAL, **recorder_env(workspace)}
        await workspace.run(task.benchmarks.command, env=env, timeout_s=conditions.timeout_s)
        await workspace.end_processes()
        return read_recorded(workspace)


async def _times(task: SpeedupTask, side: MeasuredCopy, conditions: Conditions) -> tuple[Times, str | None]:
    run = task.benchmarks
    async with fresh(side, conditions) as workspace:
        done, content = await _run_for(workspace, run.command, run.output, conditions.timeout_s)
    times, note = _read(run, done, content)
    seconds = claimed(run.format, content or b"", times)
    side.timed.append(Timed(done.duration_ms / 1000, seconds, done.exit_code == 0, bool(times)))
    return times, note


def _read(run: Benchmarks, done: Finished, content: bytes | None) -> tuple[Times, str | None]:
    if content is None:
        return {}, f"BENCHMARKS: no {run.output} that can be read was written; {_how_it_ended('the command', done)}"
    try:
        times = read_times(run.format, content)
    except ValueError as error:
        return {}, f"BENCHMARKS: {run.output} can't be read as {run.format}: {clean_text(str(error))[:SAID]}"
    return times, None if done.exit_code == 0 else f"BENCHMARKS: {_how_it_ended('the command', done)}"


async def _run_for(
    workspace: Workspace, command: Sequence[str], output: str, timeout_s: float, stdin: bytes | None = None
) -> tuple[Finished, bytes | None]:
    """Run a command for the file that it writes: never one that was there before. What it started ends with it."""
    await workspace.run(["rm", "-rf", "--", output], timeout_s=timeout_s)
    done = await workspace.run(command, env=NEUTRAL, timeout_s=timeout_s, stdin=stdin)
    await workspace.end_processes()
    try:
        return done, workspace.read_file(output)
    except FileTooLargeError as error:  # what the measured code made of it, no fault of the sandbox's
        return replace(done, stderr=f"{output}: {error}"), None


def _how_it_ended(what: str, done: Finished) -> str:
    if done.timed_out:
        return f"{what} took longer than {done.duration_ms / 1000:.0f} s"
    if done.exceeded is not None:
        return f"{what} used too much {done.exceeded}"
    end = _last_lines(done.stderr or done.stdout)
    before = ":\n" if "\n" in end else ": "
    return f"{what} ended with exit code {done.exit_code}" + (f"{before}{end}" if end else "")


def _last_lines(text: str) -> str:
    """The end of what a command printed, in lines of its own, without one that is cut."""
    lines = [line.rstrip() for line in text[-2 * SAID :].splitlines() if line.strip()]
    if len(text) > 2 * SAID and len(lines) > 1:
        del lines[0]
    shown = "\n".join(lines[-SAID_LINES:])
    return shown if "\n" in shown else " ".join(shown.split())[-SAID:]


@asynccontextmanager
async def agents_workspace(
    task: SpeedupTask, original: Path, settings: WorkspaceSettings, timeout_s: float
) -> AsyncIterator[Workspace]:
    """A workspace with the task's code, set up, for an agent. Raises `SetupError` and `SandboxError`."""
    async with await Workspace.create(original, settings) as workspace:
        await set_up(task, workspace, timeout_s)
        yield workspace
