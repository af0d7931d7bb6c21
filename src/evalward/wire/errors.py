"""What can go wrong with the other process. Nothing else is loaded here: whoever says why a command ended needs it."""

from __future__ import annotations


class RemoteFilesError(Exception):
    """Files of another commit could not be read, on the other side."""


class OtherSideError(Exception):
    """The other process broke: its own fault, whose traceback is a note of this one."""


class RunnerGoneError(OtherSideError):
    """The runner's process ended in the middle of a job; `how` it did, and for a log, what it said last."""

    def __init__(self, how: str, said: str = "") -> None:
        super().__init__(f"the runner ended unexpectedly ({how}) {said}".rstrip())
        self.how, self.said = how, said


class InterruptedRunError(Exception):
    """The other process was asked to end."""
