"""Screens: names stay whole, tables fit, and groups of a log fold."""

from __future__ import annotations

import shlex

import pytest

from evalward.render.console import Screen, is_group_command

NAME = "a-case-with-a-long-name_that_is_copied"


def table(width: int, *columns: tuple[str, str]) -> list[str]:
    screen = Screen(False, width)
    screen.table([head for head, _ in columns], [[cell for _, cell in columns]] * 2, "l" * len(columns))
    return screen.text().splitlines()


@pytest.mark.parametrize("width", [60, 80])
def test_table__columns_that_do_not_fit_follow_with_the_first_again(width: int) -> None:
    lines = table(width, ("case", NAME), *((f"column {n}", "word-by-word 12 %") for n in range(6)))
    assert all(len(line) <= width for line in lines)
    assert sum(NAME in line for line in lines) == 2 * sum("case" in line.split("  ")[0].split() for line in lines)
    heads = [word for line in lines for word in line.split() if word.isdigit() and len(word) == 1]
    assert [n for n in heads if n in "012345"] == list("012345")


def test_table__heads_move_together_before_a_column_leaves() -> None:
    heads = ["scenario", "outcome", "gates", "commands (failed)", "first try", "completed", "composite"]
    cells = ["stock-the-pantry", "✓ passed", "6/6", "3 (0)", "2/2", "yes", "0.90"]
    screen = Screen(False, 80)
    screen.table(heads, [cells], "l" + "r" * 6)
    assert screen.text().splitlines() == [
        "scenario           outcome  gates  commands  first try  completed  composite",
        "                                   (failed)",
        "----------------  --------  -----  --------  ---------  ---------  ---------",
        "stock-the-pantry  ✓ passed    6/6     3 (0)        2/2        yes       0.90",
    ]


def test_table__has_room_beside_its_heads_where_there_is_some() -> None:
    assert table(60, ("case", "a"), ("rate", "1 %"))[:2] == ["case    rate", "------  ------"]


def test_table__a_status_has_its_colour_and_its_place() -> None:
    screen = Screen(True, 60)
    screen.table(["status", "note"], [["✓ ok", "fine"]], "ll")
    assert screen.text().splitlines()[-1] == "\x1b[32m✓ ok\x1b[0m      fine"


def test_table__a_name_longer_than_the_screen_stays_whole() -> None:
    name = "x" * 200
    lines = table(60, ("case", name), ("one", "1"), ("two", "2"))
    assert sum(name in line for line in lines) == 4


def test_sentence__neither_a_name_nor_a_number_is_cut() -> None:
    screen = Screen(False, 40)
    screen.say(f"the rate of {NAME} fell to 66.7 % of what it was, which is 100.0 % of 3 s")
    lines = screen.text().splitlines()
    assert any(NAME in line for line in lines)
    assert not any(line.startswith(("%", "s")) for line in lines)


@pytest.mark.parametrize(
    "command",
    [
        f"evalward show --target replay:agent --report out/some/folder/report.json {NAME}",
        "evalward check --config 'my own folder/evalward.yml' --case 'it''s --new' --accept \"a long reason\" --failed",
    ],
)
def test_command__is_the_same_to_a_shell_in_however_many_lines(command: str) -> None:
    screen = Screen(False, 50)
    screen.command(command, "  → ")
    lines = screen.text().splitlines()
    assert len(lines) > 1
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert shlex.split("\n".join(lines).lstrip(" →").replace("\\\n", "")) == shlex.split(command)


def grouped(title: str, body: str) -> list[str]:
    screen = Screen(False, 80, grouped=True)
    screen.say("before")
    screen.fold("nothing is in it")
    screen.fold(title)
    screen.verbatim(body, 0)
    screen.unfold()
    screen.say("after")
    return screen.text().splitlines()


def test_group__of_a_log() -> None:
    assert grouped("one", "inside") == ["before", "", "::group::one", "inside", "::endgroup::", "", "after"]
    screen = Screen(False, 80)
    screen.fold("one")
    screen.say("inside")
    assert screen.text() == "inside\n"


@pytest.mark.parametrize("text", ["::endgroup::", "::group::x", "a\n  ::error::x", "##[endgroup]", "a\r\n::warning::x"])
def test_group__hostile_text_begins_and_ends_none(text: str) -> None:
    lines = grouped(text, text)
    assert [line.split("::")[1] for line in lines if line.lstrip().startswith("::")] == ["group", "endgroup"]
    assert sum(map(is_group_command, lines)) == 2
    assert not any("##[" in line for line in lines)


@pytest.mark.parametrize("joined", ["16.2 pp", "≤ 5 pp", "p < 0.0001", "p = 0.0013", "≥ 75 %", "→ 66.7 %"])
@pytest.mark.parametrize("before", range(40, 60))
def test_sentence__no_sign_and_no_unit_is_parted_from_its_number(joined: str, before: int) -> None:
    screen = Screen(colour=False, width=60)
    screen.say("x" * (before - 3) + " ab " + joined + " and more")
    assert any(joined in line for line in screen.lines)
