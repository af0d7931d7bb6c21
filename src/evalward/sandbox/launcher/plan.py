"""What the launcher is asked to build. Both sides know this file; it travels as JSON.

Records are named tuples wherever a launcher loads them: `dataclasses` takes half of the time in which it starts.
"""

from __future__ import annotations

import json
from typing import NamedTuple

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix")
"""The folders of installed programs, which every command may read."""
DEVICES = ("null", "zero", "full", "random", "urandom")
"""No terminal: whoever may open the one of our user can read what is typed there."""

OWN_USERS = range(61000, 65000)
"""The user ids that commands can have: they belong to nobody."""


class SandboxPlan(NamedTuple):
    """One sandbox. Paths are absolute and real; `root` is an empty folder where the new root is built."""

    root: str
    folders: list[str]  # the command's own: writable, at their own paths
    tmp: str  # one of them; also /tmp where there is a mount namespace
    placed: dict[str, str] = {}  # path in the sandbox → our file or folder for it, writable
    replaced: dict[str, str] = {}  # path in the sandbox → our file for it, read-only
    readable: list[str] = []
    hidden: list[str] = []
    covered: list[str] = []  # folders of the system that aren't; what else is named stays there
    user: int | None = None  # user and group id of the commands; None: ours
    namespaces: bool = False
    network: bool = False  # a network namespace, with a loopback interface and nothing else
    landlock: bool = False  # with namespaces: against what they leave open; else it is the wall around files
    filtered: bool = False  # system calls
    bubblewrap: str | None = None  # the program that builds the namespaces; None: we do
    owner: int | None = None  # whom everything belongs to when it is taken back; None: nobody takes anything back
    worker: bool = False  # the one command that can be started is the virtual interpreter's
    memory_bytes: int | None = None  # of all processes together
    processes: int | None = None  # of them, where there is a control group
    disk_bytes: int | None = None  # of `folders` together
    entries: int | None = None  # files and folders in them

    def dump(self) -> bytes:
        """One line."""
        return json.dumps(self._asdict()).encode() + b"\n"


def load_plan(line: bytes) -> SandboxPlan:
    """The other way round."""
    return SandboxPlan(**json.loads(line))


class Command(NamedTuple):
    """One command to start. `limits` are pairs of a `resource.RLIMIT_…` number and a value."""

    words: list[str]
    env: dict[str, str]
    folder: str
    limits: list[list[int]]

    def dump(self) -> bytes:
        """One line."""
        return json.dumps(self._asdict()).encode() + b"\n"


def load_command(line: bytes) -> Command:
    """The other way round."""
    return Command(**json.loads(line))
