"""The folder that scripts are told of: they may write into it, and after the run transcript and events lie there.

It lies where the commands of the workspace can reach it, so an agent can, too. What we write there never follows a link
that somebody left, and is written only when nothing of the agent runs any more.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

TRANSCRIPT, EVENTS = "transcript.raw.txt", "events.jsonl"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class ResultsFolder:
    """A folder among the workspace's temporary files."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self.path = self._made()

    def _made(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="results-", dir=self._parent))
        folder.chmod(0o777)  # the commands' user is another one; nobody else gets into the parent
        return folder

    def write(self, name: str, text: str) -> Path:
        """A file of ours, whatever lay there before; in a folder of its own where somebody took the first one away."""
        try:
            return self._written(name, text)
        except OSError:
            self.path = self._made()
            return self._written(name, text)

    def _written(self, name: str, text: str) -> Path:
        here = os.open(self.path, _FOLDER)
        try:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=here)
            with os.fdopen(os.open(name, _NEW, 0o644, dir_fd=here), "wb") as file:
                os.fchmod(file.fileno(), 0o644)
                file.write(text.encode())
        finally:
            os.close(here)
        return self.path / name
