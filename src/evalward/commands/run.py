"""`evalward run`: run suites, leave a report."""

from __future__ import annotations

from pathlib import Path

from evalward.commands.pipeline import REPORT_FILE, prepare, run_plan
from evalward.commands.world import World
from evalward.config import load_config
from evalward.engine.plan import Selection
from evalward.records.verdict import EXIT_OK, EXIT_UNJUDGED
from evalward.render.terminal import report_text


def run(world: World, config: Path, selection: Selection, output: Path, *, verbose: bool = False) -> int:
    """Exit code 0, or 3 when no trial is valid."""
    loaded = load_config(config)
    plan = prepare(loaded, selection)
    report = run_plan(loaded, plan, output, world)
    colour = world.colour(world.err)
    world.say(report_text([report], colour=colour, width=world.width, verbose=verbose))
    world.say(f"Report: {output / REPORT_FILE}")
    valid = any(result.valid for run in report.runs for result in run.cases)
    return EXIT_OK if valid else EXIT_UNJUDGED
