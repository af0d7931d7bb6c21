"""Where in the HTML page a case or a trial stands: the comment, the terminal and the page itself all point there."""

from __future__ import annotations

import re
from hashlib import sha256

READABLE = 40  # characters of a case's id
ANCHOR = re.compile(r"case-[a-z0-9-]{1,80}")


def case_anchor(suite: str, target: str, case: str) -> str:
    """The fragment of a case: letters, digits and `-`, different for cases that differ."""
    return _anchor("case", case, (suite, target, case))


def trial_anchor(suite: str, target: str, case: str, trial: int) -> str:
    """The fragment of one of its trials."""
    return f"{case_anchor(suite, target, case)}.{trial}"


def run_anchor(suite: str, target: str) -> str:
    """The fragment of a run (suite × target)."""
    return _anchor("run", f"{suite} {target}", (suite, target))


def link_place(anchor: str) -> str:
    """The hidden end of a comment's line where a link to this anchor of the page will stand, once it is uploaded."""
    if not ANCHOR.fullmatch(anchor):
        raise ValueError(f"{anchor!r} is not an anchor of a case")
    return f" <!-- evalward:link={anchor} -->"


def _anchor(what: str, name: str, parts: tuple[str, ...]) -> str:
    digest = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:10]
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:READABLE].strip("-")
    return f"{what}-{readable}-{digest}" if readable else f"{what}-{digest}"
