"""FC-Eval's files: `results.json` with a payload per agent, or the files of single tasks, which are merged per task.

A task's files are a test log (or the same as JSON: `tests`, `result`, `snapshot`) for each agent, and beside it the
agent's own log or a recording of its terminal. Agents are runs of their own, by their full key `agent:model`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from evalward.importers.base import Imported
from evalward.importers.fc_eval_results import REMEDY, SUITE, is_results, make_run, read_results, task_identity
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.report import Run
from evalward.records.result import Result
from evalward.records.trace import Usage
from evalward.suites.speedup.failure import Evidence, merge, role_of
from evalward.suites.speedup.log import LogReading, read_log, read_parts
from evalward.suites.speedup.outcome import make_result
from evalward.suites.speedup.result_files import AgentLog, read_agent_log, read_cast
from evalward.suites.speedup.values import parse

GENERAL = {"agent", "log", "logs", "output", "panes", "post-test", "result", "sessions", "stdout", "test", "tests"}
"""Names of files and folders that say nothing of the task: the folder above does."""
Source = tuple[bytes, str]


@dataclass(frozen=True)
class _TaskLog:
    """One agent's run on one task, as it was read."""

    file: str
    task: str
    reading: LogReading


@dataclass(frozen=True)
class _Sorted:
    """What the files are."""

    results: Sequence[tuple[str, Any]]
    logs: Sequence[_TaskLog]
    agent_logs: Sequence[tuple[str, AgentLog]]
    suite: str


@dataclass(frozen=True)
class FcEvalImporter:
    """See `evalward.importers.base.BatchImporter`."""

    def __call__(self, text: bytes, file: str) -> Imported:
        """One file."""
        ((_, imported),) = self.together([(text, file)])
        return imported

    def together(self, files: Sequence[Source]) -> list[tuple[str, Imported]]:
        """Every `results.json` by itself; all other files together, as one run of each agent."""
        found = _sorted(files)
        read = [(file, read_results(data, file, found.suite)) for file, data in found.results]
        if found.logs:
            read.append((found.logs[0].file, _merged(found)))
        if not read:
            raise wrong(files[0][1], "there is no result and no test log in it", REMEDY)
        return read


def _sorted(files: Sequence[Source]) -> _Sorted:
    results: list[tuple[str, Any]] = []
    logs: list[_TaskLog] = []
    agent_logs: list[tuple[str, AgentLog]] = []
    suite = SUITE
    problems: list[Problem] = []
    for text, file in files:
        try:
            read = _read(text, file)
        except ValueError as error:
            problems.append(Problem(place=Place(file=file), message=str(error), remedy=REMEDY))
            continue
        if isinstance(read, LogReading):
            logs.append(_TaskLog(file, task_of(file), read))
        elif isinstance(read, AgentLog):
            agent_logs.append((file, read))
        elif isinstance(read, str):
            suite = read
        else:
            results.append((file, read))
    if problems:
        raise InputError(problems)
    return _Sorted(results, logs, agent_logs, suite)


def _read(text: bytes, file: str) -> LogReading | AgentLog | str | dict[str, Any]:
    """What a file is: a test log, an agent's log, the dataset of a run's metadata, or results. Raises `ValueError`."""
    if file.endswith(".cast"):
        return read_cast(text)
    if text.lstrip()[:1] not in {b"{", b"["} or b"FORMULACODE_" in text[:100_000]:
        return read_log(text)
    data = parse(text)
    if isinstance(data, list):
        return read_agent_log(data)
    if is_results(data):
        return dict(data)
    for name in ("dataset_name", "dataset"):
        if isinstance(data.get(name), str) and data[name]:
            return str(data[name])
    return read_parts(data if {"tests", "result", "snapshot"} & set(data) else {"result": data})


def task_of(file: str) -> str:
    """The task that a file belongs to: its name, or the first folder above it whose name says something."""
    path = PurePath(file)
    names = [path.name.partition(".")[0], *(folder.name for folder in path.parents if folder.name)]
    return next((name for name in names if name.lower() not in GENERAL), names[0])


# --- the files of single tasks --------------------------------------------------------------------------------------


def _merged(found: _Sorted) -> Imported:
    keyed = [(_key(log, found.logs), log) for log in found.logs]
    steps = _steps(found)
    by_task: dict[tuple[str, int], list[tuple[Evidence, _TaskLog]]] = defaultdict(list)
    attempts: Counter[tuple[str, str]] = Counter()
    for key, log in keyed:
        attempts[log.task, key] += 1
        mine = steps.get(log.file)
        evidence = replace(log.reading.evidence(key), trajectory_length=mine.trajectory_length if mine else None)
        by_task[log.task, attempts[log.task, key]].append((evidence, log))
    by_agent: dict[str, list[Result]] = defaultdict(list)
    for (task, trial), agents in by_task.items():
        outcomes = merge(evidence for evidence, _ in agents)
        for evidence, log in agents:
            mine = steps.get(log.file)
            by_agent[evidence.key].append(
                make_result(
                    task_identity(task, "", trial),
                    outcomes[evidence.key],
                    usage=mine.usage(evidence.key.partition(":")[2]) if mine else Usage(),
                    skipped=log.reading.skipped,
                )
            )
    runs: list[Run] = [make_run(found.suite, key, results) for key, results in sorted(by_agent.items())]
    return Imported(runs=runs, warnings=list(_warnings(found.logs)))


def _key(log: _TaskLog, logs: Sequence[_TaskLog]) -> str:
    """Whose run it is. A log that doesn't say so is the one agent's that all others are of."""
    if log.reading.agent is not None:
        return log.reading.agent
    known = {each.reading.agent for each in logs if each.reading.agent is not None}
    evaluated = {key for key in known if role_of(key) == "agent"} or known
    if len(evaluated) != 1:
        raise wrong(log.file, "it doesn't say whose run it is", "Import it with another log of the same agent.")
    return evaluated.pop()


def _steps(found: _Sorted) -> dict[str, AgentLog]:
    """Agents' logs by the test log that lies in the same folder; one with tokens counts before a recording.

    Raises `InputError` when a folder has several test logs, or none.
    """
    steps: dict[str, AgentLog] = {}
    for file, agent_log in found.agent_logs:
        folder = PurePath(file).parent
        beside = [log.file for log in found.logs if PurePath(log.file).parent == folder]
        if len(beside) != 1:
            raise wrong(file, f"{len(beside)} test logs lie beside it, so that nobody knows whose it is", REMEDY)
        if beside[0] not in steps or not file.endswith(".cast"):
            steps[beside[0]] = agent_log
    return steps


def _warnings(logs: Sequence[_TaskLog]) -> Iterator[str]:
    for log in logs:
        yield from (f"{log.file}: {note}" for note in log.reading.notes)


FC_EVAL = FcEvalImporter()
