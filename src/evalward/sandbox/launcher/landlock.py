"""Landlock, landlock(7): a process gives up for good what it may open, and to whom it may speak."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable, Sequence

from evalward.sandbox.launcher.kernel import checked, system_call

_SYS_CREATE, _SYS_ADD, _SYS_RESTRICT = 444, 445, 446  # one number on all machines

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE  # all that a file can have
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_USING = _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE | _READ_DIR  # devices
_KNOWN_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # number of rights by version; later ones 16
_SCOPES = 1 | 2  # abstract unix sockets, signals
SCOPED = 6  # the version that keeps signals and abstract sockets inside

_Rules = Iterable[tuple[Sequence[str], int]]


def version() -> int:
    """The kernel's version of Landlock, 0 where there is none."""
    return max(0, system_call(_SYS_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1)))


def open_only(readable: Sequence[str], writable: Sequence[str], devices: Sequence[str]) -> None:
    """From here on only these files and folders can be opened; other processes can't be read, nor (from 6) signalled.

    Paths that don't exist are passed over. Needs `no_new_privileges`.
    """
    found = version()
    rights = (1 << _KNOWN_RIGHTS.get(found, 16)) - 1
    _restrict(rights, _SCOPES if found >= SCOPED else 0, ((readable, _READING), (writable, rights), (devices, _USING)))


def write_only(writable: Sequence[str]) -> None:
    """From here on files are opened for writing only in these folders: not in /proc, where a process is told of."""
    rights = _WRITE_FILE | (_REFER if version() > 1 else 0)
    _restrict(rights, 0, ((writable, rights),))


def stay_inside() -> None:
    """From here on we, and all that we start, signal and speak by abstract socket only with each other."""
    _restrict(0, _SCOPES, ())


def _restrict(rights: int, scopes: int, allowed: _Rules) -> None:
    attributes = struct.pack("=QQQ", rights, 0, scopes)[: 24 if scopes else 8]
    create = (attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0))
    rules = checked(system_call(_SYS_CREATE, *create), "landlock_create_ruleset")
    try:
        for paths, access in allowed:
            for path in paths:
                _allow(rules, path, access & rights)
        restrict = (ctypes.c_int(rules), ctypes.c_uint(0))
        checked(system_call(_SYS_RESTRICT, *restrict), "landlock_restrict_self")
    finally:
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
        add = (ctypes.c_int(rules), ctypes.c_int(1), rule, ctypes.c_uint(0))
        checked(system_call(_SYS_ADD, *add), "landlock_add_rule")
    finally:
        os.close(handle)
