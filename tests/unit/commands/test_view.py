"""`evalward view`: the page of the last run in a browser, or its path where nobody could see one."""

from __future__ import annotations

import shlex
import webbrowser
from io import StringIO
from pathlib import Path

import pytest

from evalward.cli import build_parser
from evalward.commands.view import view
from evalward.records.problem import InputError
from support.showing import world_of


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a browser would have been told to open; the platform has one where a display is named."""
    found: list[str] = []

    def opens(url: str) -> bool:
        found.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", opens)
    monkeypatch.setattr("sys.platform", "linux")
    return found


def seen(folder: Path, report: str = "out/report.json", **env: str) -> str:
    world = world_of(folder, None, **env)
    assert view(world, Path(report)) == 0
    assert isinstance(world.out, StringIO)
    return world.out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/report.html").write_text("<!doctype html>", "utf-8")
    return tmp_path


def test_without_a_display_the_path_is_printed(folder: Path, opened: list[str]) -> None:
    assert seen(folder) == f"{folder}/out/report.html\n"
    assert opened == []


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"])
def test_with_one_a_browser_opens_it(folder: Path, opened: list[str], name: str) -> None:
    assert seen(folder, **{name: ":0"}) == f"{folder}/out/report.html\n"
    assert opened == [(folder / "out/report.html").as_uri()]


def test_the_page_itself_can_be_named(folder: Path, opened: list[str]) -> None:
    assert seen(folder, "out/report.html", DISPLAY=":0").endswith("report.html\n")
    assert len(opened) == 1


def test_a_browser_that_does_not_start_is_told(
    folder: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    world = world_of(folder, DISPLAY=":0")
    assert view(world, Path("out/report.json")) == 0
    assert isinstance(world.err, StringIO)
    assert "No browser could be started" in world.err.getvalue()
    assert opened == []


def test_without_a_page_it_is_said_which_command_writes_one(tmp_path: Path, opened: list[str]) -> None:
    with pytest.raises(InputError) as error:
        view(world_of(tmp_path, DISPLAY=":0"), Path("out/report.json"))
    assert "`evalward check` writes it" in str(error.value.problems[0])
    assert opened == []


@pytest.mark.parametrize("named", ["my out", "my out/report.json", "my out/report.html"])
def test_the_remedy_makes_the_page_that_is_looked_for(tmp_path: Path, opened: list[str], named: str) -> None:
    (tmp_path / "my out").mkdir()
    with pytest.raises(InputError) as error:
        view(world_of(tmp_path), Path(named))
    words = shlex.split(str(error.value.problems[0]).split("`")[3])[1:]
    args = build_parser().parse_args(words)
    assert (args.reports, args.format) == ([Path("my out/report.json")], "html")
    (tmp_path / args.output).write_text("<!doctype html>", "utf-8")
    assert seen(tmp_path, named) == f"{tmp_path}/my out/report.html\n"
    assert opened == []
