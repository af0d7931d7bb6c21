"""Whose steps an agent's log or a recording of its terminal tells, and what they add to its test log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evalward.importers.fc_eval_layout import TrialFolder, home, numbered, trial_folder
from evalward.records.problem import wrong
from evalward.render.numbers import plural
from evalward.suites.speedup.result_files import AgentLog


@dataclass(frozen=True)
class StepFile:
    """A file that tells an agent's steps. `changed` as in a `Source`."""

    file: str
    log: AgentLog
    recording: bool
    changed: float | None = None


@dataclass(frozen=True)
class Steps:
    """Steps by the test log that they belong to, and what was left out, as warnings."""

    by_log: Mapping[str, AgentLog] = field(default_factory=dict)
    warnings: Sequence[str] = ()


def steps_of(logs: Mapping[str, TrialFolder | None], files: Sequence[StepFile]) -> Steps:
    """Each test log's steps: those of its folder's newest log, else of its newest recording.

    `logs` are the test logs with what their folders tell. Raises `InputError` where it is unknown whose a file is.
    """
    owned: dict[str, list[StepFile]] = defaultdict(list)
    warnings: list[str] = []
    for each in files:
        owner = _owner(each, logs)
        if owner is None:
            warnings.append(f"{each.file}: left out: {_why_nobodys(each)}")
        else:
            owned[owner].append(each)
    return Steps({owner: _together(mine) for owner, mine in owned.items()}, warnings)


def _owner(steps: StepFile, logs: Mapping[str, TrialFolder | None]) -> str | None:
    """The test log in the same trial's folder, or that of the agent whose number the recording's name has.

    `None` where a folder of FC-Eval's has files of several agents, or one that left no test log.
    """
    folder = home(steps.file)
    others = [file for file in logs if home(file) == folder]
    if len(others) == 1:
        return others[0]
    trial = trial_folder(steps.file)
    if others or trial is None:
        there = f"{plural(len(others), 'test log')} are" if others else "no test log is"
        raise wrong(
            steps.file,
            f"{there} next to it, so whose steps these are is unknown",
            "Give it with the one test log of its folder.",
        )
    number = numbered(steps.file)
    mine = [file for file, other in logs.items() if other is not None and other == _of_agent(trial, other, number)]
    return mine[0] if len(mine) == 1 else None


def _why_nobodys(steps: StepFile) -> str:
    trial = trial_folder(steps.file)
    own = trial is not None and trial.agent is not None
    return "the test log of its trial is missing" if own else "no name says whose steps these are"


def _of_agent(trial: TrialFolder, other: TrialFolder, number: int | None) -> TrialFolder:
    return replace(trial, number=-1 if number is None else number, agent=other.agent)


def _together(files: Sequence[StepFile]) -> AgentLog:
    """An agent's log has tokens and counts first; where it has no step, the recording tells how many there were."""
    logs = [each for each in files if not each.recording]
    recordings = [each for each in files if each.recording]
    log = _newest(logs).log if logs else None
    if log is not None and (log.trajectory_length or not recordings):
        return log
    recorded = _newest(recordings).log
    return recorded if log is None else replace(log, trajectory_length=recorded.trajectory_length)


def _newest(files: Sequence[StepFile]) -> StepFile:
    """Raises `InputError` where two are the newest, or it isn't known."""
    by_time = sorted(files, key=lambda each: each.changed or 0.0)
    if len(by_time) > 1 and (None in [each.changed for each in files] or by_time[-1].changed == by_time[-2].changed):
        what = "recording" if files[0].recording else "agent log"
        raise wrong(
            files[0].file,
            f"{plural(len(files), what)} are in its folder, and which of them is the newest is unknown",
            "Leave only the newest there.",
        )
    return by_time[-1]
