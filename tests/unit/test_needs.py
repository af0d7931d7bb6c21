"""What is missing passes a test over, and fails it where it has to be there."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.needs import VARIABLE, missing


@pytest.mark.parametrize("value", ["", "agents", " agents ,"])
def test_what_need_not_be_there_is_passed_over(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(pytest.skip.Exception, match="NOT CHECKED: no npm here"):
        missing("npm", "no npm here")


@pytest.mark.parametrize("value", ["npm", "agents, npm", "browser,npm"])
def test_what_has_to_be_there_fails(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(pytest.fail.Exception, match="no npm here"):
        missing("npm", "no npm here")


def test_a_misspelled_need_is_no_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "nmp")
    with pytest.raises(pytest.fail.Exception, match="known are npm, agents, browser"):
        missing("npm", "no npm here")


@pytest.mark.parametrize(("folder", "modules"), [("browser", 7), ("ray", 1)])
def test_what_needs_a_browser_or_a_cluster__is_marked_and_left_out_of_make_test(folder: str, modules: int) -> None:
    found = list((Path(__file__).parents[1] / folder).glob("test_*.py"))
    assert len(found) >= modules
    marked = f"pytestmark = pytest.mark.{folder}\n"
    assert [module.name for module in found if marked not in module.read_text("utf-8")] == []
    assert f"and not {folder}" in (Path(__file__).parents[2] / "Makefile").read_text("utf-8")
