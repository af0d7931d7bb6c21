"""`evalward run`: run suites, leave a report, as JSON and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from evalward.cluster.orders import ClusterError
from evalward.commands.ending import display_of, files_line, shown_reports, sources_of, write_outputs, write_page
from evalward.commands.failed import only_failed
from evalward.commands.measuring import chosen_of, in_batches, load, measured, runner_of, services_of
from evalward.commands.parts import ShardBasis, attempt_of, ordered
from evalward.commands.pipeline import policy_of
from evalward.commands.planning import (
    PlanBasis,
    PlanRequest,
    Unchanging,
    announcing,
    baseline_of_config,
    committed_baseline,
    show_plan,
    unchanged_since,
)
from evalward.commands.record import open_recordings, record
from evalward.commands.since import SinceRequest
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.engine.parts import IncompleteError
from evalward.engine.selection import Selection
from evalward.git import MAX_FILE_BYTES
from evalward.keeper.services import Services
from evalward.keeper.session import RunnerSession
from evalward.records.baseline import Baseline
from evalward.records.exits import EXIT_OK, EXIT_UNJUDGED
from evalward.records.history import HistoryEntry
from evalward.records.part import Shard
from evalward.records.report import REPORT_FILE, Report
from evalward.render.outputs import ShownReports, text_of
from evalward.wire.messages import MeasureOrder


class RunOptions(Struct, frozen=True):
    """What `run` was asked for.

    `record`: the folder for a recording to commit; `failed`: only what failed before; `shard`: that part of the plan.
    `plan`: run nothing, and show in this format what would be run. `batch`: send requests in batches. `on_ray`: on a
    Ray cluster, in so many `bundles`. `changed_since`: what nothing has touched since this commit isn't measured.
    """

    config: Path
    output: Path
    selection: Selection = field(default_factory=Selection)
    resume: bool = False
    record: Path | None = None
    verbose: bool = False
    failed: bool = False
    shard: Shard | None = None
    plan: str | None = None
    batch: bool = False
    on_ray: bool = False
    bundles: int | None = None
    changed_since: str | None = None


class _RunOrdered(Struct, frozen=True):
    """What is going to be measured."""

    world: World
    loaded: LoadedConfig
    order: MeasureOrder
    basis: PlanBasis
    unchanged: Unchanging


def measured_run(world: World, options: RunOptions) -> tuple[World, Services, Report]:
    """Have a runner measure; the report, where it lies, and the world, which now knows every secret.

    Raises `InputError`; on a cluster `ClusterError` and `IncompleteError`, too.
    """
    with runner_of(world) as runner:
        asked = _ordered(world, runner, options)
        clear = None if options.resume else ()
        suites = asked.order.chosen.suites
        services = services_of(asked.world, asked.loaded, options.output, clear=clear, suites=suites)
        services.planned, services.unchanged = announcing(asked.world, asked.basis), asked.unchanged
        in_batches(services, asked.order, asked.loaded)
        order = _on_ray(runner, asked, services, options) if options.on_ray else asked.order
        report = measured(runner, order, services)
    return asked.world, services, report


def _on_ray(runner: RunnerSession, asked: _RunOrdered, services: Services, options: RunOptions) -> MeasureOrder:
    from evalward.commands.on_ray import OnRay, with_parts_of_cluster  # noqa: PLC0415 - few have a cluster

    request = PlanRequest(asked.order, asked.basis, options.output)
    ray = OnRay(options.config, options.selection, options.bundles)
    return with_parts_of_cluster(asked.world, runner, request, services, ray)


def _ordered(world: World, runner: RunnerSession, options: RunOptions) -> _RunOrdered:
    loaded, _ = load(runner, str(options.config))
    world = world.hiding(loaded.config.key_names)
    selection = options.selection
    if options.failed:
        selection = only_failed(runner, options.output, selection, resume=options.resume)
    asks, chosen = options.changed_since is not None, chosen_of(selection)
    order = MeasureOrder(chosen=chosen, resume=options.resume, batched=options.batch, ask_unchanged=asks)
    policy = policy_of(loaded, None, None)
    baseline = (baseline_of_config if options.shard is None else committed_baseline)(runner, loaded)
    unchanged = unchanged_since(world, loaded, _since(loaded, options, baseline))
    if options.shard is not None:
        history = _history(world, runner, loaded)
        loaded, order = ordered(loaded, order, ShardBasis(options.shard, baseline, policy, attempt_of(world), history))
    return _RunOrdered(world, loaded, order, PlanBasis(loaded, baseline, policy, compares=False), unchanged)


def _history(world: World, runner: RunnerSession, loaded: LoadedConfig) -> Sequence[HistoryEntry]:
    from evalward.commands.shard_times import committed_history  # noqa: PLC0415 - few runs are shards

    return committed_history(world, loaded.config.history, lambda name: runner.read(name, limit=MAX_FILE_BYTES))


def _since(loaded: LoadedConfig, options: RunOptions, baseline: Baseline | None) -> SinceRequest | None:
    if options.changed_since is None:
        return None
    path = loaded.root / loaded.config.baseline_for(None, None)
    return SinceRequest(options.changed_since, baseline, path, (options.output,), options.selection.trials)


def _plan(world: World, options: RunOptions, form: str) -> int:
    with runner_of(world) as runner:
        asked = _ordered(world, runner, options)
        request = PlanRequest(asked.order, asked.basis, options.output, asked.unchanged)
        return show_plan(asked.world, runner, request, form)


def run(world: World, options: RunOptions) -> int:
    """Exit code 0, or 3 when no trial is valid or the run ended early."""
    if options.plan is not None:
        return _plan(world, options, options.plan)
    recordings = open_recordings(options.record, world.cwd) if options.record is not None else None
    try:
        world, services, report = measured_run(world, options)
    except (IncompleteError, ClusterError) as error:
        world.say(f"error: {error}")
        return EXIT_UNJUDGED
    display = display_of(world, world.out, verbose=options.verbose)
    sources = sources_of(report, None, services.output, world.redaction)
    shown = shown_reports([report], display=display, sources=[sources])
    written: list[str] = []
    try:
        written += _written(world, shown, services)
    finally:
        last = [] if world.quiet else _last_lines(report, files_line(options.output, written))
        world.show("\n".join([text_of("terminal", shown), *last]))
    if recordings is not None:
        for path in record(report, services.output, recordings, world.redaction):
            if not world.quiet:
                world.show(f"Recorded: {path}")
    valid = any(result.valid for run in report.runs for result in run.cases) or _had_nothing_to_do(report)
    return EXIT_OK if valid and not report.interrupted else EXIT_UNJUDGED


def _had_nothing_to_do(report: Report) -> bool:
    """True where the baseline's trials stand for all, and where there are more shards than cases and this one has
    none.
    """
    if report.part is not None:
        return not any(run.planned or (run.not_measured and run.unchanged is None) for run in report.runs)
    return report.all_unchanged


def _written(world: World, shown: ShownReports, services: Services) -> list[str]:
    """Write all reports, before anything is printed: a pipe that is closed early leaves none of them out."""
    if services.unwritten is not None:
        raise services.unwritten
    return [
        REPORT_FILE,
        *write_outputs(shown, services.output, ["markdown"]),
        *write_page(shown, services.output, lambda text: world.say(f"warning: {text}")),
    ]


def _last_lines(report: Report, files: str) -> list[str]:
    """Whether it came to its end, and where everything is."""
    ended = f"The run ended early: {report.interrupted}. Finished trials are kept; continue with --resume."
    part = f"This is {report.part.name}. Judge all parts together: evalward check --parts DIR…" if report.part else ""
    return [*([ended] if report.interrupted else []), *([part] if part else []), *([files] if files else [])]
