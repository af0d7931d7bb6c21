"""What promptfoo's assertions say of an answer, and which of them broke.

A grader that answered with an error, and a function that threw, are failures in promptfoo's counts. Such a trial is an
error here, unless it would have failed with that assertion passed, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalward.records.base import canonical
from evalward.records.result import CheckResult
from evalward.suites.external.formats.values import amount, count, mapping, number, rows, text

_BROKE = {
    "javascript": "Custom function threw error",
    "python": "Python code execution failed",
    "ruby": "Ruby code execution failed",
    "webhook": "Webhook error",
    "moderation": "Moderation API error",
}
"""By an assertion's type how the reason of one that broke begins. Where a model grades, its reason is not looked at."""
_STACKS = ("\nStack Trace:", "\n    at ")
_MOST_VALUE = 80
_MOST_DETAIL = 2_000


@dataclass(frozen=True)
class Asserted:
    """One assertion's verdict. `parts` are those of a set, whose `threshold` may let some fail."""

    name: str
    metric: str
    passed: bool
    score: float | None
    weight: float
    reason: str
    broke: bool
    parts: Sequence[Asserted] = ()
    threshold: float | None = None

    @property
    def broken(self) -> bool:
        """Whether it, or one of its parts, broke."""
        return self.broke or any(part.broken for part in self.parts)

    @property
    def at_best(self) -> tuple[bool, float]:
        """Whether it would have passed with what broke passed, and with which score."""
        if self.broke:
            return True, 1.0
        if not self.passed and self.broken:
            return best_verdict(self.parts, self.threshold)
        return self.passed, self.score or 0.0

    def checked(self) -> CheckResult:
        """The check in the report."""
        detail = f"error: {self.reason}" if self.broke else self.reason
        return CheckResult(check=self.name, passed=self.passed, detail=detail[:_MOST_DETAIL], weight=self.weight)


def assertions_of(grading: Mapping[str, Any]) -> list[Asserted]:
    """The assertions of a row's `gradingResult`. The parts of a set stand in the list, too; they are told once."""
    found = []
    remaining = iter(rows(grading.get("componentResults")))
    for component in remaining:
        of_set = mapping(mapping(component.get("metadata")).get("assertionSet"))
        for _ in zip(range(count(of_set.get("assertionCount")) or 0), remaining, strict=False):
            pass
        found.append(_assertion(component, of_set))
    return found


def best_verdict(assertions: Sequence[Asserted], threshold: float | None) -> tuple[bool, float]:
    """Whether assertions would pass together with what broke passed, as promptfoo has it, and with which score."""
    weights = sum(assertion.weight for assertion in assertions)
    score = sum(assertion.weight * assertion.at_best[1] for assertion in assertions) / weights if weights else 0.0
    if threshold is not None:
        return score >= threshold, score
    return all(assertion.at_best[0] for assertion in assertions), score


def all_parts(assertions: Sequence[Asserted]) -> Iterator[Asserted]:
    """Every assertion, and the parts of sets after them."""
    for assertion in assertions:
        yield assertion
        yield from assertion.parts


def words(error: str) -> str:
    """An error's own words, without the stack, which has paths of the machine in it."""
    for mark in _STACKS:
        error = error.partition(mark)[0]
    return error.strip()


def _assertion(component: Mapping[str, Any], of_set: Mapping[str, Any]) -> Asserted:
    asked = mapping(component.get("assertion")) or of_set
    kind, reason = text(asked.get("type")), text(component.get("reason"))
    passed = component.get("pass") is True
    weight = amount(asked.get("weight"))
    return Asserted(
        name=_name(kind, asked),
        metric=text(asked.get("metric")),
        passed=passed,
        score=number(component.get("score")),
        weight=1.0 if weight is None else weight,
        reason=words(reason),
        broke=not passed and _broke(kind, reason, component),
        parts=[_assertion(part, {}) for part in rows(component.get("componentResults"))] if of_set else (),
        threshold=number(of_set.get("threshold")),
    )


def _broke(kind: str, reason: str, component: Mapping[str, Any]) -> bool:
    start = _BROKE.get(kind.removeprefix("not-"))
    threw = start is not None and reason.startswith(start)
    return threw or mapping(component.get("metadata")).get("graderError") is True


def _name(kind: str, asked: Mapping[str, Any]) -> str:
    """The metric that it feeds, or what it looks for."""
    metric, value = text(asked.get("metric")), asked.get("value")
    if metric:
        return f"{metric} ({kind})"
    if value is None:
        return kind or "assertion"
    shown = " ".join((value if isinstance(value, str) else canonical(value)).split())
    return f"{kind}: {shown if len(shown) <= _MOST_VALUE else shown[: _MOST_VALUE - 1] + '…'}"
