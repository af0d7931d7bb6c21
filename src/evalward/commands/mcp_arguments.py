"""The arguments of `evalward mcp`. What its actions need is loaded when they run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.commands.ci_arguments import AddCommand, Commands
from evalward.commands.shared_arguments import add_config

if TYPE_CHECKING:
    from evalward.commands.world import World


def add_mcp(commands: Commands[argparse.ArgumentParser], command: AddCommand) -> None:
    """`evalward mcp` with its action."""
    parser = commands.add_parser("mcp", help="write down which tools an MCP server lists")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    summary = "start or reach an MCP server, and write down the tools that it lists"
    snapshot = command(actions, "snapshot", summary, _snapshot)
    snapshot.set_defaults(takes_command=True)
    snapshot.usage = "%(prog)s [options] [SUITE | URL]\n       %(prog)s [options] -- COMMAND [ARGUMENT ...]"
    snapshot.add_argument(
        "server",
        nargs="*",
        metavar="SUITE",
        help="the suite whose server it is, or the server's URL; default: the config's only suite with a server",
    )
    add_config(snapshot, what="config with the suite")
    network = ("none", "loopback", "open")
    snapshot.add_argument("--network", choices=network, default="none", help="what COMMAND can reach; default: none")
    snapshot.add_argument("--format", choices=("terminal", "json"), default="terminal", help="default: terminal")
    snapshot.add_argument("--output", type=Path, metavar="FILE", help="file for the snapshot, as `snapshot:` reads it")


def _snapshot(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.config_place import config_file
    from evalward.commands.mcp import SnapshotOptions, mcp_snapshot

    options = SnapshotOptions(
        server=tuple(args.server),
        command=tuple(args.after),
        config=config_file(world.cwd, args.config),
        network=args.network,
        format=args.format,
        output=args.output,
    )
    return mcp_snapshot(world, options)
