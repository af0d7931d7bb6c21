"""Git, asked: one way to start it, in which nothing that lies in a repository starts anything.

A folder of ordinary files can be a repository to git (`HEAD`, `config`, `objects`, `refs`), and a repository's
configuration names programs: hooks, filters, monitors, helpers. So git is not left to look for a repository: it is
given the one in the nearest `.git`, which no commit can hold.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from evalward.git.errors import GitError

GIT_SECONDS = 60.0
NO_REPOSITORY = 128
"""Git's own exit code for it."""
NO_GIT = 127

# Nothing of the repository's own configuration may start a program or a transfer.
GIT_CONFIG = (
    "--no-replace-objects",
    "-c",
    "safe.bareRepository=explicit",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "protocol.allow=never",
)
GIT_ENVIRONMENT = {
    "LC_ALL": "C",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
}


def run_git(
    folder: Path,
    search_path: str,
    args: Sequence[str],
    *,
    stdin: bytes = b"",
    env: Mapping[str, str] = MappingProxyType({}),
) -> tuple[int, bytes]:
    """Exit code and output of one git command; bounded, as objects are asked for only when their size is known.

    128 where `folder` lies in no repository, 127 without git or without such a folder. Raises `GitError` when it takes
    too long.
    """
    top = repository_top(folder)
    if top is None:
        return NO_REPOSITORY, b""
    try:
        done = subprocess.run(  # noqa: S603 - no shell, a fixed program, names that can be no options
            ["git", *_repository(top), *GIT_CONFIG, *args],  # noqa: S607 - looked up in the search path that we were given
            cwd=folder,
            env={**GIT_ENVIRONMENT, **env, "PATH": search_path},
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=False,
        )
    except OSError:
        return NO_GIT, b""
    except subprocess.TimeoutExpired:
        raise GitError(None, f"`git {args[0]}` took longer than {GIT_SECONDS:.0f} s.", "Run it again.") from None
    return done.returncode, done.stdout


def run_git_within(
    folder: Path, search_path: str, args: Sequence[str], most: int, env: Mapping[str, str] = MappingProxyType({})
) -> bytes | None:
    """The output of a command whose length nobody knows; `None` when it fails or is longer than `most` bytes.

    A few small trees that name each other list more files than any machine has room for.
    """
    top = repository_top(folder)
    if top is None:
        return None
    try:
        process = subprocess.Popen(  # noqa: S603 - as in `run_git`
            ["git", *_repository(top), *GIT_CONFIG, *args],  # noqa: S607
            cwd=folder,
            env={**GIT_ENVIRONMENT, **env, "PATH": search_path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    alarm = threading.Timer(GIT_SECONDS, process.kill)
    alarm.start()
    with process:
        output = process.stdout.read(most + 1) if process.stdout is not None else b""
        if len(output) > most:
            process.kill()
        code = process.wait()
        alarm.cancel()
    return output if code == 0 and len(output) <= most else None


def repository_top(folder: Path) -> Path | None:
    """The nearest folder from here upwards that holds a `.git`; `None` where there is none."""
    here = Path(os.path.realpath(folder))
    return next((place for place in (here, *here.parents) if os.path.lexists(place / ".git")), None)


def _repository(top: Path) -> list[str]:
    """This repository and no other. It may belong to another user: in a container the workspace does."""
    return [f"--git-dir={top / '.git'}", f"--work-tree={top}", "-c", f"safe.directory={top}"]
