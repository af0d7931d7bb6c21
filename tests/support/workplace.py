"""A place for gates and scripts: a plain folder, and commands as ordinary child processes."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from evalward.sandbox.base import FileType


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0
    timed_out: bool = False


@dataclass
class FolderPlace:
    """Commands run for real, without any isolation; their process groups are ended after `timeout_s`."""

    folder: Path
    commands: list[str] = field(default_factory=list)

    async def run(
        self, command: Sequence[str], *, env: Mapping[str, str] = {}, cwd: str = ".", timeout_s: float | None = None
    ) -> Done:
        self.commands.append(command[-1])
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.folder / cwd,
            env={"PATH": os.environ["PATH"], **env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        reading = asyncio.ensure_future(process.communicate())
        _, late = await asyncio.wait([reading], timeout=timeout_s)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        out, err = await reading
        code = process.returncode
        return Done(
            out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), -1 if code is None else code, bool(late)
        )

    def read_file(self, path: str) -> bytes | None:
        file = self.folder / path
        return file.read_bytes() if file.is_file() else None

    def file_type(self, path: str) -> FileType | None:
        file = self.folder / path
        return "file" if file.is_file() else "directory" if file.is_dir() else None
