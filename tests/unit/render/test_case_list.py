"""Cases to choose from: aligned, each with its whole command."""

from __future__ import annotations

from evalward.records.result import Status
from evalward.render.case_list import CaseChoice, choices_text
from support.hostile import EVERYTHING
from support.showing import assert_seen


def choice(case: str, run: str = "s × t", **changes: str) -> CaseChoice:
    values = {"ended": "checks failed", "command": f"evalward show {case}", **changes}
    return CaseChoice(case, run, Status.FAILED, values["ended"], values["command"])


def test_choices_are_aligned() -> None:
    text = choices_text("2 cases failed:", [choice("a"), choice("longer", ended="error")], colour=False, width=100)
    assert text == (
        "2 cases failed:\n  ✗ a       checks failed  evalward show a\n  ✗ longer  error          evalward show longer\n"
    )


def test_runs_are_named_where_there_are_several() -> None:
    text = choices_text("Two:", [choice("a"), choice("a", "s × other")], colour=True, width=100)
    assert "a  s × t      checks failed" in text
    assert "a  s × other  checks failed" in text


def test_long_names_are_cut_and_commands_are_not() -> None:
    text = choices_text("One:", [choice("x" * 500)], colour=False, width=80)
    assert "x" * 60 + "…" not in text
    assert f"evalward show {'x' * 500}\n" in text


def test_nothing_to_choose_is_a_sentence() -> None:
    assert choices_text("0 of 3 cases failed.", [], colour=False, width=100) == "0 of 3 cases failed.\n"


def test_hostile_names_control_nothing() -> None:
    text = choices_text(EVERYTHING, [choice(EVERYTHING, EVERYTHING), choice("b")], colour=False, width=100)
    assert_seen(text)
    lines = text.split("\n")[-3:-1]
    assert all(line.startswith("  ✗ ") for line in lines)
    assert lines[1].endswith("  evalward show b")
