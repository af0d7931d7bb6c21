"""One session: every side in a workspace of its own, tested, compared, and measured in turns with the others."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evalward.records.base import clean_text
from evalward.records.speedup import PytestSummary
from evalward.sandbox.base import FileTooLargeError
from evalward.sandbox.process import Finished, Settings, Workspace
from evalward.suites.speedup.measure.adapters import Times, read_times
from evalward.suites.speedup.measure.rounds import Measured, interleave
from evalward.suites.speedup.measure.snapshots import read_capture, read_statuses
from evalward.suites.speedup.measure.test_counts import read_counts, read_junit
from evalward.suites.speedup.task import AutoSnapshots, SnapshotRun, SpeedupTask

CAPTURE = Path(__file__).with_name("capture_script.py")
CAPTURED = ".evalward-outputs.json"
SAID = 200


class SetupError(Exception):
    """A side whose setup commands fail."""


@dataclass(frozen=True)
class Checked:
    """What tests and outputs of a side gave. It depends on nothing but content, so that it can be kept.

    `outputs` are captures, two of them for the untouched code, or the statuses of the task's own comparison.
    """

    tests: PytestSummary
    outputs: Sequence[Mapping[str, Any] | None] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Conditions:
    """How a session is run: rounds, seconds for one command, workspaces."""

    rounds: int
    timeout_s: float
    settings: Settings


@dataclass
class Side:
    """One of the copies: its workspace, what was checked, what was measured."""

    name: str
    workspace: Workspace
    checked: Checked | None = None
    broken: str | None = None
    measured: Measured = field(default_factory=Measured)


async def run_session(
    task: SpeedupTask, folders: Mapping[str, Path], conditions: Conditions, known: Mapping[str, Checked]
) -> dict[str, Side]:
    """Check and measure the sides, by name. `known` is what earlier sessions checked. Raises `SandboxError`."""
    async with AsyncExitStack() as stack:
        sides = {
            name: Side(name, await stack.enter_async_context(await Workspace.create(folder, conditions.settings)))
            for name, folder in folders.items()
        }
        for side in sides.values():
            await _ready(task, side, conditions, known.get(side.name))

        async def once(name: str) -> tuple[Times, str | None]:
            return await _times(task, sides[name].workspace, conditions.timeout_s)

        names = [name for name, side in sides.items() if side.broken is None]
        for name, measured in (await interleave(names, conditions.rounds, once)).items() if names else ():
            sides[name].measured = measured
        return sides


async def _ready(task: SpeedupTask, side: Side, conditions: Conditions, known: Checked | None) -> None:
    try:
        await set_up(task, side.workspace, conditions.timeout_s)
    except SetupError as error:
        side.broken = str(error)
        side.checked = Checked(PytestSummary(status="invalid"), notes=[f"SETUP: {error}"])
        return
    twice = side.name == "nop"
    side.checked = known or await _check(task, side.workspace, conditions.timeout_s, twice=twice)


async def set_up(task: SpeedupTask, workspace: Workspace, timeout_s: float) -> None:
    """Run a task's setup commands. Raises `SetupError` when one fails."""
    for command in task.setup:
        done = await workspace.run(command, timeout_s=timeout_s)
        if done.exit_code != 0:
            raise SetupError(_said("setup", done))


async def _check(task: SpeedupTask, workspace: Workspace, timeout_s: float, *, twice: bool) -> Checked:
    done, content = await _run_for(
        workspace, task.tests.command, task.tests.junit or task.tests.counts or "", timeout_s
    )
    tests, notes = read_junit(content) if task.tests.junit else read_counts(content)
    if tests.status != "passed":
        notes = [*notes, f"TESTS: {_said('the command', done)}"]
    outputs = [await _outputs(task, workspace, timeout_s) for _ in range(2 if twice else 1)]
    return Checked(tests, outputs, notes)


async def _outputs(task: SpeedupTask, workspace: Workspace, timeout_s: float) -> Mapping[str, Any] | None:
    if task.snapshots is not None:
        return await _own_outputs(task.snapshots, workspace, timeout_s)
    assert task.auto is not None  # noqa: S101 - a task has one of both
    return await _captured(task.auto, workspace, timeout_s)


async def _own_outputs(run: SnapshotRun, workspace: Workspace, timeout_s: float) -> Mapping[str, Any] | None:
    _, content = await _run_for(workspace, run.command, run.statuses, timeout_s)
    return read_statuses(content)


async def _captured(auto: AutoSnapshots, workspace: Workspace, timeout_s: float) -> Mapping[str, Any] | None:
    asked = {"functions": auto.functions, "path": auto.path, "output": CAPTURED}
    command = [auto.python, "-c", CAPTURE.read_text("utf-8")]
    _, content = await _run_for(workspace, command, CAPTURED, timeout_s, json.dumps(asked).encode())
    return read_capture(content)


async def _times(task: SpeedupTask, workspace: Workspace, timeout_s: float) -> tuple[Times, str | None]:
    run = task.benchmarks
    done, content = await _run_for(workspace, run.command, run.output, timeout_s)
    if content is None:
        return {}, f"BENCHMARKS: no {run.output} that can be read was written; {_said('the command', done)}"
    try:
        times = read_times(run.format, content)
    except ValueError as error:
        return {}, f"BENCHMARKS: {run.output} can't be read as {run.format}: {clean_text(str(error))[:SAID]}"
    return times, None if done.exit_code == 0 else f"BENCHMARKS: {_said('the command', done)}"


async def _run_for(
    workspace: Workspace, command: Sequence[str], output: str, timeout_s: float, stdin: bytes | None = None
) -> tuple[Finished, bytes | None]:
    """Run a command for the file that it writes: never one that was there before. What it started ends with it."""
    await workspace.run(["rm", "-rf", "--", output], timeout_s=timeout_s)
    done = await workspace.run(command, timeout_s=timeout_s, stdin=stdin)
    await workspace.end_processes()
    try:
        return done, workspace.read_file(output)
    except FileTooLargeError as error:  # what the measured code made of it, no fault of the sandbox's
        return replace(done, stderr=f"{output}: {error}"), None


def _said(what: str, done: Finished) -> str:
    if done.timed_out:
        return f"{what} took longer than {done.duration_ms / 1000:.0f} s"
    if done.exceeded is not None:
        return f"{what} used too much {done.exceeded}"
    end = " ".join((done.stderr or done.stdout).split())[-SAID:]
    return f"{what} ended with exit code {done.exit_code}" + (f": {end}" if end else "")


@asynccontextmanager
async def agents_workspace(
    task: SpeedupTask, original: Path, settings: Settings, timeout_s: float
) -> AsyncIterator[Workspace]:
    """A workspace with the task's code, set up, for an agent. Raises `SetupError` and `SandboxError`."""
    async with await Workspace.create(original, settings) as workspace:
        await set_up(task, workspace, timeout_s)
        yield workspace
