"""Pages for the browser's tests: from runs of the examples, as users get them, and from texts that try to break out."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from evalward.render.html.links import Links
from support import warm

REPOSITORY = Path(__file__).parents[3]
BASH = REPOSITORY / "examples" / "bash-tools"
PAGE = "report.html"


class Pages:
    """Files with pages, each made when it is first asked for, in a folder that stays for the session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def failing(self) -> Path:
        """A pull request that breaks cases of an agent with a shell: 77 trials, of which some failed."""
        return self._of("failing", lambda folder: _check(BASH / "pull-request.yml", folder, 1))

    def passing(self) -> Path:
        """The same without the change: nothing is worse."""
        return self._of("passing", lambda folder: _check(BASH / "evalward.yml", folder, 0))

    def written(self, name: str, text: Callable[[], str]) -> Path:
        """A page with this text."""

        def write(folder: Path) -> None:
            folder.mkdir()
            (folder / PAGE).write_text(text(), "utf-8")

        return self._of(name, write)

    def _of(self, name: str, make: Callable[[Path], None]) -> Path:
        folder = self._folder / name
        if not folder.exists():
            make(folder)
        return folder / PAGE


def _check(config: Path, folder: Path, code: int) -> None:
    words = ["check", "--config", str(config), "--output", str(folder)]
    done = warm.evalward(*words, cwd=REPOSITORY, env={"PATH": os.environ["PATH"]})
    assert done.returncode == code, done.stderr
