"""`evalward check`: run, compare, decide, write the reports. What the action does, without GitHub."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct, structs

from evalward.commands.accepting import at_hand
from evalward.commands.anchoring import anchor_of_config
from evalward.commands.commit_files import FilesOfCommit, base_of_baseline
from evalward.commands.ending import (
    JUDGEMENT_FORMATS,
    display_of,
    files_line,
    sources_of,
    write_outputs,
    write_page,
)
from evalward.commands.failed import failed_in, only_failed
from evalward.commands.measuring import chosen_of, in_batches, load, measured, runner_of, services_of
from evalward.commands.options import CheckOptions
from evalward.commands.parts import PartsKeeping, here, read_parts, refuse_output, spread, take_parts
from evalward.commands.pipeline import Criteria, policy_of
from evalward.commands.planning import (
    PlanBasis,
    PlanRequest,
    Unchanging,
    announcing,
    show_plan,
    unchanged_since,
)
from evalward.commands.since import SinceRequest
from evalward.commands.spelling import UpdateCommand, check_again, check_failed, shown_by
from evalward.commands.stored_history import history_of
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.decide.baseline import UPDATE_HINT, read_baseline
from evalward.engine.parts import IncompleteError
from evalward.git import MAX_FILE_BYTES, GitTree
from evalward.keeper.services import Services
from evalward.keeper.session import RunnerSession
from evalward.records.baseline import Baseline
from evalward.records.exits import EXIT_UNJUDGED
from evalward.records.problem import wrong
from evalward.records.report import REPORT_FILE, REPORT_MARKDOWN, Report
from evalward.records.verdict import Judgement
from evalward.render.context import Accepting, Closing, PageContext
from evalward.render.outputs import COMMENT_FILE, Display, ShownJudgement, text_of
from evalward.render.problems import problems_markdown
from evalward.wire.messages import BaseSide, MeasureOrder


class CheckRun(Struct, frozen=True):
    """What a check found. `world` knows every secret; `services` have the output folder, where the report lies."""

    world: World
    options: CheckOptions
    loaded: LoadedConfig
    judging: Criteria
    report: Report
    judgement: Judgement
    services: Services

    @property
    def context(self) -> PageContext:
        """Where the judgement comes from, and what its reader can do next."""
        options, baseline = self.options, self.judging.baseline
        return PageContext(
            head_sha=self.report.provenance.commit,
            base_sha=baseline.provenance.commit if baseline else None,
            report_path=str(options.output / REPORT_FILE),
            command=check_again(options),
            cases=lambda _: check_failed(options),
            accept=_accepting(self),
            show=shown_by(options.output / REPORT_FILE),
        )


class _CheckOrdered(Struct, frozen=True):
    """What a check is going to measure, and what judges it: all that is known before the first trial."""

    world: World
    options: CheckOptions
    loaded: LoadedConfig
    judging: Criteria
    tree: GitTree
    base: FilesOfCommit | None
    order: MeasureOrder
    unchanged: Unchanging

    @property
    def basis(self) -> PlanBasis:
        """What its plan is made from."""
        return PlanBasis(self.loaded, self.judging.baseline, self.judging.policy, confirms=self.order.confirms)


def check(world: World, options: CheckOptions) -> int:
    """The verdict's exit code; of a plan alone 0."""
    if options.parts and (options.resume or options.failed or options.plan is not None):
        raise wrong("--parts", "the trials are those of the parts", "Leave out --resume, --failed and --plan.")
    with runner_of(world) as runner:
        if options.plan is not None:
            asked = _ordered(world, runner, options)
            request = PlanRequest(asked.order, asked.basis, options.output, asked.unchanged)
            return show_plan(asked.world, runner, request, options.plan)
        try:
            found = checked(world, runner, options)
        except IncompleteError as error:
            world.say(f"Evalward: could not be judged — {error}")
            return EXIT_UNJUDGED
        world, output = found.world, found.services.output
        output.clear((REPORT_MARKDOWN,))  # with --resume: of an earlier `run`, whose numbers are no longer those
        sources = sources_of(found.report, found.judging.baseline, output, world.redaction)
        shown = ShownJudgement(found.judgement, found.context, sources=sources)
        written: list[str] = []
        try:
            written += write_reports(found, shown)
        finally:
            world.show(text_of("terminal", structs.replace(shown, display=_display(found, written))))
        return found.judgement.verdict.exit_code


def write_reports(found: CheckRun, shown: ShownJudgement) -> list[str]:
    """Write all reports, before anything is printed: a pipe that is closed early leaves none of them out. Their names.

    Raises `InputError`.
    """
    world, output = found.world, found.services.output
    if found.services.unwritten is not None:
        raise found.services.unwritten
    return [
        REPORT_FILE,
        *write_outputs(shown, output, JUDGEMENT_FORMATS),
        *write_page(shown, output, lambda text: world.say(f"warning: {text}")),
    ]


def _display(found: CheckRun, written: Sequence[str]) -> Display:
    world, options = found.world, found.options
    again = check_failed(options) if failed_in(found.report) else ""
    ending = Closing(again, files_line(options.output, written))
    return display_of(world, world.out, verbose=options.verbose, accepting=True, ending=ending)


def checked(world: World, runner: RunnerSession, options: CheckOptions) -> CheckRun:
    """Have the runner measure, and judge what it measured. Raises `InputError`."""
    asked = _ordered(world, runner, options)
    world, options, loaded, judging = asked.world, asked.options, asked.loaded, asked.judging
    services = services_of(
        world,
        loaded,
        options.output,
        clear=None if options.resume else (),
        retries=judging.retries,
        base=asked.base,
        suites=options.selection.suites,
    )
    services.planned, services.confirms = announcing(world, asked.basis), asked.order.confirms
    in_batches(services, asked.order, loaded)
    services.unchanged = asked.unchanged
    report = measured(runner, _with_parts(asked, runner, services), services)
    history = history_of(world, loaded.config.history, lambda name: runner.read(name, limit=MAX_FILE_BYTES))
    anchor, notes = anchor_of_config(asked.tree, loaded, judging.policy, profile=options.profile)
    for note in notes:
        world.say(f"warning: {note}")
    runner.dismiss()
    judgement = judging.decide(report, history, anchor)
    return CheckRun(world, options, loaded, judging, report, judgement, services)


def _with_parts(asked: _CheckOrdered, runner: RunnerSession, services: Services) -> MeasureOrder:
    """The order, with what shards have measured: their trials are in the output folder then.

    Raises `InputError`, `IncompleteError`.
    """
    world, folders = asked.world, asked.options.parts
    if not folders:
        return asked.order
    folders = spread(folders, world.cwd)
    refuse_output(folders, asked.options.output, world.cwd)
    try:
        parts = read_parts(runner, folders, here(world))
    except IncompleteError as error:  # what an earlier check left in the output folder is not this one's verdict
        services.output.write(COMMENT_FILE, problems_markdown(f"could not be judged: {error}", ()))
        raise
    keep = PartsKeeping(services.output, world.cwd, lambda note: world.say(f"warning: {note}"))
    known = take_parts(parts, asked.loaded, asked.tree.head(), keep)
    return asked.order.model_copy(update={"known": known, "left": list(parts.left)})


def _ordered(world: World, runner: RunnerSession, options: CheckOptions) -> _CheckOrdered:
    """What is to be measured, and by what it is judged. Raises `InputError`."""
    loaded, _ = load(runner, str(options.config))
    world = world.hiding(loaded.config.key_names)
    if options.failed:
        chosen = only_failed(runner, options.output, options.selection, resume=options.resume)
        options = structs.replace(options, selection=chosen)
    policy = policy_of(loaded, options.profile, options.fail_on)
    baseline = find_baseline(runner, loaded, options)
    unchanged = unchanged_since(world, loaded, _since(loaded, options, baseline))
    tree = GitTree(loaded.root, search_path=world.env.get("PATH", os.defpath))
    base, side = None, BaseSide(why_not="the files belong to no repository")
    if options.versioned:
        base, side = base_of_baseline(tree, loaded, baseline, options.base)
    side = side.model_copy(update={"suites": policy.with_base})
    judging = Criteria(baseline, policy)
    order = MeasureOrder(
        chosen=chosen_of(options.selection),
        resume=options.resume,
        base=side,
        confirms=judging.confirms and not options.parts,  # the shards have kept a share already
        versioned=options.versioned,
        batched=options.batch,
        ask_unchanged=options.changed_since is not None,
    )
    return _CheckOrdered(world, options, loaded, judging, tree, base, order, unchanged)


def _since(loaded: LoadedConfig, options: CheckOptions, baseline: Baseline | None) -> SinceRequest | None:
    if options.changed_since is None:
        return None
    path = options.baseline or loaded.root / loaded.config.baseline_for(None, options.profile)
    ours = (options.output, *options.parts)
    return SinceRequest(options.changed_since, baseline, path, ours, options.selection.trials)


def find_baseline(runner: RunnerSession, loaded: LoadedConfig, options: CheckOptions) -> Baseline | None:
    """The baseline: the one named must exist; the config's may not yet, then nothing is compared, and that is said."""
    named = options.baseline
    path = str(named) if named is not None else loaded.config.baseline_for(None, options.profile)
    content = runner.read(path, anywhere=named is not None)
    if content is None and named is not None:
        raise wrong(path, "there is no such baseline", UPDATE_HINT)
    shown = path if named is not None else str(loaded.root / path)
    return None if content is None else read_baseline(content, shown)


def _accepting(found: CheckRun) -> Accepting:
    """How to make what was measured the new baseline; a part of it can't be one."""
    options = found.options
    if options.selection.partial:
        return Accepting()
    named = str(options.baseline) if options.baseline is not None else None
    file = named or str(options.config.parent / found.loaded.config.baseline_for(None, options.profile))
    update = UpdateCommand(str(options.output / REPORT_FILE), str(options.config), named, options.profile)
    return at_hand(update, file, found.report, found.judging, found.judgement)
