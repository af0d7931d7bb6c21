"""`evalward mcp snapshot` where nothing can be started behind walls."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from evalward.commands import mcp
from evalward.commands.world import World
from evalward.sandbox.base import SandboxError


def test_a_server_that_cannot_be_isolated_is_not_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(place: object) -> None:
        raise SandboxError("commands would run here without any isolation")

    monkeypatch.setattr(mcp, "listed", refuse)
    err = StringIO()
    world = World(out=StringIO(), err=err, now=lambda: "2026-01-01T00:00:00Z", cwd=tmp_path)
    options = mcp.SnapshotOptions(server=(), command=("./server",), config=tmp_path / "evalward.yml")
    assert mcp.mcp_snapshot(world, options) == 3
    assert err.getvalue() == "error: ./server: commands would run here without any isolation\n"
