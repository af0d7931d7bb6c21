"""What happens between fork and exec: rights and limits are given up, then the command takes over."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import stat
from collections.abc import Sequence

from evalward.sandbox.launcher import kernel, seccomp, world
from evalward.sandbox.launcher.plan import Command, SandboxPlan

NOT_FOUND, NOT_STARTED, BROKEN = 127, 126, 125
UMASK = 0o022  # whatever ours is: the commands' user has to pass through what is made for it
_IGNORED_BY_PYTHON = ("SIGPIPE", "SIGXFSZ", "SIGXFZ")


def give_up_rights(plan: SandboxPlan) -> None:
    """Become the commands' user, for good, and see only what they may see. Raises `OSError`."""
    if plan.user is not None:
        os.setgroups([])
        os.setresgid(plan.user, plan.user, plan.user)
        os.setresuid(plan.user, plan.user, plan.user)
    if os.uname().sysname != "Linux":
        return
    with contextlib.suppress(OSError):  # where we may not, nor may the command
        kernel.new_session_keyring()
    kernel.no_new_privileges()
    kernel.drop_capabilities()
    if plan.landlock:
        world.lock(plan)
    if plan.filtered:
        seccomp.restrict(messages=plan.namespaces)


def become(command: Command, streams: Sequence[int], plan: SandboxPlan) -> int:
    """Turn into the command. Returns only when that failed, with the exit code; raises `OSError` when the sandbox did.

    What is wrong with the command is told on its standard error, as a shell would.
    """
    os.setsid()
    for target, source in enumerate(streams):
        os.dup2(source, target)
        if plan.user is not None and stat.S_ISFIFO(os.fstat(target).st_mode):
            with contextlib.suppress(OSError):
                os.fchown(target, plan.user, plan.user)  # else it could not open its own /dev/stdout
    _offer_to_the_kernel()
    for kind, value in command.limits:
        _limit(kind, value)
    for name in _IGNORED_BY_PYTHON:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.umask(UMASK)
    give_up_rights(plan)
    return _start(command, plan)


def _start(command: Command, plan: SandboxPlan) -> int:
    if plan.worker:
        from evalward.sandbox.worker import serve_all  # noqa: PLC0415 - it is loaded long since

        serve_all(0)
        return 0
    try:
        os.chdir(command.folder)
        os.execvpe(command.words[0], command.words, command.env)  # noqa: S606 - that is what the sandbox is for
    except FileNotFoundError:
        return _not_started(command, "not found", NOT_FOUND)
    except (OSError, ValueError) as error:
        return _not_started(command, getattr(error, "strerror", None) or str(error), NOT_STARTED)


def _not_started(command: Command, message: str, code: int) -> int:
    text = (
        f"{command.words[0]}: {message}\n" if os.path.isdir(command.folder) else f"{command.folder}: no such folder\n"
    )
    os.write(2, text.encode("utf-8", "replace"))
    return code


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (most, most))


def _offer_to_the_kernel() -> None:
    """When the machine runs out of memory, commands go first: never the run."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        return
