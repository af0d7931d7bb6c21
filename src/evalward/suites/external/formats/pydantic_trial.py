"""One case of a report of pydantic-evals as a trial."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from evalward.records.result import CheckResult, Status
from evalward.records.trace import Usage
from evalward.suites.external.choice import SCORER_BROKE
from evalward.suites.external.formats.base import ForeignTrial, Score
from evalward.suites.external.formats.values import amount, count, mapping, milliseconds, number, rows, text

_REPEAT = re.compile(r" \[([1-9]\d{0,8})/([1-9]\d{0,8})\]")
MOST_WORDS = 4_000


class PydanticRun(NamedTuple):
    """What all trials of a report share: the dataset, and the task, which is who was evaluated."""

    suite: str
    target: str


class CaseNumber(NamedTuple):
    """The case of a trial, the trial's number, and how many there should be."""

    case: str
    number: int | None
    planned: int


def called(entry: Mapping[str, Any]) -> CaseNumber:
    """Which trial of which case an entry is. A name may end in "[1/3]" by itself: `source_case_name` tells."""
    name, source = str(entry["name"]), entry.get("source_case_name")
    if not isinstance(source, str) or not name.startswith(source):
        return CaseNumber(name, None, 1)
    found = _REPEAT.fullmatch(name.removeprefix(source))
    return CaseNumber(source, int(found[1]), int(found[2])) if found else CaseNumber(source, None, 1)


def raised_trial(entry: Mapping[str, Any], run: PydanticRun) -> ForeignTrial:
    """A case whose task raised."""
    case, number, _ = called(entry)
    return ForeignTrial(
        case=case,
        status=Status.ERROR,
        number=number,
        suite=run.suite,
        target=run.target,
        category=_category(entry),
        asked=_asked(entry),
        reason="task_error",
        message=_words(entry.get("error_message")),
    )


def judged_trial(entry: Mapping[str, Any], run: PydanticRun) -> ForeignTrial:
    """A case whose task answered."""
    case, number, _ = called(entry)
    checks = [
        CheckResult(check=name, passed=said.get("value") is True, detail=_words(said.get("reason")))
        for name, said in _named(entry, "assertions")
    ]
    failures = rows(entry.get("evaluator_failures"))
    status, reason, message = _ended(checks, failures)
    return ForeignTrial(
        case=case,
        status=status,
        number=number,
        suite=run.suite,
        target=run.target,
        category=_category(entry),
        asked=_asked(entry),
        reason=reason,
        message=message,
        scores=_scores(entry, failures),
        checks=checks,
        usage=_usage(entry.get("metrics")),
        duration_ms=milliseconds(entry.get("task_duration")),
    )


def _ended(checks: list[CheckResult], failures: list[Mapping[str, Any]]) -> tuple[Status | None, str | None, str]:
    """One assertion that is false decides, whatever else broke."""
    wrong = [check for check in checks if not check.passed]
    if wrong:
        return Status.FAILED, "failed", "; ".join(f"{one.check}: {one.detail or 'false'}" for one in wrong)[:MOST_WORDS]
    if failures:
        return Status.ERROR, SCORER_BROKE, _words(failures[0].get("error_message"))
    return (Status.PASSED, None, "") if checks else (None, None, "it has no assertion")


def _scores(entry: Mapping[str, Any], failures: list[Mapping[str, Any]]) -> Mapping[str, Score]:
    """All that evaluators said, by name: assertions, scores, labels (words without a number), and what broke."""
    found = {str(one.get("name")): Score(error=_words(one.get("error_message"))) for one in failures}
    for name, said in _named(entry, "labels"):
        found[name] = Score(reason=_words(said.get("value")), decides=False)
    for name, said in _named(entry, "scores"):
        found[name] = Score(number(said.get("value")), reason=_words(said.get("reason")))
    for name, said in _named(entry, "assertions"):
        passed = said.get("value") is True
        found[name] = Score(float(passed), passed, reason=_words(said.get("reason")))
    return found


def _named(entry: Mapping[str, Any], kind: str) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, said) for name, said in mapping(entry.get(kind)).items() if isinstance(said, Mapping)]


def _asked(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The input side. Evaluators' arguments aren't in it: a report has those of evaluators that answered alone."""
    return {key: entry.get(key) for key in ("inputs", "metadata", "expected_output")}


def _category(entry: Mapping[str, Any]) -> str:
    return text(mapping(entry.get("metadata")).get("category"))


def _usage(metrics: object) -> Usage:
    """Tokens and cost, by the names that pydantic-ai's instrumentation gives them: input includes what was cached."""
    told = mapping(metrics)
    read, cached, written = (
        count(told.get(key)) for key in ("input_tokens", "cache_read_tokens", "cache_write_tokens")
    )
    around = (cached or 0) + (written or 0)
    return Usage(
        input_tokens=read - around if read is not None and read >= around else read,
        cache_read_tokens=cached,
        cache_write_tokens=written,
        output_tokens=count(told.get("output_tokens")),
        reasoning_tokens=count(told.get("reasoning_tokens")),
        cost_usd=amount(told.get("cost")),
    )


def _words(value: object) -> str:
    return text(value)[:MOST_WORDS]
