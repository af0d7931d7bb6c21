"""A pull request can't take down the walls around agents: that they may be missing, only the base says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evalward.config import LoadedConfig
from evalward.config.load import parse_config
from evalward.github.base import BaseChoice
from evalward.github.sides import BaseAndHead, SideRules
from evalward.records.policy import Policy

TEXT = """version: 1
suites:
  - name: agents
    kind: scenario
    cases: evals/*.yaml
    targets: [oracle]
    allow_unisolated: true
"""


def loaded(tmp_path: Path) -> LoadedConfig:
    return parse_config(TEXT, "evalward.yml", tmp_path)


def side(config: LoadedConfig, unisolated: frozenset[str]) -> SideRules:
    said = config.config
    return SideRules(Policy(), None, said.providers, (None, None), "baseline.json", unisolated=unisolated)


@pytest.mark.parametrize(("allowed", "expected"), [(frozenset[str](), False), (frozenset({"agents"}), True)])
def test_only_the_base_allows_agents_without_walls(tmp_path: Path, allowed: frozenset[str], expected: bool) -> None:
    head = loaded(tmp_path)
    judging = side(head, allowed)
    sides = BaseAndHead(
        judging, replace(judging, unisolated=frozenset({"agents"})), False, BaseChoice(None, "none", "")
    )
    (suite,) = sides.applied(head).config.suites
    assert getattr(suite, "allow_unisolated", None) is expected
