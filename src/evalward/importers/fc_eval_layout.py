"""Where FC-Eval leaves things: what the folders of a run say of a file in them.

    RUN/results.json, RUN/run_metadata.json
    RUN/TASK/TRIAL/{panes/post-test.txt, sessions/*.cast, agent-logs/*.json, results.json}

TRIAL is `TASK.1-of-1.RUN`; where several agents work on a task, each has a folder of its own beside it,
`TASK.1-of-1.RUN.agent-2-oracle`. Logs that were put elsewhere lie as `TASK/AGENT/post-test.log`, `AGENT/TASK.log` or
`TASK.log`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Literal

from evalward.records.moments import instant
from evalward.records.problem import InputError, wrong
from evalward.suites.speedup.failure import plain, role_of

GENERAL = {"agent", "log", "logs", "output", "panes", "post-test", "result", "sessions", "stdout", "test", "tests"}
"""Names of files and folders that say nothing of the task: the folder above does."""
PARTS = ("panes", "sessions", "agent-logs")
POST_TEST = "post-test"
RESULTS, METADATA = "results.json", "run_metadata.json"

Part = Literal["log", "agent-log", "recording", "other"]
"""What a file is by its place; `other` are FC-Eval's files that tell no result."""

_TRIAL = re.compile(r"\.(?P<attempt>[0-9]{1,6})-of-[0-9]{1,6}\.(?P<run>.+)", re.DOTALL)
_TRIAL_START = re.compile(r"\.[0-9]{1,6}-of-[0-9]{1,6}(?=\..)")
_AGENT = re.compile(r"(?P<run>.+)\.agent-(?P<number>[0-9]{1,4})-(?P<agent>.+)")
_NUMBERED = re.compile(r"agent-(?P<number>[0-9]{1,4})-")
_RUN_DATE = re.compile(r"(?<![0-9])[0-9]{4}(?:-[0-9]{2}){2}__(?:[0-9]{2}-){2}[0-9]{2}(?![0-9])")
_RUN_DATE_FORM = "%Y-%m-%d__%H-%M-%S"
_OTHER_NAMES = {"commands.txt", "run.log", "fc.lock", "tb.lock"}
_OTHER_RECORDINGS = {"tests.cast", "setup.cast"}  # of the harness's own sessions: no agent works in them


@dataclass(frozen=True)
class TrialFolder:
    """What the name of a trial's folder tells. `number` and `agent` are `None` where it is all agents' together."""

    task: str
    attempt: int
    run: str
    number: int | None = None
    agent: str | None = None


def home(file: str) -> PurePath:
    """The folder of a trial that a file belongs to: its own, or the one above `panes`, `sessions` and `agent-logs`."""
    folder = PurePath(file).parent
    while folder.name in PARTS:
        folder = folder.parent
    return folder


def part_of(file: str) -> Part:
    """What a file is by its place and name."""
    path = PurePath(file)
    if path.suffix == ".cast":
        return "other" if path.name in _OTHER_RECORDINGS else "recording"
    if "agent-logs" in path.parts[:-1]:
        return "agent-log" if path.parent.name == "agent-logs" and path.suffix == ".json" else "other"
    if path.name in _OTHER_NAMES or (path.parent.name == "panes" and path.stem.startswith(("pre-", "post-"))):
        return "log" if path.stem == POST_TEST else "other"
    return "log"


def trial_folder(file: str) -> TrialFolder | None:
    """What the name of the file's trial folder tells; `None` where it is no name of FC-Eval's.

    Raises `InputError` where the name can be read in two ways, and the folder above doesn't say which is meant.
    """
    name, task = home(file).name, home(file).parent.name
    found = _TRIAL.fullmatch(name.removeprefix(task)) if task and name.startswith(task) else None
    if found is None:  # it lies below no folder of its task
        starts = [match.start() for match in _TRIAL_START.finditer(name) if match.start()]
        if len(starts) > 1:
            raise wrong(file, f"{name!r} can be read in two ways", "Give it below the folder of its task.")
        found = _TRIAL.fullmatch(name, starts[0]) if starts else None
        task = name[: starts[0]] if starts else task
    if found is None:
        return None
    agent = _AGENT.fullmatch(found["run"])
    if agent is None:
        return TrialFolder(task, int(found["attempt"]), found["run"])
    return TrialFolder(task, int(found["attempt"]), agent["run"], int(agent["number"]), agent["agent"])


def run_date(files: Iterable[str]) -> str | None:
    """The moment that the folder of a run is called after, as it is written there; of several runs the last."""
    return max(filter(None, map(_run_date, files)), default=None)


def _run_date(file: str) -> str | None:
    found = [date for folder in PurePath(file).parts[:-1] for date in _RUN_DATE.findall(folder)]
    return found[-1] if found else None


def moment_of(run: str) -> str | None:
    """What a run is called after as a moment, `None` where there is none such.

    FC-Eval takes the clock of its machine and writes no zone; it is read as UTC.
    """
    try:
        return instant(datetime.strptime(run, _RUN_DATE_FORM).isoformat(), UTC)
    except ValueError:
        return None


def numbered(file: str) -> int | None:
    """Whose recording it is among several agents', by its name, `agent-2-oracle.cast`."""
    found = _NUMBERED.match(PurePath(file).name)
    return int(found["number"]) if found else None


def of_folder(names: Sequence[str]) -> list[str]:
    """What is read of a folder: a run's `results.json`, else the test logs with the files next to them.

    Of a trial that left no test log the folder itself is told: that its agent was at work is known by nothing else.
    """
    files = [name for name in names if not name.endswith("/")]
    if RESULTS in files:
        return [name for name in (RESULTS, METADATA) if name in files]
    logs = [name for name in files if PurePath(name).name in {f"{POST_TEST}.txt", f"{POST_TEST}.log"}]
    beside = [name for name in files if part_of(name) in {"agent-log", "recording"}]
    metadata = [name for name in files if PurePath(name).name == METADATA]
    if logs:
        return [*logs, *beside, *metadata, *_without_log([name for name in names if name.endswith("/")], logs)]
    return [*(name for name in files if PurePath(name).name == RESULTS), *metadata]


def _without_log(folders: Sequence[str], logs: Sequence[str]) -> list[str]:
    """The folders of trials without a test log. The one that agents have in common is no trial beside their own."""
    tested = set(map(home, logs))
    trials = {folder: trial for folder in folders if (trial := _trial_at(folder)) is not None}
    common = {replace(trial, number=None, agent=None) for trial in trials.values() if trial.agent is not None}
    return [folder for folder, trial in trials.items() if PurePath(folder) not in tested and trial not in common]


def _trial_at(folder: str) -> TrialFolder | None:
    """What a folder's own name tells, where that is a trial's and can be read in one way."""
    if not set(PARTS).isdisjoint(PurePath(folder).parts):
        return None
    try:
        return trial_folder(f"{folder}{POST_TEST}.txt")
    except InputError:
        return None


# --- logs that lie elsewhere ----------------------------------------------------------------------------------------


def same_agent(name: str, key: str) -> bool:
    """Whether a folder's name stands for the agent of `agent:model`, with or without number and model."""
    agent = plain(_NUMBERED.sub("", name))
    return bool(agent) and agent in {plain(key.partition(":")[0]), plain(key)}


def tasks_of(logs: Mapping[str, str | None]) -> dict[str, str]:
    """The task of each log that lies in no folder of a trial; `logs` are their files and agents.

    The name of the file, or the first folder above it that says something, is the task, or the agent where it is
    called like that; then the task is above. Raises `InputError` where that can't be told.
    """
    siblings: dict[PurePath, list[str]] = defaultdict(list)
    for file in logs:
        siblings[_named(file).parent].append(file)
    found: dict[str, str] = {}
    for folder, files in siblings.items():
        if any(_is_agents(_named(file).name, logs[file]) for file in files):
            task = _task_above(folder, files[0])
            found |= dict.fromkeys(files, task)
        else:
            _refuse_unknown_agents(files, logs)
            found |= {file: _named(file).name for file in files}
    return found


def _named(file: str) -> PurePath:
    """The path to the first name that says something, from the file's upwards."""
    path = PurePath(file)
    path = path.with_name(path.name.partition(".")[0] or path.name)
    return next((each for each in _upwards(path) if each.name.lower() not in {*GENERAL, *PARTS}), path)


def _upwards(path: PurePath) -> Iterator[PurePath]:
    yield path
    yield from (folder for folder in path.parents if folder.name and folder.name != "..")


def _is_agents(name: str, key: str | None) -> bool:
    return role_of(name) != "agent" if key is None else same_agent(name, key)


def _task_above(folder: PurePath, file: str) -> str:
    task = next((each.name for each in _upwards(folder) if each.name and each.name.lower() not in GENERAL), None)
    if task is None:
        raise wrong(file, "it is named after its agent, and no folder says which task it is", "Give TASK/AGENT/ too.")
    return task


def _refuse_unknown_agents(files: Sequence[str], logs: Mapping[str, str | None]) -> None:
    """Different agents, each in a folder that isn't called like it: one task's agents, or tasks?"""
    agents = {logs[file]: file for file in files if logs[file] is not None}
    if len(agents) > 1 and len({_named(file) for file in files}) > 1:
        names = ", ".join(sorted({repr(_named(file).name) for file in agents.values()})[:3])
        raise wrong(
            files[0],
            f"{names} hold results of different agents, so they can be one task's agents or as many tasks",
            "Name the folders TASK/AGENT after the agents, or import each agent's by themselves.",
        )
