"""Annotations at the lines where broken cases are written."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from evalward.github.runner_files import Annotation, Level
from evalward.records.comparison import CaseChange
from evalward.records.verdict import Judgement, Outcome

_CHECKS = 3


@dataclass(frozen=True, slots=True)
class Roots:
    """Where the paths of a report count from: `workspace`, and `config`, its folder from the workspace's top."""

    workspace: str
    config: str

    def path(self, file: str) -> str | None:
        """The file as the runner wants it, from the workspace's top; `None` when it is elsewhere."""
        path = posixpath.normpath(posixpath.join(self.workspace, self.config, file))
        relative = posixpath.relpath(path, self.workspace)
        return None if relative == ".." or relative.startswith("../") else relative


def judgement_annotations(judgement: Judgement, roots: Roots | None) -> list[Annotation]:
    """The headline first, then the broken cases that are held against the change, each once.

    Without `roots` (another run's report: its files are not here) only the headline.
    """
    verdict = judgement.verdict
    level: Level = "error" if verdict.exit_code else "warning"
    passed = verdict.outcome is Outcome.PASS
    headline = [] if passed else [Annotation(level, verdict.headline, title=f"Evalward: {verdict.outcome}")]
    return headline if roots is None else [*headline, *_broken(judgement, level, roots)]


def _broken(judgement: Judgement, level: Level, roots: Roots) -> Iterator[Annotation]:
    found: dict[tuple[str | None, str], list[tuple[str, CaseChange]]] = {}
    for run in judgement.comparison.runs:
        for case in (each for each in run.of("broken") if not each.excused):
            found.setdefault((case.place, case.id), []).append((run.name, case))
    for (place, case_id), changes in found.items():
        file, line = _place(place, roots)
        message = "\n".join(_sentence(name, case) for name, case in changes)
        yield Annotation(level, message, file, line, title=f"Evalward: {case_id[:100]} broke")


def _place(place: str | None, roots: Roots) -> tuple[str | None, int | None]:
    file, _, line = (place or "").rpartition(":")
    if not (file and line.isascii() and line.isdigit() and len(line) < 10):
        return None, None
    path = roots.path(file)
    return path, int(line) if path else None


def _sentence(run: str, case: CaseChange) -> str:
    checks = [f"{check.check}: {check.detail}" for check in case.checks if not check.passed][:_CHECKS]
    return "; ".join([f"{run}: {case.before} → {case.now}", *checks])
