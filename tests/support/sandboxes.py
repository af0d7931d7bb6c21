"""Workspaces for tests, behind every combination of walls that this machine can build."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import pytest

from evalward.sandbox.process import Finished, Workspace, WorkspaceSettings, probe, workspace
from evalward.sandbox.process.probe import Layers, candidates, works

NAMES = {
    (True, True, True): "own user, namespaces",
    (True, False, True): "own user, Landlock",
    (True, False, False): "own user",
    (False, True, True): "namespaces",
    (False, False, True): "Landlock",
    (False, False, False): "nothing",
}


def name_of(layers: Layers) -> str:
    """What a test's name says of its walls."""
    if layers.bubblewrap is not None:
        return "bubblewrap"
    return NAMES[layers.own_user, layers.namespaces, layers.landlock or layers.namespaces]


@cache
def built() -> Mapping[str, Layers]:
    """All that work here, and none at all; the strongest for each name. It tries them: never call it at collection."""
    return {name_of(layers): layers for layers in reversed([*candidates(), Layers()]) if works(layers)}


def buildable() -> Iterator[Layers]:
    """The same, without names."""
    return iter(built().values())


def walls_named(name: str) -> Layers:
    """The walls of this name; where this machine has none the test is passed over."""
    if name not in built():
        pytest.skip(f"no {name} here")
    return built()[name]


def use(monkeypatch: pytest.MonkeyPatch, layers: Layers) -> None:
    """Build only these walls."""
    monkeypatch.setattr(workspace, "layers", lambda: layers)
    monkeypatch.setattr(probe, "layers", lambda: layers)


@asynccontextmanager
async def opened(
    fixture: Path | None = None, settings: WorkspaceSettings | None = None, files: Mapping[str, bytes] | None = None
) -> AsyncIterator[Workspace]:
    """A workspace that is closed."""
    made = await Workspace.create(fixture, settings or WorkspaceSettings(), extra_files=files)
    async with made:
        yield made


async def bash(place: Workspace, script: str, timeout_s: float = 300, grace_s: float = 0) -> Finished:
    """Run a script."""
    return await place.run(["bash", "-c", script], timeout_s=timeout_s, grace_s=grace_s)
