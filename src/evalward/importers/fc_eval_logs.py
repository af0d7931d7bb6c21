"""The test logs of FC-Eval's agents: whose each is, and what they tell of one another.

Agents of a task are measured one after the other, and each log tells of all that were measured before it. Only the
oracle's log and those after it know the oracle's speedups, so an agent's benchmarks come from all logs of its task:
a later one counts before an earlier one, as in FC-Eval's own merge.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from evalward.importers.fc_eval_layout import TrialFolder, home, same_agent, tasks_of, trial_folder
from evalward.importers.fc_eval_results import make_run, task_identity
from evalward.importers.fc_eval_steps import Steps
from evalward.records.base import clean_text
from evalward.records.metric import EPSILON
from evalward.records.problem import wrong
from evalward.records.report import Run
from evalward.records.result import Result, Status
from evalward.records.trace import Usage
from evalward.suites.speedup.details import BenchmarkSpeed, SpeedupDetails
from evalward.suites.speedup.failure import FailureEvidence, merge, role_of
from evalward.suites.speedup.log import LogReading
from evalward.suites.speedup.outcome import SpeedupReason, make_result
from evalward.suites.speedup.result_files import AgentLog


@dataclass(frozen=True)
class TaskLog:
    """One agent's test log of one attempt at a task, as it was read; `missing` where there is none in its folder."""

    file: str
    reading: LogReading
    task: str
    folder: TrialFolder | None = None
    key: str = ""
    attempt: int = 1
    missing: bool = False

    @property
    def home(self) -> PurePath:
        """The folder of its trial."""
        return home(self.file)

    @property
    def number(self) -> int:
        """The agent's place among those of the task; 0 where no folder tells it."""
        return (self.folder.number or 0) if self.folder else 0

    def speeds_of(self, key: str) -> Sequence[BenchmarkSpeed]:
        """What it tells of an agent's benchmarks: its own, or one that was measured before."""
        if key == self.key and self.reading.agent in {None, key} and self.reading.result is not None:
            return self.reading.result.benchmarks
        return self.reading.by_agent.get(key, ())


@dataclass(frozen=True)
class Merged:
    """The agents' runs, and what is odd about their logs."""

    runs: Sequence[Run]
    warnings: Sequence[str] = field(default=())


def placed(readings: Mapping[str, LogReading]) -> list[TaskLog]:
    """Logs by file with task, attempt and agent. Raises `InputError` where one of them can't be told."""
    folders = {file: trial_folder(file) for file in readings}
    elsewhere = tasks_of({file: read.agent for file, read in readings.items() if folders[file] is None})
    logs = []
    for file, read in readings.items():
        folder = folders[file]
        logs.append(TaskLog(file, read, folder.task if folder else elsewhere[file], folder))
    return list(_numbered([replace(log, key=_key(log, logs)) for log in logs]))


def _numbered(logs: Sequence[TaskLog]) -> Iterator[TaskLog]:
    """Attempts by the folder's name, else in the order of the files. Raises `InputError` for two logs of one."""
    tried: Counter[tuple[str, str]] = Counter()
    seen: dict[tuple[str, str, int], str] = {}
    for log in logs:
        tried[log.task, log.key] += 1
        attempt = log.folder.attempt if log.folder else tried[log.task, log.key]
        other = seen.setdefault((log.task, log.key, attempt), log.file)
        if other != log.file:
            raise wrong(
                log.file,
                f"{other} has attempt {attempt} of {log.key} at {log.task} too",
                "Import each run into a report of its own.",
            )
        yield replace(log, attempt=attempt)


# --- whose a log is -------------------------------------------------------------------------------------------------


def _key(log: TaskLog, logs: Sequence[TaskLog]) -> str:
    """The `agent:model` of a log: what its folder says, else the log, else the one agent that all others are of."""
    agent = log.reading.agent
    if log.folder is not None and log.folder.agent is not None:
        return agent if agent is not None and same_agent(log.folder.agent, agent) else _of_folder(log, logs)
    if agent is not None:
        return agent
    known = {each.reading.agent for each in logs if each.reading.agent is not None}
    evaluated = {key for key in known if role_of(key) == "agent"} or known
    if len(evaluated) != 1:
        raise wrong(log.file, "it doesn't say whose run it is", "Import it with another log of the same agent.")
    return evaluated.pop()


def _of_folder(log: TaskLog, logs: Sequence[TaskLog]) -> str:
    """The full key of the agent that a folder names: as its other logs tell it, else as any does."""
    agent = (log.folder.agent if log.folder else None) or ""
    own = {each.reading.agent for each in logs if each.number == log.number}
    every = {key for each in logs for key in (each.reading.agent, *each.reading.by_agent)}
    for known in (own, every):
        found = sorted(key for key in known if key is not None and same_agent(agent, key))
        if len(found) == 1:
            return found[0]
        if found:
            raise wrong(log.file, f"it doesn't say whether it is of {' or '.join(found[:3])}", "Leave it out.")
    return agent


# --- what they tell together ----------------------------------------------------------------------------------------


def merged(logs: Sequence[TaskLog], steps: Steps, suite: str) -> Merged:
    """A run for each agent. Failure is judged where the agents of one attempt at a task meet.

    Who left no test log is no measure of the others, and its own trial is an error.
    """
    by_attempt: dict[tuple[str, int], list[TaskLog]] = defaultdict(list)
    for log in logs:
        by_attempt[log.task, log.attempt].append(log)
    by_agent: dict[str, list[Result]] = defaultdict(list)
    warnings = list(_notes_of_logs(logs))
    for group in by_attempt.values():
        tested = [log for log in group if not log.missing]
        evidence = {log.key: _evidence(log, tested, steps) for log in tested}
        outcomes = merge(evidence.values())
        warnings += [warning for log in tested for warning in _contradictions(log, tested)]
        for log in group:
            mine = steps.by_log.get(log.file)
            if log.missing:
                by_agent[log.key].append(_without_log(log, mine))
                continue
            result = make_result(
                task_identity(log.task, "", log.attempt),
                outcomes[log.key],
                usage=_usage(log.key, mine),
                skipped=log.reading.skipped and not evidence[log.key].benchmarks,
            )
            by_agent[log.key].append(result)
    runs = [make_run(suite, key, results) for key, results in sorted(by_agent.items())]
    return Merged(runs, [*warnings, *steps.warnings])


def _without_log(log: TaskLog, steps: AgentLog | None) -> Result:
    """An error: by the specification a task without a valid result is one. What the agent has used counts."""
    length = steps.trajectory_length if steps else None
    task = task_identity(log.task, "", log.attempt)
    return Result(
        id=task.id,
        category=task.category,
        definition=task.definition,
        trial=task.trial,
        status=Status.ERROR,
        usage=_usage(log.key, steps),
        reason=SpeedupReason.NO_RESULT,
        message=clean_text(f"{log.home.name} has no test log"),
        details=SpeedupDetails(role=role_of(log.key), trajectory_length=length),
    )


def _usage(key: str, steps: AgentLog | None) -> Usage:
    """Tokens and cost by the agent's log; nop and oracle ask no model."""
    if role_of(key) != "agent":
        return Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)
    return steps.usage(key.partition(":")[2]) if steps else Usage()


def _evidence(log: TaskLog, group: Sequence[TaskLog], steps: Steps) -> FailureEvidence:
    mine = steps.by_log.get(log.file)
    found: dict[str, BenchmarkSpeed] = {}
    for each in _in_turn(group):
        for speed in each.speeds_of(log.key):
            found[speed.name] = _over(speed, found.get(speed.name))
    return replace(
        log.reading.evidence(log.key),
        benchmarks=list(found.values()),
        trajectory_length=mine.trajectory_length if mine else None,
    )


def _in_turn(group: Sequence[TaskLog]) -> list[TaskLog]:
    """In the order in which the agents were measured: by their number, else by how many each log knows of."""
    return sorted(group, key=lambda log: (log.number, len(log.reading.by_agent)))


def _over(later: BenchmarkSpeed, earlier: BenchmarkSpeed | None) -> BenchmarkSpeed:
    if earlier is None:
        return later
    agent = earlier.agent if later.agent is None else later.agent
    return later.model_copy(update={"agent": agent, "oracle": earlier.oracle if later.oracle is None else later.oracle})


def _contradictions(log: TaskLog, group: Sequence[TaskLog]) -> Iterator[str]:
    """Where another log tells this agent's speed otherwise: one of them was not measured."""
    own = {speed.name: speed.agent for speed in log.speeds_of(log.key)}
    for other in _in_turn(group):
        speeds = [(speed.name, own.get(speed.name), speed.agent) for speed in other.speeds_of(log.key)]
        names = [
            name for name, mine, theirs in speeds if mine is not None and theirs is not None and _differ(mine, theirs)
        ]
        if other is not log and names:
            yield f"{other.file}: {names[0][:80]} of {log.key} differs from {log.file}; the later log counts"


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > EPSILON * max(1.0, abs(one))


def _notes_of_logs(logs: Sequence[TaskLog]) -> Iterator[str]:
    for log in logs:
        if log.missing:
            yield f"{log.home}: it has no test log, so {log.key} has no result for {log.task}: an error"
        yield from (f"{log.file}: {note}" for note in log.reading.notes)
        if log.reading.agent not in {None, log.key}:
            yield f"{log.file}: its RESULT is of {log.reading.agent}; it counts as {log.key}'s, as its folder says"
