"""Which tag is the last release."""

from __future__ import annotations

import re
from collections.abc import Mapping

_VERSION = re.compile(
    r"v?(?P<numbers>\d{1,9}(?:\.\d{1,9}){0,5})(?P<pre>[-.]?(?:alpha|beta|rc|pre|dev|a|b)[.-]?\d{0,9})?"
)


def last_release(tags: Mapping[str, str], head: str | None) -> str | None:
    """The highest version among the tags, HEAD's own left out; a pre-release only where there is nothing else."""
    versions = {name: version for name, sha in tags.items() if sha != head and (version := version_of(name))}
    return max(versions, key=lambda name: (versions[name], name), default=None)


def version_of(tag: str) -> tuple[bool, tuple[int, ...], str, int] | None:
    """What orders versions: final ones above all others, then the numbers; `None` for a tag that is no version."""
    match = _VERSION.fullmatch(tag)
    if match is None:
        return None
    numbers = [int(part) for part in match["numbers"].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    pre = match["pre"] or ""
    word = pre.rstrip("0123456789")
    return not pre, tuple(numbers), word, int(pre.removeprefix(word) or 0)
