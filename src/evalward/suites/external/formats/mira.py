"""mira's runs: `report.json` with all cases, and the same cases one by one in `cases/KEY/result.json`.

Where both are given, the report is read, and never a case twice.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from evalward.records.problem import wrong
from evalward.records.result import CheckResult, Status
from evalward.records.trace import Message, Text, ToolCall, Trace, Usage
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial, Score
from evalward.suites.external.formats.document import Document
from evalward.suites.external.formats.folders import parent
from evalward.suites.external.formats.values import (
    amount,
    count,
    including_cache,
    mapping,
    number,
    outline,
    rows,
    text,
    texts,
    whole,
)

TITLE = "a result of mira"
REPORT, META, RESULT, CASES = "report.json", "meta.json", "result.json", "cases"
_CASE = frozenset({"eval", "sample", "target"})  # what comes before texts of any length
_IN_REPORT = frozenset({f"{CASES}.aggregate", f"{CASES}.eval"})
_EMPTY_REPORT = frozenset({CASES, "summary.scored", "summary.skipped"})
_META = frozenset({"run_id", "study", "started_unix"})
_MAIN = "score"  # what results call the score of the whole trial
_REMEDY = "Name the run's folder, as results/mira/RUN."


class Mira:
    """The format."""

    title = TITLE
    of_folders = True

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - the protocol's
        """By the keys of its object, and of the first case in it."""
        return _kind(head) != ""

    def belongs(self, name: str) -> bool:
        """The report, what it says of the run, and the cases one by one."""
        last = posixpath.basename(name)
        return last in {REPORT, META} or (last == RESULT and posixpath.basename(parent(parent(name))) == CASES)

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """Each run's folder one run. Raises `InputError`."""
        runs: dict[str, dict[str, list[ForeignFile]]] = {}
        for file in files:
            kind = _kind(file.head())
            if not kind and not self.belongs(file.name):
                continue
            if not kind:
                raise wrong(file.name, "it is not a result of mira", _REMEDY)
            runs.setdefault(_folder(file.name, kind), {}).setdefault(kind, []).append(file)
        found = [_results(run) for run in runs.values() if set(run) != {META}]
        if not found:
            raise wrong(files[0].name if files else "mira", "there is no case of mira in it", _REMEDY)
        return found


FORMAT = Mira()


def _kind(head: bytes) -> str:
    """Which of a run's files it is, by the name that it usually has; "" for none."""
    keys = outline(head)
    if keys >= _IN_REPORT or keys >= _EMPTY_REPORT:
        return REPORT
    if keys >= _META:
        return META
    return RESULT if keys >= _CASE else ""


def _folder(name: str, kind: str) -> str:
    """The run's folder: a case lies in `RUN/cases/KEY`."""
    here = parent(name)
    above = parent(here)
    return parent(above) if kind == RESULT and posixpath.basename(above) == CASES else here


def _results(run: Mapping[str, list[ForeignFile]]) -> ForeignResults:
    meta = mapping(whole(run[META][0], TITLE)) if META in run else {}
    cases: Iterator[Mapping[str, Any]]
    if REPORT in run:
        document = Document(run[REPORT][0], TITLE, (CASES,))
        summary = mapping(document.head.get("summary")) or mapping(meta.get("summary"))
        cases, place = rows_of(document.items()), run[REPORT][0].name
    else:
        summary, place = mapping(meta.get("summary")), run[RESULT][0].name
        cases = (mapping(whole(file, TITLE)) for file in run[RESULT])
    environment = mapping(meta.get("environment"))
    return ForeignResults(
        trials=_trials(cases, place),
        file=place,
        version=text(environment.get("mira_version")),
        planned=_planned(summary),
        made_at=_moment(meta.get("finished_unix")),
    )


def rows_of(items: Iterator[Any]) -> Iterator[Mapping[str, Any]]:
    """The objects among a document's items."""
    return (item for item in items if isinstance(item, dict))


def _planned(summary: Mapping[str, Any]) -> int | None:
    """All cases of the run: scored, without a score that applies, and skipped."""
    counts = [count(summary.get(key)) for key in ("scored", "na", "skipped")]
    return sum(found for found in counts if found is not None) if counts[0] is not None else None


def _moment(unix: Any) -> str | None:
    seconds = count(unix)
    if not seconds or seconds > _LAST_SECOND:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_LAST_SECOND = 253_402_300_799  # of the year 9999


def _trials(cases: Iterator[Mapping[str, Any]], place: str) -> Iterator[ForeignTrial]:
    seen: set[tuple[str, str, str, int | None]] = set()
    for case in cases:
        trial = _trial(case, place)
        key = (trial.suite, trial.case, trial.target, trial.number)
        if key in seen:
            name = f"{trial.suite}/{trial.case}"
            raise wrong(place, f'two results are called "{name}" with {trial.target}', "Have mira write it again.")
        seen.add(key)
        yield trial
    if not seen:
        raise wrong(place, "there is no case in it", "Let mira run at least one case.")


def _trial(case: Mapping[str, Any], place: str) -> ForeignTrial:
    sample = text(case.get("sample"))
    if not sample:
        raise wrong(place, "a case of mira's names no sample", "Have mira write it again.")
    told = mapping(case.get("transcript"))
    found = rows(case.get("scores"))
    status, reason = _ending(case, found)
    usage = _usage(told)
    duration = count(mapping(told.get("timing")).get("duration_ms")) or None
    return ForeignTrial(
        case=sample,
        status=status,
        number=(count(case.get("trial")) or 0) + 1,
        suite=text(case.get("eval")),
        target=_target(case),
        asked={"sample": sample, "input": case.get("input"), "expected": case.get("expected")},
        reason=reason,
        message=_message(told, found),
        scores=_scores(case, found, judged=status in {Status.PASSED, Status.FAILED}),
        checks=[_check(score) for score in found if score.get("na") is not True],
        usage=usage,
        duration_ms=duration,
        trace=partial(_trace, case, usage, duration),
    )


def _target(case: Mapping[str, Any]) -> str:
    """The target, with the values of the run's other axes: arms that differ in one of them are never mixed."""
    axes = ",".join(f"{key}={value}" for key, value in sorted(mapping(case.get("params")).items()))
    return f"{text(case.get('target'))}[{axes}]" if axes else text(case.get("target"))


def _ending(case: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> tuple[Status | None, str | None]:
    """How it ended. What was skipped also says that it didn't pass; what no scorer could look at says so, too."""
    if case.get("skipped") is True:
        return Status.SKIPPED, "skipped"
    told = mapping(case.get("transcript"))
    if told.get("error_kind") == "infra":
        return Status.ERROR, "infra"
    if all(score.get("na") is True for score in found):
        return (Status.ERROR, "scorer_error" if found else "error") if found or told.get("error") else (None, None)
    if case.get("passed") is True:
        return Status.PASSED, None
    return (Status.FAILED, "failed") if case.get("passed") is False else (None, None)


def _message(told: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> str:
    said = [
        f"{text(score.get('scorer'))}: {text(score.get('reason'))}" for score in found if score.get("pass") is False
    ]
    return text(told.get("error")) or "; ".join(said)


def _scores(case: Mapping[str, Any], found: Sequence[Mapping[str, Any]], *, judged: bool) -> dict[str, Score]:
    main = {_MAIN: Score(value=number(case.get("aggregate")), passed=case.get("passed") is True, decides=False)}
    return (main if judged else {}) | {text(score.get("scorer")): _score(score) for score in found}


def _score(score: Mapping[str, Any]) -> Score:
    reason = text(score.get("reason"))
    if score.get("na") is True:
        return Score(error=reason or "it could not be evaluated")
    passed = score.get("pass")
    return Score(value=number(score.get("value")), passed=passed if isinstance(passed, bool) else None, reason=reason)


def _check(score: Mapping[str, Any]) -> CheckResult:
    return CheckResult(
        check=text(score.get("scorer")), passed=score.get("pass") is True, detail=text(score.get("reason"))
    )


def _usage(told: Mapping[str, Any]) -> Usage:
    """What it used. A subject that counts nothing leaves zeros, and a model without a known price costs 0.0."""
    spent = mapping(told.get("usage"))
    counted = bool(count(spent.get("input_tokens")) or count(spent.get("output_tokens")))
    if not counted:
        return Usage(cost_usd=amount(spent.get("cost_usd")) or None)
    return including_cache(
        spent.get("input_tokens"),
        spent.get("cache_read_tokens"),
        spent.get("output_tokens"),
        amount(spent.get("cost_usd")) or None,
        spent.get("reasoning_tokens"),
    )


def _trace(case: Mapping[str, Any], usage: Usage, duration_ms: int | None) -> Trace | None:
    """What was asked, where the file has it, the commands and the last answer: more of a conversation it has not."""
    told = mapping(case.get("transcript"))
    asked, calls = texts(case.get("input")), texts(told.get("tool_calls"))
    answer = text(told.get("final_response"))
    if not (calls or answer):
        return None
    return Trace(
        messages=[
            *(Message(role="user", content=[Text(text=words)]) for words in asked),
            *([Message(role="assistant", content=[Text(text=answer)])] if answer else []),
        ],
        tool_calls=[ToolCall(commands=call, exit_code=None) for call in calls],
        natural_stop=mapping(told.get("metrics")).get("natural_stop") == 1,
        duration_ms=duration_ms or 0,
        working_ms=duration_ms or 0,
        total=usage,
    )
