"""harbor's jobs: a folder with a `result.json` of its own, and one in each trial's folder.

`jobs/NAME/result.json` counts, `jobs/NAME/TASK__SUFFIX/result.json` tells a trial, and a trajectory may lie in a
trial's folder. Of every job the trials are one run; trials without their job's file are a run by the folder that their
folders lie in. `lock.json` and `config.json` say what was planned, and hold no result.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evalward.records.moments import latest
from evalward.records.problem import wrong
from evalward.render.numbers import plural
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial
from evalward.suites.external.formats.folders import nearest, parent
from evalward.suites.external.formats.harbor_trial import CANCELLED, foreign_trial
from evalward.suites.external.formats.values import count, mapping, outline, text, whole

TITLE = "a result of harbor"
RESULT, LOCK, TRAJECTORY = "result.json", "lock.json", "trajectory.json"
_JOB = frozenset({"n_total_trials", "stats"})
_TRIAL = frozenset({"task_name", "trial_name", "trial_uri"})
_LOCK = frozenset({"schema_version", "harbor", "trials"})
_CONFIG = frozenset({"job_name", "agents", "datasets"})
_TRIAL_CONFIG = frozenset({"trial_name", "trials_dir", "agent"})
_TRAJECTORY = frozenset({"schema_version", "agent", "steps"})
_KINDS = (_JOB, _TRIAL, _LOCK, _CONFIG, _TRIAL_CONFIG, _TRAJECTORY)


@dataclass
class _Job:
    """The files of one job, as far as they were given."""

    file: ForeignFile | None = None
    lock: ForeignFile | None = None
    trials: list[ForeignFile] = field(default_factory=list)


class Harbor:
    """The format."""

    title = TITLE
    of_folders = True

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - the protocol's
        """By the keys of its object."""
        return _kind(head) is not None

    def belongs(self, name: str) -> bool:
        """Results, the lock file, which has the version, and trajectories."""
        return posixpath.basename(name) in {RESULT, LOCK, TRAJECTORY}

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """Each job one run. Raises `InputError`."""
        kinds = {file.name: _kind(file.head()) for file in files}
        named = {file.name: file for file in files}
        jobs = _jobs(files, kinds)
        _refuse_strangers(files, kinds, jobs)
        found = [_results(folder, job, named) for folder, job in jobs.items()]
        if not found:
            place = files[0].name if files else "harbor"
            raise wrong(place, "there is no trial of harbor in it", "Name the job's folder, as jobs/NAME.")
        return found


FORMAT = Harbor()


def _kind(head: bytes) -> frozenset[str] | None:
    keys = outline(head)
    return next((kind for kind in _KINDS if kind <= keys), None)


def _jobs(files: Sequence[ForeignFile], kinds: Mapping[str, frozenset[str] | None]) -> dict[str, _Job]:
    """The jobs by their folders, in the files' order."""
    folders = {parent(file.name) for file in files if kinds[file.name] in {_JOB, _LOCK, _CONFIG}}
    jobs: dict[str, _Job] = defaultdict(_Job)
    for file in files:
        if kinds[file.name] == _JOB:
            jobs[parent(file.name)].file = file
        elif kinds[file.name] == _TRIAL:
            folder = nearest(parent(file.name), folders)
            jobs[parent(parent(file.name)) if folder is None else folder].trials.append(file)
    for file in files:
        if kinds[file.name] == _LOCK and parent(file.name) in jobs:
            jobs[parent(file.name)].lock = file
    return dict(jobs)


def _refuse_strangers(
    files: Iterable[ForeignFile], kinds: Mapping[str, frozenset[str] | None], jobs: Iterable[str]
) -> None:
    """A file that is none of harbor's may lie in a job's folder, where agents leave theirs; elsewhere it is a mistake.

    What has the name and the place of a result is no stranger, whatever is in it: a trial would be missing in silence.
    """
    folders = set(jobs)
    for file in files:
        if kinds[file.name] is not None:
            continue
        if nearest(file.name, folders) is None or _has_a_place(file.name, folders):
            raise wrong(file.name, "it is not a result of harbor", "Name the job's folder, as jobs/NAME.")


def _has_a_place(name: str, folders: Collection[str]) -> bool:
    """Whether a file is called and lies as those of a job or of its trials."""
    here, last = parent(name), posixpath.basename(name)
    return (last in {RESULT, LOCK} and here in folders) or (last == RESULT and parent(here) in folders)


@dataclass(frozen=True)
class _HarborFile:
    """A trial, and what its file tells beside it; the file's value itself is not kept."""

    trial: ForeignTrial
    began: tuple[bool, str, str]
    finished: Any
    agent: str


def _results(folder: str, job: _Job, named: Mapping[str, ForeignFile]) -> ForeignResults:
    summary = mapping(whole(job.file, TITLE)) if job.file is not None else {}
    if not job.trials:
        place = job.file.name if job.file is not None else folder
        message = "it only counts the job's trials; their results are in folders next to it"
        raise wrong(place, message, f"Name the job's folder, {folder or '.'}, so that they are read with it.")
    told = sorted((_told(file, named) for file in job.trials), key=lambda one: one.began)
    trials = _numbered([one.trial for one in told])
    lock = mapping(whole(job.lock, TITLE)) if job.lock is not None else {}
    agents = {one.agent for one in told}
    return ForeignResults(
        trials=trials,
        file=folder or job.trials[0].name,
        version=text(mapping(lock.get("harbor")).get("version")),
        planned=count(summary.get("n_total_trials")),
        made_at=latest(one.finished for one in told),
        notes=_notes(summary, trials),
        subject={"agent": agents.pop()} if len(agents) == 1 and "" not in agents else {},
        stopped=_stopped(summary, len(trials)),
    )


def _told(file: ForeignFile, named: Mapping[str, ForeignFile]) -> _HarborFile:
    value = mapping(whole(file, TITLE))
    folder, began, agent = parent(file.name), text(value.get("started_at")), mapping(value.get("agent_info"))
    places = (posixpath.join(folder, "agent", TRAJECTORY), posixpath.join(folder, TRAJECTORY))
    return _HarborFile(
        trial=foreign_trial(file, value, next((named[place] for place in places if place in named), None)),
        began=(not began, began, text(value.get("trial_name"))),
        finished=value.get("finished_at"),
        agent=f"{text(agent.get('name'))} {text(agent.get('version'))}".strip()[:_MOST_NAME],
    )


def _numbered(trials: Sequence[ForeignTrial]) -> list[ForeignTrial]:
    """With the numbers by the order in which trials of a task began; that of the folders' random suffixes is none."""
    numbers: dict[tuple[str, str, str], int] = defaultdict(int)
    found = []
    for trial in trials:
        key = (trial.suite, trial.target, trial.case)
        numbers[key] += 1
        found.append(replace(trial, number=numbers[key]))
    return found


_MOST_NAME = 200  # characters of an agent's name


def _notes(summary: Mapping[str, Any], trials: Sequence[ForeignTrial]) -> list[str]:
    notes = []
    retries = count(mapping(summary.get("stats")).get("n_retries"))
    if retries:
        notes.append(f"harbor tried {plural(retries, 'trial')} again; the attempts before are not in its files")
    cancelled = sum(trial.reason == CANCELLED for trial in trials)
    if cancelled:
        notes.append(f"harbor cancelled {plural(cancelled, 'trial')}, which count as skipped")
    return notes


def _stopped(summary: Mapping[str, Any], ran: int) -> str | None:
    if not summary or summary.get("finished_at") is not None:
        return None
    planned = count(summary.get("n_total_trials"))
    trials = f"{ran} of {planned} trials" if planned is not None else plural(ran, "trial")
    return f"harbor's job didn't finish: there are results of {trials}"
