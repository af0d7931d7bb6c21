"""The configuration and the baseline, and what of this machine they need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from evalward.commands.config_place import find_config
from evalward.commands.doctor.machine import installed_version
from evalward.commands.doctor.walls import FoundWalls
from evalward.commands.world import World
from evalward.config import IsolatedSuite, LoadedConfig, SandboxedSuite, Suite
from evalward.config.deprecated import deprecated_keys
from evalward.config.harness import HarnessSuite, needed_keys
from evalward.config.harness_words import split_words
from evalward.config.load import load_config
from evalward.config.surroundings import ADDRESSES, KEYS, ignored_addresses, keys_not_sent
from evalward.edge import set_variables
from evalward.records.checkup import CheckupGroup, CheckupItem, CheckupStatus
from evalward.records.moments import instant
from evalward.records.problem import InputError, Problem
from evalward.records.providers import PROVIDERS
from evalward.records.target_id import TargetId, target_id
from evalward.render.numbers import plural
from evalward.sandbox.process.isolation import refusal
from evalward.sandbox.process.settings import WorkspaceSettings
from evalward.targets import make_evaluated
from evalward.targets.agents.driver import found
from evalward.targets.models.settings import settings_of

MOST_PROBLEMS = 5
SET_HERE = "set"
"""What stands for the value of a key, which is not in this process."""


@dataclass(frozen=True)
class FoundProject:
    """What was found of a project. `hosts`: where its models are asked, by provider; `needs`: its configuration does,
    and not only somebody who might.
    """

    items: Sequence[CheckupItem]
    hosts: Mapping[str, str] = field(default_factory=dict)
    needs: bool = False


def read_project(world: World, named: Path | None, walls: Callable[[], FoundWalls]) -> FoundProject:
    """The nearest configuration, or the one that was named, as data."""
    try:
        file = named or find_config(world.cwd)
        if file is None:
            return _without_config(world)
        loaded = load_config(file)
    except InputError as error:
        return FoundProject([*_problems("configuration", error), *_key_items(world, KEYS)])
    return _Examined(world, loaded, walls).project()


def _without_config(world: World) -> FoundProject:
    what, remedy = "none, here or in a folder above", "`evalward init` writes a first one."
    none = CheckupItem(group="project", name="configuration", status="note", text=what, remedy=remedy)
    return FoundProject([none, *_key_items(world, KEYS)], {name: row.url for name, row in PROVIDERS.items()})


def _problems(name: str, error: InputError) -> Iterator[CheckupItem]:
    rest = len(error.problems) - MOST_PROBLEMS
    for problem in error.problems[:MOST_PROBLEMS]:
        yield CheckupItem(group="project", name=name, status="wrong", text=_words(problem), remedy=problem.remedy)
    if rest > 0:
        what = f"{plural(rest, 'more problem')}: see `evalward validate`"
        yield CheckupItem(group="project", name=name, status="wrong", text=what)


def _words(problem: Problem) -> str:
    return str(problem.but(remedy=""))


def _key_items(world: World, names: frozenset[str]) -> Iterator[CheckupItem]:
    """Which variables for keys are set; of a value nothing is known here."""
    there = set_variables(world.env, names)
    for name in sorted(names):
        status: CheckupStatus = "ok" if name in there else "note"
        yield CheckupItem(group="keys", name=name, status=status, text="set" if name in there else "not set")


class _Examined:
    """A configuration that was read, held against this machine."""

    def __init__(self, world: World, loaded: LoadedConfig, walls: Callable[[], FoundWalls]) -> None:
        self._world, self._loaded, self._walls = world, loaded, walls
        self._names = KEYS | loaded.config.key_names
        self._set = set_variables(world.env, self._names | ADDRESSES)
        # enough to say whether a key is there; programs are looked up where the trials look
        self._env = {**world.env, **dict.fromkeys(self._set & self._names, SET_HERE)}

    def project(self) -> FoundProject:
        """All that there is to say."""
        suites = self._loaded.config.suites
        items = [
            *self._config(),
            self._baseline(),
            *(item for suite in suites for item in self._suite(suite)),
            *(self._target(name, suite) for name, suite in self._targets().items()),
            *self._judge(),
            *_key_items(self._world, self._names),
            *self._unfollowed(),
        ]
        return FoundProject(items, self._hosts(), needs=True)

    def _config(self) -> Iterator[CheckupItem]:
        suites = self._loaded.config.suites
        names = ", ".join(f"{suite.name} ({suite.kind})" for suite in suites)
        yield _item("configuration", "ok", f"{self._loaded.file}, {plural(len(suites), 'suite')}: {names}")
        yield from (_item("configuration", "warning", note) for note in deprecated_keys(self._loaded))

    def _baseline(self) -> CheckupItem:
        from evalward.commands.files import read_baseline_if_any  # noqa: PLC0415 - only where there is a configuration

        path = self._loaded.config.baseline
        try:
            baseline = read_baseline_if_any(self._loaded.root / path, self._loaded.root)
        except InputError as error:
            return next(_problems("baseline", error))
        if baseline is None:
            remedy = "Make one with `evalward run` and `evalward baseline update`, and commit it."
            return _item("baseline", "warning", f"{path}: there is none, so nothing can have got worse", remedy)
        made = baseline.provenance
        age = _age(made.created_at, self._world.now())
        commit = f", of commit {made.commit[:12]}" if made.commit else ""
        runs = plural(len(baseline.runs), "run")
        return _item("baseline", "ok", f"{path}, {runs}, {age}{commit}, by Evalward {made.evalward}")

    def _suite(self, suite: Suite) -> Iterator[CheckupItem]:
        """What a suite needs beside its targets."""
        name = f"suite {suite.name}"
        starts = isinstance(suite, IsolatedSuite) or (isinstance(suite, SandboxedSuite) and suite.sandbox == "process")
        isolation = self._walls().isolation if starts else None
        if isolation is not None:
            allowed = isinstance(suite, IsolatedSuite) and suite.allow_unisolated
            refused = refusal(isolation, WorkspaceSettings(allow_unisolated=allowed), self._world.env)
            if refused:
                yield _item(name, "missing", refused)
        extra = suite.extra
        if extra is not None and installed_version(extra) is None:
            remedy = f'Install it: pip install "evalward[{extra}]".'
            yield _item(name, "missing", f"it needs the package {extra}, which is not installed", remedy)
        if isinstance(suite, HarnessSuite):
            yield from self._harness(suite)

    def _harness(self, suite: HarnessSuite) -> Iterator[CheckupItem]:
        lacking = sorted(set(needed_keys(suite)) - self._set)
        for key in lacking:
            remedy = f"Set {key}, or remove it from the suite's env."
            yield _item(f"suite {suite.name}", "missing", f"its commands need {key}, which is not set", remedy)
        program = _first_word(suite)
        if program is not None and not self._is_there(program):
            remedy = "Install it, or correct `run`."
            yield _item(f"suite {suite.name}", "missing", f"its command starts {program}, which is not here", remedy)

    def _is_there(self, program: str) -> bool:
        try:
            return found(program, self._world.env, self._loaded.root) is not None
        except InputError:  # a path through a link, or out of the folder
            return False

    def _targets(self) -> dict[str, Suite]:
        """Each target once, with the first suite that has it."""
        found: dict[str, Suite] = {}
        for suite in self._loaded.config.suites:
            for name in suite.targets:
                found.setdefault(name, suite)
        return found

    def _target(self, name: str, suite: Suite) -> CheckupItem:
        try:
            target = make_evaluated(suite.takes, name, self._loaded, self._env)
        except InputError as error:
            problem = error.problems[0]
            return _item(name, "missing", _words(problem), problem.remedy, group="targets")
        if target.missing_key:
            remedy = f"Set it, or leave the target out with --target. Suite: {suite.name}."
            return _item(name, "missing", f"{target.missing_key} is not set", remedy, group="targets")
        return _item(name, "ok", "can be measured", group="targets")

    def _judge(self) -> Iterator[CheckupItem]:
        judge = self._loaded.config.judge
        asked = target_id(judge.model) if judge is not None and judge.model else None
        if asked is None or asked.form != "model":
            return
        key = settings_of(self._loaded.config, asked.provider, asked.model).key_env
        if key is None or key in self._set:
            yield _item(f"judge {asked.text}", "ok", "can be asked", group="targets")
        else:
            remedy = "Set it, or name another judge."
            yield _item(f"judge {asked.text}", "missing", f"{key} is not set", remedy, group="targets")

    def _unfollowed(self) -> Iterator[CheckupItem]:
        config = self._loaded.config
        notes = [*keys_not_sent(self._loaded, self._set), *ignored_addresses(config, self._targets(), self._set)]
        yield from (_item("not followed", "warning", note, group="keys") for note in notes)

    def _hosts(self) -> dict[str, str]:
        """The addresses at which the targets' models are asked, and the judge."""
        config = self._loaded.config
        names = [*self._targets(), *([config.judge.model] if config.judge and config.judge.model else [])]
        asked = [self._model_of(target_id(name)) for name in names]
        return {each.provider: settings_of(config, each.provider, each.model).base_url for each in asked if each.model}

    def _model_of(self, asked: TargetId) -> TargetId:
        """The target itself, or the model that a program of one's own is given."""
        own = self._loaded.config.agents.get(asked.name) if asked.form == "agent" else None
        return target_id(own.model) if own is not None and own.model else asked


def _first_word(suite: HarnessSuite) -> str | None:
    """The program that a suite's command starts; `None` for none, and for a shell's text."""
    if suite.run is None or suite.shell:
        return None
    words = split_words(suite.run)
    return words[0] if words else None


def _age(then: str, now: str) -> str:
    """How old something is, in days, with its date."""
    try:
        made = datetime.fromisoformat(instant(then))
        days = (datetime.fromisoformat(now) - made).days
    except ValueError:
        return "of an unknown date"
    since = "from today" if days == 0 else f"{plural(days, 'day')} old"
    return f"{since} ({made.date().isoformat()})"


def _item(
    name: str, status: CheckupStatus, text: str, remedy: str = "", group: CheckupGroup = "project"
) -> CheckupItem:
    return CheckupItem(group=group, name=name, status=status, text=text, remedy=remedy)
