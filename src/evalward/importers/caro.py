"""caro's result files, `{timestamp, caro_version, backend, rates, per_category, failed_cases}`, as reports.

Such a file lists failed cases only. What passed is a count in it and stays one: no case is made up. The run plans as
many trials as the file counts, so that it can be read and shown, but no gate takes it for a whole run.
"""

from __future__ import annotations

from typing import Any

from evalward.importers.base import FileImporter, Imported
from evalward.importers.caro_file import BackendError, CaroFile, FailedCase, Incorrect, Mismatch, parse_file
from evalward.importers.caro_rates import disagreements, metrics_of, summaries
from evalward.records.base import clean_text, digest, digest_text
from evalward.records.report import Run, Subject
from evalward.records.result import Result, Status, Trial
from evalward.records.trace import Message, Text, Trace
from evalward.suites.external.formats.values import outline

SUITE = "caro"
UNKNOWN_CATEGORY = "unknown"
VERSION = "caro_version"  # the part of a subject that tells runs of such files from runs of ours


def read(text: bytes, file: str) -> Imported:
    """One result file as one run: suite `caro`, target the backend, or `target` in a file of ours."""
    data = parse_file(text, file)
    trials = [_trial(failed, _category_of(data)) for failed in data.failed_cases]
    trials = [trial.model_copy(update={"target": data.target or data.backend}) for trial in trials]
    sha = digest_text(text.decode("utf-8", "surrogateescape"))
    run = Run(
        suite=SUITE,
        kind="command",
        target=data.target or data.backend,
        trials=1,
        random=True,
        planned=max(data.total, data.passed + len(trials)),  # so that no file that counts a pass is a whole run
        subject=Subject.model_validate({"hash": sha, "result_file": sha, VERSION: data.caro_version}),
        metrics=metrics_of(data),
        categories=summaries(data),
        cases=[trial.result for trial in trials],
    )
    warnings = [f"{file}: {message}" for message in disagreements(data)]
    return Imported(runs=[run], trials=trials, created_at=data.timestamp, warnings=warnings)


def recognises(head: bytes) -> bool:
    """By the two keys that no other format has, before its failed cases in any order of keys that is written."""
    return outline(head) >= {VERSION, "csr"}


CARO = FileImporter("results of caro", read, recognises)


def _category_of(data: CaroFile) -> str:
    """The category of every failed case, where only one has any: the format doesn't tell it case by case."""
    failing = [name for name, category in data.per_category.items() if category.failed]
    return failing[0] if len(failing) == 1 and data.unlisted >= 0 else UNKNOWN_CATEGORY


def _trial(failed: FailedCase, category: str) -> Trial:
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


def _said(reason: Incorrect | Mismatch | BackendError) -> str | None:
    return clean_text(reason.message) or None if isinstance(reason, BackendError) else None


def _details(failed: FailedCase) -> dict[str, Any]:
    details: dict[str, Any] = {"kind": "command", "expected": clean_text(failed.expected)}
    if failed.answered:
        details["answer"] = clean_text(failed.actual)
    if isinstance(failed.reason, Mismatch):
        label = "safe" if failed.reason.type == "safety_mismatch" else "posix"
        texts = {f"{label}_expected": failed.reason.expected, f"{label}_actual": failed.reason.actual}
        details |= {name: value for name, value in texts.items() if value is not None}
    return details
