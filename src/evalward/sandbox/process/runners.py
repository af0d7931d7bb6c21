"""What a self-hosted runner of GitHub keeps beside installed programs, where every command could read it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

PLACES = (Path("/opt"), Path("/etc"), Path("/usr/local"))
SECRETS = (".credentials", ".credentials_rsaparams", ".credentials_migrated", ".runner", ".env", ".service", "_diag")


@cache
def runners_secrets() -> tuple[Path, ...]:
    """The credentials and logs of runners that are installed in a folder for programs."""
    found: list[Path] = []
    for place in PLACES:
        for pattern in ("*/.runner", "*/*/.runner"):
            found += [mark.parent / name for mark in _matches(place, pattern) for name in SECRETS]
    return tuple(path for path in found if path.exists())


def _matches(place: Path, pattern: str) -> list[Path]:
    try:
        return list(place.glob(pattern))
    except OSError:
        return []
