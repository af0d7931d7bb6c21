"""The virtual interpreter: bashkit, in this process, on a file system that exists only in memory."""

from __future__ import annotations

import asyncio
import posixpath
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from evalward.records.base import clean_text
from evalward.sandbox.base import Execution, FileType, SandboxError

HOME = "/home/eval"
USER = "eval"
HOST = "bashkit-eval"

MAX_COMMANDS = 10_000
MAX_LOOP_ITERATIONS = 10_000
MAX_MEMORY = 64 * 1024 * 1024  # bytes of files
FILE_LIMITS = "a file may have 10 MB, a name 255 bytes, a case 10,000 files"
KERNEL_FOLDERS = {"/dev", "/proc", "/sys"}
GRACE_S = 5.0  # bashkit ends a script itself at its time limit; only if it doesn't do we


@cache
def bashkit_version() -> str:
    """The version of the interpreter, part of the subject of every run that uses it."""
    from importlib.metadata import version  # noqa: PLC0415 - only when a sandbox is used

    return version("bashkit")


class VirtualShell:
    """One bashkit interpreter: user `eval`, host `bashkit-eval`, no network, bounded time, loops, output and files."""

    def __init__(self, files: Mapping[str, str], timeout_s: float) -> None:
        """Start with these files (absolute path: text); each script may take `timeout_s` seconds."""
        from bashkit import Bash  # noqa: PLC0415 - loaded when the first shell is made

        self._timeout_s = timeout_s
        try:
            self._bash = Bash(
                username=USER,
                hostname=HOST,
                cwd=HOME,
                env={"HOME": HOME, "USER": USER},
                files={path: clean_text(text) for path, text in files.items()},
                timeout_seconds=timeout_s,
                max_commands=MAX_COMMANDS,
                max_loop_iterations=MAX_LOOP_ITERATIONS,
                max_memory=MAX_MEMORY,
            )
            self._fs = self._bash.fs()
            if self.file_type(HOME) != "file":
                self._fs.mkdir(HOME, recursive=True)  # where files are mounted, bashkit shows it but has none
        except Exception as error:
            raise SandboxError(f"the virtual shell could not be made: {error}") from error
        for path in files:  # bashkit passes over what it doesn't take, and the target would be blamed for it
            if self.file_type(path) != "file":
                raise SandboxError(f"the virtual shell didn't take the file {path!r}: {FILE_LIMITS}")

    async def run(self, script: str) -> Execution:
        """Run a script in the state that the earlier ones left."""
        started = time.monotonic()
        try:
            result = await asyncio.wait_for(self._bash.execute(clean_text(script)), self._timeout_s + GRACE_S)
        except TimeoutError as error:
            self._bash.cancel()
            raise SandboxError(f"the virtual shell didn't stop after {self._timeout_s + GRACE_S:g} s") from error
        except Exception as error:
            raise SandboxError(f"the virtual shell broke: {error}") from error
        elapsed = round((time.monotonic() - started) * 1000)
        return Execution(result.stdout, result.stderr, result.exit_code, elapsed)

    def file_type(self, path: str) -> FileType | None:
        """What is at the path: bashkit's own answer, relative paths from the home folder."""
        try:
            kind = self._fs.stat(_absolute(path))["file_type"]
        except RuntimeError:  # bashkit's "not found", and any path that it can't make sense of
            return None
        if kind == "file":
            return "file"
        return "directory" if kind == "directory" else "other"

    def read_file(self, path: str) -> bytes | None:
        """The bytes of a regular file."""
        if self.file_type(path) != "file":
            return None
        try:
            return bytes(self._fs.read_file(_absolute(path)))
        except RuntimeError:
            return None

    def files(self) -> dict[str, bytes | None]:
        """All files with their content and, as `None`, all folders; devices and what the kernel shows are left out."""
        found: dict[str, bytes | None] = {}
        folders = ["/"]
        while folders:
            for entry in self._entries(folder := folders.pop()):
                path = posixpath.join(folder, entry["name"])
                if path in KERNEL_FOLDERS:
                    continue
                kind = entry["metadata"]["file_type"]
                found[path] = self.read_file(path) if kind == "file" else None
                if kind == "directory":
                    folders.append(path)
        return found

    def _entries(self, folder: str) -> list[dict[str, Any]]:
        """What is in a folder; nothing when it is gone, as even the root can be."""
        try:
            return list(self._fs.read_dir(folder))
        except RuntimeError:
            return []


def _absolute(path: str) -> str:
    return posixpath.normpath(posixpath.join(HOME, clean_text(path)))
