"""The system calls that Python has no functions for. Every one raises `OSError` when the kernel refuses."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Sequence

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

_SYS_MOUNT_SETATTR = 442  # this and the next three have one number on all machines
_SYS_LANDLOCK_CREATE, _SYS_LANDLOCK_ADD, _SYS_LANDLOCK_RESTRICT = 444, 445, 446
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Leave the namespaces that the flags name for new ones."""
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str | None = None) -> None:
    """Mount a file system, or bind a path."""
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    result = _libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    _checked(result, f"mount {target}")


def restrict_mount(target: str, *, recursive: bool = True) -> None:
    """Make a mount, and those below it, read-only and without set-user-id programs and devices."""
    attributes = struct.pack("=QQQQ", _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV, 0, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    arguments = (ctypes.c_int(_AT_FDCWD), os.fsencode(target), ctypes.c_uint(flags), attributes)
    _checked(
        _libc.syscall(ctypes.c_long(_SYS_MOUNT_SETATTR), *arguments, ctypes.c_size_t(len(attributes))), "mount_setattr"
    )


def pivot_root(folder: str) -> None:
    """Make the folder, a mount of its own, the root; nothing of the old one stays."""
    number = _SYS_PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise OSError(0, f"pivot_root: unknown on {os.uname().machine}")
    os.chdir(folder)
    _checked(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")  # pivot_root(2): the old root lies on top
    _checked(_libc.umount2(b".", ctypes.c_int(MNT_DETACH)), "umount")
    os.chdir("/")


def _prctl(option: int, value: int, what: str) -> None:
    zero = ctypes.c_ulong(0)
    _checked(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero), what)


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
    _checked(_libc.capset(header, bytes(24)), "capset")


def raise_loopback() -> None:
    """Switch the loopback interface on: in a new network namespace it is off."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        up = struct.pack("16sh14x", b"lo", 0x1 | 0x40)  # IFF_UP | IFF_RUNNING
        fcntl.ioctl(any_socket, 0x8914, up)  # SIOCSIFFLAGS


# --- Landlock: landlock(7) ------------------------------------------------------------------------------------------

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE  # all that a file can have
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_USING = _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE | _READ_DIR  # devices
_KNOWN_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # number of rights by version; later ones 16
_SCOPES = 1 | 2  # abstract unix sockets, signals
SIGNALS_SCOPED = 6  # the version that keeps signals inside


def landlock_version() -> int:
    """The kernel's version of Landlock, 0 where there is none."""
    result = int(_libc.syscall(ctypes.c_long(_SYS_LANDLOCK_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint(1)))
    return max(0, result)


def landlock(readable: Sequence[str], writable: Sequence[str], devices: Sequence[str]) -> None:
    """From here on only these files and folders can be opened; other processes can't be read, nor (from 6) signalled.

    Paths that don't exist are passed over. Needs `no_new_privileges`.
    """
    version = landlock_version()
    rights = (1 << _KNOWN_RIGHTS.get(version, 16)) - 1
    attributes = struct.pack("=QQQ", rights, 0, _SCOPES)[: 24 if version >= SIGNALS_SCOPED else 8]
    create = (ctypes.c_long(_SYS_LANDLOCK_CREATE), attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0))
    rules = _checked(_libc.syscall(*create), "landlock_create_ruleset")
    for paths, allowed in ((readable, _READING), (writable, rights), (devices, _USING)):
        for path in paths:
            _allow(rules, path, allowed & rights)
    restrict = (ctypes.c_long(_SYS_LANDLOCK_RESTRICT), ctypes.c_int(rules), ctypes.c_uint(0))
    _checked(_libc.syscall(*restrict), "landlock_restrict_self")
    os.close(rules)


def _allow(rules: int, path: str, allowed: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            allowed &= _FILE_RIGHTS
        rule = struct.pack("=Qi", allowed, handle)
        add = (ctypes.c_long(_SYS_LANDLOCK_ADD), ctypes.c_int(rules), ctypes.c_int(1), rule, ctypes.c_uint(0))
        _checked(_libc.syscall(*add), "landlock_add_rule")
    finally:
        os.close(handle)
