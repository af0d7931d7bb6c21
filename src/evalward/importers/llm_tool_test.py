"""llm-tool-test's `results.jsonl`: one run of a scenario a line, as reports.

Counts are taken as they stand, and rates are computed anew. The program's `first_try_success_rate` can't be had: it
doesn't look at a command's own result, and the events hold no tool calls to count again from. Its `iteration_ratio` is
the inverse of the specification's, which follows from the counts. Its outcome leaves the judge out, and the threshold
isn't told, so it is taken as it is. Tokens come from `run.json` in the run's folder, where that lies beside the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from evalward.importers.base import FileImporter, Imported
from evalward.opening import read_inside
from evalward.records.base import Amount, Count, Record, clean_text, digest, digest_text
from evalward.records.json_text import NoJsonError, foreign_json
from evalward.records.metric import Measurement
from evalward.records.model_words import problems_of
from evalward.records.moments import instant
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.report import Run, Subject
from evalward.records.result import Result, Status
from evalward.records.trace import Usage
from evalward.render.numbers import plural
from evalward.suites.external.formats.values import outline
from evalward.suites.scenario.details import EvaluatorResult, GateResult, Interaction, ScenarioDetails
from evalward.suites.scenario.findings import interpret
from evalward.suites.scenario.metrics import measure
from evalward.suites.scenario.outcome import GATES_FAILED, JUDGE_FAILED

SUITE = "llm-tool-test"
CATEGORY = "general"
REMEDY = "Give the results.jsonl of llm-tool-test."
DRY_RUN = "Dry run"
NOT_TAKEN = "llm-tool-test computes another value, and its files have nothing to compute this one from"
NOT_TOLD = "not in llm-tool-test's results"
_REASONS = {
    "first_try_success_rate": NOT_TAKEN,
    "retries_after_failure": NOT_TOLD,
    "completion_rate": NOT_TOLD,
}
MOST_PROBLEMS = 20
LARGEST_RUN_FILE = 1_000_000  # bytes


class _Efficiency(Record):
    total_commands: Count = 0
    unique_commands: Count = 0
    error_count: Count = 0
    help_invocations: Count = 0


class _Gate(Record):
    gate_type: str
    passed: bool
    message: str = ""


class _Evaluator(Record):
    name: str
    metrics: dict[str, Any] | None = None
    score: float | None = None
    summary: str | None = None
    error: str | None = None


class _Metrics(Record):
    gates_passed: Count = 0
    gates_total: Count = 0
    details: list[_Gate] = []
    efficiency: _Efficiency = _Efficiency()
    composite_score: float | None = None
    evaluator_results: list[_Evaluator] | None = None


def _moment(value: str) -> str:
    """The moment; the program writes its own without a zone, in UTC."""
    return instant(value, UTC)


class _Line(Record):
    id: str
    scenario_id: str = Field(min_length=1)
    scenario_hash: str
    tool: str = Field(min_length=1)
    model: str = Field(min_length=1)
    timestamp: Annotated[str, AfterValidator(_moment)]
    duration_secs: float = Field(ge=0, le=1e9)
    cost_usd: Amount | None = None
    gates_passed: bool
    metrics: _Metrics
    judge_score: float | None = None
    outcome: str
    transcript_path: str | None = None

    @property
    def target(self) -> str:
        """Who ran: the agent with its model."""
        return clean_text(f"{self.tool}/{self.model}")


class _Tokens(Record):
    input: Count
    output: Count


class _RunFile(Record):
    token_usage: _Tokens | None = None


def read(text: bytes, file: str) -> Imported:
    """One run per agent and model: several lines of one scenario are its trials, in the file's order."""
    lines = _lines(text, file)
    dry = [line for line in lines if line.outcome == DRY_RUN]
    real = [line for line in lines if line.outcome != DRY_RUN]
    if not real:
        raise wrong(file, "the file has no result" + (" but dry runs" if dry else ""), REMEDY)
    runs = [_run(target, [line for line in real if line.target == target], file) for target in _targets(real)]
    return Imported(
        runs=runs, created_at=max(line.timestamp for line in real), warnings=list(_warnings(real, dry, file))
    )


def recognises(head: bytes) -> bool:
    """By the keys of its first line."""
    return outline(head) >= {"scenario_id", "scenario_hash", "gates_passed"}


LLM_TOOL_TEST = FileImporter("results of llm-tool-test", read, recognises)


def _targets(lines: Sequence[_Line]) -> list[str]:
    return list(dict.fromkeys(line.target for line in lines))


def _lines(text: bytes, file: str) -> list[_Line]:
    found: list[_Line] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), 1):
        if len(problems) >= MOST_PROBLEMS:
            break
        if not line.strip():
            continue
        place = Place(file=file, line=number)
        try:
            found.append(_Line.model_validate(foreign_json(line)))
        except ValidationError as error:
            problems += problems_of(error, place, REMEDY)
        except NoJsonError as error:
            problems.append(Problem(place=place, message=f"not valid JSON: {error}", remedy=REMEDY))
    if problems:
        raise InputError(problems[:MOST_PROBLEMS])
    return found


def _run(target: str, lines: Sequence[_Line], file: str) -> Run:
    count: Counter[str] = Counter()
    results: list[Result] = []
    for line in lines:
        count[line.scenario_id] += 1
        results.append(_result(line, count[line.scenario_id], file))
    measurement = _with_reasons(measure(results))
    sources = sorted({line.scenario_hash for line in lines})
    return Run(
        suite=SUITE,
        kind="scenario",
        target=target,
        trials=max(count.values()),
        random=True,
        planned=len(results),
        subject=Subject.model_validate({"hash": digest([target, *sources]), "result_file": digest(sources)}),
        metrics=measurement.metrics,
        categories=measurement.categories,
        findings=interpret(results, measurement),
        cases=results,
    )


def _with_reasons(measurement: Measurement) -> Measurement:
    """Why these metrics can't be had, in the words of this format."""
    absent = {name: why for name, why in _REASONS.items() if measurement.metrics[name].value is None}
    reasons = {name: measurement.metrics[name].model_copy(update={"reason": why}) for name, why in absent.items()}
    return measurement.model_copy(update={"metrics": {**measurement.metrics, **reasons}})


def _result(line: _Line, trial: int, file: str) -> Result:
    passed = line.outcome == "Pass"
    metrics = line.metrics
    return Result(
        id=clean_text(line.scenario_id),
        category=CATEGORY,
        definition=digest_text(clean_text(line.scenario_hash)),
        trial=trial,
        status=Status.PASSED if passed else Status.FAILED,
        score=float(metrics.gates_passed),
        max_score=float(metrics.gates_total),
        usage=_usage(line, file),
        duration_ms=round(line.duration_secs * 1000),
        reason=None if passed else JUDGE_FAILED if line.gates_passed else GATES_FAILED,
        message=None if passed else clean_text(line.outcome)[:300],
        details=ScenarioDetails(
            interaction=_interaction(metrics.efficiency),
            gates=[_gate(gate) for gate in metrics.details],
            gates_passed=metrics.gates_passed,
            gates_total=metrics.gates_total,
            judge_score=line.judge_score,
            composite_score=metrics.composite_score,
            evaluators=[_evaluator(one) for one in metrics.evaluator_results or []],
            approximate=True,
            agent=clean_text(line.tool),
        ),
    )


def _interaction(efficiency: _Efficiency) -> Interaction:
    return Interaction(
        total_commands=efficiency.total_commands,
        unique_commands=efficiency.unique_commands,
        error_count=efficiency.error_count,
        retry_count=max(0, efficiency.total_commands - efficiency.unique_commands),
        help_invocations=efficiency.help_invocations,
    )


def _gate(gate: _Gate) -> GateResult:
    """The type is CamelCase in these files, and as in scenarios in ours."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", gate.gate_type).lower()
    return GateResult(gate_type=clean_text(name), passed=gate.passed, message=clean_text(gate.message))


def _evaluator(evaluator: _Evaluator) -> EvaluatorResult:
    metrics = {
        clean_text(name): float(value)
        for name, value in (evaluator.metrics or {}).items()
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    }
    summary = clean_text(evaluator.summary or "")
    return EvaluatorResult(
        name=evaluator.name, metrics=metrics, score=evaluator.score, summary=summary, error=evaluator.error
    )


def _usage(line: _Line, file: str) -> Usage:
    run = _run_file(line, Path(file).parent)
    tokens = run.token_usage if run else None
    return Usage(
        input_tokens=tokens.input if tokens else None,
        output_tokens=tokens.output if tokens else None,
        cost_usd=line.cost_usd,
    )


def _run_file(line: _Line, folder: Path) -> _RunFile | None:
    """`run.json` of the run's folder beside the file. The transcript's path names that folder, from wherever it was."""
    for name in re.split(r"[/\\]", line.transcript_path or ""):
        if name in {"", ".", ".."}:
            continue
        try:
            data = read_inside(folder, f"{name}/artifacts/run.json", LARGEST_RUN_FILE)
            return _RunFile.model_validate(foreign_json(data))
        except OSError:
            continue
        except (InputError, ValueError):
            return None
    return None


def _warnings(lines: Sequence[_Line], dry: Sequence[_Line], file: str) -> Iterator[str]:
    yield (
        f"{file}: llm-tool-test's first_try_success_rate and iteration_ratio are defined differently there: "
        "the first is left out, the second computed from the counts"
    )
    if dry:
        yield f"{file}: {plural(len(dry), 'dry run is', 'dry runs are')} left out"
    judged = sum(line.judge_score is not None for line in lines)
    if judged:
        scored = plural(judged, "result has", "results have")
        yield f"{file}: llm-tool-test's outcome leaves the judge out; {scored} a judge's score"
    silent = sum(line.metrics.efficiency.total_commands == 0 for line in lines)
    if silent:
        yield (
            f"{file}: {silent} of {len(lines)} results have no command at all; llm-tool-test often looks for the "
            "transcript in the wrong folder, so no gate on transcripts and no rate of them can be trusted"
        )
