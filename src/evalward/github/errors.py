"""The one exception of this room: that of git, for what is read of a commit comes from the one or the other."""

from __future__ import annotations

from evalward.git.errors import GitError

GitHubError = GitError
