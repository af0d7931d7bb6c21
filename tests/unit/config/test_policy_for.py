"""Which policy holds: the file's, or a profile's on top of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.config import Config
from evalward.config.load import parse_config
from evalward.records.policy import Limits, Rule
from evalward.records.problem import InputError

TEXT = """\
version: 1
suites: [{name: s, kind: bash, cases: a.jsonl, targets: [oracle, nop]}]
policy:
  - {metric: csr, floor: 0.9, max_drop: 0.02}
  - {metric: csr, floor: 0.5, target: nop}
  - {metric: pass_rate, floor: 0.8}
limits: {max_error_rate: 0.1}
waive: [{id: a, reason: b}]
profiles:
  release:
    branches: ["release/**", main]
    fail-on: inconclusive
    policy: [{metric: csr, floor: 0.95}, {metric: total_turns, max_rise: 3}]
    limits: {min_valid: 1}
    baseline: release.json
  late: {branches: "release/*"}
  nightly: {fail-on: never}
"""


@pytest.fixture
def config() -> Config:
    return parse_config(TEXT, "evalward.yml", Path("/repo")).config


@pytest.mark.parametrize("branch", [None, "feature", "release", "Release/1", "nightly", "mainly"])
def test_without_a_matching_profile_the_files_policy_holds(config: Config, branch: str | None) -> None:
    policy = config.policy_for(branch)
    assert policy.rules == config.policy
    assert policy.limits == Limits(max_error_rate=0.1)
    assert [waiver.id for waiver in policy.waive] == ["a"]
    assert policy.fail_on == "regression"
    assert policy.profile is None
    assert config.baseline_for(branch) == ".evalward/baseline.json"


@pytest.mark.parametrize("branch", ["main", "release/1", "release/1/fix"])
def test_a_profile_adds_replaces_and_wins(config: Config, branch: str) -> None:
    policy = config.policy_for(branch)
    assert policy.profile == "release", "the first in file order"
    assert policy.rules == [
        Rule(metric="csr", floor=0.5, target="nop"),
        Rule(metric="pass_rate", floor=0.8),
        Rule(metric="csr", floor=0.95),
        Rule(metric="total_turns", max_rise=3),
    ]
    assert policy.limits == Limits(min_valid=1)
    assert policy.fail_on == "inconclusive"
    assert [waiver.id for waiver in policy.waive] == ["a"]
    assert config.baseline_for(branch) == "release.json"


def test_a_named_profile_goes_before_the_branch(config: Config) -> None:
    policy = config.policy_for("main", "nightly")
    assert (policy.profile, policy.fail_on) == ("nightly", "never")
    assert policy.rules == config.policy
    assert policy.limits == config.limits
    assert config.baseline_for("main", "nightly") == ".evalward/baseline.json"


def test_an_unknown_profile_is_told_with_those_that_exist(config: Config) -> None:
    with pytest.raises(InputError) as caught:
        config.policy_for("main", "relase", file="ci/evalward.yml")
    expected = 'ci/evalward.yml: profiles: there is no profile "relase". '
    assert str(caught.value) == expected + "Did you mean release? Profiles: release, late, nightly."


def test_an_unknown_profile_where_there_are_none(config: Config) -> None:
    with pytest.raises(InputError, match="The file has no profiles"):
        config.model_copy(update={"profiles": {}}).policy_for(None, "x")


def test_suites_that_are_compared_with_the_base__whatever_the_profile() -> None:
    one = "{name: s, kind: bash, cases: a.jsonl, targets: [oracle, nop], compare_with: base}"
    text = TEXT.replace("{name: s, kind: bash, cases: a.jsonl, targets: [oracle, nop]}", one)
    config = parse_config(text, "evalward.yml", Path("/repo")).config
    assert config.policy_for(None).with_base == config.policy_for("main").with_base == ["s"]
