"""Logs of inspect from the file to the verdict."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from evalward.commands.compare import compare_files
from evalward.commands.exchange import import_files
from evalward.commands.options import CompareOptions
from evalward.commands.world import World
from evalward.records.problem import InputError
from evalward.records.report import Report
from evalward.records.result import Trial
from support.foreign.files import DATA
from support.foreign.inspect import Logged, LoggedSample, scored

CASES = [f"case-{number}" for number in range(12)]


def world(out: StringIO | None = None) -> World:
    return World(out=out or StringIO(), err=StringIO(), now=lambda: "2026-11-22T08:00:00Z", env={})


def log(path: Path, *broken: str, error: str = "") -> Path:
    """Three trials of each case; those that are broken fail, or end with an error."""
    samples = [
        LoggedSample(
            case,
            epoch,
            target=case,
            scores={"match": scored("I" if case in broken and not error else "C")},
            error=error if case in broken and error else None,
        )
        for epoch in (1, 2, 3)
        for case in CASES
    ]
    path.write_bytes(Logged(samples, epochs=3).eval_log())
    return path


def test_a_real_log_becomes_a_report_with_its_conversations(tmp_path: Path) -> None:
    output = tmp_path / "report.json"
    assert import_files(world(), "auto", [DATA / "inspect" / "traps.eval"], output, ["includes"]) == 0
    report = Report.model_validate_json(output.read_bytes())
    (run,) = report.runs
    assert (run.suite, run.target, run.trials, run.planned) == ("traps", "mockllm/model", 2, 12)
    values = {name: metric.value for name, metric in run.metrics.items()}
    assert values["pass_rate"] == pytest.approx(6 / 10)
    assert values["score:quality.useful"] == pytest.approx(0.5)
    assert values["harness_error_rate"] == pytest.approx(2 / 12)
    shell = next(result for result in run.cases if result.id == "shell")
    assert shell.trace is not None
    trial = Trial.model_validate_json((tmp_path / shell.trace).read_bytes())
    assert [call.commands for call in trial.trace.tool_calls] == ["rename a b", "wc -l < notes.txt"]


def test_of_several_scorers_one_has_to_be_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"its scores are includes, quality\.safe, quality\.useful\. Say what passes"):
        import_files(world(), "inspect", [DATA / "inspect" / "traps.eval"], tmp_path / "report.json", [])


@pytest.mark.parametrize(
    ("broken", "error", "code"),
    [((), "", 0), (CASES[:4], "", 1), (CASES[:4], "RuntimeError('provider down')", 3)],
)
def test_two_logs_are_compared(tmp_path: Path, broken: tuple[str, ...], error: str, code: int) -> None:
    before, after = log(tmp_path / "before.eval"), log(tmp_path / "after.eval", *broken, error=error)
    out = StringIO()
    assert compare_files(world(out), CompareOptions(report=after, baseline=before)) == code
    assert all((case in out.getvalue()) == (case in broken) for case in CASES[2:4])
