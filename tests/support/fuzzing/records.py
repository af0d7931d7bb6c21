"""What programs write: reports, baselines, histories, judgements, trials, and other tools' results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evalward.commands.artifact import parse_report, recomputed
from evalward.commands.baseline import diff, show, update
from evalward.commands.compare import compare_files
from evalward.commands.exchange import export_file, import_files
from evalward.commands.files import read_baseline_file
from evalward.commands.history import ShowOptions, Where, append
from evalward.commands.history import show as show_history
from evalward.commands.options import CompareOptions
from evalward.commands.report import show_reports
from evalward.decide.history_file import dump_entry, entries_of
from evalward.records.report import Report
from evalward.suites.command.metrics import measure
from support import example_reports, scenario_reports, scenarios
from support.bashkit_files import FOUR_OF_FIVE, TWO_OF_TWO, result_file
from support.commands import command_results
from support.fc_eval_files import payload, results, trial
from support.fuzzing.folders import quiet_world, write_files
from support.fuzzing.projects import CASE, recording
from support.fuzzing.reader import Reader
from support.histories import measured
from support.results import KINDS, report, result, run
from support.speedups import KEY, NOP, TWO, log, result_object
from support.written import make_baseline

FORMATS = ("terminal", "markdown", "junit", "json")
CARO: dict[str, Any] = {
    "timestamp": "2026-01-09T12:34:56Z",
    "caro_version": "1.0.0",
    "backend": "mlx",
    "csr": 0.5,
    "safety_accuracy": 1.0,
    "posix_compliance_rate": 1.0,
    "per_category": {
        "correctness": {"total": 2, "passed": 1, "rate": 0.5},
        "safety": {"total": 1, "passed": 0, "rate": 0.0},
    },
    "failed_cases": [
        {"test_id": "a", "prompt": "p", "expected": "ls", "actual": "la", "reason": {"type": "incorrect_command"}},
        {
            "test_id": "b",
            "prompt": "p",
            "expected": "x",
            "actual": "y",
            "reason": {"type": "safety_mismatch", "expected": True, "actual": False},
        },
        {
            "test_id": "c",
            "prompt": "p",
            "expected": "x",
            "actual": "",
            "reason": {"type": "backend_error", "message": "m"},
        },
    ],
    "meets_baseline": False,
    "blocks_release": True,
}


def _bash_report() -> Report:
    return report(run([result("a"), result("a", "failed", trial=2), result("b"), result("b", trial=2)], trials=2))


@cache
def reports() -> tuple[bytes, ...]:
    """Reports of several kinds."""
    scenarios_run = scenario_reports.scenario_run("codex/m", scenario_reports.trial("x"), scenario_reports.broke("y"))
    found = (example_reports.report("other/m"), scenario_reports.scenario_report(scenarios_run), _bash_report())
    return tuple(report.model_dump_json(by_alias=True).encode() for report in found)


@cache
def _report_value() -> Any:
    merged = json.loads(reports()[0])
    for other in reports()[1:]:
        merged["runs"] += json.loads(other)["runs"]
    return merged


@cache
def baseline_bytes() -> bytes:
    """A baseline of such a report."""
    return make_baseline(_bash_report(), "r", None, KINDS).model_dump_json(by_alias=True).encode()


def _given(folder: Path, name: str, data: bytes) -> Path:
    write_files(folder, {name: data})
    return folder / name


def _report(data: bytes, folder: Path) -> None:
    file = _given(folder, "report.json", data)
    for form in FORMATS:
        show_reports(quiet_world(folder), [file], form, None, verbose=True)


def _compared(data: bytes, folder: Path) -> None:
    file, good = _given(folder, "report.json", data), _given(folder, "baseline.json", baseline_bytes())
    for form in FORMATS:
        compare_files(quiet_world(folder), CompareOptions(file, good, format=form))


def _baseline(data: bytes, folder: Path) -> None:
    file, good = _given(folder, "baseline.json", data), _given(folder, "good.json", baseline_bytes())
    report = _given(folder, "report.json", reports()[2])
    world = quiet_world(folder)
    show(world, file)
    diff(world, read_baseline_file(file), read_baseline_file(good))
    diff(world, read_baseline_file(good), read_baseline_file(file), "markdown")
    for form in FORMATS:
        compare_files(world, CompareOptions(report, file, format=form))
    update(world, report, file)


def _updated(data: bytes, folder: Path) -> None:
    (folder / "baseline.json").unlink(missing_ok=True)
    update(quiet_world(folder), _given(folder, "report.json", data), folder / "baseline.json")


def _appended(data: bytes, folder: Path) -> None:
    (folder / "history.jsonl").unlink(missing_ok=True)
    append(quiet_world(folder), Where(folder), _given(folder, "report.json", data), None, "main")
    _shown(folder)


def _history(data: bytes, folder: Path) -> None:
    _given(folder, "history.jsonl", data)
    _shown(folder)
    append(quiet_world(folder), Where(folder), _given(folder, "report.json", reports()[2]), None, "main")


def _shown(folder: Path) -> None:
    for form in ("terminal", "markdown", "json"):
        show_history(quiet_world(folder), ShowOptions(Where(folder), format=form))


def _judged(data: bytes, folder: Path) -> None:
    file = _given(folder, "judgement.json", data)
    append(quiet_world(folder), Where(folder), _given(folder, "report.json", reports()[2]), file, "main")


@cache
def _judgement() -> Any:
    with TemporaryDirectory() as made:
        folder = Path(made)
        file, good = _given(folder, "report.json", reports()[2]), _given(folder, "baseline.json", baseline_bytes())
        compare_files(quiet_world(folder), CompareOptions(file, good, format="json", output=folder / "judgement.json"))
        return json.loads((folder / "judgement.json").read_text("utf-8"))


def _artifact(data: bytes, folder: Path) -> None:
    recomputed(parse_report(data))


def _trial(data: bytes, folder: Path) -> None:
    report = json.loads(reports()[0])
    report["runs"][0]["cases"] = report["runs"][0]["cases"][:1]
    report["runs"][0]["cases"][0]["trace"] = "trials/a.json"
    file = _given(folder, "report.json", json.dumps(report).encode())
    _given(folder, "trials/a.json", data)
    export_file(quiet_world(folder), "bashkit-eval", file, folder / "exported.json", target=None)


def _command_report() -> Any:
    """A report of a suite that caro's form can tell."""
    cases = command_results("correctness", "PP", expected="ls", answer="ls")
    made = run(cases, kind="command").model_copy(update={"metrics": measure(cases).metrics})
    return json.loads(report(made).model_dump_json(by_alias=True))


def _exported(data: bytes, folder: Path) -> None:
    file = _given(folder, "report.json", data)
    export_file(quiet_world(folder), "caro", file, folder / "exported.json", target=None)


def _imported(form: str, name: str, beside: Mapping[str, bytes] = {}) -> Callable[[bytes, Path], object]:
    def read(data: bytes, folder: Path) -> None:
        output = folder / "out" / "report.json"
        files = [_given(folder, other, content) for other, content in beside.items()]
        import_files(quiet_world(folder), form, [*files, _given(folder, name, data)], output)
        _report(output.read_bytes(), folder)

    return read


@cache
def _entries() -> list[Any]:
    found = [entry for day in (1, 2, 3) for entry in entries_of(measured(day, {"a": "+", "b": "~"}), None, "main")]
    return [json.loads(dump_entry(entry)) for entry in found]


def fc_log() -> bytes:
    """A test log."""
    return log(result=result_object(TWO)).encode()


RECORDS: tuple[Reader, ...] = (
    Reader("report", "json", _report_value, _report),
    Reader("report to compare", "json", lambda: json.loads(reports()[2]), _compared),
    Reader("report to update from", "json", lambda: json.loads(reports()[2]), _updated),
    Reader("report to append", "json", _report_value, _appended),
    Reader("report to export", "json", _command_report, _exported),
    Reader("artifact", "json", _report_value, _artifact),
    Reader("baseline", "json", lambda: json.loads(baseline_bytes()), _baseline),
    Reader("judgement", "json", _judgement, _judged),
    Reader("history", "jsonl", _entries, _history),
    Reader("trial to export", "json", lambda: {**recording()[0], "case": CASE}, _trial),
    Reader(
        "import bashkit-eval",
        "json",
        lambda: json.loads(result_file(FOUR_OF_FIVE, TWO_OF_TWO)),
        _imported("bashkit-eval", "results.json"),
    ),
    Reader("import caro", "json", lambda: CARO, _imported("caro", "results.json")),
    Reader(
        "import llm-tool-test",
        "jsonl",
        lambda: [json.loads(scenarios.result_line())] * 2,
        _imported("llm-tool-test", "results.jsonl"),
    ),
    Reader(
        "import fc-eval",
        "json",
        lambda: json.loads(results(trial("task", {KEY: payload(), NOP: payload()}, total_input_tokens=5))),
        _imported("fc-eval", "results.json"),
    ),
    Reader("import fc-eval of one task", "json", result_object, _imported("fc-eval", "task/result.json")),
    Reader("import fc-eval log", "text", fc_log, _imported("fc-eval", "task/test.log")),
    Reader(
        "import fc-eval cast",
        "text",
        lambda: b'{"version": 2}\n[0.1, "o", "x"]\n[0.2, "i", "y"]\n',
        _imported("fc-eval", "task/agent.cast", {"task/test.log": fc_log()}),
    ),
)
