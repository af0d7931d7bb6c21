"""Processes of this machine, by what their command line says."""

from __future__ import annotations

from pathlib import Path


def processes(mark: str) -> list[str]:
    """The numbers of those in whose command line the mark stands."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in words:
            found.append(folder.name)
    return found
