"""The report that the action judges: one that an earlier step made, or a new one that the runner measures."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from evalward.commands.base_files import base_of_pull, guidance_wanted
from evalward.commands.ci_history import read_base_history
from evalward.commands.given import given_report, of_commit
from evalward.commands.measuring import chosen_of, in_batches, measured, report_bytes
from evalward.commands.parts import PartsKeeping, ShardBasis, folders_in, ordered, read_parts, take_parts
from evalward.commands.pipeline import Criteria
from evalward.commands.planning import PlanBasis, announcing
from evalward.commands.shard_times import committed_history
from evalward.commands.surfaces import Surfaces
from evalward.config import LoadedConfig
from evalward.decide.unchanged import RunName, StandingLimit, unchanged_runs
from evalward.edge import harmless
from evalward.engine.selection import Selection
from evalward.git import MAX_FILE_BYTES, GitTree
from evalward.github.event import EventPlan
from evalward.github.sides import BaseAndHead
from evalward.github.unchanged import change_at_hand, max_age_days, may_stand
from evalward.keeper.outputs import OutputFolder
from evalward.keeper.services import Services
from evalward.keeper.session import RunnerSession
from evalward.records.base import why_of
from evalward.records.history import HistoryEntry
from evalward.records.outline import PlanOutline
from evalward.records.problem import InputError
from evalward.records.report import Report, digest_of
from evalward.records.unchanged import Unchanged
from evalward.wire.messages import HeadConfig, MeasureOrder


@dataclass(frozen=True)
class ReportingJob:
    """What is measured and by what. `loaded` is the head's configuration with what only the base may say.

    `spare_keyless`: a live target without its key is not measured, which is said plainly, instead of being an error.
    `withheld` are suites whose commands are not run, by name, and why.
    """

    surfaces: Surfaces
    plan: EventPlan
    head: RunnerSession
    sides: BaseAndHead
    loaded: LoadedConfig
    tree: GitTree
    spare_keyless: bool
    withheld: Mapping[str, str] = field(default_factory=dict)

    @property
    def keyless(self) -> bool:
        """Who nothing judges has no budget either: no model is asked at our expense."""
        return self.sides.unprotected and not self.surfaces.settings.bootstrap

    @property
    def folder(self) -> str:
        """The configuration's folder, as the workflow names it."""
        return str(self.surfaces.folder / posixpath.dirname(self.surfaces.settings.config))

    @property
    def selection(self) -> Selection:
        """What of the configuration is run."""
        settings = self.surfaces.settings
        return Selection(suites=settings.suites, targets=settings.targets, trials=settings.trials)

    @property
    def outputs(self) -> OutputFolder:
        """The output folder, which is open by now."""
        if self.surfaces.outputs is None:
            raise RuntimeError("the output folder is not open")
        return self.surfaces.outputs


def report_of_step(work: ReportingJob, read: HeadConfig) -> tuple[Report, str]:
    """The report that an earlier step made, without secrets, and what tells its file from every other."""
    if read.unfed:
        raise InputError(read.unfed)
    settings = work.surfaces.settings
    name = settings.report or ""
    place = posixpath.join(settings.working_directory, name)
    data = report_bytes(work.head, place)
    report = given_report(data, name, place, work.plan, work.tree)
    # What is partial, only the job says.
    report = report.model_copy(update={"partial": work.selection.partial})
    return work.surfaces.redaction.record(report), digest_of(data)


def new_report(work: ReportingJob, judging: Criteria) -> tuple[Report, str]:
    """A new report, without secrets, and what tells its file from every other; `judging` says what is tried again."""
    surfaces, sides, world = work.surfaces, work.sides, work.surfaces.world
    base, side = base_of_pull(surfaces.settings, sides, work.tree)
    order = MeasureOrder(
        config=work.loaded.config,
        chosen=chosen_of(work.selection),
        based=base is not None,
        spare_keyless=work.spare_keyless,
        keyless=work.keyless,
        guidance=guidance_wanted(work.plan, sides),
        base=side.model_copy(update={"suites": sides.judging.policy.with_base}),
        withheld=dict(work.withheld),
        ask_unchanged=may_stand(surfaces.settings, work.plan, sides),
        confirms=judging.confirms and surfaces.settings.shard is None and surfaces.settings.parts is None,
        batched=_can_wait(work),
    )
    loaded, order = _in_parts(work, order)
    services = Services(
        loaded.config,
        harmless(world.env) if work.keyless else world.env,
        lambda: work.outputs,
        world.tell,
        world.now,
        surfaces.redaction,
        judging.retries if surfaces.settings.shard is None else lambda _: (),  # the confirm stage is the merging job's
        base,
        work.folder,
        work.withheld,
        unchanged=partial(_unchanged, work),
        planned=announcing(world, PlanBasis(loaded, judging.baseline, judging.policy, confirms=order.confirms)),
        confirms=order.confirms,
    )
    in_batches(services, order, loaded)
    with surfaces.guarded_log():
        report = measured(work.head, order, services)
    if services.unwritten is not None:
        raise services.unwritten
    return report, services.digest


def _can_wait(work: ReportingJob) -> bool:
    """Whether requests go in batches: nobody waits for a scheduled run or an update of the baseline."""
    waits = work.plan.event != "schedule" and work.surfaces.settings.mode != "update-baseline"
    return work.loaded.config.batches is not None and not waits


def _unchanged(work: ReportingJob, outline: PlanOutline) -> Mapping[RunName, Unchanged]:
    """The runs for which the base's baseline stands, by the base's word alone; where that can't be decided, none."""
    surfaces, sides = work.surfaces, work.sides
    try:
        change = change_at_hand(surfaces.settings, work.plan, sides, work.tree)
        limit = StandingLimit(surfaces.world.now(), max_age_days(sides))
        return unchanged_runs(outline, sides.judging.baseline, change, limit)
    except Exception as error:  # whatever it is, to measure is right
        surfaces.warn(f"Which suites the change can't have touched is not known, so all are measured: {why_of(error)}")
        return {}


def _history(work: ReportingJob) -> Sequence[HistoryEntry]:
    """What the commit that judges has measured before, as far as it is a file of it. Raises `GitHubError`."""
    place, sha, settings = work.sides.judging.history, work.sides.base.sha, work.surfaces.settings
    if place is None or place.folder is None:
        return []
    if sha is None:
        read = work.head.read
        return committed_history(work.surfaces.world, place, lambda name: read(name, limit=MAX_FILE_BYTES))
    try:
        return read_base_history(settings, work.tree, sha, place.folder).entries
    except InputError as error:  # in every shard alike
        work.surfaces.warn(f"The history was not read: {error}")
        return []


def _in_parts(work: ReportingJob, order: MeasureOrder) -> tuple[LoadedConfig, MeasureOrder]:
    """The configuration and the order, where this job is one shard or judges all: what it may use, what is known.

    Raises `InputError`, `IncompleteError`.
    """
    settings, sides = work.surfaces.settings, work.sides
    if settings.shard is not None:
        judging, attempt = sides.judging, work.surfaces.runner.run_attempt
        share = ShardBasis(settings.shard, judging.baseline, judging.policy, attempt, _history(work))
        return ordered(work.loaded, order.model_copy(update={"guidance": None}), share)
    if settings.parts is None:
        return work.loaded, order
    workspace = work.surfaces.runner.workspace
    folder = Path(settings.working_directory, settings.parts)
    found = read_parts(work.head, folders_in(folder, workspace), work.tree)
    keep = PartsKeeping(work.outputs, workspace, work.surfaces.warn)
    of_plan = partial(of_commit, found.report, settings.parts, work.plan)
    known = take_parts(found, work.loaded, work.tree.head(), keep, also=of_plan)
    return work.loaded, order.model_copy(update={"known": known, "left": list(found.left)})
