"""SIGINT and SIGTERM as `KeyboardInterrupt`, and the memory of it.

Whatever is at work when a signal comes may make an error of its own of the exception: pydantic says then that a record
can't be built. Such an error is no fault of ours, which would be shown and logged as one: we were asked to end.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

_seen = False


def heed(spared: Callable[[], bool] = lambda: False) -> None:
    """From here on both signals interrupt the main thread, unless it is `spared` just then, and are remembered.

    SIGTERM, too, when it was ignored: in a container we are process 1, which nothing else ends. SIGINT not, when it was
    ignored: that is how a shell starts what runs in the background.
    """

    def interrupt(_: int, __: FrameType | None) -> None:
        notice()
        if not spared():
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)


def notice() -> None:
    """A signal was taken by whoever ends what is under way."""
    global _seen  # noqa: PLW0603 - signals are the process's
    _seen = True


def seen() -> bool:
    """Whether a signal has come since `heed`."""
    return _seen
