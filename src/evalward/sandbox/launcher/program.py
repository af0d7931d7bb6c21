"""Builds the sandbox that it is told to, says whether that worked, and serves it."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys

from evalward.sandbox.launcher import cgroups, kernel, landlock, world
from evalward.sandbox.launcher.cgroups import Group
from evalward.sandbox.launcher.child import UMASK, give_up_rights
from evalward.sandbox.launcher.plan import OWN_USERS, SandboxPlan, load_plan
from evalward.sandbox.launcher.serve import LauncherServer, read_line, say


def main() -> None:
    """The arguments: number of the control socket, whose lines are plans; perhaps a user; our modules' folders.

    The user is who asks, and has fewer rights than we: what is asked can't lead to more.
    """
    os.umask(UMASK)
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)  # a command that had it could ask for anything
    while (line := read_line(control)) and _waits_after(control, load_plan(line)):
        pass


def _waits_after(control: socket.socket, plan: SandboxPlan) -> bool:
    """Build and serve. Whether it was refused before anything was changed: then there may be another plan."""
    if len(sys.argv) > 3:
        if plan.user not in OWN_USERS:
            say(control, error="commands need a user id of their own here", number=errno.EPERM)
            return False
        plan = plan._replace(owner=int(sys.argv[2]), bubblewrap=None)
    if plan.bubblewrap is not None:
        _wrap(control, plan)
        return False
    if plan.worker:
        import evalward.sandbox.worker  # noqa: PLC0415, F401 - now: behind the walls its files may be out of reach
    try:
        _prepare(plan)
    except OSError as error:
        unchanged = os.geteuid() == 0  # one call was refused; others than root have entered a user namespace by then
        say(control, error=str(error.strerror or error), number=error.errno, waits=unchanged)
        return unchanged
    group = cgroups.make(plan.memory_bytes, plan.processes) if plan.memory_bytes or plan.processes else None
    try:
        if plan.namespaces:
            _wait_for_first_process(control, plan, group)
        else:
            _serve(control, plan, group)
    finally:
        if group is not None:
            group.end()
            group.remove()
    return False


def _wrap(control: socket.socket, plan: SandboxPlan) -> None:
    """Let bubblewrap build the namespaces; the launcher in them goes on from `inside`."""
    from evalward.sandbox.launcher import bubblewrap  # noqa: PLC0415 - every other launcher starts sooner without

    kernel.hide_memory()
    plan_file = os.memfd_create("plan")
    os.write(plan_file, plan.dump())
    os.lseek(plan_file, 0, os.SEEK_SET)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        for descriptor in (plan_file, control.fileno()):
            os.set_inheritable(descriptor, True)
        os.dup2(write, 2)
        words = bubblewrap.words(plan, control.fileno(), plan_file, sys.argv[-1])
        os.execve(words[0], words, {})  # noqa: S606 - the system's own
    os.close(write)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        why = os.read(read, 1 << 12).decode("utf-8", "replace").strip()
        say(control, error=why or "bubblewrap failed", number=errno.EPERM)


def inside() -> None:
    """The launcher behind bubblewrap's walls. Arguments: the control socket, a file with the plan, our folders."""
    os.umask(UMASK)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel.hide_memory()
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    with os.fdopen(int(sys.argv[2]), "rb") as file:
        plan = load_plan(file.read())
    os.close(2)
    os.dup2(os.open(os.devnull, os.O_RDWR), 2)
    if plan.worker:
        import evalward.sandbox.worker  # noqa: PLC0415, F401
    _serve(control, plan, None)
    os._exit(0)


def _prepare(plan: SandboxPlan) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the run's business: it ends us by closing
    if sys.platform != "linux":
        return
    kernel.hide_memory()
    if plan.namespaces:
        if os.geteuid() != 0:
            _leave_user_namespace()
        network = kernel.CLONE_NEWNET if plan.network else 0
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC | network)
    else:
        kernel.become_subreaper()


def _leave_user_namespace() -> None:
    # The kernel gives the files in /proc/self to root while a process hides its memory, and we must write two of them.
    kernel.hide_memory(hidden=False)
    world.leave_user_namespace()
    kernel.hide_memory()


def _wait_for_first_process(control: socket.socket, plan: SandboxPlan, group: Group | None) -> None:
    """The first child after `unshare` is the first process of the namespace: when it ends, all in it end."""
    child = os.fork()
    if child != 0:
        control.close()
        os.waitpid(child, 0)
        return
    kernel.die_with_parent(signal.SIGKILL)
    _serve(control, plan, group)
    os._exit(0)


def _serve(control: socket.socket, plan: SandboxPlan, group: Group | None) -> None:
    try:
        if plan.namespaces and plan.bubblewrap is None:
            world.build(plan)
            if plan.network:
                kernel.raise_loopback()
        if plan.namespaces and plan.landlock:
            kernel.no_new_privileges()
            landlock.stay_inside()
        _try(plan)
    except OSError as error:
        say(control, error=str(error.strerror or error), number=error.errno)
        return
    say(control, ok=True)
    LauncherServer(control, plan, group).serve()


def _try(plan: SandboxPlan) -> None:
    """Can a command give up its rights at all? Better to know before there is one."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            give_up_rights(plan)
            code = 0
        except OSError as error:
            code = error.errno or 1
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        os._exit(1)  # somebody killed it, which says nothing about the machine
    if code != 0:
        raise OSError(code, f"giving up rights: {os.strerror(abs(code))}")
