"""Sdist and wheel: the same bytes wherever they are built, with all that belongs into them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "distribution.py"
NOT_IN_SDIST = {".ci/run"}

pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="what is built is a commit, and this is no repository"
)


@cache
def commit() -> str:
    """HEAD, as it was at the first question: there may be others soon."""
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def built(folder: Path, umask: int, *, env: dict[str, str], cwd: Path) -> dict[str, bytes]:
    """The files that were built, with the umask and the environment of some machine."""
    command = [sys.executable, str(SCRIPT), "build", "--commit", commit(), "--output", str(folder)]
    done = subprocess.run(
        command, cwd=cwd, env=os.environ | env, umask=umask, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return built(tmp_path_factory.mktemp("one"), 0o022, env={"TZ": "UTC", "LC_ALL": "C"}, cwd=ROOT)


def test_build__gives_the_same_bytes_elsewhere(distributions: dict[str, bytes], tmp_path: Path) -> None:
    elsewhere = {"TZ": "Asia/Kolkata", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "7", "TMPDIR": str(tmp_path)}
    again = built(tmp_path / "a" / "longer folder", 0o077, env=elsewhere, cwd=tmp_path)
    assert {name: hashlib.sha256(data).hexdigest() for name, data in again.items()} == {
        name: hashlib.sha256(data).hexdigest() for name, data in distributions.items()
    }
    assert [name.rsplit("-", 1)[-1] for name in again] == ["any.whl", next(iter(again)).split("-")[1] + ".tar.gz"]


def test_sdist__has_every_tracked_file(distributions: dict[str, bytes], tmp_path: Path) -> None:
    """Its tests read the pages, workflows, examples and the Dockerfile: a file that is left out breaks one of them."""
    [archive] = [tmp_path / name for name in distributions if name.endswith(".tar.gz")]
    archive.write_bytes(distributions[archive.name])
    with tarfile.open(archive) as files:
        members = files.getmembers()
    names = {member.name.partition("/")[2] for member in members}
    command = ["git", "ls-tree", "-r", "-z", "--name-only", commit()]
    tracked = set(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")) - {
        ""
    }
    assert names == tracked - NOT_IN_SDIST | {"PKG-INFO"}
    assert {"tests/conftest.py", "docs/index.md", ".github/workflows/ci.yml", "constraints.txt"} <= names
    assert {member.mode & 0o777 for member in members} <= {0o644, 0o755}


def test_wheel__has_the_package_and_its_templates_alone(distributions: dict[str, bytes], tmp_path: Path) -> None:
    [archive] = [tmp_path / name for name in distributions if name.endswith(".whl")]
    archive.write_bytes(distributions[archive.name])
    with zipfile.ZipFile(archive) as files:
        names = files.namelist()
        [metadata] = [files.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")]
    assert {name.split("/")[0].split("-")[0] for name in names} == {"evalward"}
    assert {"evalward/templates/report.html.j2", "evalward/examples/bash-tools/evalward.yml"} <= set(names)
    assert not [name for name in names if name.endswith(".pyc") or "/tests/" in name]
    assert metadata.startswith("Metadata-Version: 2.4\n")
