"""What people see of one skill trial beside its checks and its conversation: which skills were loaded, and its arms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from evalward.records.result import Result
from evalward.records.sections import Facts, FileText, GridRow, TrialSection
from evalward.render.numbers import NOT_AVAILABLE, format_number
from evalward.suites.skill.details import ArmOutcome, SkillDetails
from evalward.suites.skill.evidence import expected_skill, loaded_words
from evalward.suites.skill.metrics import tokens_of_arm

_INSTALLED = re.compile(r"(without/)?fixture/\.(agents|claude)/skills/")
"""Files that were there before the agent: the skills themselves."""


def trial_sections(result: Result, files: Sequence[FileText]) -> list[TrialSection]:
    """Of a query the expected skill and what was loaded; of a task its arms side by side; then what else is known."""
    details = result.details
    if not isinstance(details, SkillDetails):
        return [*files]
    left = [file for file in files if not _INSTALLED.match(file.name)]
    return [*_query(details), *_arms(details), *_more(details), *left]


def _query(details: SkillDetails) -> Iterator[Facts]:
    if details.asks == "trigger":
        row = GridRow(label="skill", values=[expected_skill(details), loaded_words(details.loaded)])
        yield Facts(title="Loaded skills", heads=["expected", "found"], rows=[row])


_FACTS: Sequence[tuple[str, Callable[[ArmOutcome], str]]] = (
    ("ended", lambda arm: arm.status.value + (f": {arm.message or arm.reason}" if arm.message or arm.reason else "")),
    ("expectations held", lambda arm: f"{arm.held:,} of {arm.expectations:,}" if arm.expectations else NOT_AVAILABLE),
    ("loaded", lambda arm: loaded_words(arm.loaded)),
    ("tokens", lambda arm: _number(tokens_of_arm(arm), "tokens")),
    ("cost", lambda arm: _number(arm.usage.cost_usd, "usd")),
    ("time", lambda arm: _number(arm.duration_ms, "ms")),
    ("turns", lambda arm: NOT_AVAILABLE if arm.turns is None else f"{arm.turns:,}"),
)


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return NOT_AVAILABLE
    return format_number(value, "tokens" if unit == "tokens" else "usd" if unit == "usd" else "ms")


def _arms(details: SkillDetails) -> Iterator[Facts]:
    if details.asks == "task" and details.arms:
        rows = [GridRow(label=label, values=[fact(arm) for arm in details.arms]) for label, fact in _FACTS]
        yield Facts(title="With and without the skill", heads=[arm.arm for arm in details.arms], rows=rows)


def _more(details: SkillDetails) -> Iterator[Facts]:
    known = [
        ("agent", details.agent),
        ("isolation", details.isolation),
        ("differs from the recording from call", str(details.diverged_at or "")),
    ]
    rows = [GridRow(label=label, values=[value]) for label, value in known if value]
    if rows:
        yield Facts(title="In addition", rows=rows)
