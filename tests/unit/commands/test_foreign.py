"""Result files of other harnesses named by a person: imported, shown, compared."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from evalward.commands.compare import compare_files
from evalward.commands.exchange import import_files
from evalward.commands.foreign import choice_of
from evalward.commands.options import CompareOptions
from evalward.commands.report import show_reports
from evalward.commands.world import World
from evalward.records.problem import InputError
from evalward.records.report import Report
from evalward.suites.external.choice import Bounds, ScoreChoice
from support.foreign.junit import case, pytest_xml

TODAY = "2026-11-22T08:00:00Z"
CASES = ("count", "find", "greet", "sum", "date", "weather", "rename", "convert", "todo", "email", "field", "delete")


def world() -> tuple[World, StringIO, StringIO]:
    out, err = StringIO(), StringIO()
    return World(out=out, err=err, now=lambda: TODAY, env={}), out, err


def results(path: Path, *broken: str, trials: int = 3) -> Path:
    """A file of pytest's, of several trials of each case."""
    elements = [
        case("bot", f"test_bot[{name}-{number}-{trials}]", *(["failure:AssertionError: no"] if name in broken else []))
        for name in CASES
        for number in range(1, trials + 1)
    ]
    path.write_text(pytest_xml(*elements), "utf-8")
    return path


def imported(tmp_path: Path, form: str, *files: Path, scores: list[str] | None = None) -> tuple[Report, str]:
    here, out, err = world()
    output = tmp_path / "report.json"
    assert import_files(here, form, files, output, scores or []) == 0
    return Report.model_validate_json(output.read_bytes()), err.getvalue() + out.getvalue()


@pytest.mark.parametrize("form", ["auto", "junit"])
def test_a_file_is_imported__by_its_content_or_its_formats_name(tmp_path: Path, form: str) -> None:
    report, said = imported(tmp_path, form, results(tmp_path / "a.xml", "greet"))
    (run,) = report.runs
    assert (run.kind, run.trials, len(run.cases)) == ("external", 3, 36)
    assert run.metrics["pass_rate"].value == pytest.approx(33 / 36)
    assert f"{tmp_path / 'a.xml'}: a JUnit XML file" in said
    assert "1 run, 36 trials" in said


def test_a_file_of_no_format__is_refused_with_all_that_there_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(
        InputError, match=r"its content is of no format that is known.*bashkit-eval, caro, .*fc-eval, inspect.*junit"
    ):
        imported(tmp_path, "auto", tmp_path / "a.txt")


def test_a_format_that_there_is_not__is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no such format\. Did you mean inspect"):
        imported(tmp_path, "inspekt", tmp_path / "a.txt")


def test_files_that_are_not_there__are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        imported(tmp_path, "auto", tmp_path / "a.eval")


def test_a_format_of_ours__takes_no_score(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="caro says by itself what passes"):
        imported(tmp_path, "caro", tmp_path / "a.json", scores=["match"])


@pytest.mark.parametrize(
    ("scores", "choice"),
    [
        ([], ScoreChoice()),
        (["match"], ScoreChoice("match")),
        (["helpful=0.7"], ScoreChoice(bounds={"helpful": Bounds(least=0.7)})),
        (["a=b=1", "c=0"], ScoreChoice(bounds={"a=b": Bounds(least=1), "c": Bounds(least=0)})),
    ],
)
def test_what_passes__is_a_scorer_or_bounds(scores: list[str], choice: ScoreChoice) -> None:
    assert choice_of(scores) == choice


@pytest.mark.parametrize("scores", [["a", "b"], ["a=high"], ["=0.5", "b"], ["a=nan"], ["a=inf"], ["=1"]])
def test_what_is_neither__is_refused(scores: list[str]) -> None:
    with pytest.raises(InputError, match="it has no bound"):
        choice_of(scores)


def compared(report: Path, baseline: Path, *scores: str, form: str = "json") -> tuple[int, str]:
    here, out, _ = world()
    code = compare_files(here, CompareOptions(report=report, baseline=baseline, format=form, scores=scores))
    return code, out.getvalue()


def test_two_foreign_files__are_judged_without_a_configuration(tmp_path: Path) -> None:
    good, bad = results(tmp_path / "a.xml"), results(tmp_path / "b.xml", "greet", "sum", "date")
    assert compared(good, good)[0] == 0
    code, said = compared(bad, good)
    assert code == 1
    judgement = json.loads(said)
    assert judgement["verdict"]["outcome"] == "fail"
    (run,) = judgement["comparison"]["runs"]
    assert {each["id"] for each in run["cases"] if each["change"] == "broken"} == {
        f"bot::test_bot[{name}]" for name in ("greet", "sum", "date")
    }


def test_a_foreign_report__names_no_command_that_could_not_show_it(tmp_path: Path) -> None:
    good, bad = results(tmp_path / "a.xml"), results(tmp_path / "b.xml", "greet", "sum", "date")
    assert "evalward show" not in compared(bad, good, form="terminal")[1]


def test_two_files_of_ours__take_no_score(tmp_path: Path) -> None:
    imported(tmp_path, "auto", results(tmp_path / "a.xml"))
    with pytest.raises(InputError, match="--score is for other harnesses' files"):
        compared(tmp_path / "report.json", tmp_path / "report.json", "match")


def test_a_foreign_file__is_shown_as_a_report(tmp_path: Path) -> None:
    here, out, _ = world()
    assert show_reports(here, [results(tmp_path / "a.xml", "greet")], "terminal", None, verbose=False) == 0
    assert "pass_rate" in out.getvalue()
    assert "91.7 % (33/36)" in out.getvalue()


def test_a_file_that_is_nobodys__is_read_as_ours__whose_mistake_it_then_is(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        compared(tmp_path / "a.json", tmp_path / "a.json")
