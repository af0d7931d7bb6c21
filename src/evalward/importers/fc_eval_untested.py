"""Trials of FC-Eval that left no test log: that an agent was at work on a task is told by its folder's name alone.

Such a trial has no result, which is an error of the agent's run, and not one trial less. Where there is no folder
either, the files don't say that the agent was to try the task: a warning names it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalward.importers.fc_eval_layout import POST_TEST, TrialFolder, same_agent, trial_folder
from evalward.importers.fc_eval_logs import TaskLog
from evalward.suites.speedup.details import PytestSummary, SnapshotSummary
from evalward.suites.speedup.failure import role_of
from evalward.suites.speedup.log import LogReading

_MOST_NAMED = 3  # tasks in a warning
_NOTHING = LogReading(PytestSummary(), SnapshotSummary(), None)


@dataclass(frozen=True)
class Untested:
    """The trials without a test log, each as one that tells nothing; and what was left out, as warnings."""

    logs: Sequence[TaskLog] = ()
    warnings: Sequence[str] = ()


def untested(folders: Sequence[str], logs: Sequence[TaskLog]) -> Untested:
    """The trials of these folders, whose names end with `/`, beside the logs of the same run."""
    runs = {log.folder.run for log in logs if log.folder is not None}
    found: list[TaskLog] = []
    warnings: list[str] = []
    for name in folders:
        file = f"{name}{POST_TEST}.txt"
        trial = trial_folder(file)
        if trial is None or trial.run not in runs:
            continue
        key = _key(trial, [*logs, *found])
        if key is None:
            warnings.append(f"{name.rstrip('/')}: left out: no log says whose trial it is")
        else:
            found.append(TaskLog(file, _NOTHING, trial.task, trial, key, trial.attempt, missing=True))
    return Untested(found, warnings)


def left_out(logs: Sequence[TaskLog]) -> Iterator[str]:
    """A warning for each agent that has no trial of a task that others tried."""
    tried: dict[str, set[str]] = defaultdict(set)
    for log in logs:
        tried[log.key].add(log.task)
    every = set().union(*tried.values())
    for key, tasks in sorted(tried.items()):
        missing = sorted(every - tasks)
        more = len(missing) - _MOST_NAMED
        names = ", ".join(missing[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        counted = "it is" if len(missing) == 1 else "they are"
        if missing:
            yield f"{key} has no trial of {names}, which other agents tried: {counted} not in that agent's metrics"


def _key(trial: TrialFolder, logs: Sequence[TaskLog]) -> str | None:
    """The `agent:model` of a trial: its agent's where that has other logs, else what its folder calls the agent.

    `None` where that can't be told, or is the key of another trial of the same attempt.
    """
    same_attempt = {log.key for log in logs if (log.task, log.attempt) == (trial.task, trial.attempt)}
    key = _only_agent(logs) if trial.agent is None else _of_agent(trial, trial.agent, logs, same_attempt)
    return None if key in same_attempt else key


def _only_agent(logs: Sequence[TaskLog]) -> str | None:
    """Whose the trials are in whose folders no agent is named: the one that is evaluated."""
    known = {log.key for log in logs if log.folder is not None and log.folder.agent is None}
    evaluated = {key for key in known if role_of(key) == "agent"} or known
    return next(iter(evaluated)) if len(evaluated) == 1 else None


def _of_agent(trial: TrialFolder, agent: str, logs: Sequence[TaskLog], taken: set[str]) -> str:
    """By the agent's number, else by its name: as other logs tell it that aren't of the same attempt."""
    own = {log.key for log in logs if log.number == trial.number}
    every = {key for log in logs for key in (log.key, *log.reading.by_agent)} - taken
    for known in (own, every):
        found = [key for key in known if same_agent(agent, key)]
        if len(found) == 1:
            return found[0]
    return agent
