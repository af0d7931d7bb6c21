"""The end of our streams: what was not said to its end is no pass. Only the standard library, for `--help` needs it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from evalward.records.exits import EXIT_UNJUDGED


def flushed(code: int) -> int:
    """The exit code, when all that was said has left this process: what was not said to its end is no pass.

    Python would end with a code of its own where its streams can't be written.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        code = unwritten(error, code)
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        sys.stderr = None
    return code


def unwritten(error: OSError, code: int) -> int:
    """The exit code where standard output couldn't be written; said, unless the code says so already."""
    with suppress(OSError):  # what is left goes nowhere: since Python 3.13 a stream that is given up complains of it
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    sys.stdout = None
    if code != EXIT_UNJUDGED:
        with suppress(OSError, AttributeError):  # `None` where there is no stream
            sys.stderr.write(f"error: standard output can't be written: {error.strerror}\n")
    return EXIT_UNJUDGED
