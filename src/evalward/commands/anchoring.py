"""Which anchor holds: the last release's committed baseline, read from git's objects, else the branch's history."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from evalward.commands.tags import last_release
from evalward.config import LoadedConfig
from evalward.decide.anchor import Anchor
from evalward.decide.baseline import read_baseline
from evalward.git import GitTree, repository_path
from evalward.github.errors import GitHubError
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy
from evalward.records.problem import InputError

SHALLOW = (
    "The clone is shallow, so the last release is unknown: slow losses are measured against the oldest "
    "runs of the history. Check out with `fetch-depth: 0` to measure them against the release."
)


class Anchoring(Struct, frozen=True):
    """What to look for: `paths` are where the baseline is, from the repository's top, the likeliest first.

    `branch` is the one that is measured, or would be changed; `blocks`: a loss fails the check.
    """

    policy: Policy
    paths: Sequence[str]
    branch: str | None = None
    blocks: bool = False


def find_anchor(tree: GitTree, request: Anchoring) -> tuple[Anchor | None, list[str]]:
    """The anchor, `None` where the policy wants none, and what people should know. Nothing here raises: what can't be
    read is no anchor, and nothing is said against one that isn't there.
    """
    if request.policy.anchor == "off":
        return None, []
    plain = Anchor(request.branch, blocks=request.blocks)
    named = request.policy.anchor != "auto"
    tags = None if named else tree.tags()
    tag = request.policy.anchor if named else last_release(tags or {}, tree.head())
    if tag is None:
        return plain, [SHALLOW] if tags is None and request.blocks else []
    sha = tree.commit_of(tag)
    if sha is None:
        return plain, [f"`anchor: {tag}`: the clone has no tag of that name. Check out with `fetch-depth: 0`."]
    try:
        baseline = _committed(tree, sha, request.paths, tag)
    except (InputError, GitHubError) as error:
        return plain, [f"The baseline of {tag} can't be read, so it can't be the anchor: {error}"]
    if baseline is None:
        return plain, [f"`anchor: {tag}`: there is no baseline at that tag."] if named else []
    return Anchor(request.branch, tag, baseline, request.blocks), []


def anchor_of_config(
    tree: GitTree,
    loaded: LoadedConfig,
    policy: Policy,
    *,
    profile: str | None,
    branch: str | None = None,
    blocks: bool = False,
) -> tuple[Anchor | None, list[str]]:
    """The anchor of the baseline that a configuration names, in whose folder `tree` is: see `find_anchor`."""
    prefix = tree.prefix()
    names = [loaded.config.baseline_for(branch, profile), loaded.config.baseline]
    paths = [] if prefix is None else [repository_path(prefix, [name]) for name in names]
    return find_anchor(tree, Anchoring(policy, paths, branch, blocks))


def _committed(tree: GitTree, sha: str, paths: Sequence[str], tag: str) -> Baseline | None:
    for path in dict.fromkeys(paths):
        content = tree.read(sha, path)
        if content is not None:
            return read_baseline(content, f"{path} ({tag})")
    return None
