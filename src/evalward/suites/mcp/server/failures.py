"""How a server can fail, in words for reports."""

from __future__ import annotations

from evalward.records.base import clean_text

SAID = 300
"""Characters of a server's own words that a message shows."""


class ServerError(Exception):
    """A server with which nothing more can be done. `reason` is the word of the failure table."""

    reason = "server_error"


class ServerDiedError(ServerError):
    """It has ended, closed the connection, or sent what can't be read within bounds."""

    reason = "server_died"


class ServerHungError(ServerError):
    """It gives no answer in time."""

    reason = "server_hung"


class ServerAnswerError(ServerError):
    """It answers, and not as the protocol has it."""

    reason = "server_bad_answer"


def shown(text: str) -> str:
    """Somebody else's words in one line, cut to its beginning."""
    words = " ".join(clean_text(text).split())
    return words if len(words) <= SAID else words[:SAID] + "…"


def both_ends(text: str) -> str:
    """Somebody else's words in one line, cut in the middle: Node says first what is wrong, Python last."""
    words = " ".join(clean_text(text).split())
    return words if len(words) <= 2 * SAID else f"{words[:SAID]} … {words[-SAID:]}"
