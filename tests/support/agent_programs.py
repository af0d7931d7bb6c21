"""The real coding agents, as npm installs them, in a cache folder that stays.

`EVALWARD_AGENT_CACHE` names the folder; without it, it lies in the user's cache. What isn't there is installed only
when `EVALWARD_AGENT_INSTALL` is set (`make agents-test` does): it is about 1 GB.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from support.npm import UnavailableError, cache_folder

VERSIONS = {"@anthropic-ai/claude-code": "2.1.197", "@openai/codex": "0.169.0", "opencode-ai": "1.18.33"}
INSTALL_SECONDS = 600


def bin_folder(package: str) -> Path:
    """The folder with the package's program. Raises `UnavailableError`."""
    folder = _cache() / f"{package.rpartition('/')[2]}-{VERSIONS[package]}"
    if not (folder / "done").exists():
        _install(package, folder)
    return folder / "node_modules" / ".bin"


def _cache() -> Path:
    given = os.environ.get("EVALWARD_AGENT_CACHE")
    return Path(given) if given else cache_folder() / "agents"


def _install(package: str, folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError(f"npm is not installed, so {package} can't be had")
    if not os.environ.get("EVALWARD_AGENT_INSTALL"):
        raise UnavailableError(f"{package} is not in the cache; `make agents-test` installs it")
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
    try:
        done = subprocess.run(
            [*command, f"{package}@{VERSIONS[package]}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"`npm install {package}` took longer than {INSTALL_SECONDS} s") from None
    if done.returncode:
        raise UnavailableError(f"`npm install {package}` failed: {done.stderr.strip()[-300:]}")
    (folder / "done").touch()
