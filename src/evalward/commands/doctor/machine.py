"""The interpreter, the system, and what is installed with us."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distributions, requires, version

from evalward import __version__
from evalward.edge import SOURCE
from evalward.records.checkup import CheckupItem
from evalward.registry import GROUPS, ours
from evalward.render.numbers import plural

EXTRAS = {"mcp": "suites that ask MCP servers", "ray": "runs on a Ray cluster"}
"""The packages that few need, each with what it is for; the extra has the package's name."""
_OURS = "evalward."
"""What the names of our groups of entry points begin with."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r";.*\bextra\b")


def machine_items(env: Mapping[str, str]) -> Iterator[CheckupItem]:
    """Where we run."""
    python = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    who = "root" if hasattr(os, "geteuid") and os.geteuid() == 0 else "an ordinary user"
    yield CheckupItem(group="machine", name="evalward", status="ok", text=f"{__version__}, {SOURCE}")
    yield CheckupItem(group="machine", name="python", status="ok", text=python)
    count = os.cpu_count()
    processors = plural(count, "processor") if count else "processors unknown"
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    yield CheckupItem(group="machine", name="system", status="ok", text=f"{system}, {processors}, {who}")
    if env.get("GITHUB_ACTIONS") == "true":
        yield CheckupItem(group="machine", name="workflow", status="ok", text="a job of GitHub Actions")


def package_items() -> Iterator[CheckupItem]:
    """What we need, what few need, and what other distributions add."""
    for name in _needed():
        found = installed_version(name)
        if found is None:
            remedy = "Install Evalward again, with pip, pipx or uv."
            yield CheckupItem(group="packages", name=name, status="missing", text="not installed", remedy=remedy)
        else:
            yield CheckupItem(group="packages", name=name, status="ok", text=found)
    for name, purpose in EXTRAS.items():
        found = installed_version(name)
        if found is not None:
            yield CheckupItem(group="packages", name=name, status="ok", text=found)
            continue
        remedy = f'For {purpose}: pip install "evalward[{name}]".'
        yield CheckupItem(group="packages", name=name, status="note", text="not installed (optional)", remedy=remedy)
    plugins = _plugins()
    if plugins:
        yield CheckupItem(group="packages", name="plugins", status="note", text=", ".join(plugins))


def _plugins() -> list[str]:
    """What other distributions add. Asked group by group, all that is installed would be read each time."""
    points = {(point.group, point.name) for each in distributions() for point in each.entry_points}
    added = sorted((group, name) for group, name in points if group in GROUPS and name not in ours(group))
    return [f"{group.removeprefix(_OURS)}: {name}" for group, name in added]


def installed_version(name: str) -> str | None:
    """The version of a distribution; `None` where it isn't installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _needed() -> list[str]:
    """Our own dependencies, without those of extras and of other Pythons."""
    try:
        listed = requires("evalward") or []
    except PackageNotFoundError:
        return []
    names = (_NAME.match(line) for line in listed if not _EXTRA.search(line) and "python_version" not in line)
    return sorted(name[0] for name in names if name)
