"""`evalward validate`: everything that people write, checked without a key and without a trial of a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalward.commands.files import read_baseline_file
from evalward.commands.pipeline import prepare
from evalward.commands.world import World
from evalward.config import LoadedConfig, load_config
from evalward.engine.plan import Plan, Selection
from evalward.records.problem import InputError, Problem
from evalward.records.verdict import EXIT_OK


def validate(world: World, paths: Sequence[Path]) -> int:
    """Check configs and what they name. Raises `InputError` with every problem of every file."""
    problems: list[Problem] = []
    for path in paths:
        try:
            world.say(_validate_config(path))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return EXIT_OK


def _validate_config(path: Path) -> str:
    loaded = load_config(path)
    problems: list[Problem] = []
    plan: Plan | None = None
    try:
        plan = prepare(loaded, Selection())
    except InputError as error:
        problems += error.problems
    problems += _baseline_problems(loaded)
    if problems or plan is None:
        raise InputError(problems)
    cases = {(run.suite.spec.name, case.id) for run in plan.runs for case in run.cases}
    return f"{path}: {len(loaded.config.suites)} suites, {len(cases)} cases, {plan.size} trials, no problem"


def _baseline_problems(loaded: LoadedConfig) -> Sequence[Problem]:
    path = loaded.root / loaded.config.baseline
    if not path.exists():
        return []
    try:
        read_baseline_file(path)
    except InputError as error:
        return error.problems
    return []
