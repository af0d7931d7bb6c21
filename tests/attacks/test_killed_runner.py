"""The runner is killed in the middle, as by a machine without memory: one sentence, exit code 3, no traceback."""

from __future__ import annotations

import os
import signal
import tempfile
from io import StringIO
from pathlib import Path

import pytest

from evalward.cli import guarded
from evalward.commands.world import World
from evalward.keeper.session import RunnerSession
from evalward.wire.errors import RunnerGoneError

pytestmark = pytest.mark.cold


def test_a_killed_runner__is_told_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    err = StringIO()

    def command(world: World) -> int:
        runner = RunnerSession({"PATH": os.environ["PATH"]}, tmp_path)
        try:
            runner._process.signal(signal.SIGKILL)
            with pytest.raises(RunnerGoneError) as found:
                runner.load("evalward.yml")
            raise found.value
        finally:
            runner.close()

    world = World(out=StringIO(), err=err, now=lambda: "2026-11-21T08:00:00Z", env={})
    assert guarded(world, command) == 3
    said = err.getvalue() + str(getattr(world.out, "getvalue", str)())
    assert "SIGKILL" in said
    assert "--resume" in said
    assert "internal error" not in said
    assert list(tmp_path.glob("*.log")) == []
