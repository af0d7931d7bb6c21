"""Graders in a folder, run for real on files that a test lays down."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalward.graders.grading import Grader, ToGrade
from evalward.graders.record import Grade
from evalward.graders.source import read_source
from evalward.records.trace import Message, Text, ToolCall, Trace
from evalward.sandbox.process.places import Copied
from support.cases import case

FUNCTION = "checks.mine:right"


def put(root: Path, files: Mapping[str, str]) -> Path:
    """Write files; what begins with `#!` can be run."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
        if text.startswith("#!"):
            (root / path).chmod(0o755)
    return root


class Left:
    """A folder that a target left."""

    home = "/home/eval"

    def __init__(self, folder: Path, *, full: bool = False) -> None:
        self._folder, self._full = folder, full

    async def copy_out(self, files: Path, elsewhere: Path, most_mb: int) -> Copied:
        shutil.copytree(self._folder, files, symlinks=True, dirs_exist_ok=True)
        return Copied(1, 1, 0, self._full)


ANSWERED = ToGrade.of(
    case(),
    "Print hello.",
    Trace(
        messages=[Message(role="assistant", content=[Text(text="Done.")])],
        tool_calls=[ToolCall(commands="echo hello", stdout="hello\n", exit_code=0)],
    ),
)


async def grade(
    root: Path, text: str, code: str, left: Mapping[str, str] | None = None, *, timeout_s: float = 30, **more: Any
) -> Grade:
    """What a grader with this code answers: the function `right` of `checks/mine.py`, or a script."""
    path = "checks/mine.py" if ":" in text else text
    put(root, {path: code})
    folder = put(root / "left-by-the-target", dict(left or {}))
    folder.mkdir(exist_ok=True)
    return await Grader(read_source(root, text), timeout_s).grade(ANSWERED, more.get("leaves") or Left(folder))


def checked_by(*checks: str, **task: Any) -> dict[str, Any]:
    """A task with these checks."""
    base = {
        "id": "hello",
        "category": "basic",
        "prompt": "Write hello to out.txt.",
        "solution": "echo hello | tee out.txt",
        "expectations": [{"check": check} for check in checks],
    }
    return json.loads(json.dumps({**base, **task}))  # type: ignore[no-any-return]
