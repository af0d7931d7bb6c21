"""What `evalward baseline update` says and returns, from config, baseline and report files."""

from __future__ import annotations

from io import StringIO
from itertools import count
from pathlib import Path

import pytest

from evalward.cli import build_parser, guarded
from evalward.commands.pipeline import dump_report
from evalward.commands.world import World
from evalward.decide.baseline import read_baseline
from evalward.records.result import Result
from support.git_repo import write_files
from support.results import passes, report, result, run

CONFIG = """\
version: 1
baseline: base.json
suites:
  - {name: bash-tools, kind: bash, cases: evals/*.jsonl, targets: [oracle]}
policy:
  - {metric: pass_rate, floor: 0.5, max_drop: 0.1}
limits: {max_error_rate: 0.05}
profiles:
  lenient:
    branches: ["next/**"]
    baseline: next.json
    policy: [{metric: pass_rate, max_drop: 0.9}, {metric: overall_rate, max_drop: 0.9}]
"""
NAMES = "abcdefghij"
_CLOCK = count(1000)  # no two trials take equally long


def trials_of(folder: Path) -> set[int]:
    """How many trials the baseline's cases have."""
    found = read_baseline((folder / "base.json").read_bytes(), "base.json")
    return {len(case.trials) for each in found.runs for case in each.cases}


def failing(number: int) -> list[Result]:
    return [*passes(*NAMES[number:]), *(result(name, "failed") for name in NAMES[:number])]


def update(
    folder: Path,
    cases: list[Result],
    *more: str,
    random: bool = False,
    planned: int | None = None,
    system: str = "system",
) -> tuple[int, str]:
    """The exit code and what was said. The config is relative to the folder."""
    target = "anthropic/m" if random else "oracle"
    cases = [case.model_copy(update={"duration_ms": next(_CLOCK)}) for case in cases]
    made = report(run(cases, target=target, random=random, planned=planned, parts={"system": system}))
    write_files(folder, {"evalward.yml": CONFIG, "r.json": dump_report(made)})
    told = StringIO()
    world = World(out=told, err=told, now=lambda: "2026-11-21T08:00:00Z", env={}, cwd=folder)
    words = ["--report", str(folder / "r.json"), "--config", str(folder / "evalward.yml"), *more]
    parsed = build_parser().parse_args(["baseline", "update", *words])
    code = guarded(world, lambda known: int(parsed.handler(known, parsed)))
    return code, " ".join(told.getvalue().split())


def test_update__what_is_below_a_floor_can_be_accepted_and_will_still_fail(tmp_path: Path) -> None:
    assert update(tmp_path, failing(0))[0] == 0
    code, said = update(tmp_path, failing(6), "--accept", "it has to be")
    assert code == 0
    assert "warning: the check will still fail by its limit, with any baseline: " in said
    assert "pass_rate" in said.split("with any baseline: ")[1]


def test_update__the_first_baseline_below_a_floor_is_written_with_the_warning(tmp_path: Path) -> None:
    code, said = update(tmp_path, failing(6))
    assert (code, "will still fail by its limit" in said, (tmp_path / "base.json").exists()) == (0, True, True)


def test_update__a_drop_that_chance_could_explain_is_pooled_and_a_warning(tmp_path: Path) -> None:
    assert update(tmp_path, failing(0), random=True)[0] == 0
    code, said = update(tmp_path, failing(2), random=True)
    assert code == 0
    assert "warning: it looks worse, though chance can't be excluded: " in said
    assert "pooled, not replaced: it looks worse, and chance can't be excluded" in said
    assert "--trials 5" in said
    assert trials_of(tmp_path) == {2}


def test_update__replace_takes_a_drop_in_doubt_on_purpose(tmp_path: Path) -> None:
    update(tmp_path, failing(0), random=True)
    code, said = update(tmp_path, failing(2), "--replace", random=True)
    assert (code, trials_of(tmp_path)) == (0, {1})
    assert "pooled, not replaced" not in said


def test_update__a_doubt_that_can_not_be_pooled_is_refused_until_somebody_means_it(tmp_path: Path) -> None:
    """Another prompt: its trials can't stand beside the old ones."""
    update(tmp_path, failing(0), random=True)
    before = (tmp_path / "base.json").read_bytes()
    code, said = update(tmp_path, failing(2), random=True, system="another")
    assert (code, (tmp_path / "base.json").read_bytes()) == (1, before)
    assert "not updated, because a drop is in doubt" in said
    assert "accept it as it is: --replace" in said
    assert update(tmp_path, failing(2), "--replace", random=True, system="another")[0] == 0
    assert (tmp_path / "base.json").read_bytes() != before


def test_update__what_can_not_be_judged_is_3_whatever_is_accepted(tmp_path: Path) -> None:
    """Errors are wrong input (2); a report that says it planned nothing can't be judged."""
    update(tmp_path, failing(0))
    before = (tmp_path / "base.json").read_bytes()
    code, said = update(tmp_path, failing(4), "--accept", "whatever", planned=0)
    assert (code, "can't be judged" in said) == (3, True), said
    assert (tmp_path / "base.json").read_bytes() == before
    code, said = update(tmp_path, [*passes("a"), result("b", "error")])
    assert (code, "1 error," in said) == (2, True), said
    assert update(tmp_path, [*passes("a"), result("b", "error")], "--accept", "whatever")[0] == 3


def test_update__a_profile_has_its_own_baseline_and_rules(tmp_path: Path) -> None:
    update(tmp_path, failing(0))
    update(tmp_path, failing(0), "--profile", "lenient")
    assert (tmp_path / "next.json").exists()
    assert update(tmp_path, failing(4))[0] == 1
    assert update(tmp_path, failing(4), "--profile", "lenient")[0] == 0
    assert (tmp_path / "next.json").read_bytes() != (tmp_path / "base.json").read_bytes()
    code, said = update(tmp_path, failing(0), "--profile", "unknown")
    assert (code, "lenient" in said) == (2, True)


@pytest.mark.parametrize("name", ["../base.json", "/tmp/base.json", "a/../../base.json"])
def test_update__the_configs_baseline_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    write_files(folder, {"evalward.yml": CONFIG.replace("baseline: base.json", f"baseline: {name}")})
    world = World(out=StringIO(), err=StringIO(), now=lambda: "2026-11-21T08:00:00Z", env={}, cwd=folder)
    write_files(folder, {"r.json": dump_report(report(run(passes("a"), target="oracle")))})
    parsed = build_parser().parse_args(
        ["baseline", "update", "--report", str(folder / "r.json"), "--config", str(folder / "evalward.yml")]
    )
    assert guarded(world, lambda known: int(parsed.handler(known, parsed))) == 2
    assert not (tmp_path / "base.json").exists()
