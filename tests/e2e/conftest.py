"""The image and the pull requests that the container tests share."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.container import TOOLS_VARIABLE, Container, build_image, tell
from support.git_repo import write_files
from support.github_api import FakeGitHub
from support.scenes import CONFIG, Scene, cases, protected, scene
from support.warm import EVALWARD

IMAGE_VARIABLE = "CONTAINER_IMAGE"  # another tag, where several builds go on at once


@pytest.fixture(scope="session")
def container(pytestconfig: pytest.Config) -> Container:
    start = time.monotonic()
    built = build_image(Path(os.environ[TOOLS_VARIABLE]), os.environ.get(IMAGE_VARIABLE, "evalward:e2e"))
    tell(
        pytestconfig, f"image built in {time.monotonic() - start:.1f} s (layers that did not change come from a cache)"
    )
    return built


@pytest.fixture
def api() -> Iterator[FakeGitHub]:
    with FakeGitHub() as server:
        yield server


@pytest.fixture(scope="session")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The baseline that the command line makes of the unbroken cases."""
    folder = tmp_path_factory.mktemp("baseline")
    write_files(folder, {"evalward.yml": CONFIG, "evals/a.jsonl": cases()})
    for command in (["run"], ["baseline", "update"]):
        subprocess.run([EVALWARD, *command], cwd=folder, check=True, capture_output=True)
    return (folder / ".evalward" / "baseline.json").read_bytes()


@pytest.fixture
def good(container: Container, api: FakeGitHub, tmp_path: Path, baseline: bytes) -> Scene:
    """Nothing got worse; a file has changed that may matter, so everything is measured."""
    return scene(container, api, tmp_path, protected(baseline), {"src/tool.txt": "new\n"})


@pytest.fixture
def bad(container: Container, api: FakeGitHub, tmp_path: Path, baseline: bytes) -> Scene:
    """Five of six cases broke; and the pull request tries to make that the new normal."""
    lenient = CONFIG.replace("max_drop: 0.1", "max_drop: 1.0")
    head = {"evals/a.jsonl": cases("one", "two", "three", "four", "five"), "evalward.yml": lenient}
    return scene(container, api, tmp_path, protected(baseline), head)
