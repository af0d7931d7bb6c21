"""The summary table and the bars: figures as FC-Eval's users know them, and nothing hostile survives."""

from __future__ import annotations

import pytest

from evalward.importers.fc_eval_results import make_run
from evalward.records.report import Run
from evalward.records.sections import BarGroup, Bars
from evalward.render.bars import draw
from evalward.render.sections import grid_markdown
from evalward.suites.speedup.sections import benchmark_bars, summary, task_bars
from support.hostile import EVERYTHING
from support.speedups import details, ran_with, speeds, trial_of


def pair(name: str, agent: float | None, oracle: float | None, mark: str = "") -> BarGroup:
    return BarGroup(name=name, values=[agent, oracle], mark=mark)


def drawn_of(*groups: BarGroup) -> str:
    return draw(Bars(labels=["agent", "oracle"], groups=list(groups)))


def runs() -> list[Run]:
    good = details(speeds(("m.S.a", 1.2, 1.5), ("m.S.b", 1.0, 1.1)), trajectory_length=20)
    bad = details(speeds(("m.S.a", 3.0, 1.1)), tests=ran_with(1), trajectory_length=41)
    return [
        make_run("suite", "b:model", [trial_of("one", good)]),
        make_run("suite", "a:model", [trial_of("one", good, cost=0.4), trial_of("two", bad, cost=0.1)]),
    ]


def test_the_table_has_the_figures_of_each_agent_sorted_by_key() -> None:
    grid = summary(runs())
    table = {row.label: row.values for row in grid.rows}
    assert grid.heads == ["a:model", "b:model"]
    assert table["mean speedup"] == ["1.047723", "1.095445"]
    assert table["success rate"] == ["50.00 % (1/2)", "100.00 % (1/1)"]
    assert table["benchmarks, valid / all"] == ["3 / 3", "2 / 2"]
    assert table["agent advantage"][1] == "−0.189078"
    assert table["advantage, level 3: function"] == ["−0.150000 (3 groups)", "−0.200000 (2 groups)"]
    assert table["advantage, level 1: module"][1].endswith("(1 group)")
    assert table["mean cost per task (USD)"] == ["0.2500", "n/a (no agent's log has token counts)"]
    assert table["mean trajectory"] == ["30.50", "20.00"]
    assert table["pass@2"] == ["n/a (needs 2 attempts of every task; one has 1)"] * 2


def test_the_table_shows_every_row() -> None:
    grid = summary(runs())
    text = grid_markdown(grid)
    assert all(row.label in text for row in grid.rows)


def test_hostile_names_stay_text() -> None:
    hostile = make_run("suite", EVERYTHING, [trial_of(EVERYTHING, details(speeds((EVERYTHING, 2, 1))))])
    markdown = grid_markdown(summary([hostile]))
    assert {line.count("|") for line in markdown.splitlines()} == {3}
    assert "<script" not in markdown
    drawn = drawn_of(*task_bars(hostile))
    assert not any(char in drawn for char in "\x1b\x00\x07\u202e\u2028")


def test_bars_stand_left_and_right_of_one_with_equal_doublings() -> None:
    lines = drawn_of(pair("fast", 2.0, 4.0), pair("slow", 0.5, None, "fell back")).splitlines()
    assert lines[0].split() == ["0.5×", "1×", "4×"]
    fast, oracle, slow, unknown = lines[1:]
    assert (fast.count("█"), oracle.count("░"), slow.count("█"), unknown.count("░")) == (16, 32, 16, 0)
    assert len({line.index("│") for line in lines[1:]}) == 1
    assert slow.index("█") < slow.index("│") < fast.index("█")
    assert slow.endswith("0.5× (fell back)")
    assert unknown.endswith("n/a")


@pytest.mark.parametrize("value", [0.0, -2.0, 1e-300, 1e15, None])
def test_any_value_has_a_bar(value: float | None) -> None:
    lines = drawn_of(pair("x", value, 1.0)).splitlines()
    assert max(map(len, lines)) < 120
    assert len(lines) == 3


def test_too_many_pairs_are_counted_and_none_is_no_picture() -> None:
    made = details(speeds(*((f"m.f{n}", 1 + n / 10, 1.0) for n in range(30))))
    text = drawn_of(*benchmark_bars(made))
    assert text.splitlines()[1].startswith("m.f29")
    assert text.endswith("… and 12 more")
    assert drawn_of() == ""
