"""Modules that an earlier step left where Python looks for the user's own: the image's command doesn't import them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.cold

ROOT = Path(__file__).resolve().parents[2]


def command() -> list[str]:
    """The image's command, with this Python in the place of the image's."""
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    [entry] = [json.loads(line.removeprefix("ENTRYPOINT ")) for line in lines if line.startswith("ENTRYPOINT ")]
    assert entry[0].startswith("/usr/local/bin/python")
    return [sys.executable, *entry[1:]]


def poisoned(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"import os\nos.write(2, b'POISONED {name}')\n")


@pytest.mark.parametrize("name", ["usercustomize.py", "sitecustomize.py", "evalward.py", "json.py", "requests.py"])
def test_image__imports_nothing_that_earlier_steps_left(name: str, tmp_path: Path) -> None:
    home, work, path = tmp_path / "home", tmp_path / "work", tmp_path / "path"
    site = Path(sysconfig.get_path("purelib", "posix_user", {"userbase": str(home / ".local")}))
    for folder in (site, work, path):
        poisoned(folder, name)
    (site / "x.pth").write_text("import os; os.write(2, b'POISONED pth')\n")
    (path / "startup.py").write_text("import os\nos.write(2, b'POISONED startup')\n")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(path),
        "PYTHONSTARTUP": str(path / "startup.py"),
        "PYTHONUSERBASE": str(home / ".local"),
    }
    done = subprocess.run(command(), cwd=work, env=env, capture_output=True, text=True, check=False)
    assert "POISONED" not in done.stdout + done.stderr
    assert done.returncode == 2  # it started, and misses the runner's variables
    assert "GITHUB_WORKSPACE is not set" in done.stdout + done.stderr
