"""Whether a repository is an MCP server, how it is started, and a list of its tools. Nothing is started."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from evalward.records.json_text import NoJsonError, read_json
from evalward.records.problem import InputError
from evalward.starter.packages import SAFE_WORD, FoundPackage, node_package, plain_path, python_package

if TYPE_CHECKING:
    from evalward.suites.mcp.catalogue import Catalogue

MOST_SOURCES, MOST_LISTS = 200, 50
"""Files that are read: programs, and such that may hold a list of tools."""
MOST_VARIABLES, MOST_WORDS = 20, 20
HOST_FILES = (".mcp.json", "mcp.json", ".vscode/mcp.json", ".cursor/mcp.json")
"""What tells hosts such as editors which servers to start."""
REGISTRY_FILE, PYTHON_FILE, NODE_FILE = "server.json", "pyproject.toml", "package.json"

_PYTHON_SERVER = re.compile(
    r"^[ \t]*from[ \t]+(?:mcp\.server\b|fastmcp[ \t]+import\b)|^[ \t]*import[ \t]+(?:mcp\.server|fastmcp)\b",
    re.MULTILINE,
)
_RUN = re.compile(r"\.run(?:_stdio)?(?:_async)?\(|\bstdio_server\(")
_NODE_SERVER = re.compile(r"""@modelcontextprotocol/(?:sdk/)?server\b|from\s+["'](?:fastmcp|mcp-framework)["']""")
_NOT_SHIPPED = frozenset(
    {"test", "tests", "__tests__", "example", "examples", "doc", "docs", "benchmark", "benchmarks"}
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_WORKSPACE = re.compile(r"\$\{workspaceFolder\}/?")
_PYTHON, _NODE = "python3", "node"
_INTERPRETERS = {".py": _PYTHON, ".js": _NODE, ".mjs": _NODE, ".cjs": _NODE}
_OURS = '"evalward.mcp/1"'

Text = Callable[[str], str]


@dataclass(frozen=True)
class FoundServer:
    """A server: the words of the command that starts it (none: nothing says it), and a snapshot with its tools.

    `named_by` is the file that the command was found in. `variables` are names of variables that the server is given
    elsewhere: their values are never read on. `built`: the command starts a file that a build makes.
    """

    command: tuple[str, ...] = ()
    named_by: str = ""
    snapshot: str | None = None
    catalogue: Catalogue | None = None
    variables: tuple[str, ...] = ()
    built: bool = False

    @property
    def usable(self) -> bool:
        """Whether a suite can be made of it."""
        return bool(self.command or self.snapshot)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that say so."""
        return tuple(file for file in (self.named_by, self.snapshot) if file)


@dataclass(frozen=True)
class _ServerStart:
    """One way to start a server, and the file that names it."""

    file: str
    command: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


def find_server(files: Sequence[str], text: Text) -> FoundServer | None:
    """The server that a repository is; `None` where nothing says that it is one."""
    repository = _FoundFiles(files, text)
    starts = [start for look in _LOOKS for start in look(repository)]
    snapshot, catalogue, ours = _snapshot(repository)
    if not starts and not ours:
        return None
    best = next((start for start in starts if start.command), starts[0] if starts else _ServerStart(""))
    variables = dict.fromkeys(name for start in starts for name in start.variables if _VARIABLE.fullmatch(name))
    built = best.command[:1] == (_NODE,) and best.command[1] not in repository.listed
    return FoundServer(best.command, best.file, snapshot, catalogue, tuple(variables)[:MOST_VARIABLES], built)


class _FoundFiles:
    """The files, and what its two packages say."""

    def __init__(self, files: Sequence[str], text: Text) -> None:
        self.files, self.text = files, text
        self.listed = frozenset(files)
        self.python = python_package(self.read(PYTHON_FILE))
        self.node = node_package(self.read(NODE_FILE))

    def read(self, path: str) -> str:
        """The beginning of a file; `""` for one that isn't there."""
        return self.text(path) if path in self.listed else ""

    def json(self, path: str) -> dict[str, Any]:
        """The object that a file holds; an empty one for what is none."""
        try:
            value = read_json(self.read(path))
        except NoJsonError:
            return {}
        return value if isinstance(value, dict) else {}

    def sources(self, *suffixes: str) -> Iterator[str]:
        """Programs that are shipped, the nearest first."""
        shipped = (path for path in self.files if _NOT_SHIPPED.isdisjoint(PurePosixPath(path).parts[:-1]))
        return islice((path for path in shipped if path.endswith(suffixes) and "test" not in path), MOST_SOURCES)


# --- ways to start it, the best first -------------------------------------------------------------------------------


def _of_hosts(repository: _FoundFiles) -> Iterator[_ServerStart]:
    """Commands of this repository in the files of hosts; most of what stands there are servers of others."""
    for file in HOST_FILES:
        value = repository.json(file)
        servers = value.get("mcpServers") or value.get("servers")
        for server in servers.values() if isinstance(servers, dict) else ():
            command = _own_command(repository, server)
            if command:
                yield _ServerStart(file, command, _keys(server.get("env")))


def _own_command(repository: _FoundFiles, server: Any) -> tuple[str, ...]:
    """The words of a command from the first on that is of this repository; none for a command of others."""
    if not isinstance(server, dict) or not isinstance(server.get("command"), str):
        return ()
    given = [server["command"], *_texts(server.get("args"))][:MOST_WORDS]
    words = [_WORKSPACE.sub("", word) for word in given]
    for number, word in enumerate(words):
        start = _started(repository, word, words[number - 1] if number else "")
        if start:
            command = (*start, *words[number + 1 :])
            return command if all(map(SAFE_WORD.fullmatch, command)) else ()
    return ()


def _started(repository: _FoundFiles, word: str, before: str) -> tuple[str, ...]:
    """The command that a word begins: a program, a file or a module of this repository."""
    if word in repository.python.programs:
        return (word,)
    path = plain_path(word)
    interpreter = _INTERPRETERS.get(PurePosixPath(path).suffix)
    known = path in repository.listed or (_NODE, path) in repository.node.programs.values()
    if interpreter and known:
        return (interpreter, path)
    if before == "-m" and _has_module(repository, word):
        return (_PYTHON, "-m", word)
    return ()


def _has_module(repository: _FoundFiles, module: str) -> bool:
    path = module.replace(".", "/")
    ends = (f"{path}.py", f"{path}/__main__.py")
    return any(f"{root}{end}" in repository.listed for root in ("", "src/") for end in ends)


def _of_registry(repository: _FoundFiles) -> Iterator[_ServerStart]:
    """server.json of the MCP registry: the published package is this repository's, which is started from here."""
    value = repository.json(REGISTRY_FILE)
    packages = [each for each in _list(value.get("packages")) if isinstance(each, dict)]
    schema = value.get("$schema")
    of_registry = isinstance(schema, str) and "modelcontextprotocol" in schema
    if not of_registry and not (isinstance(value.get("name"), str) and (packages or _list(value.get("remotes")))):
        return
    for package in packages:
        kind = package.get("registryType") or package.get("registry_type") or package.get("registry_name")
        identifier = package.get("identifier") or package.get("name")
        own = {"pypi": repository.python, "npm": repository.node}.get(kind if isinstance(kind, str) else "")
        command = own.command(identifier if isinstance(identifier, str) else "") if own else ()
        fixed = tuple(_fixed(package.get("packageArguments") or package.get("package_arguments")))
        if command and all(map(SAFE_WORD.fullmatch, fixed)):
            variables = _list(package.get("environmentVariables") or package.get("environment_variables"))
            names = tuple(_texts([each.get("name") for each in variables if isinstance(each, dict)]))
            yield _ServerStart(REGISTRY_FILE, (*command, *fixed), names)
    yield _ServerStart(REGISTRY_FILE)


def _fixed(arguments: Any) -> Iterator[str]:
    """The arguments whose values stand in the file; others are for whoever starts the server."""
    for each in _list(arguments)[:MOST_WORDS]:
        value, name = (each.get("value"), each.get("name")) if isinstance(each, dict) else (None, None)
        if isinstance(value, str) and value:
            yield from (name, value) if isinstance(name, str) and each.get("type") == "named" else (value,)


def _of_packages(repository: _FoundFiles) -> Iterator[_ServerStart]:
    """The programs of a package that calls itself a server, and needs a library for MCP."""
    for package in (repository.python, repository.node):
        if (package.needs or package.mentions) and (package.marked_programs or (package.needs and package.marked)):
            yield _ServerStart(package.file, package.command())


def _of_sources(repository: _FoundFiles) -> Iterator[_ServerStart]:
    """Programs that make a server of a library for MCP."""
    for path in repository.sources(".py"):
        content = repository.text(path)
        if _PYTHON_SERVER.search(content):
            yield _python_start(repository, path, runs=bool(_RUN.search(content)))
            break
    node = repository.node
    if node.needs and any(
        _NODE_SERVER.search(repository.text(path)) for path in repository.sources(".ts", ".js", ".mjs", ".mts")
    ):
        yield _ServerStart(NODE_FILE, node.command())


def _python_start(repository: _FoundFiles, path: str, *, runs: bool) -> _ServerStart:
    folder = PurePosixPath(path).parent
    in_package = f"{folder}/__init__.py".removeprefix("./") in repository.listed
    if runs and not in_package:
        return _ServerStart(path, (_PYTHON, path))
    package: FoundPackage = repository.python
    if package.needs and package.programs:
        return _ServerStart(PYTHON_FILE, package.command())
    module = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
    return _ServerStart(path, (_PYTHON, "-m", module) if runs else ())


_LOOKS = (_of_hosts, _of_registry, _of_packages, _of_sources)


# --- a list of its tools --------------------------------------------------------------------------------------------


def _snapshot(repository: _FoundFiles) -> tuple[str | None, Catalogue | None, bool]:
    """The first file with a list of tools, those first whose names say so, and whether Evalward wrote it."""
    paths = [path for path in repository.files if path.endswith(".json") and path not in HOST_FILES]
    paths.sort(key=lambda path: "tools" not in path and "mcp" not in path)
    for path in paths[:MOST_LISTS]:
        content = repository.text(path)
        catalogue = _catalogue(path, content) if '"inputSchema"' in content else None
        if catalogue is not None:
            return path, catalogue, _OURS in content
    return None, None, False


def _catalogue(path: str, content: str) -> Catalogue | None:
    from evalward.suites.mcp.catalogue import parse_catalogue  # noqa: PLC0415 - few repositories have a list of tools

    try:
        found = parse_catalogue(content, path)
    except InputError:
        return None
    return found if found.tools else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [each for each in _list(value) if isinstance(each, str)]


def _keys(value: Any) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, dict) else ()
