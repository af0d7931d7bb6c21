"""One test of vitest or jest as a trial."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from evalward.records.result import Status
from evalward.records.trace import Usage
from evalward.suites.external.formats.base import ForeignTrial, Score
from evalward.suites.external.formats.values import amount, count, mapping, number, rows, text
from evalward.suites.external.formats.vitest_document import SEPARATOR, run_of, titles_of
from evalward.suites.external.formats.vitest_trace import vitest_trace
from evalward.suites.external.results import MAIN_SCORE

LEFT_OUT = frozenset({"skipped", "pending", "todo", "disabled"})
MOST_MESSAGE = 4_000
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_STACK = re.compile(r"\n\s+at \S.*", re.DOTALL)
_ASSERTIONS = ("AssertionError", "JestAssertionError", "Error: expect(", "Error: expect.")
_TIMEOUT = "Error: STACK_TRACE_ERROR"
"""All that vitest's JSON says of a test whose time was up."""
_JEST_TIMEOUT = 'Error: thrown: "Exceeded timeout'


@dataclass(frozen=True)
class Circumstances:
    """What a test's own entry doesn't tell.

    `apart`: a test of another file has the same titles. `hook`: why a test was left out that nobody skipped.
    """

    file: str
    apart: bool = False
    target: str = ""
    jest: bool = False
    hook: str | None = None


class _Ended(NamedTuple):
    status: Status | None
    reason: str | None = None
    message: str = ""


def vitest_trial(row: Mapping[str, Any], around: Circumstances) -> ForeignTrial:
    """The trial that a test is."""
    titles = titles_of(row)
    case = SEPARATOR.join([around.file, *titles] if around.apart else titles)
    judged, run = mapping(mapping(row.get("meta")).get("eval")), run_of(row)
    duration = amount(row.get("duration"))
    ended = _ended(row, judged, run, around)
    return ForeignTrial(
        case=case,
        status=ended.status,
        target=model_of(row) or around.target,
        category=titles[0] if len(titles) > 1 else around.file,
        asked={"test": [around.file, *titles] if around.apart else titles},
        reason=ended.reason,
        message=ended.message,
        scores=_scores(judged),
        usage=_usage(mapping(run.get("usage"))),
        duration_ms=None if duration is None else round(duration),
        again=" ".join(titles),  # what -t is a pattern over
        trace=partial(vitest_trace, run) if mapping(run.get("session")).get("events") else None,
    )


def model_of(row: Mapping[str, Any]) -> str:
    """The model that answered, with its provider."""
    run = run_of(row)
    for told in (mapping(run.get("usage")), mapping(run.get("session"))):
        if model := text(told.get("model")):
            provider = text(told.get("provider"))
            return f"{provider}/{model}" if provider else model
    return ""


def was_retried(row: Mapping[str, Any]) -> bool:
    """Whether it ran more than once: vitest keeps the failures of a test that passed, jest counts."""
    if count(row.get("invocations")) not in {None, 0, 1}:
        return True
    return row.get("status") == "passed" and bool(_messages(row))


def plain(words: str) -> str:
    """A message without colours and without the stack, whose lines have paths of the machine."""
    return _STACK.sub("", _COLOUR.sub("", words)).strip()[:MOST_MESSAGE]


def _ended(row: Mapping[str, Any], judged: Mapping[str, Any], run: Mapping[str, Any], around: Circumstances) -> _Ended:
    status = row.get("status")
    if around.hook is not None:
        return _Ended(Status.ERROR, "hook", around.hook)
    if status in LEFT_OUT:
        return _Ended(Status.SKIPPED, "not_run" if status == "pending" and not around.jest else "skipped")
    if status == "passed":
        return _passed(judged)
    if status != "failed":
        return _Ended(Status.ERROR, "unknown_status", f"its status is {str(status)[:40]!r}")
    return _failed(plain(next(iter(_messages(row)), "")), judged, run)


def _passed(judged: Mapping[str, Any]) -> _Ended:
    """A judge's score that is no number is under no threshold: vitest-evals lets it pass."""
    if judged.get("scores") and judged.get("avgScore") is None:
        return _Ended(None, message="its judges gave no number, which passes every threshold")
    return _Ended(Status.PASSED)


def _failed(message: str, judged: Mapping[str, Any], run: Mapping[str, Any]) -> _Ended:
    if judged.get("thresholdFailed") is True or message.startswith(_ASSERTIONS):
        return _Ended(Status.FAILED, "failed", message)
    if message.startswith(_TIMEOUT):
        return _Ended(Status.ERROR, "timeout", f"{_TIMEOUT}: most likely its time was up")
    if message.startswith(_JEST_TIMEOUT):
        return _Ended(Status.ERROR, "timeout", message)
    return _Ended(Status.ERROR, "provider_error" if run.get("errors") else "error", message)


def _scores(judged: Mapping[str, Any]) -> Mapping[str, Score]:
    """Each judge's score by its name, and the average that the threshold holds for."""
    found: dict[str, Score] = {}
    for place, entry in enumerate(rows(judged.get("scores")), 1):
        name = text(entry.get("name")) or f"judge {place}"
        why = text(mapping(entry.get("metadata")).get("rationale"))[:MOST_MESSAGE]
        found[f"{name} {place}" if name in found else name] = Score(number(entry.get("score")), reason=why)
    average = number(judged.get("avgScore"))
    return found if average is None else {**found, MAIN_SCORE: Score(average)}


def _usage(told: Mapping[str, Any]) -> Usage:
    """Its tokens. Reasoning that is counted beside the output, by the total, is made part of it."""
    read, written, thought = (count(told.get(f"{kind}Tokens")) for kind in ("input", "output", "reasoning"))
    if thought and None not in (read, written):
        beside = (read or 0) + (written or 0) + thought == count(told.get("totalTokens"))
        written = (written or 0) + thought if beside else written
    return Usage(input_tokens=read, output_tokens=written, reasoning_tokens=thought)


def _messages(row: Mapping[str, Any]) -> Sequence[str]:
    messages = row.get("failureMessages")
    return [text(message) for message in messages] if isinstance(messages, list) else ()
