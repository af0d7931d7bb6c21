"""A small project with every file that a person or a program hands in; one of them is replaced."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from evalward.commands.world import World


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write the files, with their folders."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def quiet_world(folder: Path) -> World:
    """A world whose streams lead nowhere, at a time that stands still."""
    return World(StringIO(), StringIO(), lambda: "2026-11-21T08:00:00Z", {}, folder)
