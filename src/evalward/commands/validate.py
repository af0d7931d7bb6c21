"""`evalward validate`: everything that people write, checked without a key and without a trial of a model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalward.commands.default_rules import rules_by_default
from evalward.commands.files import read_baseline_file, read_baseline_if_any
from evalward.commands.validate_files import beginning_of, config_naming, is_baseline, is_config, suites_naming
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.config.deprecated import deprecated_keys
from evalward.config.load import load_config
from evalward.config.odd import odd_rules
from evalward.config.surroundings import ADDRESSES, KEYS, ignored_addresses, keys_not_sent
from evalward.edge import set_variables
from evalward.engine.plan import Plan
from evalward.engine.selection import Selection
from evalward.records.case import Case
from evalward.records.exits import EXIT_OK
from evalward.records.problem import InputError, Problem
from evalward.render.numbers import plural
from evalward.runner.measure import prepare
from evalward.suites.base import Proof, kind_named
from evalward.targets.base import Answering, knows_answers


def validate(world: World, paths: Sequence[Path], *, prove: bool = True) -> int:
    """Check configs and what they name, baselines, and files that configs name. Raises `InputError` with every
    problem of every file.

    `prove` also runs every case's reference solution and wrong answers.
    """
    problems: list[Problem] = []
    variables = set_variables(world.env, KEYS | ADDRESSES)
    for path in paths:
        try:
            lines = _validated(world, path, variables, prove=prove)
            for line in lines[:1] if world.quiet else lines:
                world.show(line)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return EXIT_OK


def _validated(world: World, path: Path, variables: Collection[str], *, prove: bool) -> list[str]:
    """What is said of a file without a mistake; the first line is about all of it. Raises `InputError`."""
    data = beginning_of(path)
    if is_baseline(data):
        return [_baseline_line(path)]
    if is_config(path, data):
        return _validate_config(path, variables, prove=prove)
    loaded = load_config(config_naming(path, world.cwd))
    return _validate_part(path, loaded, prove=prove)


def _baseline_line(path: Path) -> str:
    baseline = read_baseline_file(path)
    cases = sum(len(run.cases) for run in baseline.runs)
    return f"{path}: a baseline of {plural(len(baseline.runs), 'run')}, {plural(cases, 'case')}, no problem"


def _validate_part(path: Path, loaded: LoadedConfig, *, prove: bool) -> list[str]:
    """The suites of a config that name a file."""
    names = suites_naming(loaded, path)
    found = _checked(loaded, Selection(suites=names), prove=prove)
    here = os.path.relpath(path, loaded.root)
    inside = {(name, case.id) for name, case in found.cases if case.place.file == here}
    counts = [plural(len(inside), "case")] if inside else []
    suites = f"{'suite' if len(names) == 1 else 'suites'} {', '.join(names)} of {loaded.file}"
    warnings = dict.fromkeys(note for run in found.plan.runs for note in run.suite.warnings)
    return [
        f"{path}: {', '.join([*counts, suites])}, no problem",
        *found.lines,
        *(f"warning: {note}" for note in warnings),
    ]


def _validate_config(path: Path, variables: Collection[str], *, prove: bool) -> list[str]:
    loaded = load_config(path)
    found = _checked(loaded, Selection(), prove=prove)
    plan, ids = found.plan, {(name, case.id) for name, case in found.cases}
    counts = (plural(len(loaded.config.suites), "suite"), plural(len(ids), "case"), plural(plan.size, "trial"))
    headline = f"{path}: {', '.join(counts)}, no problem"
    warnings = (note for run in plan.runs for note in run.suite.warnings)
    of_file = [*deprecated_keys(loaded), *odd_rules(loaded), *_not_followed(loaded, variables)]
    odd = dict.fromkeys([*of_file, *warnings, *_unused(plan)])
    return [headline, *found.lines, *_rules(loaded), *(f"warning: {note}" for note in odd)]


def _rules(loaded: LoadedConfig) -> list[str]:
    """What decides where the config has no rule of its own."""
    if loaded.config.policy:
        return []
    kinds = {suite.kind: kind_named(suite.kind).default_rules for suite in loaded.config.suites}
    return [f"  no policy: {rules_by_default(kinds)}"]


@dataclass(frozen=True)
class _Checked:
    """A plan without a mistake. `lines` say what was proven of each suite, and what is gathered when it runs."""

    plan: Plan
    lines: list[str]

    @property
    def cases(self) -> list[tuple[str, Case]]:
        """The cases of all runs, each with its suite's name."""
        return [(run.suite.spec.name, case) for run in self.plan.runs for case in run.cases]


def _checked(loaded: LoadedConfig, selection: Selection, *, prove: bool) -> _Checked:
    """The plan of what is selected. Raises `InputError` with all that is wrong with it, and with the baseline."""
    problems: list[Problem] = []
    plan: Plan | None = None
    try:
        plan = prepare(loaded, selection)
    except InputError as error:
        problems += error.problems
    problems += [*_baseline_problems(loaded), *(_lacking(plan) if plan else ())]
    proofs = asyncio.run(_prove(plan)) if prove and plan is not None and not problems else {}
    problems += [problem for proof in proofs.values() for problem in proof.problems]
    if problems or plan is None:
        raise InputError(problems)
    summaries = (f"  {name}: {proof.summary}" for name, proof in proofs.items())
    gathered = (f"  {each.spec.name}: {each.kind.gathered_from(each.spec)}" for each in plan.gathered)
    return _Checked(plan, [*summaries, *gathered])


def _lacking(plan: Plan) -> list[Problem]:
    """What targets lack whose answers are written down: such a case would count as missing in every run."""
    found = [problem for target, cases in _answering(plan) for problem in target.lacking(cases)]
    return list(dict.fromkeys(found))


def _not_followed(loaded: LoadedConfig, variables: Collection[str]) -> list[str]:
    """What the environment has for the providers and the configuration leaves unused."""
    targets = [target for suite in loaded.config.suites for target in suite.targets]
    return [*keys_not_sent(loaded, variables), *ignored_addresses(loaded.config, targets, variables)]


def _unused(plan: Plan) -> list[str]:
    return [note for target, cases in _answering(plan) for note in target.unused(cases)]


def _answering(plan: Plan) -> list[tuple[Answering, Sequence[Case]]]:
    """Each target that knows its answers beforehand, with the cases of all suites that it is a target of."""
    cases: dict[str, list[Case]] = {}
    targets: dict[str, Answering] = {}
    for run in plan.runs:
        if knows_answers(run.target):
            targets[run.target.id] = run.target
            cases.setdefault(run.target.id, []).extend(run.cases)
    return [(target, cases[name]) for name, target in targets.items()]


async def _prove(plan: Plan) -> dict[str, Proof]:
    suites = {run.suite.spec.name: run for run in plan.runs}
    return {name: await run.kind.prove(run.suite) for name, run in suites.items()}


def _baseline_problems(loaded: LoadedConfig) -> Sequence[Problem]:
    try:
        read_baseline_if_any(loaded.root / loaded.config.baseline, loaded.root)
    except InputError as error:
        return error.problems
    return []
