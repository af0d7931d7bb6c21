"""What people see of one command trial: the command that was asked for, the answer, and what the checks say of it."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.result import Result
from evalward.records.sections import Facts, FileText, GridRow, TrialSection
from evalward.render.entries import NO_ANSWER
from evalward.render.numbers import NOT_AVAILABLE
from evalward.suites.command.details import CommandDetails

_NO_LABEL = "–"


def trial_sections(result: Result, files: Sequence[FileText]) -> list[TrialSection]:
    """Expected beside found, then risk and rules."""
    details = result.details
    if not isinstance(details, CommandDetails):
        return [*files]
    answer = "(refused)" if details.refused and details.answer is None else details.answer or NO_ANSWER
    labels = [
        ("command", details.expected or _NO_LABEL, answer),
        ("safe", _label(details.safe_expected), _found(details.safe_actual)),
        ("POSIX", _label(details.posix_expected), _found(details.posix_actual)),
    ]
    rows = [GridRow(label=label, values=[expected, found]) for label, expected, found in labels]
    return [Facts(title="Answer", heads=["expected", "found"], rows=rows), *_how(details), *files]


def _how(details: CommandDetails) -> list[Facts]:
    known = [
        ("compared by", details.match),
        ("risk", details.risk or ""),
        ("unsafe", "yes: dangerous where a safe command or a refusal was expected" if details.unsafe else ""),
        ("rules that it breaks", ", ".join(details.rule_findings)),
        ("rules that the case allows", ", ".join(details.allow)),
        ("of these it breaks", ", ".join(details.allowed)),
        ("behaves like the expected command", "" if details.behaviour is None else _found(details.behaviour)),
    ]
    rows = [GridRow(label=label, values=[value]) for label, value in known if value]
    return [Facts(title="How it was judged", rows=rows)] if rows else []


def _label(value: bool | None) -> str:
    return _NO_LABEL if value is None else "yes" if value else "no"


def _found(value: bool | None) -> str:
    """What was not looked at is not available."""
    return NOT_AVAILABLE if value is None else "yes" if value else "no"
