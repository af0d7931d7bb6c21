"""The plan of a run before it begins: as lines of its log, or alone, with nothing run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from evalward.commands.emitting import emit
from evalward.commands.measuring import open_output
from evalward.commands.since import SinceRequest
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.config.batch import Batch
from evalward.config.surroundings import ADDRESSES, ignored_addresses
from evalward.decide.baseline import read_baseline
from evalward.keeper.services import Services
from evalward.keeper.session import RunnerSession
from evalward.records.base import json_text
from evalward.records.baseline import Baseline
from evalward.records.budget import Budget
from evalward.records.exits import EXIT_OK
from evalward.records.outline import PlanOutline
from evalward.records.policy import Policy
from evalward.records.problem import InputError
from evalward.records.unchanged import Unchanged
from evalward.registry import KINDS, has
from evalward.wire.messages import MeasureOrder

if TYPE_CHECKING:
    from evalward.records.plan import CostPlan

Unchanging = Callable[[PlanOutline], Mapping[tuple[str, str], Unchanged]]
"""Which runs of a plan aren't measured because the baseline's trials stand, by suite and target."""

SERVED = ("planned", "unchanged", "find", "say", "close")
"""What a runner may ask for that only plans: nothing that is spent, started or written."""


class PlanBasis(Struct, frozen=True):
    """What a plan is made from, beside its outline. Without `compares` nothing is judged, as for `evalward run`.

    `confirms`: a part of the budgets is kept for the confirm stage.
    """

    loaded: LoadedConfig
    baseline: Baseline | None
    policy: Policy
    compares: bool = True
    confirms: bool = False

    def of(self, outline: PlanOutline) -> CostPlan:
        """The plan."""
        from evalward.decide.foresee import PlanJudging  # noqa: PLC0415 - as below
        from evalward.decide.plan import cost_plan  # noqa: PLC0415 - a run that costs nothing needs none
        from evalward.suites.base import kind_named  # noqa: PLC0415

        kinds = dict.fromkeys(run.kind for run in outline.runs if has(KINDS, run.kind))
        config = self.loaded.config
        judging = PlanJudging(
            policy=self.policy,
            defaults={kind: kind_named(kind).default_rules for kind in kinds},
            compares=self.compares,
            budget=Budget.planned(config.budget_usd, config.budget_tokens, confirms=self.confirms),
            batch_wait_s=(config.batches or Batch()).wait_s,
        )
        return cost_plan(outline, self.baseline, judging)


class PlanRequest(Struct, frozen=True):
    """What is planned: which order, from what. Finished trials are in the `output` folder. `unchanged` says which runs
    the baseline stands for.
    """

    order: MeasureOrder
    basis: PlanBasis
    output: Path
    unchanged: Unchanging = lambda outline: {}  # noqa: ARG005


def unchanged_since(world: World, loaded: LoadedConfig, request: SinceRequest | None) -> Unchanging:
    """Who says which runs the baseline stands for: without a request, for none.

    Raises `InputError` for a name that no commit has.
    """
    if request is None:
        return lambda _: {}
    from evalward.commands.changed_since import changed_since  # noqa: PLC0415 - few ask for it

    return changed_since(world, loaded, request).unchanged


def announcing(world: World, basis: PlanBasis) -> Callable[[PlanOutline], None]:
    """Who says, in the log of a run that costs something, what it will probably use, and which address in the
    environment it doesn't ask.
    """

    def said(outline: PlanOutline) -> None:
        from evalward.render.plan import plan_lines  # noqa: PLC0415

        for note in _not_asked(world, basis.loaded, outline):
            world.note(f"note: {note}")
        for line in plan_lines(basis.of(outline)):
            world.note(line)

    return said


def _not_asked(world: World, loaded: LoadedConfig, outline: PlanOutline) -> list[str]:
    live = [run for run in outline.runs if run.not_measured is None]
    targets = [name for run in live for name in (*([] if run.free else [run.target]), *run.judges)]
    return ignored_addresses(loaded.config, targets, [name for name in ADDRESSES if world.env.get(name)])


def show_plan(world: World, runner: RunnerSession, asked: PlanRequest, form: str) -> int:
    """The exit code, 0: the plan is on standard output, in this format. No key is used, nothing is run or written."""
    plan = asked.basis.of(outlined(world, runner, asked))
    emit(world, _text(world, plan, form), None)
    return EXIT_OK


def outlined(world: World, runner: RunnerSession, asked: PlanRequest) -> PlanOutline:
    """What the order would run, without running it. Raises `InputError`."""
    basis, output, order = asked.basis, asked.output, asked.order
    outlines: list[PlanOutline] = []
    found = world.cwd / output
    services = Services(
        basis.loaded.config,
        {},
        lambda: open_output(world, output),
        world.tell,
        world.now,
        world.redaction,
        planned=outlines.append,
        unchanged=asked.unchanged,
    )
    served = services.handlers()
    order = order.model_copy(update={"plan_only": True, "resume": order.resume and found.is_dir()})
    runner.measure(order, {name: served[name] for name in SERVED})
    return outlines[-1]


def _text(world: World, plan: CostPlan, form: str) -> str:
    if form == "json":
        return json_text(plan)
    from evalward.render.plan import plan_text  # noqa: PLC0415

    return plan_text(plan, colour=world.colour(world.out), width=world.width)


def baseline_of_config(runner: RunnerSession, loaded: LoadedConfig) -> Baseline | None:
    """The configuration's baseline, for its figures alone: one that can't be read is as none, for nothing is judged."""
    try:
        return committed_baseline(runner, loaded)
    except InputError:
        return None


def committed_baseline(runner: RunnerSession, loaded: LoadedConfig) -> Baseline | None:
    """The configuration's baseline, `None` where there is none. Raises `InputError`."""
    path = loaded.config.baseline_for(None, None)
    content = runner.read(path)
    return None if content is None else read_baseline(content, str(loaded.root / path))
