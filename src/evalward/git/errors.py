"""The one exception of git and of GitHub: whoever reads a commit asks first the one and then the other."""

from __future__ import annotations


class GitError(Exception):
    """Git, or GitHub, did not give what was asked for; that is never the fault of the pull request's content.

    `status` is the HTTP status, `None` where no answer came (no connection, time-out) or none was asked for.
    `message` says what happened, `advice` what to do about it. Neither ever holds a token.
    """

    def __init__(self, status: int | None, message: str, advice: str = "") -> None:
        self.status = status
        self.message = message
        self.advice = advice
        super().__init__(status, message, advice)

    def __str__(self) -> str:
        end = "" if self.message.endswith((".", "!", "?")) else "."
        return f"{self.message}{end} {self.advice}".rstrip()
