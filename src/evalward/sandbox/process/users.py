"""User ids that belong to nobody, one for each workspace: so two of them can't touch each other."""

from __future__ import annotations

import os
import pwd
import random
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

FIRST, LAST = 61000, 64999
SHOWN_AS = "eval"


@dataclass(frozen=True)
class OwnUser:
    """A user id that is ours until it is given back."""

    number: int
    _claim: socket.socket | None

    def release(self) -> None:
        """Somebody else may have it."""
        if self._claim is not None:
            self._claim.close()


def take_user() -> OwnUser | None:
    """An id that no account, no process and no other workspace of this machine has; `None` when all are taken."""
    taken = {entry.pw_uid for entry in pwd.getpwall()} | _at_work()
    free = [number for number in range(FIRST, LAST + 1) if number not in taken]
    random.shuffle(free)
    for number in free:
        claimed, claim = _claim(number)
        if claimed:
            return OwnUser(number, claim)
    return None


def _claim(number: int) -> tuple[bool, socket.socket | None]:
    """A name that only one process can hold, and that is free again when it ends, however it ends."""
    if sys.platform != "linux":
        return True, None
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0evalward-user-{number}")
    except OSError:
        claim.close()
        return False, None
    return True, claim


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
