"""`run --on ray`: the cluster runs the plan as shards, and their parts become the report that one machine would make.

The driver, a process without keys, talks to Ray (`cluster/`). What a bundle leaves is looked at when it arrives: its
trials go to the output folder then, so that whatever happens later, they are not lost. The report is made when all
parts are there, and only then.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from evalward import __version__
from evalward.cluster.orders import AUTO, ClusterError, ClusterEvent, ClusterOrder
from evalward.cluster.process import ADDRESS, cluster_events
from evalward.commands.parts import here, keep_trials, refuse_others
from evalward.commands.planning import PlanBasis, PlanRequest, announcing, outlined
from evalward.commands.world import World
from evalward.engine.parts import IncompleteError, MergedParts, NamedPart, listed, measured_cases, merged, trial_paths
from evalward.engine.selection import Selection
from evalward.keeper.services import Services
from evalward.keeper.session import RunnerSession
from evalward.records.outline import OutlinedRun, PlanOutline
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.reading import parse_record
from evalward.records.report import REPORT_FILE, Report
from evalward.render.numbers import format_number, plural
from evalward.wire.messages import MeasureOrder
from evalward.writing import Folder

OPTION = "--on ray"
INSTALL = 'Install it: pip install "evalward[ray]".'
_SAME = "Every node needs the same checkout and the same version of Evalward."


@dataclass(frozen=True)
class OnRay:
    """A run on a cluster: the configuration and the selection as the bundles get them, and how many there shall be."""

    config: Path
    selection: Selection
    bundles: int | None = None

    def words(self, cwd: Path) -> list[str]:
        """The words of `evalward run` that all bundles share; a bundle may run in a folder with another path."""
        config = self.config
        if config.is_absolute() and config.is_relative_to(cwd):
            config = config.relative_to(cwd)
        chosen = self.selection
        words = ["--config", str(config)]
        for name, values in (("suite", chosen.suites), ("target", chosen.targets), ("case", chosen.cases)):
            words += [f"--{name}={value}" for value in values]
        return words if chosen.trials is None else [*words, "--trials", str(chosen.trials)]


@dataclass
class Arrived:
    """What has come back so far."""

    parts: dict[int, NamedPart] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    total: int = 0


def with_parts_of_cluster(
    world: World, runner: RunnerSession, request: PlanRequest, services: Services, ray: OnRay
) -> MeasureOrder:
    """The order, with what the cluster has measured; the trials are in the output folder.

    Raises `InputError`, `ClusterError`, and `IncompleteError` where a bundle is lost for good.
    """
    outline = outlined(world, runner, request)
    shared = _shared(outline, request.basis)
    if not shared:
        return request.order
    if outline.live:
        announcing(world, request.basis)(outline)
    _ = services.output  # it is found right before anything is spent
    with tempfile.TemporaryDirectory(prefix="evalward-parts-") as parts:
        order = ClusterOrder(
            words=ray.words(world.cwd),
            folder=str(world.cwd.absolute()),
            parts=parts,
            units=sum(len(run.cases) for run in shared),
            bundles=ray.bundles,
            address=world.env.get(ADDRESS, "").strip() or AUTO,
        )
        arrived = Arrived()
        with cluster_events(order, world.env) as events:
            collect(world, events, arrived, PartKeeping(world, request.basis, services, Path(parts)).kept)
        found = whole_of(arrived, shared)
    known = {"known": found.report, "left": list(found.left), "settled": True}
    return request.order.model_copy(update=known)


def _shared(outline: PlanOutline, basis: PlanBasis) -> list[OutlinedRun]:
    """The runs that bundles share out. Raises `InputError` where a key for one that is measured here is missing."""
    left = basis.policy.with_base
    ours = [(run.suite, run.missing_key) for run in outline.runs if run.suite in left and run.not_measured is None]
    ours += [(each.suite, each.missing_key) for each in outline.harnesses if each.command and not each.not_measured]
    problems = [
        Problem(
            place=Place(file=basis.loaded.file),
            message=f"{suite} is measured here, not on the cluster, and {key} is not set",
            remedy=f"Set {key}, or leave the suite out with --suite.",
        )
        for suite, key in ours
        if key is not None
    ]
    if problems:
        raise InputError(problems)
    return [run for run in outline.runs if run.suite not in left and run.not_measured is None]


@dataclass(frozen=True)
class PartKeeping:
    """Where parts are read, what they have to be of, and where their trials go."""

    world: World
    basis: PlanBasis
    services: Services
    parts: Path

    def kept(self, index: int) -> NamedPart:
        """A bundle's part, looked at and its trials kept. Raises `InputError`."""
        folder = self.parts / str(index)
        name = f"bundle {index}"
        try:
            data = Folder(folder).read(REPORT_FILE)
        except OSError as error:
            raise wrong(name, f"its report can't be read: {error.strerror or error}", _SAME) from error
        report = parse_record(data, name, Report, "a report", _SAME)
        if report.tool.version != __version__:
            raise wrong(name, f"it was run by Evalward {report.tool.version}, and this is {__version__}", _SAME)
        part = MergedParts(report, dict.fromkeys(trial_paths(report), str(folder)), ())
        refuse_others(part, self.basis.loaded, here(self.world).head(), OPTION)
        keep_trials(part, self.services.output, self.world.cwd)
        return NamedPart(name, report)


def collect(world: World, events: Iterator[ClusterEvent], arrived: Arrived, kept: Callable[[int], NamedPart]) -> None:
    """Hear what happens until it is over, and say it; `kept` takes a bundle's part.

    Raises `InputError`, `ClusterError`.
    """
    for event in events:
        if event.kind == "no-ray":
            raise wrong(OPTION, "Ray is not installed here", INSTALL)
        if event.kind == "unreachable":
            raise ClusterError(
                f"The Ray cluster can't be reached: {event.text.rstrip('.')}. "
                f"Call this on a node of the cluster, or set {ADDRESS} to its HOST:PORT."
            )
        if event.kind == "refused":
            places = f"bundle {event.index}/{event.total}"
            raise InputError([Problem(place=Place(file=places), message=line) for line in event.text.splitlines()])
        if event.kind == "begun":
            arrived.total = event.total
            nodes, cpus = plural(event.nodes, "node"), plural(event.cpus, "CPU")
            world.say(f"Ray: {plural(event.total, 'bundle')} on {nodes} with {cpus}.")
        if event.kind == "failed":
            arrived.reasons[event.text] = arrived.reasons.get(event.text, 0) + 1
            world.say(f"bundle {event.index}/{event.total} failed: {event.text}")
        if event.kind == "part":
            arrived.parts[event.index] = kept(event.index)
            world.say(_progress(event, arrived))


def _progress(event: ClusterEvent, arrived: Arrived) -> str:
    trials = sum(len(run.cases) for run in arrived.parts[event.index].report.runs)
    took = format_number(event.seconds * 1000, "ms")
    done = f"{len(arrived.parts)} of {arrived.total} done"
    return f"bundle {event.index}/{event.total}: {plural(trials, 'trial')} in {took} on {event.text}; {done}"


def whole_of(arrived: Arrived, shared: list[OutlinedRun]) -> MergedParts:
    """The report of all parts. Raises `IncompleteError` with the cases that nobody has measured."""
    reports = [each.report for each in arrived.parts.values()]
    early = list(dict.fromkeys(report.interrupted for report in reports if report.interrupted))
    if len(arrived.parts) == arrived.total and not early:
        return merged(list(arrived.parts.values()))
    there = {case for report in reports for case in measured_cases(report)}
    lost = [case.id for run in shared for case in run.cases if (run.suite, run.target, case.id) not in there]
    why = "; ".join([*arrived.reasons, *(f"ended early: {text}" for text in early)])
    whole = len(arrived.parts) - sum(1 for report in reports if report.interrupted)
    raise IncompleteError(
        f"{whole} of {plural(arrived.total, 'bundle')} came back whole ({why}). "
        f"Not measured: {listed(list(dict.fromkeys(lost)))}. "
        "The finished trials are kept: the same command with --resume and without --on ray runs the others here."
    )
