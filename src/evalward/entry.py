"""The first instruction of our process. Loading takes longest, so what another process can load begins before that."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence

from evalward import interrupts
from evalward.edge import EXIT_INTERRUPTED, FEWER_COLLECTIONS, NO_PLUGINS, enter

MEASURING = ("run", "check")
"""Commands that need keys and a runner, whatever their arguments are."""

EVENTS = ("pull_request", "merge_group", "push", "schedule", "workflow_dispatch", "release")
"""Events in which the action measures what is checked out."""


def main() -> None:
    """Entry point of the console script and of the container. Raises `SystemExit` with the exit code."""
    gc.set_threshold(FEWER_COLLECTIONS)
    os.environ.update(NO_PLUGINS)
    try:
        interrupts.heed()
        begin(sys.argv[1:], os.environ)
        from evalward.cli import main as command_line  # noqa: PLC0415 - the runner loads meanwhile

        command_line()
    except KeyboardInterrupt:  # while modules load: nothing is to be kept
        raise SystemExit(EXIT_INTERRUPTED) from None
    finally:
        keeper = sys.modules.get("evalward.keeper.process")
        if keeper is not None:
            keeper.end_unused()
        gc.freeze()  # else all that is loaded is searched for garbage once more, for a process that ends


def begin(arguments: Sequence[str], env: Mapping[str, str]) -> None:
    """For a command that will need it, start a runner now: two processes load at once what each needs."""
    folder = runner_folder(arguments, env)
    if folder is None:
        return
    enter(arguments, keys=True)
    from pathlib import Path  # noqa: PLC0415 - nobody else pays for it

    from evalward.keeper.process import start_early  # noqa: PLC0415

    start_early(env, Path(folder))


def runner_folder(arguments: Sequence[str], env: Mapping[str, str]) -> str | None:
    """Where a runner will be wanted; `None` where none may be."""
    if not arguments or not {"-h", "--help"}.isdisjoint(arguments):
        return None
    if arguments[0] in MEASURING:
        try:
            return os.getcwd()  # noqa: PTH109 - pathlib would be loaded twice, before and after we begin anew
        except OSError:  # the folder is gone: the command line says so
            return None
    workspace = env.get("GITHUB_WORKSPACE", "")
    told = env.get("INPUT_PUBLISH", "").strip() or env.get("INPUT_MODE", "").strip() == "link"
    wanted = arguments[0] == "action" and env.get("GITHUB_EVENT_NAME") in EVENTS and not told
    return workspace if wanted and workspace.startswith("/") else None
