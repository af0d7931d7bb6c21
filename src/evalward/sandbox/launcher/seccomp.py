"""A filter of system calls that no command of ours needs and that have opened many a sandbox.

libseccomp, the well-kept library for this, is a shared library that small images lack; what we need of it is a list of
numbers and some thirty lines. The filter is a program for the kernel's packet filter machine: seccomp(2), bpf(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from typing import NamedTuple

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER, _MACHINE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24  # places in `struct seccomp_data`
_X32 = 0x40000000

_CLONE_NEWUSER = 0x10000000
_INJECT, _CONSOLE = 0x5412, 0x541C  # ioctl: TIOCSTI types into a terminal, TIOCLINUX pastes into the console
_AF_ALG, _AF_VSOCK = 38, 40  # VSOCK reaches the machine's host from every network namespace
_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)  # that don't weaken a program; the last one only asks

# name: number on x86_64, on aarch64. `None`: there is no such call.
DENIED: dict[str, tuple[int | None, int | None]] = {
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # keys, which are told by user and session
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # large parts of the kernel that are hard to bound
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "open_by_handle_at": (304, 265),
    "lookup_dcookie": (212, 18),
    "syslog": (103, 116),
    # what is mounted, and other namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "setns": (308, 268),
    # the machine
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, None),
    "ioperm": (173, None),
    "vhangup": (153, 58),
    "uselib": (134, None),
    "nfsservctl": (180, 42),
}
MESSAGES: dict[str, tuple[int | None, int | None]] = {
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
}
"""What outlives its maker, and is shared with everybody in the same namespace."""


class _Machine(NamedTuple):
    """How calls are numbered on a machine; `column` of the tables above."""

    audit: int
    column: int
    clone: int
    clone3: int
    unshare: int
    ioctl: int
    socket: int
    personality: int
    fallocate: int


_MACHINES = {
    "x86_64": _Machine(
        0xC000003E, 0, clone=56, clone3=435, unshare=272, ioctl=16, socket=41, personality=135, fallocate=285
    ),
    "aarch64": _Machine(
        0xC00000B7, 1, clone=220, clone3=435, unshare=97, ioctl=29, socket=198, personality=92, fallocate=47
    ),
}


def available() -> bool:
    """Does the kernel take filters, and do we know this machine's numbers?"""
    if os.uname().sysname != "Linux" or os.uname().machine not in _MACHINES:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), None, ctypes.c_ulong(0), ctypes.c_ulong(0))
    return ctypes.get_errno() == errno.EFAULT  # it would have taken one, had we given it


def program(machine: str, *, messages: bool) -> bytes:
    """The filter. `messages`: commands have System V memory, semaphores and queues of their own, and may use them."""
    own = _MACHINES[machine]
    lines = [_load(_MACHINE), *_unless_equal(own.audit, errno.ENOSYS), _load(_NUMBER)]
    if machine == "x86_64":
        lines += [_jump(_AT_LEAST, _X32, 0, 1), _refuse(errno.ENOSYS)]
    lines += _if_equal(own.clone3, errno.ENOSYS)  # its flags are out of our sight; libc then takes `clone`
    lines += _if_equal(own.fallocate, errno.EOPNOTSUPP)  # a whole disk at once; libc then writes, which takes its time
    for call in (*DENIED.values(), *(() if messages else MESSAGES.values())):
        number = call[own.column]
        if number is not None:
            lines += _if_equal(number, errno.EPERM)
    for number in (own.clone, own.unshare):
        lines += _when(number, [_load(_FIRST_ARGUMENT), _jump(_ANY_BIT, _CLONE_NEWUSER, 0, 1), _refuse(errno.EPERM)])
    asked = [*_if_equal(_INJECT, errno.EPERM), *_if_equal(_CONSOLE, errno.EPERM)]
    lines += _when(own.ioctl, [_load(_SECOND_ARGUMENT), *asked])
    families = [*_if_equal(_AF_VSOCK, errno.EAFNOSUPPORT), *_if_equal(_AF_ALG, errno.EAFNOSUPPORT)]
    lines += _when(own.socket, [_load(_FIRST_ARGUMENT), *families])
    harmless = [line for value in _PERSONALITIES for line in (_jump(_EQUAL, value, 0, 1), _give(_ALLOW))]
    lines += _when(own.personality, [_load(_FIRST_ARGUMENT), *harmless, _refuse(errno.EPERM)])
    return b"".join([*lines, _give(_ALLOW)])


def restrict(*, messages: bool) -> None:
    """Install the filter, for good. Needs `no_new_privileges`. Raises `OSError`."""
    code = program(os.uname().machine, messages=messages)
    held = ctypes.create_string_buffer(code, len(code))
    asked = struct.pack("@HP", len(code) // 8, ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), asked, zero, zero) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


# --- instructions: an operation, what to skip when it holds and when it doesn't, and a value -------------------------


def _jump(operation: int, value: int, if_so: int, if_not: int) -> bytes:
    return struct.pack("=HBBI", operation, if_so, if_not, value)


def _load(place: int) -> bytes:
    return _jump(_LOAD, place, 0, 0)


def _give(answer: int) -> bytes:
    return _jump(_RETURN, answer, 0, 0)


def _refuse(error: int) -> bytes:
    return _give(_ERROR | error)


def _if_equal(value: int, error: int) -> list[bytes]:
    return [_jump(_EQUAL, value, 0, 1), _refuse(error)]


def _unless_equal(value: int, error: int) -> list[bytes]:
    return [_jump(_EQUAL, value, 1, 0), _refuse(error)]


def _when(number: int, lines: list[bytes]) -> list[bytes]:
    """Lines for one call only; when none of them answers it is allowed."""
    inner = [*lines, _give(_ALLOW)]
    return [_jump(_EQUAL, number, 0, len(inner)), *inner]
