"""What the keeper may order: read a configuration or a file, measure, compare guidance, hold a judge against labels."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, field, structs

from evalward.config import LoadedConfig
from evalward.config.load import load_config
from evalward.engine.outline import outline_of
from evalward.engine.plan import Plan, without_missing_keys, without_unchanged
from evalward.engine.selection import Selection
from evalward.opening import name_below, read_inside
from evalward.records.outline import PlanOutline
from evalward.records.problem import wrong
from evalward.runner.base_side import base_commit
from evalward.runner.harness import not_runnable
from evalward.runner.link import Keeper, Shelf, Telling
from evalward.runner.measure import Beyond, OtherGuidance, prepare, refuse_missing_keys, run_plan
from evalward.runner.outside import Outside
from evalward.runner.parts import not_in_parts, refuse_unmeasured, shard_of
from evalward.suites.across import unfed_rules
from evalward.wire import messages as m
from evalward.wire import reading
from evalward.wire.peer import Peer

HELD = "held by the keeper"
"""Stands where a key would: that it is there is all that the runner knows."""


class JobSession(Struct):
    """What one job leaves for the next: the configuration that was read, and what is known of the outside."""

    keeper: Keeper
    outside: Outside
    loaded: LoadedConfig | None = None
    begun: m.Beginning = field(default_factory=m.Beginning)

    @classmethod
    def of(cls, peer: Peer) -> JobSession:
        """A session that knows nothing yet."""
        keeper = Keeper(peer)
        return cls(keeper, _outside(keeper, m.Beginning()))

    @property
    def config(self) -> LoadedConfig:
        """The configuration that was read."""
        if self.loaded is None:
            raise ValueError("no configuration has been read")
        return self.loaded


def _outside(keeper: Keeper, begun: m.Beginning) -> Outside:
    env = {**os.environ, **dict.fromkeys(begun.keys, HELD)}
    return Outside(Telling(keeper, terminal=begun.terminal), _now, env, Path.cwd())


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def begin(session: JobSession, data: bytes) -> bytes:
    """Learn what is outside."""
    session.begun = reading.read(m.Beginning, data)
    session.outside = _outside(session.keeper, session.begun)
    return b"null"


def load(session: JobSession, data: bytes) -> bytes:
    """Read a configuration."""
    order = reading.read(m.LoadOrder, data)
    if order.optional and not os.path.lexists(order.config):
        return b"null"
    loaded = load_config(Path(order.config), order.shown, Path(order.below) if order.below else None)
    session.loaded = loaded
    head = m.HeadConfig(
        config=loaded.config,
        file=loaded.file,
        root=str(loaded.root),
        sha256=loaded.sha256,
        unfed=unfed_rules(loaded),
    )
    return m.written(head)


def read_file(session: JobSession, data: bytes) -> bytes:
    """Read a file, by its path from the configuration's folder or as the user named it; nothing where there is none.

    Raises `InputError`.
    """
    order = reading.read(m.ReadOrder, data)
    top, name = (session.config.root, order.path) if not order.anywhere else _below(Path(order.path))
    try:
        content = read_inside(top, name, order.limit)
    except FileNotFoundError:
        return b"-"
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name can't be used"
        raise wrong(order.path, f"can't be read: {why}", "Name a file.") from error
    return b"+" + content


def _below(path: Path) -> tuple[Path, str]:
    """Where a path that the user named begins: below where we work no link is followed; elsewhere it is none itself."""
    top = path.parent if path.is_absolute() or ".." in path.parts else Path()
    return top, name_below(top, path)


def measure(session: JobSession, data: bytes) -> bytes:
    """Run the suites. The keeper gets the report at every stage of it."""
    order = reading.read(m.MeasureOrder, data)
    loaded = _judged_by(session, order)
    if order.keyless:
        session.outside = _outside(session.keeper, session.begun.model_copy(update={"keys": []}))
    session.outside = structs.replace(session.outside, versioned=order.versioned)
    session.keeper.batched = order.batched
    plan = _plan(session, loaded, order.chosen)
    if order.spare_keyless:
        plan = without_missing_keys(plan)
    if order.ask_unchanged:
        found = session.keeper.unchanged(_outline(session, loaded, plan, order, {}))
        standing = {(each.suite, each.target): frozenset(each.cases) for each in found.cases}
        plan = without_unchanged(plan, found.runs, standing)
    part = None
    if order.shard is not None:
        plan, part = shard_of(plan, order.shard)
    guidance = _guidance(session, loaded, order)
    keeper, outside = session.keeper, session.outside
    spared = _not_run(loaded, plan, order, outside.env)
    if order.known is not None:
        refuse_unmeasured(plan, order.known, order.left)
    to_run = plan if order.known is None else not_in_parts(plan, order.known)
    outline = _outline(session, loaded, to_run, order, spared)
    if order.plan_only:
        keeper.planned(outline)
        return b"null"
    refuse_missing_keys(loaded, to_run if order.settled else plan)
    if outline.live:
        keeper.planned(outline)
    with base_commit(order.base, loaded, outside.env, keeper) as base:
        beyond = Beyond(
            guidance,
            base,
            spared,
            part,
            order.known,
            order.withheld,
            order.settled,
            confirms=order.confirms,
            under_way=keeper.under_way,
        )
        run_plan(loaded, plan, keeper, outside, beyond, resume=order.resume)
    return b"null"


def _not_run(loaded: LoadedConfig, plan: Plan, order: m.MeasureOrder, env: Mapping[str, str]) -> Mapping[str, str]:
    """The gathered suites whose commands are not run, and why. Raises `InputError`; planning needs no key."""
    if order.plan_only and not order.spare_keyless:
        return {name: why for name, why in order.withheld.items() if name in plan.gathered_names}
    suites = [each.spec for each in plan.gathered]
    return not_runnable(loaded, suites, env, order.withheld, spare_keyless=order.spare_keyless)


def _outline(
    session: JobSession, loaded: LoadedConfig, plan: Plan, order: m.MeasureOrder, spared: Mapping[str, str]
) -> PlanOutline:
    base = order.base.why_not is None
    return outline_of(
        plan,
        loaded,
        session.outside.env,
        both_sides=order.base.suites if base else (),
        base=base,
        not_measured=spared,
        resumed=Shelf(session.keeper) if order.resume else None,
    )


def _judged_by(session: JobSession, order: m.MeasureOrder) -> LoadedConfig:
    loaded = session.config
    if order.config is not None:
        loaded = replace(loaded, config=order.config)
    return replace(loaded, base_file=session.keeper.base_file) if order.based else loaded


def _plan(session: JobSession, loaded: LoadedConfig, chosen: m.Chosen) -> Plan:
    selection = Selection(chosen.suites, chosen.targets, chosen.cases, chosen.trials, chosen.only)
    return prepare(loaded, selection, session.outside.env, session.keeper)


def _guidance(session: JobSession, loaded: LoadedConfig, order: m.MeasureOrder) -> OtherGuidance | None:
    if order.guidance is None:
        return None
    from evalward.runner.guidance_base import BASE, OtherCommit, against_base  # noqa: PLC0415 - few runs need it

    keeper = session.keeper
    return against_base(OtherCommit(BASE, loaded.root, keeper.base_file, keeper.base_listing), order.guidance)


def compare_guidance(session: JobSession, data: bytes) -> bytes:
    """Run the scenarios with each guidance."""
    from evalward.runner.guidance import compare  # noqa: PLC0415

    order = reading.read(m.GuidanceOrder, data)
    plan = _plan(session, session.config, order.chosen)
    return m.written(compare(session.config, plan, session.keeper, session.outside, order))


def check_judge(session: JobSession, data: bytes) -> bytes:
    """Hold a judge against labelled transcripts."""
    from evalward.runner.judging import check  # noqa: PLC0415

    return m.written(check(session.keeper, session.outside, reading.read(m.JudgeOrder, data)))


JOBS: Mapping[str, Callable[[JobSession, bytes], bytes]] = {
    "begin": begin,
    "load": load,
    "read": read_file,
    "measure": measure,
    "guidance": compare_guidance,
    "judge": check_judge,
}
