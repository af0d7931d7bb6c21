"""`evalward run`: run suites, leave a report, as JSON and as Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from evalward.commands.ending import display_of, shown_reports, sources_of, write_outputs, write_page
from evalward.commands.failed import only_failed
from evalward.commands.measuring import chosen_of, load, measured, runner_of, services_of
from evalward.commands.parts import for_shard
from evalward.commands.record import open_recordings, record
from evalward.commands.world import World
from evalward.engine.selection import Selection
from evalward.keeper.services import Services
from evalward.records.part import Shard
from evalward.records.report import REPORT_FILE, Report
from evalward.records.verdict import EXIT_OK, EXIT_UNJUDGED
from evalward.render.outputs import text_of
from evalward.wire.messages import MeasureOrder


@dataclass(frozen=True)
class RunOptions:
    """What `run` was asked for.

    `record`: the folder for a recording to commit; `failed`: only what failed before; `shard`: that part of the plan.
    """

    config: Path
    output: Path
    selection: Selection = field(default_factory=Selection)
    resume: bool = False
    record: Path | None = None
    verbose: bool = False
    failed: bool = False
    shard: Shard | None = None


def measured_run(world: World, options: RunOptions) -> tuple[World, Services, Report]:
    """Have a runner measure; the report, where it lies, and the world, which now knows every secret.

    Raises `InputError`.
    """
    with runner_of(world) as runner:
        loaded, _ = load(runner, str(options.config))
        world = world.hiding(loaded.config.key_names)
        selection = options.selection
        if options.failed:
            selection = only_failed(runner, options.output, selection, resume=options.resume)
        clear = None if options.resume else ()
        order = MeasureOrder(chosen=chosen_of(selection), resume=options.resume)
        if options.shard is not None:
            loaded, order = for_shard(world, runner, loaded, order, options.shard)
        services = services_of(world, loaded, options.output, clear=clear, suites=selection.suites)
        report = measured(runner, order, services)
    return world, services, report


def run(world: World, options: RunOptions) -> int:
    """Exit code 0, or 3 when no trial is valid or the run ended early."""
    recordings = open_recordings(options.record, world.cwd) if options.record is not None else None
    world, services, report = measured_run(world, options)
    display = display_of(world, world.err, verbose=options.verbose)
    sources = sources_of(report, None, services.output, world.redaction)
    shown = shown_reports([report], display=display, sources=[sources])
    world.say(text_of("terminal", shown))
    if services.unwritten is not None:
        raise services.unwritten
    written = [
        *write_outputs(shown, services.output, ["markdown"]),
        *write_page(shown, services.output, lambda text: world.say(f"warning: {text}")),
    ]
    world.say(f"Report: {', '.join(str(options.output / name) for name in (REPORT_FILE, *written))}")
    if recordings is not None:
        for path in record(report, services.output, recordings, world.redaction):
            world.say(f"Recorded: {path}")
    if report.part is not None:
        world.say(f"This is {report.part.name}. Judge all parts together: evalward check --parts DIR…")
    valid = any(result.valid for run in report.runs for result in run.cases)
    if report.interrupted:
        world.say(f"The run ended early: {report.interrupted}. What is finished is kept; go on with --resume.")
    return EXIT_OK if valid and not report.interrupted else EXIT_UNJUDGED
