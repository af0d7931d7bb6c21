"""Proves prompt files without a model: expected answers pass, an empty answer doesn't."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.problem import Problem
from evalward.render.numbers import plural
from evalward.suites.base import Proof
from evalward.suites.prompt.case import PromptCase
from evalward.suites.prompt.checks import string_checks

_MEND = "Fix the row's `expected` or the evaluator."
_STRICTER = "Add an evaluator that a right answer alone satisfies, or fill in what the row leaves empty."


def prove_cases(cases: Sequence[PromptCase]) -> Proof:
    """All that is wrong with the rows, as far as texts are compared; what a judge would say isn't known."""
    problems = [problem for case in cases for problem in (*_refused(case), *_taken(case))]
    expected = sum(bool(case.reference()) for case in cases)
    judged = sum(case.judged for case in cases)
    parts = [f"{expected} of {len(cases)} expected answers compared", "an empty answer tried on each"]
    if judged:
        parts.append(f"{plural(judged, 'row needs', 'rows need')} a judge, which wasn't asked")
    return Proof(problems, ", ".join(parts))


def _refused(case: PromptCase) -> list[Problem]:
    """Evaluators that the expected answer doesn't satisfy."""
    if not case.reference():
        return []
    checks = string_checks(case, case.expected or "").values()
    return [
        _problem(case, f"the expected answer fails {check.check!r}: {check.detail}", _MEND)
        for check in checks
        if not check.passed
    ]


def _taken(case: PromptCase) -> list[Problem]:
    """A row whose evaluators take an empty answer measures nothing. No judge is content with one."""
    checks = string_checks(case, "").values()
    if case.judged or not all(check.passed for check in checks):
        return []
    return [_problem(case, "an empty answer passes every evaluator", _STRICTER)]


def _problem(case: PromptCase, message: str, remedy: str) -> Problem:
    return Problem(place=case.place, field=case.id, message=message, remedy=remedy)
