"""The guidance that another commit has: read from git objects or through the API, never by touching the checkout."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalward.engine.plan import Plan, PlannedRun
from evalward.git import GitTree, repository_path
from evalward.opening import MOST_TEXT, link_free, name_below, read_inside
from evalward.records.guidance import GuidanceComparison
from evalward.records.problem import InputError
from evalward.records.report import Report
from evalward.runner.guidance_runs import Comparing, Version, brings_guidance, compare_versions
from evalward.runner.measure import OtherGuidance, RunPlan
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.fixture import GUIDANCE_NAMES, is_guidance
from evalward.suites.scenario.variants import Guidance
from evalward.wire.errors import RemoteFilesError


@dataclass(frozen=True)
class OtherCommit:
    """A commit's files, by their paths from the config's folder.

    `read` gives a file, `None` where there is none; `listed` the paths below a folder, `None` where nobody can tell.
    """

    name: str
    root: Path
    read: Callable[[str], bytes | None]
    listed: Callable[[str], Sequence[str] | None]

    def guidance(self, run: PlannedRun, case: ScenarioCase) -> Guidance | None:
        """What it says for a scenario; `None` where that is the same, and for a scenario that it doesn't have."""
        if self.read(case.place.file) is None:
            return None
        files = {path: there for path in self._paths(case) if (there := self._there(case, path)) != _here(case, path)}
        system = self._system(run)
        return Guidance(self.name, files, system) if files or system is not None else None

    def _paths(self, case: ScenarioCase) -> list[str]:
        """Guidance of either side, by its path in the fixture."""
        folder = self._from_root(case.fixture)
        listed = self.listed(folder)
        if listed is None:
            return sorted({*case.guidance, *GUIDANCE_NAMES})
        inside = [posixpath.relpath(path, folder) for path in listed]
        return sorted({*case.guidance, *(path for path in inside if is_guidance(path))})

    def _there(self, case: ScenarioCase, path: str) -> bytes | None:
        return self.read(posixpath.join(self._from_root(case.fixture), path))

    def _system(self, run: PlannedRun) -> str | None:
        """The suite's system prompt, where it is another one there."""
        spec = run.suite.spec
        if spec.system is None:
            return None
        there = self.read(posixpath.normpath(spec.system))
        text = None if there is None else there.decode("utf-8", "replace").strip()
        here = read_inside(self.root, spec.system, MOST_TEXT).decode("utf-8", "replace").strip()
        return None if text == here else text

    def _from_root(self, folder: Path) -> str:
        return name_below(self.root, folder)


def _here(case: ScenarioCase, path: str) -> bytes | None:
    try:
        return read_inside(case.fixture, link_free(case.fixture, path))
    except (InputError, OSError):
        return None


def commit_guidance(tree: GitTree, sha: str, prefix: str, root: Path, *, name: str) -> OtherCommit:
    """A commit's guidance. `prefix` is the path from the repository's top to the config's folder `root`."""

    def read(path: str) -> bytes | None:
        return tree.read(sha, repository_path(prefix, [path]))

    def listed(folder: str) -> list[str] | None:
        found = tree.listed(sha, repository_path(prefix, [folder]))
        return None if found is None else [file.path.removeprefix(prefix) for file in found]

    return OtherCommit(name, root, read, listed)


BASE, HEAD = "base", "head"


def against_base(other: OtherCommit, why: str) -> OtherGuidance:
    """What holds changed guidance against the base's, where the guidance has changed: its trials are in no run.

    `why` is for people.
    """

    def compare_with_base(plan: Plan, report: Report, run: RunPlan) -> list[GuidanceComparison]:
        stopped = f"the run ended early: {report.interrupted}" if report.interrupted else None
        version = Version(BASE, other.guidance)
        comparing = Comparing([version], HEAD, why, own=report.runs, reversed=True, stopped=stopped)
        try:
            return compare_versions(plan, comparing, run)
        except (RemoteFilesError, InputError) as error:
            message = str(error) if isinstance(error, RemoteFilesError) else str(error.problems[0])
            suites = dict.fromkeys(one.suite.spec.name for one in plan.runs if brings_guidance(one))
            return [GuidanceComparison(suite=name, target="", why=why, not_measured=message) for name in suites]

    return compare_with_base
