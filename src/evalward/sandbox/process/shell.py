"""A real shell over a workspace: files live on from one script to the next, variables don't."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from evalward.sandbox.base import Execution, FileType
from evalward.sandbox.process.places import Copied
from evalward.sandbox.process.running import Finished
from evalward.sandbox.process.settings import WorkspaceSettings
from evalward.sandbox.process.workspace import Workspace

DEFAULT_SHELL = ("bash", "-c")


class ProcessShell:
    """See `evalward.sandbox.base.Shell`. Each script is one start of `[*shell, script]` in the workspace's folder."""

    def __init__(self, workspace: Workspace, timeout_s: float, shell: Sequence[str] = DEFAULT_SHELL) -> None:
        self.workspace, self._timeout_s, self._words = workspace, timeout_s, tuple(shell)

    @classmethod
    async def open(
        cls,
        files: Mapping[str, str],
        timeout_s: float,
        settings: WorkspaceSettings,
        shell: Sequence[str] = DEFAULT_SHELL,
    ) -> ProcessShell:
        """A shell in a workspace of its own with these files. Raises `SandboxError`."""
        content = {path: text.encode("utf-8", "replace") for path, text in files.items()}
        return cls(await Workspace.create(None, settings, extra_files=content), timeout_s, shell)

    async def run(self, script: str) -> Execution:
        """Run a script. Why it was ended, if it was, stands in `stderr`."""
        done = await self.workspace.run([*self._words, script], timeout_s=self._timeout_s)
        return Execution(done.stdout, done.stderr + self._note(done), done.exit_code, done.duration_ms)

    def _note(self, done: Finished) -> str:
        notes = []
        if done.timed_out:
            notes.append(f"ended after {self._timeout_s:g} s")
        if done.exceeded is not None:
            notes.append(f"ended: too much {done.exceeded}")
        if done.dropped_bytes:
            notes.append(f"{done.dropped_bytes} bytes of output dropped")
        before = "\n" if notes and done.stderr and not done.stderr.endswith("\n") else ""
        return before + "".join(f"{self._words[0]}: {note}\n" for note in notes)

    def file_type(self, path: str) -> FileType | None:
        """What is at the path; a relative one counts from the workspace's folder."""
        return self.workspace.file_type(path)

    def read_file(self, path: str) -> bytes | None:
        """The bytes of a regular file."""
        return self.workspace.read_file(path)

    @property
    def home(self) -> str:
        """What relative paths count from."""
        return str(self.workspace.folder)

    async def copy_out(self, files: Path, elsewhere: Path, most_mb: int) -> Copied:
        """Copy what the scripts left: the workspace's folder, and what lies at absolute paths. Processes are ended."""
        await self.workspace.end_processes()
        here = await asyncio.to_thread(self.workspace.copy_to, files, most_mb, ())
        there = await asyncio.to_thread(self.workspace.copy_placed_to, elsewhere, most_mb)
        return here + there

    async def lost(self) -> bool:
        """True when the sandbox itself has broken, by nothing that its scripts left."""
        return await self.workspace.lost()

    async def close(self) -> None:
        """End everything and remove the workspace."""
        await self.workspace.close()
