"""What pyproject.toml and package.json say of a repository: its name, its programs, and whether it is an MCP server."""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from evalward.records.json_text import NoJsonError, read_json

SAFE_WORD = re.compile(r"[A-Za-z0-9_./@=+:-]{1,200}")
"""Words of commands that a YAML text can hold in quotes as they are; of other commands nothing is made."""
MOST_PROGRAMS = 50

_MARK = re.compile(r"(?<![a-z])mcp(?![a-z])|modelcontextprotocol", re.IGNORECASE)
_REQUIRED = re.compile(r"[A-Za-z0-9._-]+")
_PYTHON_LIBRARIES = frozenset({"mcp", "fastmcp", "modelcontextprotocol"})
_NODE_LIBRARIES = frozenset({"fastmcp", "mcp-framework"})
_NODE_SCOPE = "@modelcontextprotocol/"


@dataclass(frozen=True)
class FoundPackage:
    """What one of the two files says.

    `programs` are commands by the names of the programs, as they run once the package is installed. `needs`: it can't
    do without a library for MCP; `mentions`: one of its extras, or what develops it, has one. `marked`: its own names
    say that it is about MCP; `marked_programs` are those whose names do.
    """

    file: str
    name: str = ""
    programs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    marked_programs: tuple[str, ...] = ()
    needs: bool = False
    mentions: bool = False
    marked: bool = False

    def command(self, asked: str = "") -> tuple[str, ...]:
        """The program that is the server: the one asked for, one that says so, one called as the package, the first."""
        names = [asked, *self.marked_programs, self.name.rpartition("/")[2], *self.programs]
        return next((self.programs[name] for name in names if name in self.programs), ())


def python_package(text: str) -> FoundPackage:
    """What a pyproject.toml says; nothing where it is none."""
    try:
        value = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        value = {}
    project, poetry = _table(value, "project"), _table(_table(value, "tool"), "poetry")
    scripts = {**_table(poetry, "scripts"), **_table(project, "scripts")}
    named = {name: target for name, target in _first(scripts) if SAFE_WORD.fullmatch(name)}
    required = {*_names(project.get("dependencies")), *map(str.lower, _table(poetry, "dependencies"))}
    optional = (_names(each) for each in _table(project, "optional-dependencies").values())
    name = _text(project.get("name")) or _text(poetry.get("name"))
    return FoundPackage(
        file="pyproject.toml",
        name=name,
        programs={program: (program,) for program in named},
        marked_programs=tuple(program for program, target in named.items() if _marks(program) or _marks(_text(target))),
        needs=not _PYTHON_LIBRARIES.isdisjoint(required),
        mentions=not _PYTHON_LIBRARIES.isdisjoint(each for names in optional for each in names),
        marked=_marks(name) or any(_marks(word) for word in _texts(project.get("keywords"))),
    )


def node_package(text: str) -> FoundPackage:
    """What a package.json says; nothing where it is none."""
    try:
        value = read_json(text)
    except NoJsonError:
        value = {}
    value = value if isinstance(value, dict) else {}
    name = _text(value.get("name"))
    programs = dict(_node_programs(value, name.rpartition("/")[2]))
    libraries = [_is_node_library(each) for each in _table(value, "dependencies")]
    return FoundPackage(
        file="package.json",
        name=name,
        programs=programs,
        marked_programs=tuple(program for program in programs if _marks(program)),
        needs=any(libraries),
        mentions=any(map(_is_node_library, _table(value, "devDependencies"))),
        marked=_marks(name) or "mcpName" in value or any(_marks(word) for word in _texts(value.get("keywords"))),
    )


def _node_programs(value: Mapping[str, Any], own: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The files that `bin` names, else the one that `main` does, as commands of Node."""
    listed = value.get("bin")
    listed = {own: listed} if isinstance(listed, str) else listed
    listed = listed if isinstance(listed, dict) and listed else {own: value.get("main")}
    for program, file in _first(listed):
        path = plain_path(_text(file))
        if program and path:
            yield program, ("node", path)


def plain_path(text: str) -> str:
    """A path below the top of the repository as the list of its files has it; `""` for what is none."""
    path = posixpath.normpath(text) if text else ""
    return "" if path in {"", "."} or path.startswith(("/", "../")) or not SAFE_WORD.fullmatch(path) else path


def _is_node_library(name: str) -> bool:
    return name.startswith(_NODE_SCOPE) or name in _NODE_LIBRARIES


def _marks(text: str) -> bool:
    return bool(_MARK.search(text))


def _names(requirements: Any) -> set[str]:
    """The names of the packages that requirements are of."""
    found = (_REQUIRED.match(each) for each in _texts(requirements))
    return {each[0].lower() for each in found if each}


def _table(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _texts(value: Any) -> Sequence[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _first(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return islice(table.items(), MOST_PROGRAMS)
