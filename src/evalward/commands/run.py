"""`evalward run`: run suites, leave a report."""

from __future__ import annotations

from pathlib import Path

from evalward.commands.pipeline import REPORT_FILE, prepare, run_plan
from evalward.commands.world import World
from evalward.config import load_config
from evalward.engine.plan import Selection
from evalward.records.verdict import EXIT_OK, EXIT_UNJUDGED
from evalward.render.terminal import report_text


def run(
    world: World, config: Path, selection: Selection, output: Path, *, resume: bool = False, verbose: bool = False
) -> int:
    """Exit code 0, or 3 when no trial is valid or the run ended early. `resume` keeps what is finished already."""
    loaded = load_config(config)
    plan = prepare(loaded, selection, world.env)
    report = run_plan(loaded, plan, output, world, resume=resume)
    colour = world.colour(world.err)
    world.say(report_text([report], colour=colour, width=world.width, verbose=verbose))
    world.say(f"Report: {output / REPORT_FILE}")
    valid = any(result.valid for run in report.runs for result in run.cases)
    if report.interrupted:
        world.say(f"The run ended early: {report.interrupted}. What is finished is kept; go on with --resume.")
    return EXIT_OK if valid and not report.interrupted else EXIT_UNJUDGED
