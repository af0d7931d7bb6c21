"""Whose the files of a workspace are: the commands' while they work, ours again when nobody works there any more."""

from __future__ import annotations

import errno
import os
import stat

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def hand_over(folder: str, old: int, new: int) -> None:
    """Make all of one user's things in the folder another's, and let that one read and change them.

    Only while no process works there. No link is followed, however deep it goes, and a file of a third user, which a
    hard link may have brought in, stays what it is. So does a third user's folder that is mounted there. Raises
    `OSError`, also for a folder that is neither's.
    """
    before = os.open(".", _FOLDER)
    try:
        if os.lstat(folder).st_uid not in {old, new}:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), folder)
        _may_enter(folder)
        _enter(folder)
        if os.stat(".").st_uid not in {old, new}:  # somebody has put another one in its place
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), folder)
        _walk(old, new)
    finally:
        os.fchdir(before)
        os.close(before)


def _walk(old: int, new: int) -> None:
    """All below the working directory, which goes down and up again: a path could get too long."""
    device, mount = os.stat(".").st_dev, _mount_here()
    left = [_folders_here(old, new, device, mount)]
    above: list[tuple[int, int]] = []
    while left:
        if not left[-1]:
            left.pop()
            if above:
                _enter("..")
                if _identity(os.stat(".")) != above.pop():
                    raise OSError(0, "somebody moves folders")
            continue
        name = left[-1].pop()
        here = _identity(os.stat("."))
        _may_enter(name)
        _enter(name)
        above.append(here)
        left.append(_folders_here(old, new, device, mount))


def _folders_here(old: int, new: int, device: int, mount: str) -> list[str]:
    """Deal with the working directory and the files in it; the names of the folders in it."""
    status = os.stat(".")
    if status.st_dev != device:
        return []
    if status.st_uid not in {old, new} and _mount_here() != mount:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))  # ours are those that we made on the way down
    _change(".", old, new)
    folders = []
    with os.scandir(".") as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if is_folder:
            folders.append(name)
        else:
            _change(name, old, new)
    return folders


def _mount_here() -> str:
    """Which mount the working directory is of: a bound folder can be on the same device."""
    here = os.open(".", _FOLDER)
    try:
        with open(f"/proc/self/fdinfo/{here}", encoding="utf-8") as file:
            return next((line for line in file if line.startswith("mnt_id:")), "")
    except OSError:
        return ""  # no such thing on this system, and then no mounts of ours
    finally:
        os.close(here)


def _change(name: str, old: int, new: int) -> None:
    status = os.lstat(name)
    is_folder = stat.S_ISDIR(status.st_mode)
    if status.st_uid == old or is_folder:
        if status.st_uid != new:
            os.chown(name, new, new, follow_symlinks=False)
        if is_folder or stat.S_ISREG(status.st_mode):
            mode = stat.S_IMODE(status.st_mode) & 0o777
            opened = mode | (0o700 if is_folder else 0o600)
            if opened != mode:
                os.chmod(name, opened)


def _may_enter(name: str) -> None:
    mode = stat.S_IMODE(os.lstat(name).st_mode) & 0o777
    if mode & 0o700 != 0o700 and os.lstat(name).st_uid == os.geteuid():
        os.chmod(name, mode | 0o700)


def _enter(folder: str) -> None:
    here = os.open(folder, _FOLDER)
    try:
        os.fchdir(here)
    finally:
        os.close(here)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
