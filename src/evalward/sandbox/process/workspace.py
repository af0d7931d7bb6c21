"""A fresh copy of a fixture, the commands that run in it, and the end of all that they started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast

from evalward.records.base import clean_text
from evalward.sandbox.base import FileType, SandboxError
from evalward.sandbox.launcher import kernel
from evalward.sandbox.launcher.plan import SYSTEM, Command, SandboxPlan
from evalward.sandbox.process.client import LauncherClient
from evalward.sandbox.process.isolation import Isolation, refusal
from evalward.sandbox.process.places import LEFT_OUT, Copied, Copier, Places, read_all
from evalward.sandbox.process.probe import Layers, layers
from evalward.sandbox.process.runners import our_checkout, runners_secrets, runners_tools, runners_work
from evalward.sandbox.process.running import Finished, Handling, run_command
from evalward.sandbox.process.settings import MIB, WorkspaceSettings
from evalward.sandbox.process.temporary import new_folder, remove_ours
from evalward.sandbox.process.users import OwnUser, group_with, passwd_with, take_user

if TYPE_CHECKING:
    from evalward.sandbox.process.talking import LiveProgram

UNLIMITED = 1 << 62
WORK = "work"
"""The folder that commands work in, below a workspace's own."""


@dataclass(frozen=True)
class _Built:
    """What stands when a workspace is made."""

    base: Path
    user: OwnUser | None
    client: LauncherClient
    placed: Mapping[str, str]

    @property
    def borrowed(self) -> bool:
        """The files belong to the commands' user, and we are not one who may do everything."""
        return self.user is not None and os.geteuid() != 0

    def tear_down(self) -> None:
        if self.borrowed:
            with contextlib.suppress(SandboxError):  # then something is left, as when we are killed
                self.client.take()
        self.client.close()
        remove_ours(self.base)
        if self.user is not None:
            self.user.release()


@dataclass
class _Yard:
    """A workspace while it is made."""

    settings: WorkspaceSettings
    layers: Layers
    user: OwnUser | None
    base: Path
    placed: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.base / WORK

    def fill(self, fixture: Path | None, extra_files: Mapping[str, bytes], left_out: Collection[str]) -> None:
        for name in (WORK, "home", "tmp", "root", "etc", "placed"):
            (self.base / name).mkdir(mode=0o700)
        limit = self.settings.limits.disk_mb
        if fixture is not None:
            copied = Copier(UNLIMITED if limit is None else limit * MIB, left_out).copy(fixture, self.folder)
            if copied.full:
                raise SandboxError(f"the fixture {fixture} is larger than the workspace's {limit} MB")
        for path, content in extra_files.items():
            self._write(path, content)
        for name in ("root", "placed"):  # for every user, whatever our umask is
            _show_to_all(self.base / name)

    def _write(self, path: str, content: bytes) -> None:
        target = self._placed(path) if path.startswith("/") else self.folder / path
        parents = [place for place in target.parents if place.is_relative_to(self.base)]
        if ".." in target.parts or target == self.folder or any(p.is_symlink() for p in (*parents, target)):
            raise SandboxError(f"the file {path!r} would be written outside of the workspace")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    def _placed(self, path: str) -> Path:
        """Our path of an absolute one, which exists only where commands have a file system of their own."""
        top = "/" + path.split("/")[1]
        if top == "/tmp":  # noqa: S108 - the commands' own
            return self.base / "tmp" / path[5:]
        if not self.layers.namespaces:
            raise SandboxError(f"there can be no file {path!r} here: commands have no file system of their own")
        if top in {*SYSTEM, "/proc", "/dev", "/sys"} or path.count("/") < 2:
            raise SandboxError(f"there can be no file {path!r}: {top} belongs to the system")
        self.placed[top] = str(self.base / "placed" / top[1:])
        return self.base / "placed" / path[1:]

    def plan(self) -> SandboxPlan:
        settings, limits = self.settings, self.settings.limits
        readable = [str(path.resolve()) for path in (*runners_tools(), *settings.readable)]
        hidden = [str(path.resolve()) for path in (*settings.hidden, *runners_secrets())]
        hidden += [os.path.join(path, ".git") for path in readable]  # noqa: PTH118
        own = [str(self.base / name) for name in (WORK, "home", "tmp")]
        return SandboxPlan(
            root=str(self.base / "root"),
            folders=own,
            tmp=own[2],
            placed=self.placed,
            replaced=self._accounts(),
            readable=readable,
            hidden=hidden,
            covered=[str(path) for path in dict.fromkeys((*runners_work(), *our_checkout()))],
            user=None if self.user is None else self.user.number,
            namespaces=self.layers.namespaces,
            network=self.layers.network and settings.network != "open",
            landlock=self.layers.landlock,
            filtered=self.layers.filtered,
            bubblewrap=self.layers.bubblewrap,
            owner=os.geteuid(),
            memory_bytes=None if limits.memory_mb is None else limits.memory_mb * MIB,
            processes=limits.processes,
            disk_bytes=None if limits.disk_mb is None else limits.disk_mb * MIB,
            entries=limits.entries,
        )

    def _accounts(self) -> dict[str, str]:
        if self.user is None or not self.layers.namespaces:
            return {}
        passwd, group = self.base / "etc" / "passwd", self.base / "etc" / "group"
        passwd.write_text(passwd_with(self.user.number, self.base / "home"), "utf-8")
        group.write_text(group_with(self.user.number), "utf-8")
        _show_to_all(passwd.parent)
        pairs = {"/etc/passwd": str(passwd), "/etc/group": str(group)}
        return {path: ours for path, ours in pairs.items() if Path(path).exists()}


def _show_to_all(folder: Path) -> None:
    """Let every user read what we have made in a folder."""
    for here, _, names in os.walk(folder):
        Path(here).chmod(0o755)
        for name in names:
            Path(here, name).chmod(0o644)


def _build(
    fixture: Path | None, settings: WorkspaceSettings, extra_files: Mapping[str, bytes], left_out: Collection[str]
) -> _Built:
    """Blocking. Raises `SandboxError`, and then leaves nothing behind."""
    user: OwnUser | None = None
    base: Path | None = None
    try:
        found = layers()
        why_not = refusal(found.isolation(settings.network), settings, os.environ)
        if why_not is not None:
            raise SandboxError(why_not)
        user = take_user() if found.own_user else None
        if found.own_user and user is None:
            raise SandboxError("no user id is free for a workspace")
        base = new_folder("work", settings.place)
        yard = _Yard(settings, found, user, base)
        yard.fill(fixture, extra_files, left_out)
        client = LauncherClient(yard.plan())
        try:
            if user is not None:
                base.chmod(0o711)
                client.give()
        except BaseException:
            client.close()
            raise
        return _Built(base, user, client, yard.placed)
    except BaseException as error:
        if base is not None:
            remove_ours(base)
        if user is not None:
            user.release()
        if isinstance(error, OSError):
            where = settings.place or tempfile.gettempdir()
            raise SandboxError(f"a workspace could not be made in {where}: {error.strerror or error}") from error
        raise


def hide_ourselves() -> None:
    """Let no process of our own user read our memory and environment, where keys may be."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            kernel.hide_memory()


class Workspace:
    """A folder of its own for commands of a model, a private HOME beside it, and walls around them.

    Commands may run at the same time. What they leave running goes on until `end_processes`, a time-out, an exceeded
    limit or `close`. After `close`, which may be called again, nothing of the workspace runs or exists any more.
    """

    def __init__(self, built: _Built, settings: WorkspaceSettings, isolation: Isolation) -> None:
        """See `create`."""
        self.folder, self.home, self.tmp = (built.base / name for name in (WORK, "home", "tmp"))
        self.isolation, self.settings = isolation, settings
        self._built, self._closed = built, False
        own = {str(path): path for path in (self.folder, self.home, self.tmp)}
        placed = {path: Path(ours) for path, ours in built.placed.items()}
        open_for_us = built.client.open if built.borrowed else None
        self._places = Places(self.folder, {"/tmp": self.tmp, **own, **placed}, open_for_us)  # noqa: S108 - their own
        self._env = {"PATH": settings.path, "HOME": str(self.home), "TMPDIR": str(self.tmp), "LANG": "C.UTF-8"}
        self._limits = settings.limits.resource_limits(processes=isolation.processes)

    @classmethod
    async def create(
        cls,
        fixture: Path | None,
        settings: WorkspaceSettings,
        *,
        extra_files: Mapping[str, bytes] | None = None,
        left_out: Collection[str] = LEFT_OUT,
    ) -> Self:
        """Copy the fixture (links as links, special files left out) and build the walls.

        `left_out` is copied from nowhere: git keeps credentials in `.git`. `extra_files`: relative path → content; an
        absolute path needs a mount namespace. Raises `SandboxError`.
        """
        hide_ourselves()
        # A future and no task: whoever ends a loop cancels all of its tasks, and a thread goes on all the same.
        building = asyncio.get_running_loop().run_in_executor(
            None, _build, fixture, settings, extra_files or {}, left_out
        )
        try:
            built = await asyncio.shield(building)
        except asyncio.CancelledError:
            with contextlib.suppress(SandboxError):
                (await building).tear_down()
            raise
        return cls(built, settings, layers().isolation(settings.network))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def run(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = ".",
        timeout_s: float | None = None,
        grace_s: float = 0,
        stdin: bytes | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Finished:
        """Run a command. Its environment is PATH, HOME, TMPDIR, LANG and `env`; nothing of ours.

        After `timeout_s` it gets SIGTERM if there is a `grace_s`, and then everything in the workspace is ended.
        `on_line` hears each line of standard output as it comes. Raises `SandboxError` when the sandbox breaks.
        """
        limits = self.settings.limits
        time_limit = limits.wall_s if timeout_s is None else timeout_s
        handling = Handling(time_limit, grace_s, limits.output_bytes, stdin, on_line)
        return await run_command(self._client, self._command(command, env, cwd), handling)

    async def start(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str = ".", line_bytes: int
    ) -> LiveProgram:
        """Start a program to talk with, whose lines may have `line_bytes`; its environment is as for `run`.

        Raises `SandboxError` when the sandbox breaks.
        """
        from evalward.sandbox.process.talking import LiveProgram  # noqa: PLC0415 - few workspaces have one

        return await LiveProgram.start(self._client, self._command(command, env, cwd), line_bytes)

    def _command(self, words: Sequence[str], env: Mapping[str, str] | None, cwd: str) -> Command:
        return Command(
            words=[clean_text(word) for word in words],
            env={clean_text(name): clean_text(value) for name, value in (self._env | dict(env or {})).items()},
            folder=str(self.folder / cwd),
            limits=self._limits,
        )

    async def listener(self) -> socket.socket:
        """A socket that listens on 127.0.0.1 where the commands are: theirs to connect to, ours to accept on."""
        client = self._client
        if self.isolation.network == "open":
            return socket.create_server(("127.0.0.1", 0))
        return await asyncio.to_thread(client.listen)

    async def end_processes(self) -> None:
        """End whatever still runs in the workspace; its files stay."""
        await asyncio.to_thread(self._client.end_all)

    def file_type(self, path: str) -> FileType | None:
        """What is at a path as the commands see it; `None` for nothing, and for whatever isn't theirs."""
        with self._places.opened(path) as found:
            return None if found is None else cast("FileType", found.kind)

    def read_file(self, path: str) -> bytes | None:
        """The bytes of a regular file of theirs. No link leads out of the workspace."""
        with self._places.opened(path) as found:
            if found is None or found.kind != "file" or found.descriptor is None:
                return None
            return read_all(found.descriptor)

    @contextlib.contextmanager
    def ours(self) -> Iterator[None]:
        """As long as this lasts folder, HOME and temporary files are open to us, to be read and written by their paths.

        Blocking. Where they are another user's, or locked, all processes are ended for it. Not to be nested.
        """
        if not self._built.borrowed and os.access(self.folder, os.R_OK | os.X_OK):
            yield
            return
        self._client.take()
        try:
            yield
        finally:
            self._client.give()

    def copy_to(self, folder: Path, limit_mb: int, left_out: Collection[str] = LEFT_OUT) -> Copied:
        """Copy the fixture as it is now: links as links; what is special, too much, or closed left out.

        Blocking. Where the files are another user's, or locked, all processes are ended for it. Raises `SandboxError`
        when it can't be written.
        """
        try:
            with self.ours():
                return Copier(limit_mb * MIB, left_out, lenient=True).copy(self.folder, folder)
        except OSError as error:
            raise SandboxError(f"the workspace could not be copied to {folder}: {error.strerror or error}") from error

    def copy_placed_to(self, folder: Path, limit_mb: int) -> Copied:
        """Copy what lies at absolute paths of the commands' own, /tmp among them, below a folder. As `copy_to`."""
        copier = Copier(limit_mb * MIB, (), lenient=True)
        placed = {path.lstrip("/"): Path(ours) for path, ours in self._built.placed.items()}
        try:
            with self.ours():
                copied = [copier.copy(ours, folder / path) for path, ours in {**placed, "tmp": self.tmp}.items()]
                return copied[-1]
        except OSError as error:
            raise SandboxError(f"the workspace could not be copied to {folder}: {error.strerror or error}") from error

    async def lost(self) -> bool:
        """True when the sandbox itself has broken, by nothing that its commands left: its launcher was killed."""
        return not self._closed and await asyncio.to_thread(self._built.client.lost)

    async def close(self) -> None:
        """End all processes and remove everything."""
        if self._closed:
            return
        self._closed = True
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, self._built.tear_down))

    @property
    def _client(self) -> LauncherClient:
        if self._closed:
            raise SandboxError("the workspace is closed")
        return self._built.client
