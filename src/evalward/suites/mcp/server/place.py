"""Where a suite's server is, and what it is started with."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalward.config import LoadedConfig
from evalward.config.words import field_name
from evalward.opening import kind_inside
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.sandbox.process import Network, WorkspaceSettings
from evalward.suites.isolation import sandbox_limits, settings_of
from evalward.suites.mcp.spec import McpSuite
from evalward.targets.repository import case_files, installed_along, repositories

FOLDER = "{folder}"
"""What stands in a command and its variables for the path of the server's own folder."""

_INSTALL = "Install it before the run, or name a file of the repository, such as ./server.py."
_VARIABLE = re.compile(r"\$\{|\$[A-Za-z_]")
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,100}")
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,4000}[\x21-\x7e])?")


@dataclass(frozen=True)
class CommandServer:
    """A program that is the server. It starts in a folder of its own, which is thrown away at its end.

    That folder holds `files` (relative path → content) and links to all that `linked` holds, which can be read and not
    changed. `{folder}` in `words` and `env` is its path.
    """

    words: tuple[str, ...]
    linked: Path
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


def place_of(spec: McpSuite, config: LoadedConfig, path: str | None = None) -> ServerPlace:
    """The server of a suite that has one. `path`: the PATH along which programs are found; default: ours.

    Raises `InputError` for a program or folder that isn't there, and for headers that can't be sent.
    """
    server = spec.server
    if server.url is not None:
        return HttpServer(server.url, _headers(spec, config))
    if server.command is None:
        raise ValueError("a snapshot is not a server")
    path = path or os.environ.get("PATH", os.defpath)
    limits = sandbox_limits(spec.limits)
    root = config.root.resolve()
    walls = settings_of(spec, limits, (root, *installed_along(path)), path)
    return CommandServer(
        words=(_program(server.command[0], path, spec, config), *server.command[1:]),
        linked=_folder(server.cwd, spec, config),
        workspace=replace(walls, hidden=(*repositories(root), *case_files(config))),
        env=server.env,
    )


def place_of_words(words: Sequence[str], folder: Path, path: str, network: Network) -> CommandServer:
    """A command that no configuration names, as if it were started in `folder`. Raises `InputError`."""
    found = words[0] if "/" in words[0] else shutil.which(words[0], path=path)
    if found is None:
        raise wrong("command", f"there is no program {words[0]!r} on the PATH", _INSTALL)
    root = folder.resolve()
    return CommandServer(
        words=(found, *words[1:]),
        linked=root,
        workspace=WorkspaceSettings(
            network=network,
            readable=(root, *installed_along(path)),
            hidden=tuple(repositories(root)),
            path=path,
        ),
    )


def _headers(spec: McpSuite, config: LoadedConfig) -> Mapping[str, str]:
    """The headers as they stand there: nothing of the environment gets into them."""
    for name, value in spec.server.headers.items():
        if _VARIABLE.search(value):
            message = f"the header {name!r} names a variable, and headers are sent as they stand there"
            remedy = "Servers that need a secret can't be evaluated at an address: name the server's command."
            raise _wrong(spec, config, "headers", message, remedy)
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            remedy = "A name has letters, digits and hyphens; a value is one line of ASCII."
            raise _wrong(spec, config, "headers", f"the header {name!r} can't be sent", remedy)
    return spec.server.headers


def _program(name: str, path: str, spec: McpSuite, config: LoadedConfig) -> str:
    """How the program is started: by its path, or found along ours; one with a slash counts from its folder."""
    if "/" in name:
        return name
    found = shutil.which(name, path=path)
    if found is None:
        raise _wrong(spec, config, "command", f"there is no program {name!r} on the PATH", _INSTALL)
    return found


def _folder(name: str | None, spec: McpSuite, config: LoadedConfig) -> Path:
    if name is None:
        return config.root.resolve()
    remedy = "Name a folder of the repository; the path counts from the configuration's folder."
    try:
        there = kind_inside(config.root, name) == "folder"
    except (InputError, OSError):
        there = False
    if not there:
        raise _wrong(spec, config, "cwd", f"there is no folder {name!r}, or a link leads to it", remedy)
    return config.root.resolve() / os.path.normpath(name)


def at_server(spec: McpSuite, config: LoadedConfig, *keys: str) -> tuple[Place, str]:
    """Where the configuration says what the suite's server is, or one key of it: the place, and the field's name."""
    path = config.suite_path(spec.name, "server", *keys)
    return Place(file=config.file, line=config.line(*path)), field_name(path)


def _wrong(spec: McpSuite, config: LoadedConfig, key: str, message: str, remedy: str) -> InputError:
    place, field = at_server(spec, config, key)
    return InputError(Problem(place=place, field=field, message=message, remedy=remedy))
