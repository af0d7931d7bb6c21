"""The system calls that Python has no functions for. Every one raises `OSError` when the kernel refuses."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2

_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38

_SYS_MOUNT_SETATTR = 442  # on all machines
_SYS_KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "ppc64le": 271, "s390x": 280}
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}

_libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """The result of a system call. Raises `OSError` when it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def system_call(number: int, *arguments: Any) -> int:
    """A call that libc has no function for."""
    return int(_libc.syscall(ctypes.c_long(number), *arguments))


def unshare(flags: int) -> None:
    """Leave the namespaces that the flags name for new ones."""
    checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    """Mount a file system, or bind a path."""
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    result = _libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    checked(result, f"mount {target}")


def restrict_mount(target: str, *, recursive: bool = True) -> None:
    """Make a mount, and those below it, read-only and without set-user-id programs and devices."""
    attributes = struct.pack("=QQQQ", _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV, 0, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    arguments = (ctypes.c_int(_AT_FDCWD), os.fsencode(target), ctypes.c_uint(flags), attributes)
    checked(system_call(_SYS_MOUNT_SETATTR, *arguments, ctypes.c_size_t(len(attributes))), "mount_setattr")


def pivot_root(folder: str) -> None:
    """Make the folder, a mount of its own, the root; nothing of the old one stays."""
    number = _SYS_PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise OSError(0, f"pivot_root: unknown on {os.uname().machine}")
    os.chdir(folder)
    checked(system_call(number, b".", b"."), "pivot_root")  # pivot_root(2): the old root lies on top
    checked(_libc.umount2(b".", ctypes.c_int(MNT_DETACH)), "umount")
    os.chdir("/")


def _prctl(option: int, value: int, what: str) -> None:
    zero = ctypes.c_ulong(0)
    checked(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero), what)


def die_with_parent(signal: int) -> None:
    """Get the signal when the process that forked us ends."""
    _prctl(_PR_SET_PDEATHSIG, signal, "PR_SET_PDEATHSIG")


def hide_memory(*, hidden: bool = True) -> None:
    """Let nobody of the same user read this process: no /proc/PID/environ, no ptrace, no core file."""
    _prctl(_PR_SET_DUMPABLE, 0 if hidden else 1, "PR_SET_DUMPABLE")


def become_subreaper() -> None:
    """Be the parent of every orphan among our descendants."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, "PR_SET_CHILD_SUBREAPER")


def no_new_privileges() -> None:
    """From here on no program gives more rights: set-user-id bits and file capabilities are ignored."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, "PR_SET_NO_NEW_PRIVS")


def drop_capabilities() -> None:
    """Be root, if we are, in name only. With `no_new_privileges` no program brings them back."""
    header = struct.pack("=Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this thread
    checked(_libc.capset(header, bytes(24)), "capset")


def raise_loopback() -> None:
    """Switch the loopback interface on: in a new network namespace it is off."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        up = struct.pack("16sh14x", b"lo", 0x1 | 0x40)  # IFF_UP | IFF_RUNNING
        fcntl.ioctl(any_socket, 0x8914, up)  # SIOCSIFFLAGS


# --- what outlives a process ----------------------------------------------------------------------------------------


def new_session_keyring() -> None:
    """Have an empty keyring of our own, instead of the one that whoever started us shares with others."""
    number = _SYS_KEYCTL.get(os.uname().machine)
    if number is not None:
        checked(system_call(number, ctypes.c_ulong(1), None), "keyctl")  # KEYCTL_JOIN_SESSION_KEYRING


def remove_messages(user: int) -> None:
    """Remove the System V memory, queues and semaphores of a user who has no process any more."""
    for name, column, remove in (("shm", "shmid", _libc.shmctl), ("msg", "msqid", _libc.msgctl)):
        for number in _owned(name, column, user):
            remove(ctypes.c_int(number), ctypes.c_int(0), None)  # IPC_RMID
    for number in _owned("sem", "semid", user):
        _libc.semctl(ctypes.c_int(number), ctypes.c_int(0), ctypes.c_int(0))


def _owned(name: str, column: str, user: int) -> list[int]:
    try:
        with open(f"/proc/sysvipc/{name}", encoding="utf-8") as file:
            columns = file.readline().split()
            own, maker, number = (columns.index(word) for word in ("uid", "cuid", column))
            rows = [line.split() for line in file]
    except (OSError, ValueError):
        return []
    return [int(row[number]) for row in rows if str(user) in (row[own], row[maker])]
