"""What a comment has that its file has not."""

from __future__ import annotations

import re

_TRIES = re.compile(r"<!-- evalward:tries .* -->\n")


def without_tries(comment: str) -> str:
    """The comment without what later tries of its commit shall know: see `github.tries`."""
    return _TRIES.sub("", comment, count=1)
