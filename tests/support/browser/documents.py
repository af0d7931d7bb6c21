"""Pages for the browser's tests, as the commands write them for the examples."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from evalward.records.release import ReleaseReport
from evalward.render.outputs import ShownRelease, text_of
from support import warm
from support.histories import long_history
from support.judgements import context, failed, several

REPOSITORY = Path(__file__).parents[3]
BASH = REPOSITORY / "examples" / "bash-tools"
NAMES = ("failing", "passing", "report", "reports", "release", "history")
PAGE = "report.html"


class Pages:
    """Files with pages, each made when it is first asked for, in a folder that stays as long as the session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def named(self, name: str) -> Path:
        """One of `NAMES`."""
        found: Path = getattr(self, name)()
        return found

    def failing(self) -> Path:
        """A pull request after which an agent with a shell fails more: 77 cases in three runs, of which some broke."""
        return self._made("failing", lambda folder: _check(BASH / "pull-request.yml", folder, 1))

    def passing(self) -> Path:
        """The same agent without the change: nothing is worse."""
        return self._made("passing", lambda folder: _check(BASH / "evalward.yml", folder, 0))

    def report(self) -> Path:
        """One report, compared with nothing."""
        return self._report("report", self.failing())

    def reports(self) -> Path:
        """Two reports side by side."""
        return self._report("reports", self.failing(), self.passing())

    def release(self) -> Path:
        """A release that is blocked by one of two judgements."""
        found = ReleaseReport(
            commit="9" * 40,
            branch="release/2",
            tag="v1.4.0",
            accepted=["2026-11-20: `pass_rate` fell, accepted by @mona: a smaller model"],
            against_branch=several(),
            against_tag=failed(),
        )
        return self.written("release", lambda: text_of("html", ShownRelease(found, context())))

    def history(self) -> Path:
        """Ninety days of two targets."""

        def make(folder: Path) -> None:
            store = folder / "store"
            store.mkdir(parents=True)
            (store / "history.jsonl").write_text(long_history(90, 40, ("replay:a", "replay:b")), "utf-8")
            _evalward(
                "history", "page", "--folder", store, "--output", folder, "--repository", "https://github.com/a/b"
            )
            (folder / "index.html").rename(folder / PAGE)

        return self._made("history", make)

    def written(self, name: str, text: Callable[[], str]) -> Path:
        """A page with this text."""

        def write(folder: Path) -> None:
            folder.mkdir()
            (folder / PAGE).write_text(text(), "utf-8")

        return self._made(name, write)

    def _report(self, name: str, *of: Path) -> Path:
        def make(folder: Path) -> None:
            folder.mkdir()
            sources = [page.with_name("report.json") for page in of]
            _evalward("report", *sources, "--format", "html", "--output", folder / PAGE)

        return self._made(name, make)

    def _made(self, name: str, make: Callable[[Path], None]) -> Path:
        folder = self._folder / name
        if not folder.exists():
            make(folder)
        return folder / PAGE


def _check(config: Path, folder: Path, code: int) -> None:
    _evalward("check", "--config", config, "--output", folder, code=code)


def _evalward(*words: str | Path, code: int = 0) -> None:
    done = warm.evalward(*words, cwd=REPOSITORY, env={"PATH": os.environ["PATH"]})
    assert done.returncode == code, done.stderr
