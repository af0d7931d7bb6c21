"""Annotations at the lines where cases are written that broke, or that are new and fail."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evalward.github.runner_files import Annotation, Level
from evalward.records.comparison import CaseChange
from evalward.records.verdict import Judgement, Outcome
from evalward.render.sentences import headline

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
    """The headline first, then the broken cases that are held against the change, then new ones that fail; each once.

    Without `roots` (another run's report: its files are not here) only the headline.
    """
    verdict = judgement.verdict
    level: Level = "error" if verdict.exit_code else "warning"
    passed = verdict.outcome is Outcome.PASS
    first = [] if passed else [Annotation(level, headline(verdict), title=f"Evalward: {verdict.outcome}")]
    if roots is None:
        return first
    runs = judgement.comparison.runs
    broken = [(run.name, case) for run in runs for case in run.of("broken") if not case.excused]
    new = [(run.name, case) for run in runs for case in run.new_failures] if judgement.comparison.baseline else []
    return [
        *first,
        *_case_annotations(broken, level, roots, "broke"),
        *_case_annotations(new, level, roots, "is new and fails"),
    ]


def _case_annotations(
    cases: Iterable[tuple[str, CaseChange]], level: Level, roots: Roots, what: str
) -> Iterator[Annotation]:
    """One annotation per case, with a line for each run."""
    found: dict[tuple[str | None, str], list[tuple[str, CaseChange]]] = {}
    for name, case in cases:
        found.setdefault((case.place, case.id), []).append((name, case))
    for (place, case_id), changes in found.items():
        file, line = _place(place, roots)
        message = "\n".join(_sentence(name, case) for name, case in changes)
        yield Annotation(level, message, file, line, title=f"Evalward: {case_id[:100]} {what}")


def _place(place: str | None, roots: Roots) -> tuple[str | None, int | None]:
    file, _, line = (place or "").rpartition(":")
    if not (file and line.isascii() and line.isdigit() and len(line) < 10):
        return None, None
    path = roots.path(file)
    return path, int(line) if path else None


def _sentence(run: str, case: CaseChange) -> str:
    checks = [f"{check.check}: {check.detail}" for check in case.checks if not check.passed][:_CHECKS]
    before = case.before or "new"
    return "; ".join([f"{run}: {before} → {case.now}", *checks])
