"""A pull request's check after a maintainer accepted its change: it is compared with what was accepted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evalward.commands.baseline_ci import repository_baseline
from evalward.commands.surfaces import Surfaces
from evalward.decide.baseline import dump_baseline, read_baseline
from evalward.git import GitTree
from evalward.github.accepted import AcceptanceWord, find_word
from evalward.github.client import GitHub
from evalward.github.errors import GitHubError
from evalward.github.event import EventPlan
from evalward.github.repository import RepositoryWriter
from evalward.github.runner_files import Annotation
from evalward.github.sides import SideRules
from evalward.records.baseline import Baseline
from evalward.records.problem import InputError
from evalward.records.verdict import Judgement, Outcome


@dataclass(frozen=True)
class Honoured:
    """The baseline on the pull request's branch, which a maintainer accepted there."""

    baseline: Baseline
    word: AcceptanceWord

    @property
    def note(self) -> str:
        """A sentence for the top of the comment."""
        return (
            f"Compared with the baseline that {self.word.by} accepted on this pull request: {self.word.reason}. "
            "The rules are the base's."
        )

    def attributed(self, judgement: Judgement) -> Judgement:
        """The judgement, whose pass says who accepted what it was compared with."""
        verdict = judgement.verdict
        if verdict.outcome is not Outcome.PASS:
            return judgement
        accepted = verdict.model_copy(update={"accepted_by": self.word.by})
        return judgement.model_copy(update={"verdict": accepted})


_QUEUED = re.compile(r"refs/heads/gh-readonly-queue/.+/pr-(?P<number>[1-9][0-9]{0,8})-[0-9a-f]{40}")


def _pull(plan: EventPlan) -> int | None:
    """The pull request that the event is about; of a merge queue's group the last one. `None`: it can't be accepted."""
    if plan.event == "merge_group":
        found = _QUEUED.fullmatch(plan.head_ref)
        return int(found["number"]) if found else None
    return plan.pull_number if plan.event == "pull_request" and not plan.fork else None


def find_accepted(
    surfaces: Surfaces, plan: EventPlan, side: SideRules, tree: GitTree, client: GitHub
) -> Honoured | None:
    """What holds instead of the base's baseline, `None` where nobody accepted the one on the branch.

    The head's baseline is read as data, from git's objects or through the API. That GitHub can't be asked is told, and
    the base's baseline holds.
    """
    number = _pull(plan)
    if number is None or not surfaces.settings.github_token:
        return None
    path = repository_baseline(surfaces.settings, tree, side.baseline_path)
    try:
        content = tree.read(plan.head_sha, path)
        if content is None or (side.baseline is not None and content == dump_baseline(side.baseline).encode()):
            return None
        word = find_word(RepositoryWriter(client, plan.repository), number, content)
        return Honoured(read_baseline(content, path), word) if word else None
    except (GitHubError, InputError) as error:
        message = f"Whether the baseline on this branch was accepted could not be determined: {error}"
        surfaces.tell(Annotation("notice", message, title="Evalward").command())
        return None
