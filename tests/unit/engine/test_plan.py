"""What there is to do, and what of it was chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.config import LoadedConfig
from evalward.config.load import parse_config
from evalward.engine.plan import Plan, _how_to_price, make_plan
from evalward.engine.selection import Selection
from evalward.records.patterns import chosen
from evalward.records.problem import InputError
from evalward.records.report import ChosenCases
from support.cases import task, write_suite

CONFIG = """
version: 1
suites:
  - {name: one, kind: bash, cases: one.jsonl, targets: [oracle, nop], trials: 3}
  - {name: two, kind: bash, cases: two.jsonl, targets: [nop]}
"""


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedConfig:
    for name, ids in (("one", ["a1", "a2", "b[1]"]), ("two", ["a9"])):
        lines = [
            f'{{"id": "{case}", "category": "c", "prompt": "p", "expectations": [{{"check": "stderr_empty"}}]}}'
            for case in ids
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")
    return parse_config(CONFIG, "evalward.yml", tmp_path)


def outline(plan: Plan) -> list[tuple[str, str, list[str], int]]:
    return [(r.suite.spec.name, r.target.id, [case.id for case in r.cases], r.trials) for r in plan.runs]


def test_everything_in_the_order_of_the_config(loaded: LoadedConfig) -> None:
    plan = make_plan(loaded, Selection())
    assert outline(plan) == [
        ("one", "oracle", ["a1", "a2", "b[1]"], 3),
        ("one", "nop", ["a1", "a2", "b[1]"], 3),
        ("two", "nop", ["a9"], 1),
    ]
    assert (plan.size, plan.partial) == (19, None)


@pytest.mark.parametrize(
    ("selection", "runs"),
    [
        (Selection(suites=["two"]), [("two", "nop", ["a9"], 1)]),
        (Selection(suites=["t*", "o*"], targets=["oracle"]), [("one", "oracle", ["a1", "a2", "b[1]"], 3)]),
        (Selection(targets=["oracle"], cases=["a?"]), [("one", "oracle", ["a1", "a2"], 3)]),
        (Selection(targets=["oracle"], cases=["b[1]"]), [("one", "oracle", ["b[1]"], 3)]),
        (Selection(targets=["oracle"], cases=["a1", "b*"]), [("one", "oracle", ["a1", "b[1]"], 3)]),
    ],
)
def test_a_selection_is_a_part(loaded: LoadedConfig, selection: Selection, runs: list[object]) -> None:
    plan = make_plan(loaded, selection)
    assert [run for run in outline(plan) if run[2]] == runs
    assert plan.partial is not None
    assert plan.partial.cases == list(selection.cases)


def test_a_run_without_a_chosen_case_is_no_run(loaded: LoadedConfig) -> None:
    assert outline(make_plan(loaded, Selection(cases=["a9"]))) == [("two", "nop", ["a9"], 1)]


def test_cases_can_be_chosen_run_by_run(loaded: LoadedConfig) -> None:
    only = [
        ChosenCases(suite="one", target="nop", cases=["a2", "gone"]),
        ChosenCases(suite="one", target="oracle", cases=["a1", "b[1]"]),
    ]
    plan = make_plan(loaded, Selection(cases=["a*"], only=only))
    assert outline(plan) == [("one", "oracle", ["a1"], 3), ("one", "nop", ["a2"], 3)]
    assert [run.whole for run in plan.runs] == [3, 3]
    assert plan.partial is not None
    assert plan.partial.only == only


def test_other_trials_are_no_restriction(loaded: LoadedConfig) -> None:
    plan = make_plan(loaded, Selection(trials=5))
    assert ({trials for *_, trials in outline(plan)}, plan.partial) == ({5}, None)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(suites=["three"]), "no suite matches 'three'"),
        (Selection(suites=["two", "three"]), "no suite matches 'three'"),
        (Selection(targets=["oracle", "orcale"]), "no target matches 'orcale'"),
        (Selection(cases=["*", "typo"]), "no case matches 'typo'"),
        (Selection(targets=["anthropic/*"]), "no target matches 'anthropic/*'"),
        (Selection(cases=["zz", "yy"]), "nothing matches 'zz', 'yy'. Patterns match"),
        (
            Selection(cases=["a1,b*"]),
            "nothing matches 'a1,b*'. --case takes one id or pattern, and is repeated: --case a1 --case 'b*'.",
        ),
        (Selection(cases=["*", "a1,typo"]), "no case matches 'a1,typo'. --case takes one id or pattern"),
        (Selection(suites=["two"], targets=["oracle"]), "no target matches 'oracle'"),
        (
            Selection(only=[ChosenCases(suite="two", target="nop", cases=["a1"])]),
            "none of the cases that failed last time: 'a1'",
        ),
    ],
)
def test_a_selection_of_nothing_is_a_mistake(loaded: LoadedConfig, selection: Selection, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make_plan(loaded, selection)
    assert message in str(caught.value)


def test_problems_of_all_suites_come_together(loaded: LoadedConfig) -> None:
    (loaded.root / "one.jsonl").write_text("{", "utf-8")
    (loaded.root / "two.jsonl").unlink()
    with pytest.raises(InputError) as caught:
        make_plan(loaded, Selection())
    assert [problem.place.file for problem in caught.value.problems] == ["one.jsonl", "evalward.yml"]


def test_a_suite_that_wasnt_chosen_isnt_read(loaded: LoadedConfig) -> None:
    (loaded.root / "one.jsonl").write_text("{", "utf-8")
    assert outline(make_plan(loaded, Selection(suites=["two"])))


def test_a_recording_that_isnt_there_is_a_mistake(tmp_path: Path) -> None:
    loaded = write_suite(tmp_path, [task()], targets=["replay:old"], recordings={"old": "nowhere"})
    with pytest.raises(InputError, match="recording 'old' holds no trial"):
        make_plan(loaded, Selection())


@pytest.mark.parametrize(
    ("name", "patterns", "is_chosen"),
    [
        ("a", [], True),
        ("a", ["a"], True),
        ("ab", ["a"], False),
        ("ab", ["a*"], True),
        ("A", ["a"], False),
        ("a[1]", ["a[1]"], True),
        ("a1", ["a[1]"], True),
        ("b", ["a", "b"], True),
    ],
)
def test_patterns(name: str, patterns: list[str], is_chosen: bool) -> None:
    assert chosen(name, patterns) is is_chosen


@pytest.mark.parametrize(
    ("target", "way"),
    [
        ("openai/gpt-5", "Write it into providers.openai.prices.gpt-5"),
        ("agent:own", "Name a model with a price in agents.own.model"),
        ("claude-code/claude-x", "Write it into providers.anthropic.prices.claude-x"),
        ("opencode/openai/org/m", "Write it into providers.openai.prices.org/m"),
        ("echo:x", "Have the plugin of echo say what its answers cost"),
    ],
)
def test_how_an_unknown_price_gets_known(target: str, way: str) -> None:
    assert _how_to_price(target) == way
