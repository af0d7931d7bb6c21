"""The shells of a suite's cases: bashkit in memory, or a real program in a workspace of its own.

For any kind whose suites are a `SandboxedSuite`: `shells_of` once, in `prepare`, and `open` for each trial.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from evalward.config import LoadedConfig, SandboxedSuite
from evalward.opening import MIB, hash_inside, why
from evalward.records.problem import InputError, wrong
from evalward.sandbox.base import Shell
from evalward.sandbox.virtual import VirtualShell, bashkit_version

DEFAULT_SHELL = ("bash", "-c")
MOST_PROGRAM = 2048 * MIB


class Shells(Protocol):
    """Makes one shell after the other."""

    @property
    def subject(self) -> Mapping[str, str]:
        """What is under evaluation here, by name."""
        ...

    def open(self, files: Mapping[str, str], timeout_s: float) -> AbstractAsyncContextManager[Shell]:
        """A fresh shell with these files; each script has `timeout_s` seconds. Raises `SandboxError` on entering."""
        ...


@dataclass(frozen=True)
class VirtualShells:
    """bashkit, in process and in memory."""

    @property
    def subject(self) -> Mapping[str, str]:
        """The interpreter's version."""
        return {"bashkit": bashkit_version()}

    @asynccontextmanager
    async def open(self, files: Mapping[str, str], timeout_s: float) -> AsyncIterator[Shell]:
        """A shell that closes itself when nobody holds it any more."""
        shell = VirtualShell(files, timeout_s)
        await shell.ready()
        yield shell


@dataclass(frozen=True)
class ProcessShells:
    """A real program, started anew for every script."""

    words: tuple[str, ...] = DEFAULT_SHELL
    readable: tuple[Path, ...] = ()
    subject: Mapping[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def open(self, files: Mapping[str, str], timeout_s: float) -> AsyncIterator[Shell]:
        """A shell in a workspace that is removed afterwards, with whatever still runs in it."""
        from evalward.sandbox.process import ProcessShell, WorkspaceSettings  # noqa: PLC0415 - only where real programs run

        settings = WorkspaceSettings(network="none", readable=self.readable)
        shell = await ProcessShell.open(files, timeout_s, settings, self.words)
        try:
            yield shell
        finally:
            await shell.close()


def shells_of(spec: SandboxedSuite, config: LoadedConfig) -> Shells:
    """The suite's shells. Raises `InputError` when its program isn't in the repository."""
    if spec.sandbox == "virtual":
        return VirtualShells()
    words = tuple(spec.shell or DEFAULT_SHELL)
    subject = {"shell": " ".join(words)}
    if "/" not in words[0] or words[0].startswith("/"):
        return ProcessShells(words, subject=subject)
    try:
        subject["shell_program"] = "sha256:" + hash_inside(config.root, words[0], MOST_PROGRAM)
    except (InputError, OSError) as error:
        index = config.config.suites.index(spec)
        reason = f": {why(error)}" if isinstance(error, InputError) else ""
        raise wrong(
            config.file,
            f"there is no program {words[0]!r}{reason}",
            "Build it before the run; the path counts from the configuration's folder and stays in it, without links.",
            line=config.line("suites", index, "shell"),
            field=f"suites[{index}].shell",
        ) from error
    program = config.root.resolve() / os.path.normpath(words[0])
    return ProcessShells((str(program), *words[1:]), (program,), subject)
