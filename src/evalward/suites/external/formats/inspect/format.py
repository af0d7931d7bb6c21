"""The format: which files are logs of inspect, and the runs in them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalward.records.problem import wrong
from evalward.render.numbers import plural
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial
from evalward.suites.external.formats.inspect.containers import TITLE, EvalLog, JsonLog, Log
from evalward.suites.external.formats.inspect.header import Header
from evalward.suites.external.formats.inspect.scores import graded_in, scored_by
from evalward.suites.external.formats.inspect.trials import CANCELLED as CANCELLED_SAMPLE
from evalward.suites.external.formats.inspect.trials import Verdicts, error_of, identity, trial_of
from evalward.suites.external.formats.values import mapping, outline

ZIP = b"PK\x03\x04"
_FIRST_MEMBER = re.compile(rb"PK\x03\x04.{26}(header\.json|summaries\.json|reductions\.json|_journal/|samples/)", re.S)
_DOCUMENT = frozenset({"version", "eval.task", "eval.created"})
_LISTS = frozenset({"logs.json", "eval-set.json", "listing.json"})  # what inspect writes beside logs


class InspectFormat:
    """Logs of inspect."""

    title = TITLE

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - its content is enough
        """By the first member's name in an archive, by the first keys of a document."""
        return bool(_FIRST_MEMBER.match(head)) or outline(head) >= _DOCUMENT

    def belongs(self, name: str) -> bool:
        """`.eval` and `.json`, without the lists of logs that inspect writes beside them."""
        last = name.rpartition("/")[2]
        return last.endswith((".eval", ".json")) and not last.startswith(".") and last not in _LISTS

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """A run for each log, in the order of the files; of a log and its retries the newest.

        Raises `InputError`.
        """
        logs = [_opened(file) for file in files]
        newest = {_run_of(log): log for log in sorted(logs, key=lambda log: log.header.made_at or "")}
        kept = set(map(id, newest.values()))
        return [_results(log, logs) for log in logs if id(log) in kept]


FORMAT = InspectFormat()


def _opened(file: ForeignFile) -> Log:
    with file.open() as stream:
        start = stream.read(len(ZIP))
    return EvalLog(file) if start == ZIP else JsonLog(file)


def _run_of(log: Log) -> str:
    return log.header.task_id or log.file.name


@dataclass
class _Survey:
    """What a first pass over the summaries finds: it holds numbers and names, and no sample."""

    last: dict[tuple[str, int], int] = field(default_factory=dict)
    scores: dict[str, None] = field(default_factory=dict)
    graded: set[str] = field(default_factory=set)
    cancelled: int = 0
    retried: int = 0

    @property
    def counted(self) -> int:
        """Trials that were not cut short."""
        return len(self.last) - self.cancelled

    def verdicts(self, header: Header) -> Verdicts:
        """One scorer with one value decides; of several none does."""
        several = len(self.scores) != 1 or (header.scorers or 0) > 1
        return Verdicts(frozenset(self.graded), None if several else next(iter(self.scores)))


def _survey(log: Log) -> _Survey:
    """Raises `InputError` for a log without a sample, and for one with two cases of one id."""
    found, asked = _Survey(), dict[tuple[str, int], int]()
    cancelled, retried = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for position, row in enumerate(log.rows()):
        key = identity(row)
        if key is None:
            raise wrong(log.file.name, "a sample of the log has no id or no epoch", "Have inspect write it again.")
        same = _fingerprint(row)
        if asked.setdefault(key, same) != same:
            raise wrong(log.file.name, f'two different cases are called "{key[0]}"', "Give every sample its own id.")
        found.last[key] = position
        found.scores |= dict.fromkeys(scored_by(row))
        found.graded |= graded_in([row])
        cancelled[key] = error_of(row).startswith(CANCELLED_SAMPLE)
        retried[key] = bool(row.get("retries") or row.get("error_retries"))
    if not found.last:
        raise wrong(log.file.name, f"{TITLE} has no sample: {_why_empty(log.header)}", "Let inspect run at least one.")
    found.cancelled, found.retried = sum(cancelled.values()), sum(retried.values())
    return found


def _fingerprint(row: Mapping[str, Any]) -> int:
    return hash(json.dumps([row["id"], row.get("target"), _words(row.get("input"))]))


def _words(value: Any) -> Any:
    return [each.get("content") for each in value if isinstance(each, dict)] if isinstance(value, list) else value


def _why_empty(header: Header) -> str:
    if header.planned == 0:
        return "none was chosen"
    if mapping(header.eval.get("config")).get("log_samples") is False:
        return "inspect was run with --no-log-samples"
    return "none was finished"


def _results(log: Log, logs: Sequence[Log]) -> ForeignResults:
    survey = _survey(log)
    header = log.header
    return ForeignResults(
        trials=_trials(log, survey),
        file=log.file.name,
        version=header.version,
        planned=header.planned,
        made_at=header.made_at,
        notes=[*_notes(log, survey), *_older(log, logs)],
        subject=header.subject,
        stopped=header.ending(survey.counted),
    )


def _trials(log: Log, survey: _Survey) -> Iterator[ForeignTrial]:
    """The trials; of one that was written twice the last, since inspect had it run again."""
    verdicts = survey.verdicts(log.header)
    for position, sample in enumerate(log.samples()):
        key = identity(sample.row)
        if key is not None and survey.last.get(key) == position:
            yield trial_of(sample, log.header, verdicts)


def _notes(log: Log, survey: _Survey) -> Iterator[str]:
    if survey.cancelled:
        were = "was" if survey.cancelled == 1 else "were"
        yield f"{plural(survey.cancelled, 'trial')} {were} under way when inspect was stopped: not counted"
    if log.header.invalidated:
        yield "samples that were declared invalid in inspect's log are not counted"
    if survey.retried:
        yield (
            f"inspect ran {plural(survey.retried, 'trial')} again after an error: tokens are those of the last attempt"
        )
    if log.header.error and log.header.ending(survey.counted) is None:
        yield f"inspect ended with an error: {log.header.error}"


def _older(log: Log, logs: Sequence[Log]) -> Iterator[str]:
    for other in logs:
        if other is not log and _run_of(other) == _run_of(log):
            yield f"{other.file.name} is not read: {log.file.name} is the same run, repeated"
