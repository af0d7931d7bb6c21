"""User ids that belong to nobody, one for each workspace: so two of them can't touch each other."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import random
import signal
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from evalward.sandbox.base import SandboxError
from evalward.sandbox.launcher.plan import OWN_USERS
from evalward.sandbox.launcher.users import as_user
from evalward.sandbox.process.launching import launching

FIRST, LAST = OWN_USERS[0], OWN_USERS[-1]
SHOWN_AS = "eval"
CLAIMS = "evalward"  # below /run; files in it are locked by whoever has the user id that they are named after
_SYSTEMD = Path("/run/systemd/dynamic-uid")


@dataclass
class OwnUser:
    """A user id that is ours until it is given back."""

    number: int
    claim: int | None

    def release(self) -> None:
        """Somebody else may have it."""
        claim, self.claim = self.claim, None
        if claim is not None:
            os.close(claim)


def take_user() -> OwnUser | None:
    """An id that no account, no process and no other workspace of this machine has; `None` when all are taken.

    Raises `SandboxError` when ids can't be claimed.
    """
    elsewhere = launching().claim
    if elsewhere is not None:
        found = elsewhere()
        return None if found is None else OwnUser(*found)
    claims = claims_folder()
    taken = {entry.pw_uid for entry in pwd.getpwall()} | _at_work() | _given_by_systemd()
    free = [number for number in range(FIRST, LAST + 1) if number not in taken]
    begin = random.randrange(len(free) or 1)  # noqa: S311 - who looks at the same time begins elsewhere, that is all
    for number in free[begin:] + free[:begin]:
        claim = _claim(claims / str(number))
        if claim is not None:
            return OwnUser(number, claim)
    return None


def end_all_of(user: int) -> None:
    """End all processes of a user id that is ours, at once, so that none of them can fork away. Only for root."""

    def end() -> bool:
        if user in OWN_USERS:
            os.kill(-1, signal.SIGKILL)
        return True

    as_user(user, end)


def claims_folder() -> Path:
    """A folder that nobody but us can change: a name that commands could take would keep ids from others.

    Raises `SandboxError`.
    """
    run = Path("/run")
    folder = run / CLAIMS if os.access(run, os.W_OK) else Path(tempfile.gettempdir()) / f"{CLAIMS}-users-{os.geteuid()}"
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        status = folder.lstat()
    except OSError as error:
        raise SandboxError(f"user ids can't be claimed in {folder}: {error.strerror or error}") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise SandboxError(f"user ids can't be claimed: {folder} is not a private folder of this user; remove it")
    return folder


def _claim(place: Path) -> int | None:
    """A lock that only one process can hold, and that is free again when it ends, however it ends."""
    try:
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SandboxError(f"no user id can be claimed: {place}: {error.strerror or error}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _given_by_systemd() -> set[int]:
    """Ids of services with `DynamicUser=`, which come from the same range."""
    with contextlib.suppress(OSError):
        return {int(name) for name in os.listdir(_SYSTEMD) if name.isdigit()}  # noqa: PTH208 - names alone
    return set()


def _at_work() -> set[int]:
    found: set[int] = set()
    try:
        entries = list(os.scandir("/proc"))
    except OSError:
        return found
    for entry in entries:
        if entry.name.isdigit():
            try:
                found.add(entry.stat().st_uid)
            except OSError:  # it has just ended
                continue
    return found


def passwd_with(number: int, home: Path) -> str:
    """The machine's accounts and the commands' own: many programs fail for a user without a name."""
    line = f"{SHOWN_AS}:x:{number}:{number}::{home}:/bin/sh\n"
    return _text("/etc/passwd") + line


def group_with(number: int) -> str:
    """The machine's groups and the commands' own."""
    return _text("/etc/group") + f"{SHOWN_AS}:x:{number}:\n"


def _text(path: str) -> str:
    try:
        text = Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""
    return text if not text or text.endswith("\n") else text + "\n"
