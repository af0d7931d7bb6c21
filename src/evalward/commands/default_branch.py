"""What is trusted where somebody's branch is checked out: the default branch, or a pull request's base."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.config import LoadedConfig
from evalward.config.model import Config
from evalward.records.problem import InputError

if TYPE_CHECKING:
    from evalward.git import GitTree

DEFAULT_BRANCH = "refs/remotes/origin/HEAD"
_PULL_REQUEST, _ON_THE_BASE = "pull_request", "pull_request_target"


def of_pull_request(env: Mapping[str, str]) -> bool:
    """Whether this is a workflow of a pull request: what is checked out is then a proposal."""
    return env.get("GITHUB_EVENT_NAME", "") in {_PULL_REQUEST, _ON_THE_BASE}


def default_config(loaded: LoadedConfig, env: Mapping[str, str]) -> Config | None:
    """The configuration of this name on the default branch, for a pull request that of its base; `None` where there is
    none that can be read.
    """
    from evalward.config.load import parse_config  # noqa: PLC0415 - few configurations ask
    from evalward.git import GitTree, repository_path  # noqa: PLC0415 - as above
    from evalward.github.errors import GitHubError  # noqa: PLC0415 - as above

    tree = GitTree(loaded.root, search_path=env.get("PATH", ""))
    try:
        sha = _trusted(tree, env)
        path = repository_path(tree.prefix(), [posixpath.basename(loaded.file)])
        text = tree.read(sha, path) if sha is not None else None
        return None if text is None else parse_config(text.decode("utf-8"), path, Path("/")).config
    except (InputError, GitHubError, UnicodeDecodeError):
        return None


def _trusted(tree: GitTree, env: Mapping[str, str]) -> str | None:
    """The commit that is trusted. Of a pull request GitHub's merge has the base as its first parent, or is the base."""
    event, sha = env.get("GITHUB_EVENT_NAME", ""), env.get("GITHUB_SHA", "")
    if event == _ON_THE_BASE:
        return sha or None
    if event == _PULL_REQUEST:
        return next(iter(tree.parents(sha) or ()), None)
    return tree.resolve(DEFAULT_BRANCH)
