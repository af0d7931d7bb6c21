"""Every file that a suite is made of, wherever it is named: a change of it has the suite measured.

The checkouts name every path that a configuration can name, also those that only cases name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

import pytest
import yaml

from evalward.config.load import load_config
from evalward.decide.unchanged import StandingLimit, unchanged_runs
from evalward.engine.outline import outline_of
from evalward.engine.plan import make_plan
from evalward.engine.selection import Selection
from evalward.github.unchanged import change_between
from evalward.records.baseline import Baseline, BaselineCase, BaselineProvenance, BaselineRun, BaselineTrial
from evalward.records.outline import OutlinedRun, PlanOutline
from evalward.records.report import Subject
from evalward.records.result import Status
from support.checkouts import FOLDERS, SLOTS, write_checkout

NOW = "2026-11-23T08:00:00Z"
LIMIT = StandingLimit(NOW, 14)
TRIAL = BaselineTrial(status=Status.PASSED, score=1.0, max_score=1.0)
ONLY_VARIANTS = {"variants/v2.md", "variants/system.md"}
"""Guidance that only `evalward guidance` tries, in place of the suite's own."""
CHANGES = [
    pytest.param(kind, name, id=f"{kind}-{name}")
    for kind in SLOTS
    for name in (*SLOTS[kind], *FOLDERS.get(kind, ()))
    if name not in {"evalward.yml", ".evalward/baseline.json", *ONLY_VARIANTS}
]


class Whole(NamedTuple):
    """A checkout with a baseline of everything in it."""

    root: Path
    baseline: Baseline


def outlined(root: Path) -> PlanOutline:
    loaded = load_config(root / "evalward.yml")
    return outline_of(make_plan(loaded, Selection()), loaded, {})


def known(run: OutlinedRun) -> BaselineRun:
    cases = [BaselineCase(id=case.id, category="c", definition=case.definition, trials=[TRIAL]) for case in run.cases]
    subject = Subject(hash=run.subject)
    return BaselineRun(
        suite=run.suite, kind=run.kind, target=run.target, trials=1, subject=subject, metrics={}, cases=cases
    )


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Whole]:
    found = {}
    for kind in SLOTS:
        root = write_checkout(tmp_path_factory.mktemp("checkouts") / kind, kind)
        config = yaml.safe_load((root / "evalward.yml").read_text("utf-8"))
        for suite in config["suites"]:
            suite["paths"] = ["src/**"]
        (root / "evalward.yml").write_text(yaml.safe_dump(config), "utf-8")
        made = BaselineProvenance(created_at=NOW, evalward="1")
        found[kind] = Whole(root, Baseline(provenance=made, runs=[known(run) for run in outlined(root).runs]))
    return found


def standing(root: Path, baseline: Baseline, *files: str) -> set[tuple[str, str]]:
    config = load_config(root / "evalward.yml").config
    return set(unchanged_runs(outlined(root), baseline, change_between(config, config, files, "evalward.yml"), LIMIT))


@pytest.mark.parametrize("kind", SLOTS)
def test_a_file_that_no_suite_is_made_of__leaves_all_standing(checkouts: Mapping[str, Whole], kind: str) -> None:
    whole = checkouts[kind]
    assert len(standing(whole.root, whole.baseline, "docs/guide.md")) == len(whole.baseline.runs) > 0


@pytest.mark.parametrize(("kind", "name"), CHANGES)
def test_a_file_that_the_suite_is_made_of__has_it_measured(
    checkouts: Mapping[str, Whole], tmp_path: Path, kind: str, name: str
) -> None:
    root = copytree(checkouts[kind].root, tmp_path / "checkout")
    path = root / name
    changed = next(each for each in sorted(path.rglob("*")) if each.is_file()) if path.is_dir() else path
    text = changed.read_text("utf-8")
    changed.write_text(text.replace("It is good.", "It is fine.") + "\n", "utf-8")
    assert standing(root, checkouts[kind].baseline, changed.relative_to(root).as_posix()) == set()
