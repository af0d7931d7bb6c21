"""Output formats: one registry for ours and for those that other distributions bring."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from evalward import registry
from evalward.cli import build_parser, guarded
from evalward.commands.ending import JUDGEMENT_FORMATS, shown_reports, write_outputs, write_page
from evalward.commands.keeping import kept_baseline
from evalward.commands.world import World
from evalward.decide.baseline import dump_baseline
from evalward.decide.pooling import NamedReport
from evalward.keeper.outputs import FILES, OutputFolder
from evalward.records.problem import InputError
from evalward.records.verdict import Judgement
from evalward.registry import OUTPUTS, ours
from evalward.render.outputs import OutputFormat, ShownJudgement, format_named, formats_of, text_of
from support.judgements import failed
from support.results import passes, report, run

MEASURED = report(run(passes("a", "b")))
DOCS = Path(__file__).parents[3] / "docs" / "api.md"
MODULE = DOCS.read_text("utf-8").partition("# evalward_csv.py\n")[2].partition("```")[0]
MORE = """

def _reports(shown):
    return "".join(f"{run.name}\\n" for report in shown.reports for run in report.runs)


BOTH = OutputFormat("csv-of-cases", judgement=CSV.judgement, reports=Writer(_reports))
NOT_ONE = "a text"
"""
POINTS = """\
[evalward.outputs]
csv-of-cases = evalward_csv:BOTH
not-one = evalward_csv:NOT_ONE
json = evalward_csv:CSV
exits = evalward_exits:FORMAT
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution on the import path, as an installer leaves it."""
    info = tmp_path / "site" / "evalward_csv-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evalward-csv\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(POINTS, "utf-8")
    (tmp_path / "site" / "evalward_csv.py").write_text(MODULE + MORE, "utf-8")
    (tmp_path / "site" / "evalward_exits.py").write_text("raise SystemExit(0)\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    registry.installed.cache_clear()
    registry.load.cache_clear()
    yield
    registry.installed.cache_clear()
    registry.load.cache_clear()


def written(folder: Path) -> tuple[Path, Path]:
    (folder / "r.json").write_text(MEASURED.model_dump_json(by_alias=True), "utf-8")
    baseline = kept_baseline(NamedReport(MEASURED, "r.json"), None).update.baseline
    (folder / "b.json").write_text(dump_baseline(baseline), "utf-8")
    return folder / "r.json", folder / "b.json"


def called(*words: str) -> tuple[int, str, str]:
    args = build_parser().parse_args(words)
    out, err = StringIO(), StringIO()
    world = World(out=out, err=err, now=lambda: "2026-11-22T08:00:00Z", env={})
    return guarded(world, lambda world: args.handler(world, args)), out.getvalue(), err.getvalue()


def test_a_format_of_another_distribution_is_used_by_its_name(plugin: None, tmp_path: Path) -> None:
    made, baseline = written(tmp_path)
    words = ("--report", str(made), "--baseline", str(baseline))
    code, shown, _ = called("compare", *words, "--format", "csv-of-cases")
    name = MEASURED.runs[0].name
    assert code == 0
    assert shown.splitlines() == [f"{name};a;same", f"{name};b;same"]
    assert called("report", str(made), str(made), "--format", "csv-of-cases")[1] == f"{name}\n" * 2
    assert (
        json.loads(called("compare", *words, "--format", "json")[1])["schema"]
        == Judgement.model_fields["schema_"].default
    )


def test_a_format_of_another_distribution_is_written_to_the_output_folder(plugin: None, tmp_path: Path) -> None:
    folder = OutputFolder.open(tmp_path / "out")
    shown = ShownJudgement(failed())
    assert write_outputs(shown, folder, ["csv-of-cases"]) == ["cases.csv"]
    assert (tmp_path / "out" / "cases.csv").read_text("utf-8") == text_of("csv-of-cases", shown) != ""


def test_what_is_no_format(plugin: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, _ = written(tmp_path)
    code, _, err = called("report", str(made), "--format", "not-one")
    assert code == 2
    assert "format not-one: what is installed under this name is a str" in err
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(["report", str(made), "--format", "pdf"])
    assert ended.value.code == 2
    assert "Known: terminal, markdown, html, junit, json, badge, csv-of-cases" in capsys.readouterr().err
    with pytest.raises(InputError, match="there is no such output format"):
        format_named("pdf")


def test_a_format_that_cannot_be_loaded__is_named_and_harms_no_other(plugin: None, tmp_path: Path) -> None:
    made, _ = written(tmp_path)
    code, _, err = called("report", str(made), "--format", "exits")
    assert code == 2
    assert err.startswith("error: entry point exits of evalward.outputs: can't be loaded: SystemExit: 0. Fix")
    code, _, err = called("report", str(made), "--format", "badge")
    assert (code, "Formats that do: terminal, markdown, html, junit, json, csv-of-cases." in err) == (2, True)


def test_a_format_that_cannot_show_this(tmp_path: Path) -> None:
    made, _ = written(tmp_path)
    code, _, err = called("report", str(made), "--format", "badge")
    assert (code, "--format badge: it shows no report" in err) == (2, True)
    code, _, err = called("report", str(made), str(made), "--format", "junit")
    assert (code, "--format junit: it takes one report" in err) == (2, True)
    with pytest.raises(InputError, match="check writes no file in this format"):
        write_outputs(ShownJudgement(failed()), OutputFolder.open(tmp_path / "out"), ["terminal"])


@pytest.mark.parametrize("name", ours(OUTPUTS))
def test_each_of_ours_says_its_name_and_shows_a_judgement(name: str) -> None:
    form = format_named(name)
    assert isinstance(form, OutputFormat)
    assert form.name == name
    assert "judgement" in form.media
    assert text_of(name, ShownJudgement(failed()))
    if "reports" in form.media:
        assert text_of(name, shown_reports([MEASURED]))


def test_which_formats_show_what() -> None:
    assert formats_of("judgement") == ["terminal", "markdown", "html", "junit", "json", "badge"]
    assert formats_of("reports") == ["terminal", "markdown", "html", "junit", "json"]
    assert formats_of("release") == ["markdown", "html", "json"]


def test_every_file_of_an_ending_is_known_as_ours_and_cleared_by_the_next_run(tmp_path: Path) -> None:
    folder = OutputFolder.open(tmp_path / "out")
    shown, said = ShownJudgement(failed()), list[str]()
    names = {*write_outputs(shown, folder, JUDGEMENT_FORMATS), *write_page(shown, folder, said.append)}
    assert names == {"judgement.json", "comment.md", "junit.xml", "badge.json", "report.html"} <= set(FILES)
    assert said == []
    OutputFolder.open(tmp_path / "out").clear()
    assert list((tmp_path / "out").iterdir()) == []
