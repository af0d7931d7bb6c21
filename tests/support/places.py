"""A place without isolation for tests of agents: a folder, a HOME, and processes that end with their group."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Finished:
    stdout: str
    stderr: str
    exit_code: int
    timed_out: bool
    duration_ms: int
    dropped_bytes: int = 0
    exceeded: Literal["memory", "disk"] | None = None


@dataclass(frozen=True)
class FolderPlace:
    """`made` below a temporary folder of the test."""

    folder: Path
    home: Path

    @classmethod
    def made(cls, below: Path) -> FolderPlace:
        place = cls(below / "work", below / "home")
        place.folder.mkdir(parents=True)
        place.home.mkdir()
        return place

    @property
    def tmp(self) -> Path:
        return self.home

    def read_file(self, path: str) -> bytes | None:
        file = Path(path)
        return file.read_bytes() if file.is_file() and not file.is_symlink() else None

    async def run(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] = {},
        cwd: str = ".",
        timeout_s: float | None = None,
        stdin: bytes | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Finished:
        started = time.monotonic()
        own = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.home), "LANG": "C.UTF-8"}
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.folder / cwd,
            env={**own, **env},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        late = asyncio.get_running_loop().call_later(timeout_s or 3600, _kill, process.pid)
        out, err = await process.communicate(stdin or b"")
        timed_out = late.when() <= asyncio.get_running_loop().time()
        late.cancel()
        _kill(process.pid)
        code = process.returncode or 0
        took = round((time.monotonic() - started) * 1000)
        text = [data.decode("utf-8", "replace") for data in (out, err)]
        return Finished(text[0], text[1], code if code >= 0 else 128 - code, timed_out, took)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
