"""The place that a folder had in an earlier workspace leads to the one that it has now.

Tools write down where they were built: a virtual environment's scripts, for one, name their interpreter by its path.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from evalward.sandbox.process import Workspace

_LEADS = 'mkdir -p -- "$1" && ln -s -- "$2" "$1/$3"'
_PATIENCE_S = 30.0


async def lead_here(workspace: Workspace, earlier: Iterable[Path]) -> None:
    """Lay links from earlier folders to this workspace's. Those workspaces are closed. Raises `SandboxError`."""
    for folder in dict.fromkeys(earlier):
        words = ["sh", "-c", _LEADS, "sh", str(folder.parent), str(workspace.folder), folder.name]
        done = await workspace.run(words, timeout_s=_PATIENCE_S)
        if done.exit_code != 0:  # commands have no /tmp of their own here
            with contextlib.suppress(OSError):
                folder.parent.mkdir(mode=0o711)  # never wider
                folder.parent.chmod(0o711)  # nor narrower, whatever our umask is: their user must pass through it
                folder.symlink_to(workspace.folder)


def lead_nowhere(earlier: Iterable[Path]) -> None:
    """Remove the links that were laid outside of the workspace."""
    for folder in earlier:
        with contextlib.suppress(OSError):
            if folder.is_symlink():
                folder.unlink()
                folder.parent.rmdir()
