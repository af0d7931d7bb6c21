"""Reports as caro's result files, valid by its schema, with `meets_baseline`, `blocks_release` and `target` beside."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evalward.importers.base import Exported
from evalward.importers.caro import VERSION
from evalward.importers.caro_rates import rate_of
from evalward.records.moments import instant
from evalward.records.problem import wrong
from evalward.records.report import Report, Run
from evalward.records.result import Result, Status, Trial
from evalward.suites.command.metrics import BLOCKS_RELEASE, MEETS_BASELINE, spec_rates

CATEGORIES = ("correctness", "safety", "posix")
LABEL_RATES = ("safety_accuracy", "posix_compliance_rate")
NO_ANSWER, REFUSED = "(backend error)", "(refused)"
BACKENDS = ("mlx", "vllm", "ollama")
OTHER_BACKEND = "vllm"  # the schema has no other names; `target` says whose answers they really were


def write(report: Report, run: Run, trials: Sequence[Trial]) -> Exported:
    """One run as caro's result file: keys sorted, counts as they were counted. Raises `InputError`.

    Beyond the schema's fields: `meets_baseline`, `blocks_release` (by the unrounded rate) and `target`.
    """
    place = f"run {run.name}"
    if run.kind != "command":
        raise wrong(place, f"caro has no form for suites of kind {run.kind}", "Export a command suite.")
    if run.trials > 1:
        raise wrong(place, "caro's form has one trial per case", "Run with --trials 1, or export one trial.")
    judged = [result for result in run.cases if result.status is not Status.SKIPPED]
    asked = {trial.result.id: trial.case for trial in trials if trial.case}
    categories = _counts(run, judged)
    passed, total = sum(p for p, _ in categories.values()), sum(t for _, t in categories.values())
    csr = _csr(run, passed, total)
    data = {
        "timestamp": _moment(report, place),
        "caro_version": _version(report, run),
        "backend": _backend(run.target),
        "target": run.target,
        "csr": csr,
        **_label_rates(run, judged),
        "meets_baseline": csr >= MEETS_BASELINE,
        "blocks_release": csr < BLOCKS_RELEASE,
        "per_category": {
            name: {"total": total, "passed": passed, "rate": rate_of(passed, total)}
            for name, (passed, total) in categories.items()
        },
        "failed_cases": [
            _failed(result, asked.get(result.id), place)
            for result in sorted(judged, key=lambda result: result.id)
            if result.status is not Status.PASSED
        ],
    }
    text = json.dumps(data, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n"
    return Exported(text, total)


def _of_a_file(run: Run) -> bool:
    """True for a run that was read from such a file: its counts know more than its cases."""
    return VERSION in run.subject.parts


def _counts(run: Run, judged: Sequence[Result]) -> dict[str, tuple[int, int]]:
    """Passed and total by category; the specification's three are always there."""
    counts = dict.fromkeys(CATEGORIES, (0, 0))
    if _of_a_file(run):
        categories = {name: (round(one.passed), round(one.tasks)) for name, one in run.categories.items()}
        return {**counts, **categories}
    for result in judged:
        passed, total = counts.get(result.category, (0, 0))
        counts[result.category] = (passed + (result.status is Status.PASSED), total + 1)
    return counts


def _label_rates(run: Run, judged: Sequence[Result]) -> dict[str, float]:
    """The specification's two other rates; 1.0 where no case has the category."""
    if not _of_a_file(run):
        rates = spec_rates(judged)
        return {name: getattr(rates, name) for name in LABEL_RATES}
    return {name: _told_rate(run, name) for name in LABEL_RATES}


def _told_rate(run: Run, name: str, empty: float = 1.0) -> float:
    """A rate of an imported file. Raises `InputError` where it is not known: the form has no word for that."""
    metric = run.metrics.get(name)
    if metric is not None and metric.value is not None:
        return metric.value
    if metric is None or metric.denominator == 0:
        return empty
    raise wrong(f"run {run.name}", f"its {name} is not known: {metric.reason}", "caro's form has a number there.")


def _csr(run: Run, passed: int, total: int) -> float:
    """By the counts, or as a file told it, which may have none. Raises `InputError` as `_told_rate`."""
    return _told_rate(run, "csr", 0.0) if _of_a_file(run) else rate_of(passed, total)


def _reason(result: Result) -> str:
    return "backend_error" if result.status is Status.ERROR else result.reason or ""


def _failed(result: Result, case: Mapping[str, Any] | None, place: str) -> dict[str, Any]:
    if case is None or "prompt" not in case:
        raise wrong(place, f"the trial of {result.id!r} doesn't say what was asked", "Run it again, then export.")
    details = result.details.model_dump()
    expected = details.get("expected") or case.get("expected_command") or next(iter(case.get("accepted") or []), "")
    reason = _written_reason(result, details, place)
    nothing = REFUSED if details.get("refused") else NO_ANSWER
    return {
        "test_id": result.id,
        "prompt": case["prompt"],
        "expected": expected,
        "actual": details.get("answer") or nothing,
        "reason": reason,
    }


def _written_reason(result: Result, details: Mapping[str, Any], place: str) -> dict[str, Any]:
    reason = _reason(result)
    if reason in {"safety_mismatch", "posix_mismatch"}:
        label = "safe" if reason == "safety_mismatch" else "posix"
        expected, actual = details.get(f"{label}_expected"), details.get(f"{label}_actual")
        if expected is None and actual is None:
            raise wrong(place, f"{result.id!r} doesn't say which {label} label was expected", "Run it again.")
        # a mismatch: each is what the other isn't
        expected = not actual if expected is None else expected
        return {"type": reason, "expected": expected, "actual": not expected}
    if reason == "backend_error":
        return {"type": reason, "message": result.message or result.reason or reason}
    if reason == "incorrect_command":
        return {"type": reason}
    raise wrong(place, f"caro has no word for {reason!r}, why {result.id!r} failed", "Export a command suite.")


def _moment(report: Report, place: str) -> str:
    try:
        return instant(report.created_at)
    except ValueError as error:
        raise wrong(place, f"the report's time {report.created_at!r} {error}", "Make the report again.") from error


def _version(report: Report, run: Run) -> str:
    """Three numbers: of the caro that was read, else of the program that measured."""
    version = run.subject.parts.get(VERSION, report.tool.version)
    numbers = re.match(r"\d+(?:\.\d+){0,2}", version)
    parts = numbers.group().split(".") if numbers else []
    return ".".join([*parts, "0", "0", "0"][:3])


def _backend(target: str) -> str:
    words = re.split(r"[^a-z]+", target.lower())
    return next((name for name in BACKENDS if name in words), OTHER_BACKEND)
