"""SIGINT and SIGTERM as `KeyboardInterrupt`, and the memory of it.

Whatever is at work when a signal comes may make an error of its own of the exception: pydantic says then that a record
can't be built. Such an error is no fault of ours, which would be shown and logged as one: we were asked to end.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn

_seen = False


def heed() -> None:
    """From here on both signals interrupt the main thread, and are remembered.

    SIGTERM, too, when it was ignored: in a container we are process 1, which nothing else ends. SIGINT not, when it was
    ignored: that is how a shell starts what runs in the background.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


def seen() -> bool:
    """Whether a signal has interrupted us."""
    return _seen


def _interrupt(_: int, __: FrameType | None) -> NoReturn:
    global _seen  # noqa: PLW0603 - signals are the process's
    _seen = True
    raise KeyboardInterrupt
