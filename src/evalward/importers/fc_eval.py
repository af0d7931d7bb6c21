"""FC-Eval's files: `results.json` with a payload per agent, or the files of single tasks, which are merged per task.

A task's files are a test log (or the same as JSON: `tests`, `result`, `snapshot`) for each agent, and beside it the
agent's own log or a recording of its terminal. Agents are runs of their own, by their full key `agent:model`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evalward.importers import fc_eval_layout as layout
from evalward.importers.base import Imported, SourceFile
from evalward.importers.fc_eval_known import known
from evalward.importers.fc_eval_logs import merged, placed
from evalward.importers.fc_eval_results import REMEDY, SUITE, capped, is_results, read_results
from evalward.importers.fc_eval_steps import StepFile, steps_of
from evalward.importers.fc_eval_untested import left_out, untested
from evalward.records.base import clean_text
from evalward.records.moments import latest
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.suites.external.formats.base import ForeignFile
from evalward.suites.speedup.log import LogReading, read_log, read_parts, result_block
from evalward.suites.speedup.result_files import AgentLog, read_agent_log, read_cast
from evalward.suites.speedup.values import parse

_SUB_TRIAL = re.compile(r"\.agent-[0-9]+-")


@dataclass(frozen=True)
class _Metadata:
    """What `run_metadata.json` tells of a run."""

    dataset: str | None
    at: str | None


@dataclass
class _Sorted:
    """What the files are."""

    results: list[tuple[str, Any]] = field(default_factory=list)
    trials: list[tuple[str, Any]] = field(default_factory=list)
    logs: dict[str, LogReading] = field(default_factory=dict)
    steps: list[StepFile] = field(default_factory=list)
    metadata: list[_Metadata] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def suite(self) -> str:
        """The run's dataset, where its metadata names it."""
        return next((each.dataset for each in self.metadata if each.dataset), SUITE)

    @property
    def at(self) -> str | None:
        """When the run was, where its metadata tells it."""
        return latest(each.at for each in self.metadata)


@dataclass(frozen=True)
class FcEvalImporter:
    """See `evalward.importers.base.BatchImporter`."""

    title = "results of FC-Eval"

    def __call__(self, text: bytes, file: str) -> Imported:
        """One file."""
        ((_, imported),) = self.together([SourceFile(text, file)])
        return imported

    def recognises(self, file: ForeignFile, head: bytes) -> bool:
        """See `evalward.importers.base.KnowingImporter`."""
        return known(file, head)

    def of_folder(self, names: Sequence[str]) -> list[str]:
        """A run's `results.json`, else the test logs in it with what lies beside them."""
        return layout.of_folder(names)

    def together(self, files: Sequence[SourceFile]) -> list[tuple[str, Imported]]:
        """Every `results.json` by itself; all files of single tasks together, as one run of each agent."""
        found = _sorted(files)
        whole = [*found.results, *_of_trials(found.trials)]
        read = [(file, _dated(read_results(data, file, found.suite, found.at), [file])) for file, data in whole]
        if found.logs:
            read.append((next(iter(found.logs)), _dated(_of_logs(found), found.logs)))
        if not read:
            raise wrong(files[0].file if files else "", "there is no result and no test log in it", REMEDY)
        return read


def _dated(read: Imported, files: Iterable[str]) -> Imported:
    """With the date of the run's folder where no file tells one: its zone is a guess, but the day is the run's."""
    written = None if read.created_at else layout.run_date(files)
    moment = layout.moment_of(written) if written else None
    if moment is None:
        return read
    note = f"the run's date is that of its folder's name, {written}; its time zone is unknown, UTC is assumed"
    return replace(read, created_at=moment, warnings=[note, *read.warnings])


def _of_logs(found: _Sorted) -> Imported:
    tested = placed(found.logs)
    others = untested(found.folders, tested)
    logs = [*tested, *others.logs]
    steps = steps_of({log.file: log.folder for log in logs}, found.steps)
    made = merged(logs, steps, found.suite)
    warnings = capped(iter([*left_out(logs), *made.warnings, *others.warnings, *found.warnings]))
    return Imported(runs=made.runs, created_at=found.at, warnings=warnings)


def _of_trials(trials: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The `results.json` of single trials as one. Those of single agents are in the trial's that has all of them."""
    whole = [(file, trial) for file, trial in trials if not _SUB_TRIAL.search(str(trial["trial_name"]))]
    if trials and not whole:
        message = "it has one agent's result of a trial that had several"
        raise wrong(trials[0][0], message, "Give the results.json of the trial's own folder, or the test logs.")
    return [(whole[0][0], {"results": [trial for _, trial in whole]})] if whole else []


# --- what a file is -------------------------------------------------------------------------------------------------


def _sorted(files: Sequence[SourceFile]) -> _Sorted:
    found = _Sorted()
    problems: list[Problem] = []
    for source in files:
        try:
            _sort(source, found)
        except ValueError as error:
            problems.append(Problem(place=Place(file=source.file), message=str(error), remedy=REMEDY))
    if problems:
        raise InputError(problems)
    return found


def _sort(source: SourceFile, found: _Sorted) -> None:
    """Put a file where it belongs. Raises `ValueError` for one that FC-Eval doesn't write."""
    if source.is_folder:
        found.folders.append(source.file)
        return
    part = layout.part_of(source.file)
    if part in {"recording", "agent-log"}:
        _sort_steps(source, found, recording=part == "recording")
    elif part == "log":
        _sort_result(source, found)


def _sort_steps(source: SourceFile, found: _Sorted, *, recording: bool) -> None:
    """An agent's log, or a recording: an agent that was stopped may have left half of one."""
    try:
        log = read_cast(source.text) if recording else _agent_log(parse(source.text))
    except ValueError as error:
        found.warnings.append(f"{source.file}: left out: {clean_text(str(error))[:200]}")
        return
    found.steps.append(StepFile(source.file, log, recording, source.changed))


def _agent_log(data: Any) -> AgentLog:
    if not isinstance(data, list):
        raise ValueError("it is not a list of steps")
    return read_agent_log(data)


def _sort_result(source: SourceFile, found: _Sorted) -> None:
    text, file = source.text, source.file
    if text.lstrip()[:1] not in {b"{", b"["} or b"FORMULACODE_" in text[:100_000]:
        found.logs[file] = read_log(text)
        return
    data = parse(text)
    if isinstance(data, list):
        found.steps.append(StepFile(file, read_agent_log(data), recording=False, changed=source.changed))
    elif is_results(data):
        found.results.append((file, dict(data)))
    elif "trial_name" in data and "task_id" in data:
        found.trials.append((file, dict(data)))
    elif {"run_id", "dataset_name", "dataset"} & set(data):
        found.metadata.append(_metadata(data))
    else:
        found.logs[file] = read_parts(data if {"tests", "result", "snapshot"} & set(data) else _bare(data))


def _bare(data: dict[str, Any]) -> dict[str, Any]:
    result_block(data)  # what is no result either is none of FC-Eval's files
    return {"result": data}


def _metadata(data: dict[str, Any]) -> _Metadata:
    named = [data[name] for name in ("dataset_name", "dataset") if isinstance(data.get(name), str) and data[name]]
    return _Metadata(clean_text(named[0]) if named else None, latest([data.get("end_time"), data.get("start_time")]))


FC_EVAL = FcEvalImporter()
