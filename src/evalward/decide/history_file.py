"""The text of `history.jsonl`: read line by line, appended to, and kept within its limits.

Every line stands for itself, so that lines of two branches can be merged in any order; a line that can't be read
costs only itself.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

from evalward.records.base import clean_text, digest, digest_text
from evalward.records.history import CaseCount, HistoryEntry
from evalward.records.metric import Metric
from evalward.records.report import Report, Run
from evalward.records.result import Result, Status
from evalward.records.verdict import Judgement

HISTORY_FILE = "history.jsonl"
MOST_METRICS = 12
_DIGITS = 12  # of a digest: enough to tell the few thousand things of one history apart
_PREFIX = "sha256:"
_DIGEST = re.compile("(?:sha256:)?[0-9a-f]{12,128}")
_REASON = 80  # characters
# Which metrics people follow, when there are more than a line can hold: rates and scores, then what it costs.
_UNITS = ("ratio", "speedup", "score", "points", "usd", "tokens", "ms", "count")


class HistoryLimits(Struct, frozen=True):
    """How much is kept: so many of the newest entries of each suite and target, and so many bytes in all."""

    entries_per_run: int = 1000
    max_bytes: int = 5_000_000


class History(Struct, frozen=True):
    """The entries of a file in its order; `unreadable` counts the lines that were passed over."""

    entries: Sequence[HistoryEntry] = ()
    unreadable: int = 0

    @property
    def warnings(self) -> list[str]:
        """What people should know about the file."""
        if not self.unreadable:
            return []
        lines = "1 line is" if self.unreadable == 1 else f"{self.unreadable} lines are"
        return [f"{HISTORY_FILE}: {lines} not readable and passed over"]


def read_history(text: str) -> History:
    """The entries of a text. Nothing in it is an error: what can't be read is counted."""
    lines, unreadable = _parsed(text)
    return History([entry for entry, _ in lines], unreadable)


def _parsed(text: str) -> tuple[list[tuple[HistoryEntry, str]], int]:
    """Each entry with its line, those that a merge wrote twice once; how many lines are none."""
    found: dict[tuple[str, str, str], tuple[HistoryEntry, str]] = {}
    unreadable = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            entry = HistoryEntry.model_validate_json(line)
        except ValidationError:
            unreadable += 1
            continue
        found.setdefault(_identity(entry), (entry, line))
    return list(found.values()), unreadable


def _identity(entry: HistoryEntry) -> tuple[str, str, str]:
    return entry.report, entry.suite, entry.target


def dump_entry(entry: HistoryEntry) -> str:
    """The line of an entry, without its end: defaults are left out, keys are sorted where order means nothing."""
    data: dict[str, Any] = {"schema": entry.schema_}
    data |= entry.model_dump(mode="json", exclude_defaults=True, exclude={"metrics", "others", "cases"})
    data["metrics"] = {name: _metric_dict(metric) for name, metric in entry.metrics.items()}
    if entry.others:
        data["others"] = {case: list(count) for case, count in sorted(entry.others.items())}
    if entry.cases is not None:
        data["cases"] = dict(sorted(entry.cases.items()))
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _metric_dict(metric: Metric) -> dict[str, Any]:
    data = metric.model_dump(mode="json", exclude_defaults=True)
    data["value"] = metric.value
    return {
        key: int(item) if isinstance(item, float) and item.is_integer() and abs(item) < 2**53 else item
        for key, item in data.items()
    }


# --- from a report --------------------------------------------------------------------------------------------------


def entries_of(report: Report, judgement: Judgement | None = None, ref: str | None = None) -> list[HistoryEntry]:
    """One entry per run of the report that measured something. `ref` is the branch; its first attempt, until appended.

    `judgement` adds the verdict, and says which metrics have rules: those are kept before any other.
    """
    identity = report_identity(report)
    return [_entry(report, run, identity, judgement, ref) for run in report.runs if run.cases and not run.standing]


def report_identity(report: Report) -> str:
    """What an entry says which report it is of."""
    said_in_words = {"interrupted_by"}  # so older entries stay what they are
    return short_digest(digest(report.model_dump(mode="json", by_alias=True, exclude=said_in_words)))


def _entry(report: Report, run: Run, identity: str, judgement: Judgement | None, ref: str | None) -> HistoryEntry:
    counts = _counts(run.cases)
    cases = {clean_text(result.id): short_digest(result.definition) for result in run.cases}
    plain = CaseCount(run.trials)
    return HistoryEntry(
        at=report.created_at,
        commit=report.provenance.commit,
        ref=ref,
        evalward=report.tool.version,
        report=identity,
        suite=clean_text(run.suite),
        kind=run.kind,
        target=clean_text(run.target),
        trials=run.trials,
        random=run.random,
        partial=report.partial is not None or report.interrupted is not None or len(run.cases) < run.planned,
        subject=short_digest(run.subject.hash),
        outcome=judgement.verdict.outcome if judgement else None,
        metrics=_chosen(run, _ruled(run, judgement)),
        case_set=short_digest(digest(cases)),
        cases=cases,
        others={case: count for case, count in counts.items() if count != plain},
    )


def _counts(results: Iterable[Result]) -> dict[str, CaseCount]:
    by_case: dict[str, Counter[Status]] = {}
    for result in results:
        by_case.setdefault(clean_text(result.id), Counter())[result.status] += 1
    return {case: CaseCount(*(ends[status] for status in _STATUSES)) for case, ends in by_case.items()}


_STATUSES = (Status.PASSED, Status.FAILED, Status.ERROR, Status.SKIPPED)


def _ruled(run: Run, judgement: Judgement | None) -> list[str]:
    """The metrics of the run that rules speak about, in the policy's order."""
    if judgement is None:
        return []
    outcomes = judgement.verdict.rules
    return [o.rule.metric for o in outcomes if (o.suite, o.target) == (run.suite, run.target)]


def _chosen(run: Run, ruled: Sequence[str]) -> dict[str, Metric]:
    """A dozen metrics: those with a rule, then those that have a direction, rates before sums."""
    directed = [name for name, metric in run.metrics.items() if metric.better != "neither"]
    directed.sort(key=lambda name: _UNITS.index(run.metrics[name].unit))
    names = list(dict.fromkeys([name for name in ruled if name in run.metrics] + directed))
    return {name: _bounded(run.metrics[name]) for name in names[:MOST_METRICS]}


def _bounded(metric: Metric) -> Metric:
    return metric if metric.reason is None else metric.model_copy(update={"reason": metric.reason[:_REASON]})


def short_digest(text: str) -> str:
    """The start of a digest; of a text that is none, the start of its own digest."""
    return (text if _DIGEST.fullmatch(text) else digest_text(text)).removeprefix(_PREFIX)[:_DIGITS]


# --- appending ------------------------------------------------------------------------------------------------------


def append(
    entries: Sequence[HistoryEntry], new: Iterable[HistoryEntry], limits: HistoryLimits | None = None
) -> list[HistoryEntry]:
    """The entries with the new ones at the end, within the limits; the oldest go first.

    Another measurement of the same commit is one more entry, with the next `attempt`; the same report again is none.
    The new entries are never dropped for their size.
    """
    limits = limits or HistoryLimits()
    known = {_identity(entry) for entry in entries}
    attempts = Counter(_commit(entry) for entry in entries)
    lists = case_lists(entries)
    added = []
    for entry in new:
        if _identity(entry) in known:
            continue
        known.add(_identity(entry))
        attempts[_commit(entry)] += 1
        attempt = attempts[_commit(entry)] if entry.commit else 1
        cases = None if entry.case_set in lists else entry.cases
        lists |= case_lists([entry])
        added.append(entry.model_copy(update={"attempt": attempt, "cases": cases}))
    kept = _with_lists(_newest([*entries, *added], limits.entries_per_run), lists)
    while surplus := _surplus(kept, len(added), limits.max_bytes):
        kept = _with_lists(kept[surplus:], lists)
    return kept


def _commit(entry: HistoryEntry) -> tuple[str | None, str, str]:
    return entry.commit, entry.suite, entry.target


def _newest(entries: Sequence[HistoryEntry], most: int) -> list[HistoryEntry]:
    """At most so many entries of each run, the last ones of the file."""
    left: Counter[tuple[str, str]] = Counter()
    kept = []
    for entry in reversed(entries):
        left[entry.suite, entry.target] += 1
        if left[entry.suite, entry.target] <= most:
            kept.append(entry)
    return kept[::-1]


def _surplus(entries: Sequence[HistoryEntry], added: int, max_bytes: int) -> int:
    """How many of the first entries have to go, the last `added` ones not among them."""
    sizes = [len(dump_entry(entry).encode()) + 1 for entry in entries]
    over = sum(sizes) - max_bytes
    count = 0
    while over > 0 and count < len(entries) - added:
        over -= sizes[count]
        count += 1
    return count


def case_lists(entries: Iterable[HistoryEntry]) -> dict[str, dict[str, str]]:
    """The lists of cases by their digest."""
    return {entry.case_set: entry.cases for entry in entries if entry.cases is not None}


def _with_lists(entries: Sequence[HistoryEntry], lists: Mapping[str, dict[str, str]]) -> list[HistoryEntry]:
    """Where the entry that wrote a list of cases is gone, the first that needs the list writes it."""
    written = set(case_lists(entries))
    kept = []
    for entry in entries:
        lacks = entry.case_set not in written and entry.case_set in lists
        written.add(entry.case_set)
        kept.append(entry.model_copy(update={"cases": lists[entry.case_set]}) if lacks else entry)
    return kept


def append_to_text(old_text: str, new: Sequence[HistoryEntry], limits: HistoryLimits | None = None) -> str:
    """The text of `history.jsonl` with a line for each new entry. Pure: equal input gives equal text.

    Lines that stay are not rewritten. Lines that can't be read stay too, as long as nothing has to be dropped.
    """
    lines, _ = _parsed(old_text)
    limits = limits or HistoryLimits()
    kept = append([entry for entry, _ in lines], new, limits)
    written = {id(entry): line for entry, line in lines}
    texts = [(written.get(id(entry)) or dump_entry(entry)) + "\n" for entry in kept]
    grown = _ended(old_text) + "".join(texts[len(lines) :])
    nothing_dropped = [id(entry) for entry in kept[: len(lines)]] == [id(entry) for entry, _ in lines]
    if nothing_dropped and len(grown.encode()) <= limits.max_bytes:
        return grown
    return "".join(texts)


def _ended(text: str) -> str:
    return text + "\n" if text and not text.endswith("\n") else text
