"""What was changed, as a folder: a patch applied, or what an agent left; tests and benchmarks as they were before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from evalward.sandbox.process import Settings, Workspace

PATCH_FILE = ".evalward-change.patch"
# The code may hold files that make its folder a bare repository, whose configuration names programs.
NO_REPOSITORY = ("-c", "safe.bareRepository=explicit", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
NO_CONFIGURATION = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
SAID = 300
SHOWN = 3


class RefusedError(Exception):
    """A change that can't be taken: it doesn't apply, or it reaches out of the folder."""


async def apply_patch(original: Path, patch: bytes, target: Path, settings: Settings) -> None:
    """Copy the original with the patch applied, by git in a workspace. Raises `RefusedError` and `SandboxError`.

    git itself refuses paths that leave the folder, be it by `..` or through links.
    """
    if not patch.strip():
        raise RefusedError("the patch is empty")
    async with await Workspace.create(original, settings, extra_files={PATCH_FILE: patch}) as workspace:
        command = ["git", *NO_REPOSITORY, "apply", "--whitespace=nowarn", PATCH_FILE]
        alone = {"GIT_CEILING_DIRECTORIES": str(workspace.folder.parent), **NO_CONFIGURATION}
        done = await workspace.run(command, env=alone)
        if done.exit_code != 0:
            said = " ".join(done.stderr.split())[:SAID]
            raise RefusedError(f"the patch doesn't apply: {said}")
        take(workspace, target)
    (target / PATCH_FILE).unlink(missing_ok=True)


def take(workspace: Workspace, target: Path) -> None:
    """Copy what stands in a workspace's folder now. Raises `SandboxError`."""
    target.mkdir()
    workspace.copy_to(target, workspace.settings.limits.disk_mb or 1 << 20)


def put_back(original: Path, target: Path, protect: Sequence[str]) -> list[str]:
    """Make every protected file of a copy what it is in the original; the paths that had been changed.

    No link of the copy is followed: what stands in the way is removed.
    """
    before, now = set(_protected(original, protect)), set(_protected(target, protect))
    changed = [path for path in sorted(before | now) if not _equal(original / path, target / path)]
    for path in changed:
        _remove(target / path)
        if path in before:
            _clear_way(target, path)
            shutil.copy2(original / path, target / path, follow_symlinks=False)
    return changed


def _protected(folder: Path, protect: Sequence[str]) -> Iterator[str]:
    """Files and links below a folder whose path, or that of a folder above them, is protected."""
    for place, folders, files in os.walk(folder, followlinks=False):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in (*files, *links):
            path = (Path(place) / name).relative_to(folder).as_posix()
            if is_protected(path, protect):
                yield path


def is_protected(path: str, protect: Sequence[str]) -> bool:
    """True when the path, its name, or a folder above it matches one of the patterns."""
    parts = path.split("/")
    above = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
    return any(fnmatchcase(each, pattern.rstrip("/")) for pattern in protect for each in (*above, parts[-1]))


def _equal(one: Path, two: Path) -> bool:
    if one.is_symlink() or two.is_symlink():
        return one.is_symlink() and two.is_symlink() and one.readlink() == two.readlink()
    if not (one.is_file() and two.is_file()):
        return False
    same_mode = (one.stat().st_mode ^ two.stat().st_mode) & 0o111 == 0
    return same_mode and one.read_bytes() == two.read_bytes()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _clear_way(target: Path, path: str) -> None:
    """Real folders on the way to a path of the copy, whatever had taken their place."""
    place = target
    for part in Path(path).parts[:-1]:
        place = place / part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            place.unlink()
        place.mkdir(exist_ok=True)


def told(changed: Sequence[str]) -> list[str]:
    """A note about protected files that had been changed."""
    if not changed:
        return []
    named = ", ".join(path[:80] for path in changed[:SHOWN])
    return [f"PROTECTED: put back as they were: {named}" + (" …" if len(changed) > SHOWN else "")]
