"""`evalward import`: folders, the date of what is imported, and what is refused."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from evalward.commands.exchange import export_file, import_files
from evalward.commands.world import World
from evalward.records.problem import InputError
from evalward.records.report import Report
from support.bashkit_files import FOUR_OF_FIVE, TWO_OF_TWO, result_file
from support.fc_eval_files import AgentRun, run_folder
from support.speedups import KEY, NOP, ORACLE

AGENTS = {NOP: AgentRun(), ORACLE: AgentRun({"m.S.a": 2.0}), KEY: AgentRun({"m.S.a": 3.0})}
TODAY = "2026-11-22T08:00:00Z"


def imported(form: str, output: Path, *files: Path) -> tuple[Report, str]:
    """The report, and what was said beside it."""
    err = StringIO()
    world = World(out=StringIO(), err=err, now=lambda: TODAY, env={})
    import_files(world, form, files, output)
    return Report.model_validate_json(output.read_bytes()), err.getvalue()


def run_on_disk(folder: Path) -> Path:
    for name, text in run_folder({"sort": AGENTS, "scan": AGENTS}, run="run-1").items():
        file = folder / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    return folder / "run-1"


def test_the_folder_of_a_run_is_read_without_following_a_link(tmp_path: Path) -> None:
    run = run_on_disk(tmp_path)
    (tmp_path / "elsewhere.json").write_text('{"run_id": "x", "dataset_name": "leaked"}')
    (run / "run_metadata.json").symlink_to(tmp_path / "elsewhere.json")
    report, _ = imported("fc-eval", tmp_path / "report.json", run)
    assert {one.target: len(one.cases) for one in report.runs} == {KEY: 2, NOP: 2, ORACLE: 2}
    assert {one.suite for one in report.runs} == {"fc-eval"}


def test_an_agent_that_left_no_test_log_keeps_its_task(tmp_path: Path) -> None:
    run = run_on_disk(tmp_path)
    (folder,) = (run / "scan").glob("*.agent-3-agent")
    (folder / "panes" / "post-test.txt").unlink()
    report, said = imported("fc-eval", tmp_path / "report.json", run)
    assert {one.target: len(one.cases) for one in report.runs} == {KEY: 2, NOP: 2, ORACLE: 2}
    assert f"{folder}: it has no test log, so {KEY} has no result for scan: an error" in said
    (folder / "panes").rmdir()
    again, _ = imported("fc-eval", tmp_path / "report.json", run)
    assert again.runs == report.runs


def test_an_export_says_how_many_results_are_in_the_file(tmp_path: Path) -> None:
    run = run_on_disk(tmp_path)
    imported("fc-eval", tmp_path / "report.json", run)
    out = StringIO()
    world = World(out=out, err=StringIO(), now=lambda: TODAY, env={})
    export_file(world, "fc-eval", tmp_path / "report.json", tmp_path / "results.json", target=KEY)
    assert out.getvalue() == f"{tmp_path / 'results.json'}: fc-eval × {KEY}, 2 results\n"


def test_a_folder_without_results_or_of_a_format_of_single_files_is_refused(tmp_path: Path) -> None:
    for form, said in (("fc-eval", "no file of fc-eval is in it"), ("caro", "caro has single files")):
        with pytest.raises(InputError, match=said):
            imported(form, tmp_path / "report.json", tmp_path)


def test_a_report_has_the_date_of_what_was_imported_or_says_that_it_is_unknown(tmp_path: Path) -> None:
    run = run_on_disk(tmp_path)
    report, said = imported("fc-eval", tmp_path / "report.json", run)
    assert report.created_at == TODAY
    assert "the files have no date of their results" in said
    (run / "run_metadata.json").write_text(json.dumps({"run_id": "r", "end_time": "2026-01-02T03:04:05+00:00"}))
    report, said = imported("fc-eval", tmp_path / "report.json", run)
    assert (report.created_at, "don't tell when" in said) == ("2026-01-02T03:04:05Z", False)


# --- auto ------------------------------------------------------------------------------------------------------------


def bashkit_on_disk(file: Path, model: str = "m") -> Path:
    file.write_bytes(result_file(FOUR_OF_FIVE, TWO_OF_TWO, model=model))
    return file


def test_auto__finds_a_file_of_ours_and_says_which(tmp_path: Path) -> None:
    one, other = (bashkit_on_disk(tmp_path / f"{name}.json", name) for name in ("a", "b"))
    report, said = imported("auto", tmp_path / "report.json", one, other)
    assert [(run.suite, run.target) for run in report.runs] == [
        ("bashkit-eval", "anthropic/a"),
        ("bashkit-eval", "anthropic/b"),
    ]
    assert f"{one}, {other}: results of bashkit-eval" in said


def test_auto__finds_the_folder_of_a_run_and_a_single_log(tmp_path: Path) -> None:
    run = run_on_disk(tmp_path)
    report, said = imported("auto", tmp_path / "report.json", run)
    assert {one.target: len(one.cases) for one in report.runs} == {KEY: 2, NOP: 2, ORACLE: 2}
    assert f"{run}: results of FC-Eval" in said
    log = next(run.glob("sort/*nop/panes/post-test.txt"))
    report, _ = imported("auto", tmp_path / "report.json", log)
    assert [(one.target, len(one.cases)) for one in report.runs] == [(NOP, 1)]


def test_auto__guesses_nothing_of_several_formats(tmp_path: Path) -> None:
    run = run_on_disk(tmp_path / "fc")
    bashkit = bashkit_on_disk(tmp_path / "a.json")
    with pytest.raises(InputError, match=r"is of format fc-eval, .* of format bashkit-eval"):
        imported("auto", tmp_path / "report.json", run, bashkit)
    bashkit_on_disk(run / "a.json")
    with pytest.raises(InputError, match="fits several formats: fc-eval, bashkit-eval"):
        imported("auto", tmp_path / "report.json", run)


def test_auto__of_a_folder_without_results_or_of_single_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"of no format that is known\. Formats: bashkit-eval"):
        imported("auto", tmp_path / "report.json", tmp_path)
    bashkit_on_disk(tmp_path / "a.json")
    with pytest.raises(InputError, match=r"bashkit-eval has single files\. Name the files"):
        imported("auto", tmp_path / "report.json", tmp_path)


def test_auto__takes_no_score_of_a_format_of_ours(tmp_path: Path) -> None:
    world = World(out=StringIO(), err=StringIO(), now=lambda: TODAY, env={})
    with pytest.raises(InputError, match="bashkit-eval says by itself what passes"):
        import_files(world, "auto", [bashkit_on_disk(tmp_path / "a.json")], tmp_path / "report.json", ["match"])
