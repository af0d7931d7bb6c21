"""`evalward mcp snapshot`: the tools that a server lists, for people and for suites that need no server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalward.commands.emitting import emit, write_text
from evalward.commands.world import World
from evalward.config.load import load_config
from evalward.records.exits import EXIT_OK, EXIT_UNJUDGED
from evalward.records.problem import wrong
from evalward.records.words import near_or_known
from evalward.render.console import Screen
from evalward.render.escape import one_line
from evalward.render.numbers import format_count, plural
from evalward.sandbox.base import SandboxError
from evalward.suites.mcp.catalogue import Catalogue, dump_catalogue, tokens_of
from evalward.suites.mcp.offered import refused_tools
from evalward.suites.mcp.server.failures import ServerError
from evalward.suites.mcp.server.listing import listed
from evalward.suites.mcp.server.place import HttpServer, ServerPlace, place_of, place_of_words
from evalward.suites.mcp.spec import McpSuite

_SHOWN = 200
"""Characters of a description that the table shows."""


@dataclass(frozen=True)
class SnapshotOptions:
    """What `mcp snapshot` was asked for: a suite or URL, or a command."""

    server: tuple[str, ...]
    command: tuple[str, ...]
    config: Path
    network: Literal["open", "loopback", "none"] = "none"
    format: Literal["terminal", "json"] = "terminal"
    output: Path | None = None


def mcp_snapshot(world: World, options: SnapshotOptions) -> int:
    """0 when the server has listed its tools; 3 when it can't be started behind walls. Raises `InputError`."""
    name, place = _place(world, options)
    try:
        catalogue = listed(place)
    except ServerError as error:
        remedy = "Check the address." if isinstance(place, HttpServer) else "Start it by hand to see what is wrong."
        raise wrong(name, f"the server didn't list its tools: {error}", remedy) from error
    except SandboxError as error:
        world.say(f"error: {name}: {error}")
        return EXIT_UNJUDGED
    if options.output is not None:
        write_text(world.cwd / options.output, dump_catalogue(catalogue), world.redaction)
    if options.format == "json":
        emit(world, dump_catalogue(catalogue), None)
    else:
        emit(world, _text(world, catalogue, options.output), None)
    return EXIT_OK


def _place(world: World, options: SnapshotOptions) -> tuple[str, ServerPlace]:
    """The server, and how a message calls it. Raises `InputError`."""
    path = world.env.get("PATH", os.defpath)
    if options.command:
        if options.server:
            raise wrong("mcp snapshot", f"{options.server[0]!r} stands before a command", "Give one of the two.")
        return options.command[0], place_of_words(options.command, world.cwd, path, options.network)
    if len(options.server) > 1:
        remedy = f"Write a command after two hyphens: evalward mcp snapshot -- {' '.join(options.server)}"
        raise wrong("mcp snapshot", "there is more than one suite or URL", remedy)
    asked = options.server[0] if options.server else None
    if asked is not None and asked.startswith(("http://", "https://")):
        return asked, HttpServer(asked)
    return _of_suite(asked, options, path)


def _of_suite(asked: str | None, options: SnapshotOptions, path: str) -> tuple[str, ServerPlace]:
    config = load_config(options.config)
    suites = {suite.name: suite for suite in config.config.suites if isinstance(suite, McpSuite)}
    live = [suite for suite in suites.values() if suite.server.snapshot is None]
    if asked is None:
        if len(live) != 1:
            found = "no suite" if not live else "more than one suite"
            raise wrong(config.file, f"{found} of kind mcp has a server that runs", "Name a suite, or a URL.")
        suite = live[0]
    elif asked not in suites:
        remedy = near_or_known(asked, suites, "Suites of kind mcp") + f" A command is written -- {asked}."
        raise wrong(config.file, f"there is no suite {asked!r} of kind mcp", remedy)
    else:
        suite = suites[asked]
    if suite.server.snapshot is not None:
        remedy = "Give the server's URL, or its command after two hyphens."
        raise wrong(config.file, f"the suite {suite.name!r} has a snapshot, and no server", remedy)
    return suite.name, place_of(suite, config, path)


def _text(world: World, catalogue: Catalogue, output: Path | None) -> str:
    screen = Screen(world.colour(world.out), world.width)
    screen.heading(", ".join(_headline(catalogue)))
    screen.blank()
    rows = [
        (tool.name, f"≈ {format_count(tokens_of(tool.characters))}", one_line(tool.description or "(none)", _SHOWN))
        for tool in catalogue.tools
    ]
    if rows:
        screen.table(("tool", "tokens", "description"), rows, "lrl")
    screen.blank()
    for refused in refused_tools(catalogue):
        screen.say(refused, mark="!", colour="yellow")
    if output is not None:
        screen.blank()
        screen.say(f"Snapshot: {output}")
    return screen.text()


def _headline(catalogue: Catalogue) -> Iterator[str]:
    yield f"{one_line(catalogue.server, _SHOWN)}: {plural(len(catalogue.tools), 'tool')}"
    yield f"≈ {format_count(catalogue.tokens)} tokens"
    if catalogue.instructions:
        yield f"instructions ≈ {format_count(tokens_of(len(catalogue.instructions)))} tokens"
    if catalogue.protocol:
        yield f"protocol {one_line(catalogue.protocol, _SHOWN)}"
