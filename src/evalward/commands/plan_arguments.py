"""The options of `run` and `check` that ask for the plan alone."""

from __future__ import annotations

import argparse


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """`--plan`, and its format."""
    what = "run nothing: show trials, requests, tokens, cost and time, and what they can prove"
    parser.add_argument("--plan", action="store_true", help=what)
    parser.add_argument("--format", choices=("terminal", "json"), help="of --plan; default: terminal")


def plan_format(args: argparse.Namespace) -> str | None:
    """The format of the plan, `None` where the suites are to be run. Raises `InputError` for a format of nothing."""
    if args.plan:
        return args.format or "terminal"
    if args.format is not None:
        from evalward.records.problem import wrong

        raise wrong("--format", "is the format of --plan", "Add --plan, or use `evalward report` after the run.")
    return None
