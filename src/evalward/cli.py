"""The command line. Each command loads what it needs when it runs: `--help` must not wait for anything."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from evalward import __version__
from evalward.commands.baseline_arguments import add_baseline
from evalward.commands.ci_arguments import add_accept, add_release
from evalward.commands.demo_arguments import add_demo
from evalward.commands.exchange_arguments import OR_FOREIGN, add_exchange, add_score_option
from evalward.commands.guidance_arguments import add_guidance
from evalward.commands.history_arguments import add_history
from evalward.commands.judge_arguments import add_judge
from evalward.commands.safety_arguments import add_safety
from evalward.commands.show_arguments import add_show
from evalward.edge import EXIT_INTERRUPTED, SCREEN, enter, taken_environment
from evalward.registry import OUTPUTS, SCHEMAS, installed, ours

if TYPE_CHECKING:
    from evalward.commands.world import World
    from evalward.engine.selection import Selection

DEFAULT_CONFIG = Path("evalward.yml")
DEFAULT_OUTPUT = Path("evalward-out")
FAILED = "only what failed last time, by the report in DIR"
VERBOSE = "show passed trials too, every check, and each trial's turns, calls, tokens and time"
FAIL_ON = ("regression", "inconclusive", "never")
EXIT_INPUT, EXIT_OURS = 2, 3  # as in records.verdict, which is too slow to load for --help

EPILOG = """\
exit codes: 0 pass or inconclusive · 1 the gate failed · 2 the input is wrong · 3 could not be judged
"""

Handler = Callable[["World", argparse.Namespace], int]


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="evalward",
        description="The gate that keeps a repository's LLM tool use from getting worse.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"evalward {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_demo(commands, _command)
    _add_run(commands)
    _add_check(commands)
    _add_compare(commands)
    _add_report(commands)
    add_show(commands, _command, DEFAULT_OUTPUT / "report.json")
    add_exchange(commands, _command)
    add_baseline(commands, _command, DEFAULT_CONFIG, DEFAULT_OUTPUT / "report.json")
    add_history(commands, _command)
    add_guidance(commands, _command, _selection_options)
    _add_validate(commands)
    _add_schema(commands)
    add_judge(commands, DEFAULT_CONFIG)
    add_safety(commands)
    _add_publish(commands)
    add_accept(commands, _command)
    add_release(commands, _command)
    _add_action(commands)
    return parser


Commands = argparse._SubParsersAction  # the only name that argparse gives what add_subparsers returns


def _command(
    commands: Commands[argparse.ArgumentParser], name: str, summary: str, run: Handler
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    parser.set_defaults(handler=run)
    return parser


def _selection_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, default=DEFAULT_CONFIG, metavar="FILE", help="default: evalward.yml")
    parser.add_argument("--suite", action="append", default=[], metavar="GLOB", help="only these suites")
    parser.add_argument("--target", action="append", default=[], metavar="GLOB", help="only these targets")
    parser.add_argument("--case", action="append", default=[], metavar="GLOB", help="only these case ids")
    parser.add_argument("--trials", type=_positive, metavar="N", help="trials of each case, instead of the config's")
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT, metavar="DIR", help="default: evalward-out")
    parser.add_argument("--resume", action="store_true", help="keep the finished trials in DIR, do what is missing")


def _judging_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--profile", metavar="NAME", help="the profile of the config that holds")
    parser.add_argument("--fail-on", choices=FAIL_ON, help="which verdicts make the exit code 1")


def _format_options(parser: argparse.ArgumentParser) -> None:
    forms = ", ".join(ours(OUTPUTS))
    parser.add_argument("--format", type=_form, default="terminal", metavar="FORMAT", help=f"{forms}, or one installed")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")


def _form(name: str) -> str:
    if name not in ours(OUTPUTS) and name not in installed(OUTPUTS):
        raise argparse.ArgumentTypeError(f"invalid choice: {name!r} (choose from {', '.join(installed(OUTPUTS))})")
    return name


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 100")
    return int(text)


def _add_run(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "run", "run suites, write report.json and report.md", _run)
    parser.set_defaults(keys=True)
    _selection_options(parser)
    parser.add_argument("--failed", action="store_true", help=FAILED)
    parser.add_argument("--record", type=Path, metavar="DIR", help="also keep a recording to commit, without secrets")
    parser.add_argument("--verbose", action="store_true", help=VERBOSE)


def _add_check(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "check", "run, compare with the baseline, decide, write the reports", _check)
    parser.set_defaults(keys=True)
    _selection_options(parser)
    parser.add_argument("--failed", action="store_true", help=FAILED)
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="default: the config's")
    parser.add_argument(
        "--base", metavar="COMMIT", help="measured beside the files here where that is needed; default: the baseline's"
    )
    _judging_options(parser)


def _add_compare(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "compare", "judge a report; the exit code is the verdict's", _compare)
    parser.add_argument("--report", type=Path, required=True, metavar="R.json", help=OR_FOREIGN)
    parser.add_argument("--baseline", type=Path, required=True, metavar="B.json", help=OR_FOREIGN)
    add_score_option(parser)
    parser.add_argument("--policy", type=Path, metavar="evalward.yml", help="default: each kind's own rules")
    _judging_options(parser)
    _format_options(parser)


def _add_report(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "report", "show a report without a baseline, or several side by side", _report)
    parser.add_argument("reports", type=Path, nargs="+", metavar="R.json")
    parser.add_argument("--verbose", action="store_true", help=VERBOSE)
    _format_options(parser)


def _add_validate(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(
        commands, "validate", "check config, cases and baseline: every problem, with file and line", _validate
    )
    parser.add_argument("paths", type=Path, nargs="*", default=[DEFAULT_CONFIG], metavar="PATH")
    parser.add_argument("--no-prove", action="store_true", help="don't run the cases' solutions and wrong answers")


def _add_schema(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "schema", "print the JSON Schema of a file, for editors and programs", _schema)
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"{', '.join(ours(SCHEMAS))}; none: list the names")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")


def _add_publish(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(
        commands, "publish", "judge and comment a fork's run in a trusted workflow_run workflow", _publish
    )
    parser.set_defaults(keys=True)
    parser.add_argument("folder", type=Path, metavar="DIR", help="the downloaded artifact: the first stage's output")
    parser.add_argument(
        "--config", default=str(DEFAULT_CONFIG), metavar="FILE", help="of the base; default: evalward.yml"
    )
    parser.add_argument("--baseline", metavar="FILE", help="of the base; default: the config's")
    _judging_options(parser)
    parser.add_argument(
        "--comment-id", default="evalward", metavar="ID", help="as the first stage's; default: evalward"
    )
    parser.add_argument("--output", default=str(DEFAULT_OUTPUT), metavar="DIR", help="default: evalward-out")


def _add_action(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "action", "the container action's entry point, run by GitHub", _action)
    parser.set_defaults(keys=True)


# --- what the commands do -------------------------------------------------------------------------------------------


def _selection(args: argparse.Namespace) -> Selection:
    from evalward.engine.selection import Selection

    return Selection(tuple(args.suite), tuple(args.target), tuple(args.case), args.trials)


def _run(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.run import RunOptions, run

    options = RunOptions(
        config=args.config,
        output=args.output,
        selection=_selection(args),
        resume=args.resume,
        record=args.record,
        verbose=args.verbose,
        failed=args.failed,
    )
    return run(world, options)


def _check(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.check import check
    from evalward.commands.options import CheckOptions

    options = CheckOptions(
        config=args.config,
        output=args.output,
        selection=_selection(args),
        baseline=args.baseline,
        profile=args.profile,
        fail_on=args.fail_on,
        resume=args.resume,
        failed=args.failed,
        base=args.base,
    )
    return check(world, options)


def _compare(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.compare import compare_files
    from evalward.commands.options import CompareOptions

    options = CompareOptions(
        report=args.report,
        baseline=args.baseline,
        policy=args.policy,
        profile=args.profile,
        fail_on=args.fail_on,
        format=args.format,
        output=args.output,
        scores=args.scores,
    )
    return compare_files(world, options)


def _report(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.report import show_reports

    return show_reports(world, args.reports, args.format, args.output, verbose=args.verbose)


def _validate(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.validate import validate

    return validate(world, args.paths, prove=not args.no_prove)


def _schema(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.schema import show_schema

    return show_schema(world, args.name, args.output)


def _publish(world: World, args: argparse.Namespace) -> int:
    from evalward.commands.publish import publish_folder
    from evalward.github.settings import ActionInputs

    settings = ActionInputs(
        config=args.config,
        baseline=args.baseline,
        profile=args.profile,
        fail_on=args.fail_on,
        comment_id=args.comment_id,
        output_dir=args.output,
    )
    return publish_folder(world, args.folder, settings)


def _action(world: World, args: argparse.Namespace) -> int:  # noqa: ARG001 - its inputs come by the environment
    from evalward.action import run_action

    return run_action(world)


# --- the edge -------------------------------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the console script. Raises `SystemExit` with the exit code."""
    args = build_parser().parse_args(argv)
    kept = SCREEN if getattr(args, "screen", False) else frozenset()
    if argv is None:
        enter(sys.argv[1:], keys=getattr(args, "keys", False), kept=kept)
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # in a container we are process 1, which nothing else ends
    world = make_world(kept)
    if argv is None and getattr(args, "keys", False):
        os.chdir("/")  # nothing of the folder that we were called in is meant by a relative path from here on
    raise SystemExit(_flushed(guarded(world, lambda world: args.handler(world, args))))


def _flushed(code: int) -> int:
    """The exit code, when all that was said has left this process: what was not said to its end is no pass.

    Python would end with a code of its own where its streams can't be written.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        sys.stdout = None
        if code != EXIT_OURS:
            with suppress(OSError):
                sys.stderr.write(f"error: standard output can't be written: {error.strerror}\n")
        code = EXIT_OURS
    try:
        sys.stderr.flush()
    except OSError:
        sys.stderr = None
    return code


def make_world(kept: frozenset[str] = frozenset()) -> World:
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
    return World(out=sys.stdout, err=sys.stderr, now=utc_now, env=taken_environment(kept), cwd=cwd)


def guarded(world: World, command: Callable[[World], int]) -> int:
    """Run a command: a user's mistake is told in lines, our own fault in one sentence with a log file."""
    from evalward.records.problem import InputError, NoRoomError

    try:
        return command(world)
    except InputError as error:
        _last_words(world, *(f"error: {_one_line(str(problem))}" for problem in error.problems))
        return EXIT_OURS if isinstance(error, NoRoomError) else EXIT_INPUT
    except KeyboardInterrupt:
        _last_words(world, "interrupted: finished trials are kept")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        sys.stdout = None  # whoever read our output has gone; nothing is left to say to them
        return EXIT_OURS  # and what was not said to its end is no pass
    except Exception as error:  # the last line of defence: nobody shall see a traceback on the screen
        from evalward.commands.faults import internal_error

        _last_words(world, _one_line(internal_error(error, world.redaction)))
        return EXIT_OURS


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
