"""Where a suite's server is, and what it is started with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from evalward.config import LoadedConfig
from evalward.opening import kind_inside
from evalward.records.problem import InputError, wrong
from evalward.sandbox.process import SandboxLimits, WorkspaceSettings
from evalward.suites.isolation import settings_of
from evalward.suites.mcp.spec import McpSuite
from evalward.targets.repository import case_files, installed_along, repositories

FOLDER = "{folder}"
"""What stands in a command and its variables for the server's own folder, which is empty but for a case's files."""


@dataclass(frozen=True)
class CommandServer:
    """A program that is the server: it is started in `cwd`, which it can read, and has a folder of its own.

    `{folder}` in `words` and `env` is that folder, which holds `files` (relative path → content).
    """

    words: tuple[str, ...]
    cwd: str
    workspace: WorkspaceSettings
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)

    def with_files(self, files: Mapping[str, str]) -> CommandServer:
        """The same with other files in its folder."""
        return replace(self, files={path: text.encode("utf-8", "replace") for path, text in files.items()})


@dataclass(frozen=True)
class HttpServer:
    """A server at an address, asked with these headers and no others of ours."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


ServerPlace = CommandServer | HttpServer


def place_of(spec: McpSuite, config: LoadedConfig) -> ServerPlace:
    """The server of a suite that has one. Raises `InputError` for a program or folder that isn't there."""
    server = spec.server
    if server.url is not None:
        return HttpServer(server.url, server.headers)
    if server.command is None:
        raise ValueError("a snapshot is no server")
    path = os.environ.get("PATH", os.defpath)
    limits = SandboxLimits(
        memory_mb=spec.limits.memory_mb, processes=spec.limits.processes, disk_mb=spec.limits.disk_mb
    )
    root = config.root.resolve()
    walls = settings_of(spec, limits, (root, *installed_along(path)), path)
    hidden = (*repositories(root), *case_files(config))
    return CommandServer(
        words=(_program(server.command[0], path, spec, config), *server.command[1:]),
        cwd=_folder(server.cwd, spec, config),
        workspace=replace(walls, hidden=hidden),
        env=server.env,
    )


def _program(name: str, path: str, spec: McpSuite, config: LoadedConfig) -> str:
    """How the program is started: by its path, or found along ours; one with a slash counts from where it starts."""
    if "/" in name:
        return name
    found = shutil.which(name, path=path)
    if found is None:
        remedy = "Install it before the run, or name a file of the repository, such as ./server.py."
        raise _wrong(spec, config, "command", f"there is no program {name!r} on the PATH", remedy)
    return found


def _folder(name: str | None, spec: McpSuite, config: LoadedConfig) -> str:
    if name is None:
        return str(config.root.resolve())
    remedy = "Name a folder of the repository; the path counts from the configuration's folder."
    try:
        there = kind_inside(config.root, name) == "folder"
    except (InputError, OSError):
        there = False
    if not there:
        raise _wrong(spec, config, "cwd", f"there is no folder {name!r}, or a link leads to it", remedy)
    return str(config.root.resolve() / os.path.normpath(name))


def _wrong(spec: McpSuite, config: LoadedConfig, key: str, message: str, remedy: str) -> InputError:
    index = config.config.suites.index(spec)
    line = config.line("suites", index, "server", key)
    return wrong(config.file, message, remedy, line=line, field=f"suites[{index}].server.{key}")
