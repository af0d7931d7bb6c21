"""What a run of the action works with: whose event it is, where things are told, and the checkout that is judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from evalward.commands.pipeline import Decide
from evalward.commands.surfaces import Surfaces, surfaces_of
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.git import GitTree
from evalward.github.client import GitHub
from evalward.github.event import EventPlan
from evalward.github.runner_files import Annotation
from evalward.github.settings import ActionInputs, RunnerEnvironment
from evalward.keeper.outputs import OutputFolder
from evalward.keeper.session import RunnerSession as HeadRunner
from evalward.records.policy import Policy
from evalward.records.report import REPORT_FILE, Report
from evalward.records.verdict import Verdict


@dataclass(frozen=True)
class Job:
    """What the whole run of the action needs to know: the event, and where it is told what was found."""

    surfaces: Surfaces
    plan: EventPlan

    @classmethod
    def of(cls, world: World, settings: ActionInputs, runner: RunnerEnvironment, plan: EventPlan) -> Job:
        """The job of an event. Only a check comments."""
        return cls(surfaces_of(world, settings, runner, plan, comments=settings.mode == "check"), plan)

    @property
    def settings(self) -> ActionInputs:
        """The action's inputs."""
        return self.surfaces.settings

    @property
    def runner(self) -> RunnerEnvironment:
        """GitHub's runner."""
        return self.surfaces.runner

    @property
    def report_file(self) -> Path:
        """The report that is judged: one of an earlier step, or the one that this run leaves."""
        settings, surfaces = self.settings, self.surfaces
        return surfaces.folder / settings.report if settings.report is not None else surfaces.output / REPORT_FILE

    @property
    def left(self) -> OutputFolder:
        """The output folder, once it is open."""
        if self.surfaces.outputs is None:
            raise RuntimeError("the output folder is not open")
        return self.surfaces.outputs

    def hiding(self, key_names: frozenset[str]) -> Job:
        """What is told and left from here on is without the keys in these variables, which a configuration names."""
        return replace(self, surfaces=self.surfaces.hiding(key_names))

    def tell(self, *lines: str) -> None:
        """Write workflow commands and lines of ours to the log."""
        self.surfaces.tell(*lines)

    def note(self, text: str) -> None:
        """Something that people should know."""
        self.tell(Annotation("notice", text, title="Evalward").command())


@dataclass(frozen=True)
class Checkout:
    """What is judged: the head's configuration, the runner that reads its files, and the commits that are known."""

    job: Job
    client: GitHub
    tree: GitTree
    loaded: LoadedConfig
    head: HeadRunner


@dataclass(frozen=True)
class Measured:
    """A judged report, its digest, the policy that judged it, the verdict, and how it was judged.

    `job` is the one that measured: it knows every secret.
    """

    job: Job
    report: Report
    digest: str
    policy: Policy
    verdict: Verdict
    judge: Decide
