"""Which starts of `rerun` give cases their fresh trials, and whose commands can't be run here."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.config import Config, LoadedConfig
from evalward.records.problem import InputError
from evalward.runner.harness import LONGEST_LIST, Rerun, not_runnable, rerun_plan, results_folder
from support.harnesses import config_of, harness_suite

WITH_TRIALS = "run {dir} {ids} {trials}"


def starts(rerun: str | list[str] | None, **trials: int) -> list[tuple[list[str], int]]:
    found = rerun_plan(harness_suite(rerun=rerun), trials)
    assert found.unnamed == {}
    return [(list(start.ids), start.trials) for start in found.starts]


def test_cases_of_equal_trials_share_a_start() -> None:
    assert starts(WITH_TRIALS, a=3, b=5, c=3) == [(["a", "c"], 3), (["b"], 5)]


def test_without_a_place_for_the_number__it_is_started_so_often() -> None:
    assert starts("run {dir} {ids}", a=2, b=2) == [(["a", "b"], 1)] * 2


def test_with_a_place_for_one_id__each_case_has_starts_of_its_own() -> None:
    assert starts("run {dir} {id} {trials}", a=2, b=2) == [(["a"], 2), (["b"], 2)]
    assert starts(["run", "{dir}", "{id}"], a=2, b=1) == [(["b"], 1), (["a"], 1), (["a"], 1)]


def test_a_command_without_ids_runs_them_all() -> None:
    assert starts("run {dir} {trials}", a=2, b=2) == [(["a", "b"], 2)]


def test_nothing_to_do() -> None:
    assert starts(None, a=2) == []
    assert starts(WITH_TRIALS, a=0) == []
    assert starts(WITH_TRIALS) == []


def test_who_can_not_be_named_is_left_out__with_the_reason() -> None:
    found = rerun_plan(harness_suite(rerun=WITH_TRIALS), {"a": 1, "-b": 1, "c,d": 2})
    assert list(found.starts) == [Rerun(["a"], 1)]
    assert sorted(found.unnamed) == ["-b", "c,d"]
    assert found.unnamed["-b"] == "begins with -, and would be taken for an option"


def test_no_command_gets_more_than_it_can_hold() -> None:
    trials = {f"{number:04}{'x' * 96}": 1 for number in range(1000)}
    found = rerun_plan(harness_suite(rerun=WITH_TRIALS), trials)
    assert [case for start in found.starts for case in start.ids] == list(trials)
    assert all(sum(map(len, start.ids)) <= LONGEST_LIST for start in found.starts)
    assert len(found.starts) == 5


def test_a_folder_for_results_and_one_for_a_home__both_go() -> None:
    with results_folder() as (results, home):
        assert results.is_dir()
        assert home.is_dir()
        assert list(results.iterdir()) == []
        (home / ".cache").mkdir()
    assert not results.exists()
    assert not home.parent.exists()


def loaded(config: Config) -> LoadedConfig:
    return LoadedConfig(config, "evalward.yml", Path("/repo"), "sha256:0", {("suites", 1, "env"): 7})


CONFIG = config_of(
    harness_suite("free", run="x"),
    harness_suite("keyed", run="x", env=["A_KEY", "B_KEY"]),
    harness_suite("later", rerun="x {dir}", env=["C_KEY"]),
)


def test_commands_whose_keys_are_there_can_be_run() -> None:
    env = {"A_KEY": "x", "B_KEY": "x", "C_KEY": "x"}
    assert not_runnable(loaded(CONFIG), CONFIG.suites, env, {}, spare_keyless=False) == {}


def test_a_key_that_is_not_set_is_a_mistake() -> None:
    with pytest.raises(InputError) as caught:
        not_runnable(loaded(CONFIG), CONFIG.suites, {"A_KEY": "x", "B_KEY": " "}, {}, spare_keyless=False)
    first, second = caught.value.problems
    assert str(first) == (
        "evalward.yml:7: suites[1].env: the command of keyed needs a key, and B_KEY is not set. "
        "Set B_KEY, or leave the suite out with --suite."
    )
    assert "later needs a key, and C_KEY is not set" in str(second)


def test_where_there_are_no_secrets_it_is_not_measured__if_it_is_run_at_all() -> None:
    found = not_runnable(loaded(CONFIG), CONFIG.suites, {"B_KEY": "x"}, {}, spare_keyless=True)
    assert found == {"keyed": "there is no key here (A_KEY is not set)"}


def test_what_is_withheld_is_told_before_its_keys() -> None:
    found = not_runnable(loaded(CONFIG), CONFIG.suites, {"C_KEY": "x"}, {"keyed": "why"}, spare_keyless=False)
    assert found == {"keyed": "why"}
    free = not_runnable(loaded(CONFIG), CONFIG.suites[:1], {}, {"keyed": "why"}, spare_keyless=False)
    assert free == {}
