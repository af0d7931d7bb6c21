"""Distributions of others, installed beside ours in an environment of their own: without network and without pip."""

from __future__ import annotations

import importlib
import shutil
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import evalward
from evalward import registry

PLUGINS = Path(__file__).parents[1] / "plugins"
ANSWERS = PLUGINS / "evalward-answers"


def environment(folder: Path, *distributions: Path) -> list[str]:
    """A new environment with ours and these; the words that start our command in it."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    ours = (Path(evalward.__file__).parents[1], Path(sysconfig.get_path("purelib")))
    (site / "beside.pth").write_text("".join(f"{path}\n" for path in ours))
    for distribution in distributions:
        install(distribution, site)
    return [str(folder / "bin" / "python"), "-m", "evalward"]


@contextmanager
def installed_here(distribution: Path, site: Path) -> Iterator[None]:
    """A distribution that this process has meanwhile."""
    install(distribution, site)
    known = set(sys.modules)
    sys.path.insert(0, str(site))
    _forget()
    try:
        yield
    finally:
        sys.path.remove(str(site))
        _forget()
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(f"{site}/"):
                del sys.modules[name]


def _forget() -> None:
    registry.installed.cache_clear()
    registry.load.cache_clear()
    importlib.invalidate_caches()


def install(distribution: Path, site: Path) -> None:
    """What an installer leaves of it in `site`: its modules, and its metadata with the entry points."""
    project = tomllib.loads((distribution / "pyproject.toml").read_text("utf-8"))["project"]
    site.mkdir(exist_ok=True)
    for module in distribution.glob("*.py"):
        shutil.copy(module, site)
    metadata = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    (metadata / "entry_points.txt").write_text(_points(project["entry-points"]))


def _points(groups: Mapping[str, Mapping[str, Any]]) -> str:
    return "".join(
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
        for group, points in groups.items()
    )
