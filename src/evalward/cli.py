"""The command line. Each command loads what it needs when it runs: `--help` must not wait for anything."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from evalward import __version__, interrupts
from evalward.commands.baseline_arguments import add_baseline
from evalward.commands.ci_arguments import add_accept, add_release
from evalward.commands.demo_arguments import add_demo
from evalward.commands.doctor_arguments import add_doctor
from evalward.commands.exchange_arguments import add_exchange
from evalward.commands.guidance_arguments import add_guidance
from evalward.commands.help_arguments import add_completion, add_help
from evalward.commands.history_arguments import add_history
from evalward.commands.init_arguments import add_init
from evalward.commands.judge_arguments import add_judge
from evalward.commands.mcp_arguments import add_mcp
from evalward.commands.parsing import CommandParser, number_up_to, read_arguments, with_examples
from evalward.commands.plan_arguments import add_plan_options, plan_format
from evalward.commands.reading_arguments import add_compare, add_report, add_schema, add_validate
from evalward.commands.safety_arguments import add_safety
from evalward.commands.shard_arguments import (
    add_merge,
    add_on_options,
    add_parts_option,
    add_shard_option,
    refuse_with_on,
)
from evalward.commands.shared_arguments import (
    VERBOSE,
    VERBOSE_CHECK,
    add_batch,
    add_changed_since,
    add_config,
    add_folder,
    add_judging,
    add_patterns,
    add_quiet,
)
from evalward.commands.show_arguments import add_show
from evalward.commands.streams import flushed, unwritten
from evalward.edge import EXIT_INTERRUPTED, SCREEN, enter, open_streams, taken_environment
from evalward.records.exits import EXIT_FAILED, EXIT_INPUT, EXIT_OK, EXIT_UNJUDGED

if TYPE_CHECKING:
    from evalward.commands.ci_arguments import AddCommand
    from evalward.commands.world import World
    from evalward.engine.selection import Selection

DEFAULT_CONFIG = Path("evalward.yml")
DEFAULT_OUTPUT = Path("evalward-out")
FAILED = "only what failed last time, by the report in DIR"

EPILOG = """\
New here? `evalward demo` shows what it does, without a key; `evalward init`
begins in your repository; `evalward doctor` says what is missing.

exit codes: 0 pass, or inconclusive unless fail-on says otherwise
            1 the gate failed · 2 the input is wrong · 3 could not be judged
"""

Handler = Callable[["World", argparse.Namespace], int]


def build_parser(words: Sequence[str] = ()) -> CommandParser:
    """The parser of all commands; of a line of `words` that begins with a command's name, of that one alone.

    To make all of them takes longer than many a command does.
    """
    parser = CommandParser(
        prog="evalward",
        description="The gate that keeps a repository's LLM tool use from getting worse.",
        epilog=EPILOG,
    )
    parser.add_argument(
        "-V", "--version", action="version", version=f"evalward {__version__}", help="show the version and exit"
    )
    top: argparse.ArgumentParser = parser
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    alone = _COMMANDS.get(words[0]) if words else None
    for add in dict.fromkeys(_COMMANDS.values()) if alone is None else [alone]:
        add(commands)
    if alone is None:  # these two speak of all others
        add_help(commands, _command, parser)
        add_completion(commands, _command, parser)
    return with_examples(parser)


Commands = argparse._SubParsersAction  # the only name that argparse gives what add_subparsers returns
Adder = Callable[["Commands[argparse.ArgumentParser]"], None]


def _command(
    commands: Commands[argparse.ArgumentParser], name: str, summary: str, run: Handler
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    parser.set_defaults(handler=run)
    return parser


def _selection_options(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    add_patterns(parser, "suite", "target")
    parser.add_argument(
        "--case", action="append", default=[], metavar="GLOB", help="only these cases: an id or a pattern; repeatable"
    )
    help_text = "trials of each case, 1 to 100, instead of the config's"
    parser.add_argument("--trials", type=number_up_to(100), metavar="N", help=help_text)
    add_folder(parser)
    parser.add_argument("--resume", action="store_true", help="keep the finished trials in DIR, do what is missing")


def _add_run(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "run", "run the suites and write what was measured; judge nothing", _run)
    parser.set_defaults(keys=True)
    _selection_options(parser)
    add_plan_options(parser)
    parser.add_argument("--failed", action="store_true", help=FAILED)
    add_batch(parser)
    add_changed_since(parser)
    add_shard_option(parser)
    add_on_options(parser)
    parser.add_argument("--record", type=Path, metavar="DIR", help="also keep a recording to commit, without secrets")
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--verbose", action="store_true", help=VERBOSE)
    add_quiet(how_much)


def _add_check(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "check", "run the suites, compare with the baseline, decide, write the reports", _check)
    parser.set_defaults(keys=True)
    _selection_options(parser)
    add_plan_options(parser)
    parser.add_argument("--failed", action="store_true", help=FAILED)
    add_batch(parser)
    add_changed_since(parser)
    add_parts_option(parser)
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="the baseline; default: the config's")
    parser.add_argument(
        "--base", metavar="COMMIT", help="measured alongside the files here if needed; default: the baseline's"
    )
    add_judging(parser)
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument("--verbose", action="store_true", help=VERBOSE_CHECK)
    add_quiet(how_much)


def _add_publish(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(
        commands, "publish", "judge and comment a fork's run in a trusted workflow_run workflow", _publish
    )
    parser.set_defaults(keys=True)
    parser.add_argument("folder", type=Path, metavar="DIR", help="the downloaded artifact: the first stage's output")
    parser.add_argument(
        "--config", default=str(DEFAULT_CONFIG), metavar="FILE", help="the base's config; default: evalward.yml"
    )
    parser.add_argument("--baseline", metavar="FILE", help="the base's baseline; default: the config's")
    add_judging(parser)
    parser.add_argument(
        "--comment-id", default="evalward", metavar="ID", help="the same as in the first stage; default: evalward"
    )
    add_folder(parser, DEFAULT_OUTPUT)


def _add_action(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "action", "the container action's entry point, run by GitHub", _action)
    parser.set_defaults(keys=True)


def _adder(add: Callable[[Commands[argparse.ArgumentParser], AddCommand], None]) -> Adder:
    return lambda commands: add(commands, _command)


_add_exchange = _adder(add_exchange)
_COMMANDS: Mapping[str, Adder] = {
    "demo": _adder(add_demo),
    "init": _adder(add_init),
    "doctor": _adder(add_doctor),
    "run": _add_run,
    "check": _add_check,
    "compare": _adder(add_compare),
    "report": _adder(add_report),
    "show": _adder(add_show),
    "import": _add_exchange,
    "export": _add_exchange,
    "merge": _adder(add_merge),
    "baseline": _adder(add_baseline),
    "history": _adder(add_history),
    "guidance": lambda commands: add_guidance(commands, _command, _selection_options),
    "validate": _adder(add_validate),
    "schema": _adder(add_schema),
    "judge": add_judge,
    "mcp": _adder(add_mcp),
    "safety": add_safety,
    "publish": _add_publish,
    "accept": _adder(add_accept),
    "release": _adder(add_release),
    "action": _add_action,
}
"""What makes the parser of each command, in the order of the help."""


# --- what the commands do -------------------------------------------------------------------------------------------


def _selection(args: argparse.Namespace) -> Selection:
    from evalward.engine.selection import Selection

    return Selection(tuple(args.suite), tuple(args.target), tuple(args.case), args.trials)


def _run(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.config_place import config_file, output_folder
    from evalward.commands.run import RunOptions, run
    from evalward.records.part import Shard

    refuse_with_on(args)
    options = RunOptions(
        config=config_file(world.cwd, args.config),
        output=output_folder(world.cwd, args.output, args.config),
        selection=_selection(args),
        resume=args.resume,
        record=args.record,
        verbose=args.verbose,
        failed=args.failed,
        batch=args.batch,
        shard=Shard(*args.shard) if args.shard else None,
        plan=plan_format(args),
        on_ray=args.on is not None,
        bundles=args.shards,
        changed_since=args.changed_since,
    )
    return run(world, options)


def _check(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.check import check
    from evalward.commands.config_place import config_file, output_folder
    from evalward.commands.options import CheckOptions

    options = CheckOptions(
        config=config_file(world.cwd, args.config),
        output=output_folder(world.cwd, args.output, args.config),
        selection=_selection(args),
        baseline=args.baseline,
        profile=args.profile,
        fail_on=args.fail_on,
        resume=args.resume,
        failed=args.failed,
        batch=args.batch,
        base=args.base,
        parts=tuple(args.parts or ()),
        plan=plan_format(args),
        verbose=args.verbose,
        changed_since=args.changed_since,
    )
    return check(world, options)


def _publish(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.publish import publish_folder
    from evalward.github.settings import ActionInputs

    settings = ActionInputs(
        config=args.config,
        baseline=args.baseline,
        profile=args.profile,
        fail_on=args.fail_on,
        comment_id=args.comment_id,
        output_dir=str(args.output),
    )
    return publish_folder(world, args.folder, settings)


def _action(world: World, args: argparse.Namespace) -> int:  # noqa: ARG001 - its inputs come by the environment
    from evalward.action import run_action

    return run_action(world)


# --- the edge -------------------------------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the console script. Raises `SystemExit` with the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if argv is None:
        open_streams()
    args = _read(words)
    kept = SCREEN if getattr(args, "screen", False) else frozenset()
    if argv is None:
        named = _asked_variables(args)
        enter(sys.argv[1:], keys=getattr(args, "keys", False), kept=kept, named=named)
    interrupts.heed()
    world = make_world(kept, quiet=getattr(args, "quiet", False))
    if argv is None and getattr(args, "keys", False):
        os.chdir("/")  # nothing of the folder that we were called in is meant by a relative path from here on
    raise SystemExit(flushed(guarded(world, lambda world: args.handler(world, args))))


def _read(words: Sequence[str]) -> argparse.Namespace:
    """What was asked for. Raises `SystemExit`: a mistake, the help or the version was told, or couldn't be."""
    try:
        return read_arguments(build_parser(words), words)
    except OSError as error:
        raise SystemExit(flushed(unwritten(error, EXIT_OK))) from None
    except SystemExit as ended:
        raise SystemExit(flushed(ended.code if isinstance(ended.code, int) else EXIT_OK)) from None


def _asked_variables(args: argparse.Namespace) -> frozenset[str]:
    """The variables of which a command needs to know whether they are set."""
    if getattr(args, "asks_for_names", False):  # the configuration may name any
        return frozenset(name for name in os.environ if name.isidentifier())
    return _provider_variables() if getattr(args, "asks_for_keys", False) else frozenset()


def _provider_variables() -> frozenset[str]:
    from evalward.records.providers import PROVIDERS

    return frozenset(name for row in PROVIDERS.values() for name in (row.key_env, row.client_env[0]))


def make_world(kept: frozenset[str] = frozenset(), *, quiet: bool = False) -> World:
    """The real streams, clock and environment; this process's own keeps these variables, too."""
    from evalward.commands.world import World, utc_now

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        cwd = Path.cwd()
    except OSError:
        sys.stderr.write("error: the folder that this was called in is gone. Change into another one.\n")
        raise SystemExit(EXIT_INPUT) from None
    return World(out=sys.stdout, err=sys.stderr, now=utc_now, env=taken_environment(kept), cwd=cwd, quiet=quiet)


def guarded(world: World, command: Callable[[World], int]) -> int:
    """Run a command: a user's mistake is told in lines, our own fault in one sentence with a log file."""
    from evalward.records.problem import InputError, NoRoomError

    try:
        code = command(world)
        # Python passes over an exception in some places, such as a finalizer, and goes on.
        return _interrupted(world) if interrupts.seen() and code in {EXIT_OK, EXIT_FAILED} else code
    except KeyboardInterrupt:
        return _interrupted(world)
    except BrokenPipeError:
        sys.stdout = None  # whoever read our output has gone; nothing is left to say to them
        return EXIT_UNJUDGED  # and what was not said to its end is no pass
    except Exception as error:
        if gone := world.gone():  # what broke for it is no news
            _last_words(world, _one_line(gone))
            return EXIT_UNJUDGED
        if isinstance(error, InputError):
            _last_words(world, *(f"error: {_one_line(str(problem))}" for problem in error.problems))
            return EXIT_UNJUDGED if isinstance(error, NoRoomError) else EXIT_INPUT
        return _broken(world, error)


def _broken(world: World, error: Exception) -> int:
    """The last line of defence: nobody shall see a traceback on the screen."""
    if interrupts.seen():  # what was at work made an error of its own of it
        return _interrupted(world)
    from evalward.commands.faults import internal_error

    _last_words(world, _one_line(internal_error(error, world.redaction)))
    return EXIT_UNJUDGED


def _interrupted(world: World) -> int:
    _last_words(world, "interrupted: finished trials are kept")
    return EXIT_INTERRUPTED


def _last_words(world: World, *lines: str) -> None:
    """Say why a command ends; if nobody can hear it, the exit code says it all."""
    with suppress(BrokenPipeError):
        for line in lines:
            world.say(line)


def _one_line(text: str) -> str:
    from evalward.render.escape import plain

    return " ".join(plain(text).split())


if __name__ == "__main__":
    main()
