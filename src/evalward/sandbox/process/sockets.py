"""Sockets that give whoever may write to them the machine: of container engines, and of their like."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

KNOWN = (
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
    "/run/buildkit/buildkitd.sock",
    "/run/lxd.socket",
    "/var/lib/lxd/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
    "/run/libvirt/libvirt-sock",
    "/run/systemd/private",
)


def open_sockets(*, own_user: bool) -> tuple[str, ...]:
    """Those that commands could use where they see our files: for Landlock a socket is no file."""
    found = (path for path in _candidates() if _is_socket(path))
    return tuple(sorted({path for path in found if (_open_to_all(path) if own_user else os.access(path, os.W_OK))}))


def _candidates() -> Iterator[str]:
    yield from KNOWN
    for name in ("DOCKER_HOST", "CONTAINER_HOST"):
        kind, _, path = os.environ.get(name, "").partition("://")
        if kind == "unix" and path.startswith("/"):
            yield path
    own = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    yield from (f"{own}/docker.sock", f"{own}/podman/podman.sock")


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(Path(path).stat().st_mode)
    except OSError:
        return False


def _open_to_all(path: str) -> bool:
    """May a user who is nobody else write to it?"""
    real = Path(path).resolve()
    ways = all(parent.stat().st_mode & stat.S_IXOTH for parent in real.parents)
    return ways and bool(real.stat().st_mode & stat.S_IWOTH)
