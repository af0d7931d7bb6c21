"""What a command sees: a file system of its own where the kernel lets us build one, else a list of what it may open."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Iterator

from evalward.sandbox.launcher import kernel, landlock
from evalward.sandbox.launcher.plan import DEVICES, SYSTEM, SandboxPlan

SHARED_MEMORY = 256  # MiB in /dev/shm
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def leave_user_namespace() -> None:
    """Enter a user namespace in which we are who we were, but may build the others."""
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.CLONE_NEWUSER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def build(plan: SandboxPlan) -> None:
    """Build the new root and move into it. Our mount namespace has to be a new one, and so our process namespace."""
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    root = plan.root if _is_ours(plan) else "/sys"  # in our own namespace: nobody else can put a link in its place
    kernel.mount("tmpfs", root, "tmpfs", flags, "size=1m,mode=755")
    inside = _Root(root)
    for folder in SYSTEM:
        inside.show_system(folder)
    covers = [path for path in plan.covered if inside.cover(path)]
    for path, source in plan.replaced.items():
        inside.bind(source, path, plan, read_only=True)
    inside.devices()
    inside.processes()
    _bound_shared_memory()
    inside.bind(plan.tmp, "/tmp", plan)  # noqa: S108 - the command's own, see the plan
    inside.show_resolver()
    for folder in plan.folders:
        inside.bind(folder, folder, plan)
    for path in plan.readable:
        with contextlib.suppress(FileNotFoundError):  # gone since the plan was made: nothing to show
            inside.bind(path, path, plan, read_only=True)
    for path, source in plan.placed.items():
        inside.bind(source, path, plan)
    for path in plan.hidden:
        inside.hide(path)
    for path in covers:
        kernel.restrict_mount(inside.at(path), recursive=False)
    inside.link("/tmp", "/var/tmp")  # noqa: S108 - last: nothing shall be built through it
    kernel.restrict_mount(root, recursive=False)
    kernel.pivot_root(root)


def _is_ours(plan: SandboxPlan) -> bool:
    """Whether we made this plan. Else its owner did, who has fewer rights than we."""
    return plan.owner in {None, os.geteuid()}


@contextlib.contextmanager
def _source(path: str, plan: SandboxPlan | None, *, read_only: bool) -> Iterator[str]:
    """A name of what a plan wants to be seen: something that its owner reaches, and to be written to only his own.

    It is opened once, as the owner: whatever he puts there afterwards, this is what is mounted.
    """
    if plan is None or plan.owner is None or _is_ours(plan):
        yield path
        return
    with _as_user(plan.owner):
        here = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not read_only and os.fstat(here).st_uid != plan.owner:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), path)
        yield f"/proc/self/fd/{here}"
    finally:
        os.close(here)


@contextlib.contextmanager
def _as_user(user: int) -> Iterator[None]:
    """With the rights of a user. We have one thread."""
    groups, group = os.getgroups(), os.getegid()
    os.setgroups([])
    os.setegid(user)
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(groups)
        kernel.hide_memory()  # whoever changes users loses this,
        kernel.die_with_parent(signal.SIGKILL)  # and this


def _bound_shared_memory() -> None:
    """Of our own namespace. System V memory belongs to no process, so nothing else counts it."""
    with contextlib.suppress(OSError):  # some kernels let only the machine's root say this
        _write("/proc/sys/kernel/shmall", str((SHARED_MEMORY << 20) // os.sysconf("SC_PAGE_SIZE")))


class _Root:
    """The new root while it is built."""

    def __init__(self, root: str) -> None:
        self.root = root

    def at(self, path: str) -> str:
        return self.root + path

    def show_system(self, folder: str) -> None:
        if os.path.islink(folder):
            os.symlink(os.readlink(folder), self.at(folder))
        elif os.path.isdir(folder):
            self.bind(folder, folder, read_only=True)

    def bind(self, source: str, path: str, plan: SandboxPlan | None = None, *, read_only: bool = False) -> None:
        """Show a file or folder at a path of the sandbox: one of ours, or one that the plan names. Raises `OSError`."""
        target = self.at(path)
        with _source(source, plan, read_only=read_only) as found:
            if not os.path.exists(found):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), source)
            if not os.path.exists(target):
                self._make(path, is_folder=os.path.isdir(found))
            kernel.mount(found, target, flags=kernel.MS_BIND | (kernel.MS_REC if read_only else 0))
        if read_only:
            kernel.restrict_mount(target)

    def _make(self, path: str, *, is_folder: bool) -> None:
        """Make an empty place, name by name: a link in a folder that is shown already would lead out of the root."""
        *folders, last = [name for name in path.split("/") if name]
        if {".", ".."} & {*folders, last}:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), path)
        here = os.open(self.root, _FOLDER)
        try:
            for name in [*folders, last] if is_folder else folders:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=here)
                below = os.open(name, _FOLDER, dir_fd=here)
                os.close(here)
                here = below
            if not is_folder:
                flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
                os.close(os.open(last, flags, 0o644, dir_fd=here))
        finally:
            os.close(here)

    def link(self, target: str, path: str) -> None:
        """A symbolic link, unless something is there."""
        if not os.path.lexists(self.at(path)):
            os.makedirs(os.path.dirname(self.at(path)), exist_ok=True)
            os.symlink(target, self.at(path))

    def cover(self, path: str) -> bool:
        """Lay an empty folder over one, in which others can still be shown; whether there was one."""
        target = self.at(path)
        if os.path.islink(target) or not os.path.isdir(target):
            return False
        kernel.mount("tmpfs", target, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=64k,mode=755")
        return True

    def hide(self, path: str) -> None:
        """Lay something empty over a path, if it is there at all."""
        target = self.at(path)
        if os.path.islink(target) or not os.path.exists(target):
            return
        if os.path.isdir(target):
            kernel.mount("tmpfs", target, "tmpfs", kernel.MS_RDONLY | kernel.MS_NOSUID, "size=4k,mode=555")
        else:
            kernel.mount("/dev/null", target, flags=kernel.MS_BIND)

    def devices(self) -> None:
        folder = self.at("/dev")
        os.makedirs(folder + "/shm")
        os.makedirs(folder + "/pts")
        for name in DEVICES:
            if os.path.exists(f"/dev/{name}"):
                self._make(f"/dev/{name}", is_folder=False)
                kernel.mount(f"/dev/{name}", f"{folder}/{name}", flags=kernel.MS_BIND)
        for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
            os.symlink("/proc/self/fd" + target, f"{folder}/{name}")
        flags = kernel.MS_NOSUID | kernel.MS_NODEV
        kernel.mount("tmpfs", folder + "/shm", "tmpfs", flags, f"size={SHARED_MEMORY}m,mode=1777")
        try:
            kernel.mount("devpts", folder + "/pts", "devpts", kernel.MS_NOSUID, "newinstance,ptmxmode=0666,mode=620")
            os.symlink("pts/ptmx", folder + "/ptmx")
        except OSError:
            return  # a kernel without pseudo terminals: commands do without

    def processes(self) -> None:
        os.makedirs(self.at("/proc"))
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        kernel.mount("proc", self.at("/proc"), "proc", flags)

    def show_resolver(self) -> None:
        """/etc/resolv.conf is often a link to a file outside of /etc."""
        real = os.path.realpath("/etc/resolv.conf")
        if os.path.isfile(real) and not any(real.startswith(folder + "/") for folder in SYSTEM):
            self.bind(real, real, read_only=True)


def lock(plan: SandboxPlan) -> None:
    """From here on this process opens only what the plan names; with a mount namespace, that is all that there is."""
    if plan.namespaces:
        landlock.write_only([*plan.folders, *plan.placed, "/tmp", "/dev"])  # noqa: S108 - the command's own
        return
    readable = ["/proc", "/sys/devices/system/cpu", *_without([*SYSTEM], [*plan.hidden, *plan.covered])]
    readable += _without(plan.readable, plan.hidden)
    real = os.path.realpath("/etc/resolv.conf")
    landlock.open_only([*readable, real], plan.folders, ["/dev/fd", *(f"/dev/{name}" for name in DEVICES)])


def _without(paths: list[str], hidden: list[str]) -> Iterator[str]:
    """The paths; a folder that holds something hidden is taken apart. Landlock only allows, it can't except."""
    for path in paths:
        if path in hidden:
            continue
        if os.path.isfile(path) or not any(entry.startswith(path.rstrip("/") + "/") for entry in hidden):
            yield path
        elif os.path.isdir(path):
            with contextlib.suppress(PermissionError):  # then nobody reads anything there
                yield from _without([os.path.join(path, name) for name in os.listdir(path)], hidden)
