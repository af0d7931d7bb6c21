"""`evalward report`: several reports for a program."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from evalward.cli import build_parser
from evalward.commands.report import show_reports
from evalward.commands.world import World
from evalward.records.report import Report, Reports
from evalward.registry import EXPORTERS, IMPORTERS, OUTPUTS, ours
from support import example_reports


def shown(*files: Path) -> str:
    out = StringIO()
    world = World(out=out, err=StringIO(), now=lambda: "2026-11-22T08:00:00Z", env={})
    assert show_reports(world, files, "json", None, verbose=False) == 0
    return out.getvalue()


def test_several_reports_are_one_json_and_a_single_one_is_itself(tmp_path: Path) -> None:
    reports = [example_reports.report("one"), example_reports.report("two")]
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for file, report in zip(files, reports, strict=True):
        file.write_text(report.model_dump_json(by_alias=True), "utf-8")
    assert json.loads(shown(*files))["schema"] == "evalward.reports/1"
    assert Reports.model_validate_json(shown(*files)).reports == reports
    assert Report.model_validate_json(shown(files[0])) == reports[0]


def test_the_help_names_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    for command, group in (("import", IMPORTERS), ("export", EXPORTERS), ("compare", OUTPUTS), ("report", OUTPUTS)):
        with pytest.raises(SystemExit):
            build_parser().parse_args([command, "--help"])
        words = capsys.readouterr().out.replace(",", " ").split()
        assert set(ours(group)) <= set(words)
