"""The base commit as something to measure: its own suites, prompts, guidance and fixtures, asked the same cases.

What differs between a run here and the head's is what the pull request changed in the commit's files. So a suite whose
subject doesn't lie in these files (a tool that is installed, a program that was built before) can't be measured so:
both sides would use the head's, and a tool that got worse would be taken for a provider that did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TypeVar

from msgspec import Struct, field, structs

from evalward.config import ComparedSuite, LoadedConfig, SandboxedSuite, Suite
from evalward.config.load import parse_config
from evalward.engine.beside import NewHereError, NotMeasuredError
from evalward.engine.plan import PlannedRun, make_plan
from evalward.engine.selection import Selection
from evalward.records.case import Case
from evalward.records.problem import InputError
from evalward.records.target_id import target_id
from evalward.runner.base_files import BaseFilesReader, Listed, Read
from evalward.runner.link import Keeper
from evalward.sandbox.process.temporary import temporary_folder
from evalward.targets.asking import Asker
from evalward.wire.errors import RemoteFilesError
from evalward.wire.messages import BaseSide

T = TypeVar("T")
_FOREIGN = ("program", "agent")
"""Targets whose programs a repository brings: what they are made of is not known."""


class BaseCommit(Struct, dict=True):
    """The base of one invocation. `loaded` is the configuration that is measured, with what judges it."""

    side: BaseSide
    loaded: LoadedConfig
    env: Mapping[str, str]
    asker: Asker | None
    read: Read
    listed: Listed
    folder: Path
    _runs: dict[tuple[str, str], PlannedRun] = field(default_factory=dict)

    @property
    def commit(self) -> str | None:
        """The commit, `None` where there is none."""
        return self.side.commit or None

    def run(self, suite: str, target: str) -> PlannedRun:
        """What the base has of a suite and target, with all its cases. Raises `NotMeasuredError`."""
        key = (suite, target)
        if key not in self._runs:
            self._runs[key] = self._noting(lambda: self._planned(suite, target))
        return self._runs[key]

    def targets(self, suite: str) -> list[str]:
        """The targets that the base's suite has; none where it has no such suite. Raises `NotMeasuredError`."""
        return list(self._noting(lambda: next((s.targets for s in self._config.config.suites if s.name == suite), [])))

    def _noting(self, work: Callable[[], T]) -> T:
        """What the work gives. What is wrong with the base's files is a reason not to measure it, and no mistake."""
        if self.side.why_not is not None:
            raise NotMeasuredError(self.side.why_not)
        try:
            return work()
        except InputError as error:
            raise NotMeasuredError(f"the base can't be measured: {str(error.problems[0]).rstrip('.')}") from error
        except RemoteFilesError as error:
            raise NotMeasuredError(f"the base can't be read: {str(error).rstrip('.')}") from error
        except OSError as error:
            raise NotMeasuredError(f"the base's files can't be written: {error.strerror}") from error

    @cached_property
    def _files(self) -> BaseFilesReader:
        return BaseFilesReader(self.read, self.listed)

    @cached_property
    def _config(self) -> LoadedConfig:
        """The base's own configuration; where models are asked, for how much and who judges is as for the head."""
        content = self.read(self.side.config)
        if content is None:
            raise NotMeasuredError(f"the base commit has no {self.side.config}")
        shown = f"{self.side.config} (base {self.side.commit[:12]})"
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise NotMeasuredError(f"{shown} is not UTF-8") from error
        base, judging = parse_config(text, shown, self.folder), self.loaded.config
        fields = {name: getattr(judging, name) for name in ("providers", "budget_usd", "budget_tokens", "judge")}
        return replace(base, config=base.config.model_copy(update=fields), base_file=self.loaded.base_file)

    def _planned(self, name: str, target: str) -> PlannedRun:
        suite = next((suite for suite in self._config.config.suites if suite.name == name), None)
        if suite is None:
            raise NewHereError("the base commit has no such suite")
        if target not in suite.targets:
            raise NewHereError(f"the base commit's suite has no target {target}")
        _refuse_foreign(suite, target)
        self._files.take(suite)
        self._files.write(self.folder)
        plan = make_plan(self._config, Selection(suites=[name], targets=[target]), self.env, self.asker)
        run = next(run for run in plan.runs if run.target.id == target)
        if run.target.missing_key is not None:
            raise NotMeasuredError(f"{target} needs a key, and {run.target.missing_key} is not set")
        if any(_is_installed(case) for case in run.cases):
            raise NotMeasuredError("the tool is installed on this machine, and so is the same on both sides")
        return structs.replace(run, suite=run.kind.base_side(run.suite))


def _refuse_foreign(suite: Suite, target: str) -> None:
    """Raises `NotMeasuredError` where what is evaluated lies outside of the commit's files."""
    if not isinstance(suite, ComparedSuite):
        raise NotMeasuredError(f"suites of the kind {suite.kind} are not measured alongside the head")
    if suite.elsewhere is not None:
        raise NotMeasuredError(suite.elsewhere)
    if target_id(target).form in _FOREIGN:
        raise NotMeasuredError(f"{target} is a program of this checkout, and the base's is not built here")
    if isinstance(suite, SandboxedSuite) and suite.sandbox == "process":
        raise NotMeasuredError("its shell is a program of this machine, which is the same on both sides")


def _is_installed(case: Case) -> bool:
    """True for a scenario about a tool that isn't in its fixture: the base's is not here to be measured."""
    from evalward.suites.scenario.case import ScenarioCase  # noqa: PLC0415 - only who measures the base needs it

    return isinstance(case, ScenarioCase) and PurePosixPath(case.tool.binary).as_posix() not in case.tool_files


@contextmanager
def base_commit(side: BaseSide, loaded: LoadedConfig, env: Mapping[str, str], keeper: Keeper) -> Iterator[BaseCommit]:
    """The base, with a private folder for its files while it is measured."""
    with temporary_folder("base") as folder:
        yield BaseCommit(side, loaded, env, keeper, keeper.base_file, keeper.base_files, folder)
