"""`evalward show` in this process: what it says, and of a whole report every trial."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

from evalward.commands.files import read_report
from evalward.commands.show import ShowTrialOptions, show, tried_cases
from evalward.commands.world import World

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
COLOUR = re.compile(r"\x1b\[(?:\d+)m")


class Terminal(StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def world_of(folder: Path, out: StringIO | None = None, **env: str) -> World:
    """A world in a folder; its streams keep what is said."""
    return World(out=out or StringIO(), err=StringIO(), now=lambda: "2026-11-22T08:00:00Z", env=env, cwd=folder)


def shown(folder: Path, report: str = "report.json", **options: Any) -> str:
    """What `evalward show` prints for these options, in a folder, without a terminal."""
    world = world_of(folder)
    assert show(world, ShowTrialOptions(report=Path(report), **options)) == 0
    assert isinstance(world.out, StringIO)
    return world.out.getvalue()


def shown_whole(file: Path) -> str:
    """Everything that can be shown of a report: the list, and each trial, short and in full. Nothing obeys a control
    character.
    """
    texts = [shown(file.parent, file.name)]
    for one in tried_cases(read_report(file)):
        for trial in one.trials:
            where = {"suites": [one.run.suite], "targets": [one.run.target]}
            texts += [
                shown(file.parent, file.name, case=one.case, trial=trial.trial, full=full, **where)
                for full in (False, True)
            ]
    text = "\n".join(texts)
    assert_seen(text)
    return text


def assert_seen(text: str) -> None:
    """No character in a text is one that a terminal obeys, or that nobody sees; our own colours don't count."""
    assert not _UNSEEN.search(COLOUR.sub("", text))
