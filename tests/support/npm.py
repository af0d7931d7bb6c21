"""Packages of npm that tests need, and how it is said when they can't be had."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

NPM_SECONDS = 120


class UnavailableError(Exception):
    """Something could not be had here; the message says why."""


def cache_folder() -> Path:
    """Where what was fetched stays: in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evalward-tests"


def pack(package: str, version: str, folder: Path) -> Path:
    """The package's archive, fetched into the folder. Raises `UnavailableError`."""
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError(f"npm is not installed, so {package} can't be had")
    command = [npm, "pack", "--silent", f"{package}@{version}"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=NPM_SECONDS)
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"`npm pack {package}` took longer than {NPM_SECONDS} s") from None
    archives = list(folder.glob("*.tgz"))
    if done.returncode or not archives:
        raise UnavailableError(f"`npm pack {package}` failed: {done.stderr.strip()[-300:]}")
    return archives[0]


def file_of(package: str, version: str, member: str) -> Path:
    """One file of the package, fetched once: it stays in the cache folder. Raises `UnavailableError`."""
    kept = cache_folder() / f"{package.replace('/', '-')}-{version}-{member.rpartition('/')[2]}"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as name:
            folder = Path(name)
            with tarfile.open(pack(package, version, folder)) as archive:
                file = archive.extractfile(f"package/{member}")
                assert file is not None
                (folder / "file").write_bytes(file.read())
            (folder / "file").replace(kept)
    return kept
