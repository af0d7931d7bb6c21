"""What is missing passes a test over, and fails it where it has to be there."""

from __future__ import annotations

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
