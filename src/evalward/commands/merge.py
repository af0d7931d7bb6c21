"""`evalward merge`: the parts of all shards as one report, for `compare`, `report` and `baseline update`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalward.commands.measuring import open_output, runner_of
from evalward.commands.parts import here, keep_trials, read_parts, refuse_output, spread
from evalward.commands.world import World
from evalward.engine.parts import IncompleteError, MergedParts
from evalward.records.base import json_data
from evalward.records.exits import EXIT_OK, EXIT_UNJUDGED
from evalward.records.problem import wrong
from evalward.records.report import REPORT_FILE, Partial, Report
from evalward.render.numbers import plural


def merge(world: World, parts: Sequence[Path], output: Path) -> int:
    """Exit code 0, or 3 where shards are missing or broke off. Raises `InputError`."""
    if output.name != REPORT_FILE:
        instead = (output.parent if output.suffix else output) / REPORT_FILE
        raise wrong(str(output), f"the file must be called {REPORT_FILE}", f"Name it {instead}.")
    parts = spread(parts, world.cwd)
    refuse_output(parts, output.parent, world.cwd)
    with runner_of(world) as runner:
        try:
            found = read_parts(runner, parts, here(world))
        except IncompleteError as error:
            world.say(f"error: {error}")
            return EXIT_UNJUDGED
    folder = open_output(world, output.parent)
    folder.clear()
    keep_trials(found, folder, world.cwd)
    folder.write_json(REPORT_FILE, json_data(_partial(found)))
    if found.left:
        world.say(f"warning: no shard measured {', '.join(found.left)}: `evalward check --parts` does")
    for note in found.notes:
        world.say(f"warning: {note}")
    trials = sum(len(run.cases) for run in found.report.runs)
    world.show(f"{plural(len(parts), 'part')}, {plural(trials, 'trial')}: {output}")
    return EXIT_OK


def _partial(found: MergedParts) -> Report:
    """The report; one that lacks suites is compared in the others only."""
    report = found.report
    if not found.left or report.partial is not None:
        return report
    suites = list(dict.fromkeys(run.suite for run in report.runs))
    return report.model_copy(update={"partial": Partial(suites=suites)})
