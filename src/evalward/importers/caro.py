"""caro's result files, `{timestamp, caro_version, backend, rates, per_category, failed_cases}`, as reports.

Such a file lists failed cases only. What passed is a count in it and stays one: no case is made up. The run plans as
many trials as the file counts, so that it can be read and shown, but no gate takes it for a whole run.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, ValidationError, model_validator

from evalward.importers.base import Imported
from evalward.records.base import Count, Record, clean_text, digest, digest_text
from evalward.records.json_text import NoJsonError, foreign_json
from evalward.records.metric import EPSILON, Better, CategorySummary, Metric, ratio
from evalward.records.model_words import problems_of
from evalward.records.moments import instant
from evalward.records.problem import InputError, Place, wrong
from evalward.records.report import Run, Subject
from evalward.records.result import Result, Status, Trial
from evalward.records.trace import Message, Text, Trace
from evalward.suites.command.metrics import BLOCKS_RELEASE, MEETS_BASELINE

SUITE = "caro"
UNKNOWN_CATEGORY = "unknown"
VERSION = "caro_version"  # the part of a subject that tells runs of such files from runs of ours
REMEDY = "Give a result file of caro's evaluation, as its schema has it."
INCOMPLETE = "the result file doesn't list every failed case"
CONTRADICTED = "the result file contradicts itself"
CASES_REMEDY = "Results are JSON; test cases are run: name them in a command suite's `cases`."
NOT_TOLD = "not in the result file"
NOT_TOLD_METRICS: Mapping[str, Better] = {
    "unsafe_answer_rate": "lower",
    "refusal_rate": "neither",
    "csr_behaviour": "higher",
    "safety_precision": "higher",
    "safety_recall": "higher",
    "safety_f1": "higher",
}

Share = Annotated[float, Field(ge=0, le=1)]


class _Incorrect(Record):
    type: Literal["incorrect_command"]


class _Mismatch(Record):
    """The labels are missing where the reason is a plain word."""

    type: Literal["safety_mismatch", "posix_mismatch"]
    expected: bool | None = None
    actual: bool | None = None


class _BackendError(Record):
    type: Literal["backend_error"]
    message: str = ""


def _tagged(value: Any) -> Any:
    """A plain word (`SafetyMismatch`) as the object that it stands for."""
    if isinstance(value, str):
        return {"type": re.sub(r"(?<!^)(?=[A-Z])", "_", value).lower()}
    return value


Reason = Annotated[
    Annotated[_Incorrect | _Mismatch | _BackendError, Discriminator("type")],
    BeforeValidator(_tagged),
]


class _Category(Record):
    total: Count
    passed: Count
    rate: Share

    @model_validator(mode="after")
    def _possible(self) -> _Category:
        if self.passed > self.total:
            raise ValueError(f"{self.passed} of {self.total} cases can't have passed")
        return self


class _Failed(Record):
    test_id: str = Field(min_length=1)
    prompt: str
    expected: str
    actual: str
    reason: Reason

    @property
    def answered(self) -> bool:
        return not isinstance(self.reason, _BackendError)


class _CaroFile(Record):
    timestamp: Annotated[str, AfterValidator(instant)]
    caro_version: str
    backend: str = Field(min_length=1)
    csr: Share
    safety_accuracy: Share
    posix_compliance_rate: Share
    per_category: dict[str, _Category]
    failed_cases: list[_Failed]
    meets_baseline: bool | None = None
    blocks_release: bool | None = None
    target: str | None = Field(default=None, min_length=1)  # ours: whose answers they are, in a file that we wrote

    def category(self, name: str) -> _Category:
        return self.per_category.get(name, _Category(total=0, passed=0, rate=0.0))

    @property
    def total(self) -> int:
        return sum(category.total for category in self.per_category.values())

    @property
    def passed(self) -> int:
        return sum(category.passed for category in self.per_category.values())

    @property
    def complete(self) -> bool:
        """Whether it lists as many failed cases as it counts."""
        return self.total - self.passed == len(self.failed_cases)


def read(text: bytes, file: str) -> Imported:
    """One result file as one run: suite `caro`, target the backend, or `target` in a file of ours."""
    data = _parse(text, file)
    twice = [name for name, count in Counter(case.test_id for case in data.failed_cases).items() if count > 1]
    if twice:
        raise wrong(file, f"the case {twice[0]!r} is in it twice", REMEDY, field="failed_cases")
    trials = [_trial(failed, _category_of(data)) for failed in data.failed_cases]
    trials = [trial.model_copy(update={"target": data.target or data.backend}) for trial in trials]
    sha = digest_text(text.decode("utf-8", "surrogateescape"))
    run = Run(
        suite=SUITE,
        kind="command",
        target=data.target or data.backend,
        trials=1,
        random=True,
        planned=max(data.total, len(trials)),
        subject=Subject.model_validate({"hash": sha, "result_file": sha, VERSION: data.caro_version}),
        metrics=_metrics(data),
        categories={name: _summary(category) for name, category in sorted(data.per_category.items())},
        cases=[trial.result for trial in trials],
    )
    warnings = [f"{file}: {message}" for message in _disagreements(data)]
    return Imported(runs=[run], trials=trials, created_at=data.timestamp, warnings=warnings)


def _parse(text: bytes, file: str) -> _CaroFile:
    try:
        return _CaroFile.model_validate(foreign_json(text))
    except ValidationError as error:
        raise InputError(problems_of(error, Place(file=file), REMEDY)) from error
    except NoJsonError as error:
        remedy = CASES_REMEDY if _is_case_file(file) else REMEDY
        raise wrong(file, f"not valid JSON: {error}", remedy, line=error.line) from error


def _is_case_file(file: str) -> bool:
    return file.lower().endswith((".yaml", ".yml", ".toml"))


def _category_of(data: _CaroFile) -> str:
    """The category of every failed case, where only one has any: the format doesn't tell it case by case."""
    failing = [name for name, category in data.per_category.items() if category.passed < category.total]
    return failing[0] if len(failing) == 1 else UNKNOWN_CATEGORY


def _trial(failed: _Failed, category: str) -> Trial:
    case = {"id": failed.test_id, "prompt": clean_text(failed.prompt), "expected_command": clean_text(failed.expected)}
    messages = [Message(role="user", content=[Text(text=case["prompt"])])]
    if failed.answered:
        messages.append(Message(role="assistant", content=[Text(text=clean_text(failed.actual))]))
    result = Result.model_validate(
        {
            "id": failed.test_id,
            "category": category,
            "definition": digest(["caro", case["prompt"], case["expected_command"]]),
            "status": Status.FAILED,
            "max_score": 1.0,
            "reason": failed.reason.type,
            "message": _said(failed.reason),
            "details": _details(failed),
        }
    )
    trace = Trace(messages=messages, natural_stop=failed.answered)
    return Trial(suite=SUITE, kind="command", target="", subject="", case=case, result=result, trace=trace)


def _said(reason: _Incorrect | _Mismatch | _BackendError) -> str | None:
    return clean_text(reason.message) or None if isinstance(reason, _BackendError) else None


def _details(failed: _Failed) -> dict[str, Any]:
    details: dict[str, Any] = {"kind": "command", "expected": clean_text(failed.expected)}
    if failed.answered:
        details["answer"] = clean_text(failed.actual)
    if isinstance(failed.reason, _Mismatch):
        label = "safe" if failed.reason.type == "safety_mismatch" else "posix"
        texts = {f"{label}_expected": failed.reason.expected, f"{label}_actual": failed.reason.actual}
        details |= {name: value for name, value in texts.items() if value is not None}
    return details


def _summary(category: _Category) -> CategorySummary:
    rate = category.passed / category.total if category.total else None
    return CategorySummary(
        tasks=category.total, passed=category.passed, score=category.passed, max_score=category.total, rate=rate
    )


def _metrics(data: _CaroFile) -> dict[str, Metric]:
    safety = data.category("safety")
    errors = sum(not case.answered for case in data.failed_cases)
    absent = Metric(value=None, better="lower", reason=INCOMPLETE)
    return {
        "csr": _csr(data),
        "safety_accuracy": _label_rate(data, "safety", data.safety_accuracy),
        "posix_compliance_rate": _label_rate(data, "posix", data.posix_compliance_rate),
        "safety_verified": ratio(safety.passed, safety.total, "no case of the category safety"),
        "backend_error_rate": ratio(errors, data.total, "no case", "lower") if data.complete else absent,
        **{name: Metric(value=None, better=way, reason=NOT_TOLD) for name, way in NOT_TOLD_METRICS.items()},
    }


def _csr(data: _CaroFile) -> Metric:
    """From the counts; a file without any tells the rate alone."""
    if not data.per_category and data.csr > 0:
        return Metric(value=data.csr)
    return ratio(data.passed, data.total, "no case")


def _label_rate(data: _CaroFile, name: str, rate: float) -> Metric:
    """The file's rate, with its count where the file's counts confirm it; a rate over no case is not available.

    A file without counts of the category tells the rate alone. A rate that its cases contradict is not known: neither
    it nor what the cases give can be believed.
    """
    category = data.category(name)
    if name not in data.per_category and not _same(rate, 1.0):
        return Metric(value=rate)
    if not category.total:
        return Metric(value=None, numerator=0, denominator=0, reason=f"no case of the category {name}")
    least, most = _correct_between(data, category)
    correct = _whole(rate * category.total)
    if correct is not None and least <= correct <= most:
        return ratio(correct, category.total, NOT_TOLD)
    if least <= rate * category.total <= most:
        return Metric(value=rate)
    return Metric(value=None, reason=CONTRADICTED)


def _correct_between(data: _CaroFile, category: _Category) -> tuple[int, int]:
    """How many of a category's cases can have the right label: passed ones and wrong commands have it, others not.

    Where the file lists fewer failed cases than it counts, any of those that failed may have it or not.
    """
    if not data.complete:
        return category.passed, category.total
    failed = category.total - category.passed
    wrong_commands = sum(isinstance(case.reason, _Incorrect) for case in data.failed_cases)
    others = len(data.failed_cases) - wrong_commands
    return category.total - min(failed, others), category.passed + min(failed, wrong_commands)


def _whole(number: float) -> int | None:
    return round(number) if abs(number - round(number)) <= EPSILON * max(1.0, number) else None


def _disagreements(data: _CaroFile) -> Iterator[str]:
    """Where the file's numbers contradict each other."""
    for name, category in sorted(data.per_category.items()):
        if not _same(category.rate, rate_of(category.passed, category.total)):
            yield f"it says {name} {category.rate:g}, and counts {category.passed} of {category.total}"
    if not _same(data.csr, rate_of(data.passed, data.total)):
        yield f"it says csr {data.csr:g}, and counts {data.passed} of {data.total}"
    failed, listed = data.total - data.passed, len(data.failed_cases)
    if failed != listed:
        yield f"it counts {failed} failed cases, and lists {listed}"
    for name, metric, rate in (
        ("safety", "safety_accuracy", data.safety_accuracy),
        ("posix", "posix_compliance_rate", data.posix_compliance_rate),
    ):
        yield from _doubt(data, name, metric, rate)
    for field, claimed, holds in (
        ("meets_baseline", data.meets_baseline, data.csr >= MEETS_BASELINE),
        ("blocks_release", data.blocks_release, data.csr < BLOCKS_RELEASE),
    ):
        if claimed is not None and claimed != holds:
            yield f"it says {field} {str(claimed).lower()}, and csr {data.csr:g}"


def _doubt(data: _CaroFile, name: str, metric: str, rate: float) -> Iterator[str]:
    """A rate of labels that no count of cases gives, or not with the failed cases that the file lists."""
    category = data.category(name)
    if not category.total:
        if not _same(rate, 1.0):
            yield f"it says {metric} {rate:g}, and counts no case of the category {name}"
        return
    least, most = _correct_between(data, category)
    correct = _whole(rate * category.total)
    if correct is None or not least <= correct <= most:
        between = str(least) if least == most else f"{least} to {most}"
        yield f"it says {metric} {rate:g}, and its failed cases leave {between} of {category.total}"


def _same(claimed: float, counted: float) -> bool:
    return math.isclose(claimed, counted, rel_tol=0, abs_tol=EPSILON)


def rate_of(part: int, whole: int, empty: float = 0.0) -> float:
    """A share as the specification has it: 0.0 (or what it says instead) over nothing."""
    return part / whole if whole else empty
