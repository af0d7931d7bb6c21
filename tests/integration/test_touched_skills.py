"""Which cases of a skill suite a change in a git repository can have touched, by the files and by what agents see."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from shutil import copytree

import pytest

from evalward.commands.changed_since import changed_since
from evalward.commands.since import SinceRequest
from evalward.config.load import load_config
from evalward.decide.baseline import dump_baseline
from evalward.engine.outline import outline_of
from evalward.engine.plan import make_plan
from evalward.engine.selection import Selection
from evalward.records.baseline import Baseline, BaselineCase, BaselineProvenance, BaselineRun, BaselineTrial
from evalward.records.outline import PlanOutline
from evalward.records.report import Subject
from evalward.records.result import Status
from support.git_repo import commit, git, init, write_files
from support.publishing import NOW, world
from support.two_skills import ALL, CASES, CONFIG, CSV, FILES, NOTES, OF_CSV, QUERIES

TRIAL = BaselineTrial(status=Status.PASSED, score=1.0, max_score=1.0)
MORE = {"skills/csv/SKILL.md": f"{CSV}More.\n"}
LISTED = {*OF_CSV, *QUERIES}


def outlined(root: Path) -> PlanOutline:
    loaded = load_config(root / "evalward.yml")
    return outline_of(make_plan(loaded, Selection()), loaded, {})


@pytest.fixture(scope="module")
def main(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Baseline]:
    """The repository, with a baseline in which every case has passed."""
    root = init(tmp_path_factory.mktemp("main") / "repo")
    write_files(root, FILES)
    (run,) = outlined(root).runs
    cases = [
        BaselineCase(id=case.id, category="c", definition=case.definition, depends=case.depends, trials=[TRIAL])
        for case in run.cases
    ]
    known = BaselineRun(
        suite=run.suite,
        kind=run.kind,
        target=run.target,
        trials=1,
        subject=Subject(hash=run.subject),
        metrics={},
        cases=cases,
    )
    baseline = Baseline(provenance=BaselineProvenance(created_at=NOW, evalward="1"), runs=[known])
    commit(root, {".evalward/baseline.json": dump_baseline(baseline)})
    git(root, "checkout", "--quiet", "-b", "topic")
    return root, baseline


@pytest.fixture
def repo(tmp_path: Path, main: tuple[Path, Baseline]) -> Path:
    return copytree(main[0], tmp_path / "repo", symlinks=True)


def measured(repo: Path, baseline: Baseline) -> set[str]:
    """The cases that don't stand."""
    loaded = load_config(repo / "evalward.yml")
    request = SinceRequest("main", baseline, repo / ".evalward/baseline.json")
    outline = outlined(repo)
    found = changed_since(world({"PATH": os.environ["PATH"]}, cwd=repo), loaded, request).unchanged(outline)
    (run,) = outline.runs
    stands = found.get((run.suite, run.target))
    return set() if stands and not stands.of else {case.id for case in run.cases} - (stands.ids if stands else set())


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"README.md": "Other words.\n"}, set()),
        (MORE, OF_CSV),
        ({"skills/csv/scripts/columns.sh": "true\n"}, OF_CSV),
        ({"skills/csv/scripts/new.sh": "true\n"}, OF_CSV),
        ({"skills/notes/SKILL.md": f"{NOTES}More.\n"}, ["notes-query", "notes-task"]),
        # what agents list: every query sees it
        ({"skills/csv/SKILL.md": CSV.replace("Reads", "Counts in")}, LISTED),
        ({"skills/csv/SKILL.md": CSV.replace("tables.", "tables.\nwhen_to_use: Always.")}, LISTED),
        ({"skills/csv/SKILL.md": CSV.replace("description: Reads tables.\n", "")}, LISTED),
        ({"skills/csv/SKILL.md": f"\ufeff{CSV}"}, LISTED),
        # what isn't known to be of one skill
        ({**MORE, "skills/notes/SKILL.md": f"{NOTES}More.\n"}, ALL),
        ({**MORE, "skills/common.sh": "true\n"}, ALL),
        ({**MORE, "skills/other/x.md": "x\n"}, ALL),
        ({**MORE, "evals/cases.yaml": f"{CASES}\n"}, ALL),
        ({**MORE, "evalward.yml": CONFIG.replace("oracle]", "oracle]\n    trials: 2")}, ALL),
        ({**MORE, "evalward.yml": CONFIG.replace("oracle]", "oracle]\n    always: true")}, ALL),
        ({**MORE, ".github/workflows/a.yml": "on: push\n"}, ALL),
        ({"skills/other/SKILL.md": "---\nname: other\ndescription: Others.\n---\n"}, ALL),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_what_a_change_can_have_touched__is_measured(
    repo: Path, main: tuple[Path, Baseline], files: Mapping[str, str], expected: list[str]
) -> None:
    write_files(repo, files)
    assert measured(repo, main[1]) == set(expected)


def test_a_skills_own_evals__are_its_own(repo: Path, main: tuple[Path, Baseline]) -> None:
    evals = '[{"query": "Add up a column.", "should_trigger": true}, {"query": "Add salt.", "should_trigger": false}]'
    write_files(repo, {"skills/csv/evals/trigger-evals.json": evals})
    found = measured(repo, main[1])
    assert found > set(OF_CSV)
    assert all(case.startswith("csv") for case in found)


def test_what_links_lead_to__counts_for_all(repo: Path, main: tuple[Path, Baseline]) -> None:
    (repo / "evals/link").symlink_to("../skills/csv/scripts")
    commit(repo, {})
    git(repo, "branch", "--force", "main")
    write_files(repo, {"skills/csv/scripts/columns.sh": "true\n"})
    assert measured(repo, main[1]) == set(ALL)


def test_what_moves__counts_on_both_sides(repo: Path, main: tuple[Path, Baseline]) -> None:
    git(repo, "mv", "skills/csv/scripts/columns.sh", "skills/notes/columns.sh")
    assert measured(repo, main[1]) == set(ALL)
    git(repo, "reset", "--quiet", "--hard")
    git(repo, "mv", "skills/csv", "skills/CSV")  # by letters that some file systems don't tell apart
    assert measured(repo, main[1]) == LISTED


def test_a_repository_in_a_skills_folder__counts_for_all(repo: Path, main: tuple[Path, Baseline]) -> None:
    nested = init(repo / "skills/csv/lib")
    commit(nested, {"x.md": "x\n"})
    assert measured(repo, main[1]) == set(ALL)
