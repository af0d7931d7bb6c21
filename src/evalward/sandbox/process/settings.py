"""What a workspace may take and see."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Network = Literal["open", "loopback", "none"]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MIB = 1 << 20


@dataclass(frozen=True)
class SandboxLimits:
    """Bounds of one command (time, output) and of everything in the workspace together. `None`: no bound."""

    wall_s: float = 300
    cpu_s: int | None = None  # of each process
    memory_mb: int | None = 2048  # of each process, and of all together
    processes: int | None = 256  # kept where the commands have a user id or a namespace of their own
    output_bytes: int = 10_000_000  # of each stream that are kept; the rest is read, counted and dropped
    disk_mb: int | None = 1024  # of fixture, home and temporary files together
    entries: int | None = 200_000  # files and folders in them
    open_files: int | None = 1024

    def resource_limits(self, *, processes: bool) -> list[list[int]]:
        """What the kernel bounds for each process. `processes`: their number counts nobody else's."""
        memory = None if self.memory_mb is None else self.memory_mb * MIB
        limits = [
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_CPU, self.cpu_s),
            (resource.RLIMIT_DATA, memory),  # not the address space: JavaScript engines reserve far more than they use
            (resource.RLIMIT_FSIZE, None if self.disk_mb is None else self.disk_mb * MIB),
            (resource.RLIMIT_NOFILE, self.open_files),
            (resource.RLIMIT_NPROC, self.processes if processes else None),
        ]
        return [[kind, value] for kind, value in limits if value is not None]


@dataclass(frozen=True)
class WorkspaceSettings:
    """How a workspace is made.

    `network`: "none" has only a loopback interface of its own; "loopback" is the same, and `Workspace.listener` gives
    sockets there that we accept on. Where the system can't, the network stays open, and `Workspace.isolation` says so.
    `readable`: files and folders beside the installed programs (/usr, /etc, /opt, …) that commands may read; the `.git`
    in them stays hidden, as does whatever `hidden` names. `path`: the commands' PATH. `place`: where workspaces are
    made, the system's folder for temporary files if not given.
    """

    limits: SandboxLimits = SandboxLimits()
    network: Network = "open"
    readable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    path: str = PATH
    place: Path | None = None
    allow_unisolated: bool = False
