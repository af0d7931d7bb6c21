"""The outline of a plan: who is asked how often, who costs nothing, what is kept and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.config import LoadedConfig
from evalward.config.load import parse_config
from evalward.engine.outline import outline_of
from evalward.engine.plan import make_plan, without_missing_keys
from evalward.engine.scheduler import AT_ONCE
from evalward.engine.selection import Selection
from evalward.engine.store import Store
from evalward.engine.subject import subject_of
from evalward.records.outline import OutlinedHarness, OutlinedRun, PlanOutline
from evalward.records.result import Trial
from evalward.records.trace import Trace
from support.results import result

MODEL = "anthropic/claude-haiku-4-5"
CONFIG = f"""
version: 1
providers: {{anthropic: {{concurrency: 3}}}}
suites:
  - {{name: one, kind: bash, cases: one.jsonl, targets: [oracle, {MODEL}], trials: 2}}
  - {{name: two, kind: bash, cases: one.jsonl, targets: [nop]}}
  - {{name: bot, kind: external, run: ["bot", "{{dir}}"], results: "{{dir}}/*.json", env: [BOT_API_KEY]}}
  - {{name: old, kind: external, results: "logs/*.json"}}
"""


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedConfig:
    line = '{"id": "%s", "category": "c", "prompt": "p", "expectations": [{"check": "stderr_empty"}]}\n'
    (tmp_path / "one.jsonl").write_text(line % "a" + line % "b", "utf-8")
    return parse_config(CONFIG, "evalward.yml", tmp_path)


def outlined(loaded: LoadedConfig, selection: Selection | None = None, **more: object) -> PlanOutline:
    plan = make_plan(loaded, selection or Selection(), {})
    return outline_of(plan, loaded, {}, **more)  # type: ignore[arg-type]


def run_of(found: PlanOutline, suite: str, target: str) -> OutlinedRun:
    return next(run for run in found.runs if (run.suite, run.target) == (suite, target))


def harness_of(found: PlanOutline, suite: str) -> OutlinedHarness:
    return next(each for each in found.harnesses if each.suite == suite)


def test_a_model__its_trials_places_and_the_key_that_it_lacks(loaded: LoadedConfig) -> None:
    run = run_of(outlined(loaded), "one", MODEL)
    assert [(case.id, case.trials, case.kept) for case in run.cases] == [("a", 2, 0), ("b", 2, 0)]
    assert (run.free, run.random, run.queue, run.at_once) == (False, True, MODEL, 3)
    assert run.missing_key == "ANTHROPIC_API_KEY"


def test_who_asks_no_model__is_free_and_shares_the_processor(loaded: LoadedConfig) -> None:
    found = outlined(loaded, Selection(targets=("oracle", "nop")))
    assert [(run.free, run.queue, run.at_once, run.missing_key) for run in found.runs] == 2 * [
        (True, "", AT_ONCE, None)
    ]
    assert found.left_out[0].target == MODEL


def test_other_harnesses__who_starts_a_command_and_what_it_lacks(loaded: LoadedConfig) -> None:
    found = outlined(loaded)
    bot, old = harness_of(found, "bot"), harness_of(found, "old")
    assert (bot.command, bot.missing_key, bot.trials) == (True, "BOT_API_KEY", None)
    assert (old.command, old.missing_key) == (False, None)


def test_live__only_where_something_may_be_spent(loaded: LoadedConfig) -> None:
    assert outlined(loaded).live
    assert outlined(loaded, Selection(suites=("bot",))).live
    assert not outlined(loaded, Selection(suites=("bot",)), not_measured={"bot": "it is withheld"}).live
    assert not outlined(loaded, Selection(suites=("two", "old"))).live
    spared = without_missing_keys(make_plan(loaded, Selection(suites=("one",)), {}))
    assert not outline_of(spared, loaded, {}).live


def test_left_out__suites_and_targets_by_the_selection(loaded: LoadedConfig) -> None:
    found = outlined(loaded, Selection(suites=("one",), targets=(MODEL,)))
    assert [(left.suite, left.target) for left in found.left_out] == [
        ("one", "oracle"),
        ("two", None),
        ("bot", None),
        ("old", None),
    ]
    assert not outlined(loaded).left_out


def test_both_sides__of_the_suites_that_are_compared_with_the_base(loaded: LoadedConfig) -> None:
    found = outlined(loaded, both_sides=["two"], base=True)
    assert [run.suite for run in found.runs if run.both_sides] == ["two"]
    assert found.base


def test_resumed__only_trials_that_would_be_kept_count(loaded: LoadedConfig, tmp_path: Path) -> None:
    store = Store(tmp_path / "out")
    plan = make_plan(loaded, Selection(suites=("two",)), {})
    run = plan.runs[0]
    subject = subject_of(run.suite, run.target).hash
    for case, of in (("a", subject), ("b", "sha256:another prompt")):
        definition = next(each.definition for each in run.cases if each.id == case)
        done = result(case, "passed").model_copy(update={"definition": definition})
        store.keep(Trial(suite="two", kind="bash", target="nop", subject=of, result=done, trace=Trace()))
    found = outline_of(plan, loaded, {}, resumed=store)
    assert [(case.id, case.kept, case.due) for case in found.runs[0].cases] == [("a", 1, 0), ("b", 0, 1)]
