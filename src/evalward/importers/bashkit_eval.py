"""bashkit-eval's result files: `{provider, model, timestamp, max_turns, results[{task, trace, score}], summary}`.

The metrics are computed anew; where they differ from the file's own summary, the report says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from evalward.importers.base import Exported, FileImporter, Imported
from evalward.records.base import Amount, Count, Record, clean_text, digest_text
from evalward.records.json_text import NoJsonError, foreign_json
from evalward.records.metric import EPSILON, Measurement
from evalward.records.model_words import in_words, problems_of
from evalward.records.problem import InputError, Place, wrong
from evalward.records.report import Report, Run, Subject
from evalward.records.result import CheckResult, Result, Status, Trial
from evalward.records.target_id import target_id
from evalward.records.trace import Block, Message, Text, ToolCall, ToolResult, ToolUse, Trace, Turn, Usage
from evalward.suites.bash.case import BashCase, BashTask, Expectation, make_case
from evalward.suites.bash.details import BashDetails
from evalward.suites.bash.failures import blamed_call, failures_of
from evalward.suites.bash.findings import interpret
from evalward.suites.bash.metrics import measure
from evalward.suites.external.formats.values import outline

SUITE = "bashkit-eval"
DEFAULT_TURNS = 10
DEFAULT_TIMEOUT_S = 30.0
REMEDY = "Give a result file that bashkit-eval --save wrote."


class _Task(Record):
    id: str
    category: str
    description: str = ""
    system: str | None = None
    prompt: str
    files: dict[str, str] = {}
    expectations: list[Expectation] = []


class _Call(Record):
    commands: str
    stdout: str = ""
    stderr: str = ""
    exit_code: Annotated[int, Field(ge=-(2**31), lt=2**32)]


class _Content(Record):
    type: Literal["text", "tool_use", "tool_result"]
    text: str = ""
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: str = ""
    is_error: bool = False


class _BashkitMessage(Record):
    role: Literal["user", "assistant", "tool_result"]
    content: list[_Content]


class _Trace(Record):
    messages: list[_BashkitMessage] = []
    tool_calls: list[_Call] = []
    turns: Count
    natural_stop: bool
    total_input_tokens: Count
    total_output_tokens: Count
    duration_ms: Count


class _Score(Record):
    results: list[CheckResult]
    score: Amount
    max_score: Amount


class _Entry(Record):
    task: _Task
    trace: _Trace
    score: _Score


class _BashkitFile(Record):
    provider: str
    model: str
    timestamp: str | None = None
    max_turns: int = DEFAULT_TURNS
    results: list[_Entry]
    summary: dict[str, Any] = {}


# --- reading --------------------------------------------------------------------------------------------------------


def read(text: bytes, file: str) -> Imported:
    """One result file as one run: suite `bashkit-eval`, target `provider/model`."""
    data = _parse(text, file)
    cases = [_case(entry.task, number, file, data.max_turns) for number, entry in enumerate(data.results, 1)]
    _refuse_duplicates(cases, file)
    trials = [_trial(entry, case, data) for entry, case in zip(data.results, cases, strict=True)]
    results = [trial.result for trial in trials]
    measurement = measure(results)
    run = Run(
        suite=SUITE,
        kind="bash",
        target=_target(data),
        trials=1,
        random=True,
        planned=len(results),
        subject=_subject(text),
        metrics=measurement.metrics,
        categories=measurement.categories,
        findings=interpret(results, measurement),
        cases=results,
    )
    return Imported(
        runs=[run],
        trials=trials,
        cases=[case.written() for case in cases],
        created_at=data.timestamp,
        warnings=list(_disagreements(data.summary, measurement, file)),
    )


def _parse(text: bytes, file: str) -> _BashkitFile:
    try:
        data = foreign_json(text)
        if _of_scripting(data):
            message = "it has results of bashkit-eval's scripting tools: their calls are not shell commands"
            raise wrong(file, message, "Give the eval-….json of its bash tasks.")
        return _BashkitFile.model_validate(data)
    except ValidationError as error:
        raise InputError(problems_of(error, Place(file=file), REMEDY)) from error
    except NoJsonError as error:
        raise wrong(file, f"not valid JSON: {error}", REMEDY, line=error.line) from error


def _of_scripting(data: Any) -> bool:
    """True for a `scripting-eval-….json`: each of its tasks has tools of its own."""
    results = data.get("results") if isinstance(data, dict) else None
    tasks = [each.get("task") for each in results if isinstance(each, dict)] if isinstance(results, list) else []
    return any(isinstance(task, dict) and "tools" in task for task in tasks)


def _case(task: _Task, number: int, file: str, max_turns: int) -> BashCase:
    try:
        written = BashTask.model_validate(task.model_dump(exclude_none=True))
        return make_case(written, Place(file=file), min(max(max_turns, 1), 100), DEFAULT_TIMEOUT_S)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(["results", str(number - 1), "task", *map(str, first["loc"])])
        raise wrong(file, in_words(first)[0], REMEDY, field=field) from error


def _refuse_duplicates(cases: Iterable[BashCase], file: str) -> None:
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise wrong(file, f"the task {case.id!r} is in it twice", REMEDY, field="results")
        seen.add(case.id)


def _target(data: _BashkitFile) -> str:
    return f"{data.provider}/{data.model}"


def _subject(text: bytes) -> Subject:
    sha = digest_text(text.decode("utf-8", "surrogateescape"))
    return Subject.model_validate({"hash": sha, "result_file": sha})


def _trial(entry: _Entry, case: BashCase, data: _BashkitFile) -> Trial:
    trace = _trace(entry.trace, data.model)
    calls_ok = sum(call.exit_code == 0 for call in trace.tool_calls)
    passed = all(check.passed for check in entry.score.results)
    blamed = None if passed else blamed_call(trace.tool_calls)
    result = Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        status=Status.PASSED if passed else Status.FAILED,
        score=entry.score.score,
        max_score=entry.score.max_score,
        checks=entry.score.results,
        usage=trace.usage,
        duration_ms=trace.duration_ms,
        reason=None if passed else "checks_failed" if trace.natural_stop else "turn_limit",
        details=BashDetails(
            tool_calls=len(trace.tool_calls),
            tool_calls_ok=calls_ok,
            turns=entry.trace.turns,
            natural_stop=trace.natural_stop,
            working_ms=trace.working_ms,
            failing_command=blamed.commands if blamed else None,
            failing_stderr=blamed.stderr or None if blamed else None,
            failures=failures_of(trace.tool_calls),
        ),
    )
    return Trial(
        suite=SUITE, kind="bash", target=_target(data), subject="", case=case.written(), result=result, trace=trace
    )


def _trace(recorded: _Trace, model: str) -> Trace:
    total = Usage(input_tokens=recorded.total_input_tokens, output_tokens=recorded.total_output_tokens)
    messages = [Message(role=m.role, content=[_block(c) for c in m.content]) for m in recorded.messages]
    answers = [message for message in messages if message.role == "assistant"]
    return Trace(
        messages=messages,
        tool_calls=[
            ToolCall(commands=c.commands, stdout=c.stdout, stderr=c.stderr, exit_code=c.exit_code)
            for c in recorded.tool_calls
        ],
        turns=[Turn(stop="tool_use" if message.tool_uses else "end", model=model) for message in answers],
        natural_stop=recorded.natural_stop,
        duration_ms=recorded.duration_ms,
        working_ms=recorded.duration_ms,
        total=total,
    )


def _block(content: _Content) -> Block:
    if content.type == "text":
        return Text(text=clean_text(content.text))
    if content.type == "tool_use":
        return ToolUse(id=content.id, name=content.name, input=content.input)
    return ToolResult(tool_use_id=content.tool_use_id, content=content.content, is_error=content.is_error)


def _disagreements(summary: Mapping[str, Any], measurement: Measurement, file: str) -> Iterator[str]:
    """Where the file's own summary says something else than its results."""
    for name, metric in measurement.metrics.items():
        claimed = summary.get(name)
        if isinstance(claimed, bool) or not isinstance(claimed, int | float) or metric.value is None:
            continue
        if abs(claimed - metric.value) > EPSILON * max(1.0, abs(claimed)):
            yield f"{file}: its summary says {name} {claimed:g}, its results give {metric.value:g}"


def recognises(head: bytes) -> bool:
    """By the keys before the results and of the first of them; of none, by its summary."""
    keys = outline(head)
    return keys >= {"provider", "model", "results"} and not keys.isdisjoint({"results.task", "summary.total_tasks"})


BASHKIT_EVAL = FileImporter("results of bashkit-eval", read, recognises)


# --- writing --------------------------------------------------------------------------------------------------------


def write(report: Report, run: Run, trials: Sequence[Trial]) -> Exported:
    """One run as bashkit-eval's result file. Trials that broke are left out, as bashkit-eval itself does."""
    place = f"run {run.name}"
    if run.kind != "bash":
        raise wrong(place, f"bashkit-eval has no form for suites of kind {run.kind}", "Export a bash suite.")
    if run.trials > 1:
        raise wrong(place, "bashkit-eval's form has one trial per task", "Run with --trials 1, or export one trial.")
    valid = [trial for trial in trials if trial.result.valid]
    asked = target_id(run.target)
    provider, model = (asked.head, asked.name) if asked.mark == "/" else (run.target, run.target)
    data = {
        "provider": provider,
        "model": model,
        "timestamp": report.created_at,
        "max_turns": DEFAULT_TURNS,
        "results": [_entry(trial, place) for trial in valid],
        "summary": _summary([trial.result for trial in valid]),
    }
    return Exported(json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n", len(valid))


def _entry(trial: Trial, place: str) -> dict[str, Any]:
    if trial.case is None or "prompt" not in trial.case:
        raise wrong(place, f"the trial of {trial.result.id!r} doesn't say what was asked", "Run it again, then export.")
    if any(call.exit_code is None for call in trial.trace.tool_calls):
        message = (
            f"the trial of {trial.result.id!r} has a call whose exit code is unknown, and bashkit-eval's form has none"
        )
        raise wrong(place, message, "Export a run of a target whose calls go through our shell.")
    try:
        task = BashTask.model_validate(trial.case)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(["case", *map(str, first["loc"])])
        message = f"the trial of {trial.result.id!r} has a case that can't be read: {in_words(first)[0]}"
        raise wrong(place, message, "Run it again, then export.", field=field) from None
    trace, result = trial.trace, trial.result
    calls = [
        {"commands": c.commands, "stdout": c.stdout, "stderr": c.stderr, "exit_code": c.exit_code}
        for c in trace.tool_calls
    ]
    keys = {"id", "category", "description", "system", "prompt", "files", "expectations"}
    return {
        "task": task.model_dump(mode="json", include=keys),
        "trace": {
            "messages": [_written(message) for message in trace.messages],
            "tool_calls": calls,
            "tool_call_count": len(calls),
            "turns": len(trace.turns),
            "last_tool_response": calls[-1] if calls else None,
            "natural_stop": trace.natural_stop,
            "total_input_tokens": result.usage.total_input_tokens or 0,
            "total_output_tokens": result.usage.output_tokens or 0,
            "duration_ms": result.duration_ms,
        },
        "score": {
            "task_id": result.id,
            "results": [check.model_dump(mode="json") for check in result.checks],
            "score": result.score,
            "max_score": result.max_score,
        },
    }


def _written(message: Message) -> dict[str, Any]:
    blocks = [b.model_dump(mode="json") for b in message.content if b.type != "opaque"]  # a provider's own, no use here
    return {"role": message.role, "content": blocks}


_SUMMARY = (
    "total_tasks",
    "total_passed",
    "total_score",
    "total_max_score",
    "overall_rate",
    "total_input_tokens",
    "total_output_tokens",
    "total_turns",
    "total_tool_calls",
    "tool_calls_ok",
    "tool_calls_error",
    "tool_call_success_rate",
    "total_duration_ms",
    "avg_turns_per_task",
    "avg_tool_calls_per_task",
    "avg_duration_ms",
)
_WHOLE = {name for name in _SUMMARY if name.startswith(("total_", "tool_calls_"))} - {"total_score", "total_max_score"}
_EMPTY = {
    "overall_rate": 1.0,
    "tool_call_success_rate": 1.0,
}  # what the program writes where there is nothing to divide by


def _summary(results: Sequence[Result]) -> dict[str, Any]:
    measurement = measure(results)
    values: dict[str, Any] = {}
    for name in _SUMMARY:
        value = measurement.metrics[name].value
        known = _EMPTY.get(name, 0.0) if value is None else value
        values[name] = round(known) if name in _WHOLE else known
    values["by_category"] = {
        name: {
            "tasks": round(category.tasks),
            "passed": round(category.passed),
            "score": category.score,
            "max_score": category.max_score,
            "rate": 1.0 if category.rate is None else category.rate,
        }
        for name, category in measurement.categories.items()
    }
    return values
