"""The command on a node, which ends when the worker that started it does.

A node that is lost to the cluster may go on as a machine: without this, the command would spend money there that
nobody counts, beside its second attempt on another node.
"""

from __future__ import annotations

import os
import signal
import sys


def begin() -> None:
    """Take the first argument, the worker's process; the others are the command's, which begins after this."""
    worker = int(sys.argv.pop(1))
    if sys.platform == "linux":
        from evalward.sandbox.launcher import kernel  # noqa: PLC0415 - there is no other such system

        kernel.die_with_parent(signal.SIGTERM)
    if os.getppid() != worker:
        raise SystemExit(1)
