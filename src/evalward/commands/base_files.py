"""Files of a pull request's base for the runner; and those of the head, through the runner."""

from __future__ import annotations

import posixpath

from evalward.commands.commit_files import FilesOfCommit
from evalward.git import GitTree
from evalward.github.event import EventPlan
from evalward.github.settings import ActionInputs
from evalward.github.sides import BaseAndHead, HeadFiles, config_prefix
from evalward.keeper.session import RunnerSession
from evalward.wire.messages import BaseSide


def head_files(runner: RunnerSession, settings: ActionInputs) -> HeadFiles:
    """Reads files of the head, by their paths from the working directory, without opening them here."""
    return lambda path: runner.read(posixpath.join(settings.working_directory, path), anywhere=True)


def base_of_pull(settings: ActionInputs, sides: BaseAndHead, tree: GitTree) -> tuple[FilesOfCommit | None, BaseSide]:
    """The commit that judges a pull request, where there is one, and what of it is measured alongside the head."""
    file, sha = sides.judging.file, sides.base.sha
    if file is None or sha is None:
        why = "the base has no configuration that could judge" if sides.unprotected else sides.base.note
        return None, BaseSide(why_not=why.rstrip("."))
    base = FilesOfCommit(file, tree, sha, config_prefix(tree, settings))
    return base, BaseSide(commit=sha, config=posixpath.basename(settings.config))


def guidance_wanted(plan: EventPlan, sides: BaseAndHead) -> str | None:
    """Why guidance that a pull request changes is held against the base's; `None` where the base wants none of that."""
    sha = sides.base.sha
    if plan.pull_number is None or sides.judging.file is None or sha is None or not sides.judging.guidance:
        return None
    return f"This changes the guidance, so the scenarios were also run with that of the base ({sha[:7]})."
