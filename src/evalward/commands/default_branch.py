"""What the default branch says, where somebody's branch is checked out: from the command line that is what we trust."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from pathlib import Path

from evalward.config import LoadedConfig
from evalward.config.model import Config
from evalward.records.problem import InputError

DEFAULT_BRANCH = "refs/remotes/origin/HEAD"


def default_config(loaded: LoadedConfig, env: Mapping[str, str]) -> Config | None:
    """The configuration of this name on the default branch; `None` where there is none that can be read."""
    from evalward.config.load import parse_config  # noqa: PLC0415 - few configurations ask
    from evalward.git import GitTree, repository_path  # noqa: PLC0415 - as above
    from evalward.github.errors import GitHubError  # noqa: PLC0415 - as above

    tree = GitTree(loaded.root, search_path=env.get("PATH", ""))
    try:
        sha = tree.resolve(DEFAULT_BRANCH)
        path = repository_path(tree.prefix(), [posixpath.basename(loaded.file)])
        text = tree.read(sha, path) if sha is not None else None
        return None if text is None else parse_config(text.decode("utf-8"), path, Path("/")).config
    except (InputError, GitHubError, UnicodeDecodeError):
        return None
