"""Where what an agent left is judged: in a second workspace, with instruments that it could neither read nor change.

The agent works in a copy of the fixture without the files that judge. When it has ended, with all that it started, its
folder is copied out; what judges is put back as the case has it; and a fresh workspace is made of that, with no network
and nothing of the agent's HOME. Each command that judges begins there with a HOME and TMPDIR of its own, and with what
judges put back once more: a gate may run what the agent wrote, and that is no better than the agent.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalward.opening import read_inside
from evalward.records.base import clean_text
from evalward.sandbox.base import EndedCommand, FileType, NoWorkspaceError, SandboxError
from evalward.sandbox.process import Network, Workspace, WorkspaceSettings
from evalward.sandbox.process.places import Copier
from evalward.suites.old_place import lead_here, lead_nowhere
from evalward.suites.put_back import drop_bytecode, paths_of, put_back
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.instruments import Instruments, instruments_of
from evalward.suites.scenario.results_folder import ResultsFolder
from evalward.suites.scenario.scripts import ScriptContext

MIB = 1 << 20
NO_LIMIT = 1 << 62  # of a fixture, whose size the workspace bounds
WHOLE = ()  # nothing is left out: a repository in there is what setup and agent made of it
MOST_HOME_MB = 64  # that a setup may leave in HOME and the results folder
OVER = 2  # times the disk that the agent had may be found: it is ended only when it has used more
ROOM = 3  # times that disk, for what the agent left, what judges, and what is made of both
FRESH = (
    'own=$1; shift; HOME=$(mktemp -d "$TMPDIR/home.XXXXXXXX") && mkdir "$HOME.tmp" && TMPDIR=$HOME.tmp'
    ' && export HOME TMPDIR && tar -xf - -C "$HOME" && HOME=${own:-$HOME} && exec "$@" < /dev/null'
)
"""Starts a command with a HOME and TMPDIR of its own; in HOME is what the archive on standard input has. The first
word is the HOME that the case itself gives, if it does.
"""
NEUTRAL = {"PYTHONNOUSERSITE": "1"}


class UnreadableWorkError(SandboxError):
    """What an agent left can't be taken out of its workspace: its own doing."""


@dataclass
class StageFolder:
    """A folder of ours with the stages of a trial: what the agent is given, what judges, what the agent left.

    `incomplete`: why not all of that could be taken. `changed`: what judges and somebody else had changed. `earlier`:
    where the folder was before.
    """

    case: ScenarioCase
    settings: WorkspaceSettings
    place: Path
    instruments: Instruments = field(default_factory=Instruments)
    home: bytes = b""
    results: bytes = b""
    incomplete: str | None = None
    changed: list[str] = field(default_factory=list)
    earlier: list[Path] = field(default_factory=list)

    @property
    def most_mb(self) -> int:
        """How much an agent can leave."""
        limit = self.settings.limits.disk_mb
        return 1 << 20 if limit is None else limit * OVER // ROOM

    @property
    def original(self) -> Path:
        """The fixture as the case has it, with what the setup made of it."""
        return self.place / "the-original-with-what-judges"

    @property
    def left(self) -> Path:
        """What the agent left. The name is longer than a workspace's: what fits here fits there."""
        return self.place / "what-the-agent-left-behind-in-its-own-workspace"

    def shown(self, *, all_of_it: bool = False) -> Path:
        """The fixture as an agent is given it: the case's, or a copy without what judges. Blocking."""
        fixture = self.case.fixture
        hidden = frozenset() if all_of_it else instruments_of(self.case, paths_of(fixture), fixture).hidden
        if not hidden:
            return fixture
        given = self.place / "given"
        Copier(NO_LIMIT).copy(fixture, given)
        for path in hidden:
            (given / path).unlink(missing_ok=True)
        return given

    def remember(self, workspace: Workspace, results: ResultsFolder) -> None:
        """Keep what stands before the agent begins. Blocking. Raises `SandboxError`."""
        workspace.copy_to(self.original, self.most_mb, WHOLE)
        fixture = self.case.fixture
        for path in paths_of(fixture):
            there = self.original / path
            if not _is_there(there) and self._was_hidden(path):
                there.parent.mkdir(parents=True, exist_ok=True)
                _copy(fixture, path, there)
        self.instruments = instruments_of(self.case, paths_of(self.original), fixture)
        with workspace.ours():
            self.home = archived(workspace.home, self.place / "home")
            self.results = archived(results.path, self.place / "results")

    def _was_hidden(self, path: str) -> bool:
        given = self.place / "given"
        return given.exists() and not _is_there(given / path)

    def take(self, workspace: Workspace) -> list[str]:
        """Take out what stands in a workspace, and put back what judges: what of that had been changed.

        Blocking. Raises `UnreadableWorkError`.
        """
        try:
            if self.left.exists():
                shutil.rmtree(self.left)
            if workspace.copy_to(self.left, self.most_mb, WHOLE).full:
                self.incomplete = "what the agent left is more than twice the suite's limits.disk_mb"
            drop_bytecode(self.left)
            unseen = {path for path in self.instruments.hidden if not _is_there(self.left / path)}
            found = put_back(self.original, self.left, self.instruments.protects)
        except (SandboxError, OSError) as error:
            raise UnreadableWorkError(f"what the agent left can't be taken: {error}") from error
        self.changed = list(dict.fromkeys([*self.changed, *(clean_text(path) for path in found if path not in unseen)]))
        return found


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _copy(fixture: Path, path: str, there: Path) -> None:
    """A file of the fixture, or a link as it is."""
    source = fixture / path
    if source.is_symlink():
        there.symlink_to(source.readlink())
        return
    there.write_bytes(read_inside(fixture, path))
    there.chmod(stat.S_IMODE(source.lstat().st_mode) & 0o777 | 0o600)


def archived(folder: Path, copy: Path) -> bytes:
    """What is in a folder, as a tar file. Raises `SandboxError`."""
    try:
        Copier(MOST_HOME_MB * MIB).copy(folder, copy)
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path in sorted(copy.iterdir()):
                archive.add(path, path.name, filter=_nobodys)
        return packed.getvalue()
    except OSError as error:
        raise SandboxError(f"what the setup left in HOME can't be kept: {error.strerror or error}") from error


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def judges_settings(settings: WorkspaceSettings, network: Network = "none") -> WorkspaceSettings:
    """The walls around those who judge: no network unless the suite gives one, nothing of the agent's installation."""
    limits = settings.limits
    more = None if limits.disk_mb is None else limits.disk_mb * ROOM
    entries = None if limits.entries is None else limits.entries * ROOM
    return replace(settings, limits=replace(limits, disk_mb=more, entries=entries), network=network, readable=())


class JudgingRoom:
    """Where gates and scripts run, one after the other: see `evalward.suites.scenario.place.Workplace`.

    Files stay from one to the next; HOME, TMPDIR, processes, and changes of what judges do not.
    """

    def __init__(self, work: StageFolder, context: Callable[[Workspace, ResultsFolder], ScriptContext]) -> None:
        """`context`: what scripts are told, made anew for each: transcript and events are written again."""
        self._work, self._tell = work, context
        self._workspace: Workspace | None = None
        self._results: ResultsFolder | None = None
        self._used = False

    async def __aenter__(self) -> JudgingRoom:
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    @property
    def is_open(self) -> bool:
        """Whether there is a workspace."""
        return self._workspace is not None

    @property
    def workspace(self) -> Workspace:
        """The one of this moment. Raises `SandboxError` when the room is closed."""
        if self._workspace is None:
            raise SandboxError("there is no workspace to judge in")
        return self._workspace

    @property
    def folder(self) -> Path:
        """What the agent left, with what judges in it."""
        return self.workspace.folder

    async def run(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = ".",
        timeout_s: float | None = None,
    ) -> EndedCommand:
        """Run a command that judges, with what scripts are told now, whatever `env` has of places elsewhere."""
        if self._used:
            await self._cleaned()
        self._used = True
        context = self._context()
        words = ["sh", "-c", FRESH, "sh", context.tool_env.get("HOME", ""), *command]
        now = {**(env or {}), **context.env, **NEUTRAL}
        return await self.workspace.run(words, env=now, cwd=cwd, timeout_s=timeout_s, stdin=self._work.home)

    def read_file(self, path: str) -> bytes | None:
        """See `Workspace.read_file`."""
        return self.workspace.read_file(path)

    def file_type(self, path: str) -> FileType | None:
        """See `Workspace.file_type`."""
        return self.workspace.file_type(path)

    async def finished(self) -> None:
        """End what the last command left running, and put back what it changed of what judges."""
        if self._used:
            await self._cleaned()

    def _context(self) -> ScriptContext:
        assert self._results is not None  # noqa: S101 - an open room has one
        with self.workspace.ours():
            return self._tell(self.workspace, self._results)

    async def _cleaned(self) -> None:
        """Nothing that a command before has run, or has changed of what judges, is there any more."""
        work = self._work
        await self.workspace.end_processes()
        if not await asyncio.to_thread(work.take, self.workspace):
            return
        with contextlib.suppress(SandboxError):  # a program that a gate ran has spoiled it
            work.results = await asyncio.to_thread(self._kept_results)
        work.earlier.append(self.folder)
        await self._close()
        await self._open()

    def _kept_results(self) -> bytes:
        assert self._results is not None  # noqa: S101
        with tempfile.TemporaryDirectory(dir=self._work.place) as place, self.workspace.ours():
            return archived(self._results.path, Path(place) / "copy")

    async def _open(self) -> None:
        work = self._work
        try:
            self._workspace = await Workspace.create(work.left, work.settings, left_out=WHOLE)
        except SandboxError as error:
            raise NoWorkspaceError(str(error)) from error
        try:
            with self._workspace.ours():
                self._results = ResultsFolder(self._workspace.tmp)
            unpack = ["tar", "-xf", "-", "-C", str(self._results.path)]
            done = await self._workspace.run(unpack, stdin=work.results)
            if done.exit_code != 0:
                raise NoWorkspaceError(f"what the setup left can't be copied for the graders: {done.stderr[:200]}")
            await lead_here(self._workspace, work.earlier)
        except BaseException:
            await self._close()
            raise

    async def _close(self) -> None:
        workspace, self._workspace = self._workspace, None
        if workspace is not None:
            lead_nowhere(self._work.earlier)
            with contextlib.suppress(SandboxError):
                await workspace.end_processes()
            await workspace.close()
