"""`evalward check`: run, compare, decide, write the reports. What the action does, without GitHub."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote

from evalward.commands.accepting import at_hand, update_command
from evalward.commands.anchoring import Anchoring, find_anchor
from evalward.commands.commit_files import base_of_baseline
from evalward.commands.failed import failed_in, only_failed, spelled_out
from evalward.commands.measuring import chosen_of, load, measured, runner_of, services_of
from evalward.commands.pipeline import Judging, judge_report, retries_of
from evalward.commands.stored_history import history_of
from evalward.commands.world import World
from evalward.config import LoadedConfig
from evalward.decide.anchor import Anchor
from evalward.decide.baseline import UPDATE_HINT, read_baseline
from evalward.engine.selection import Selection
from evalward.git import GitTree, repository_path
from evalward.keeper.session import Runner
from evalward.records.baseline import Baseline
from evalward.records.policy import FailOn, Policy
from evalward.records.problem import wrong
from evalward.records.report import REPORT_FILE, REPORT_MARKDOWN, Report
from evalward.records.verdict import Judgement
from evalward.render.badge import badge
from evalward.render.context import Accepting, Context
from evalward.render.junit import junit
from evalward.render.markdown import fit
from evalward.render.sentences import dump_judgement
from evalward.render.terminal import judgement_text
from evalward.wire.messages import MeasureOrder

COMMENT_FILE = "comment.md"
JUDGEMENT_FILE = "judgement.json"
JUNIT_FILE = "junit.xml"
BADGE_FILE = "badge.json"
DEFAULT_OUTPUT = Path("evalward-out")  # as the command line's
FILES = (JUDGEMENT_FILE, COMMENT_FILE, JUNIT_FILE, BADGE_FILE)


@dataclass(frozen=True)
class CheckOptions:
    """What `check` was asked for. `baseline` overrides the config's; `failed`: only what failed last time; `base` is a
    commit to measure beside the files here, where that is needed, in place of the one that the baseline is of.
    """

    config: Path
    output: Path
    selection: Selection = field(default_factory=Selection)
    baseline: Path | None = None
    profile: str | None = None
    fail_on: FailOn | None = None
    resume: bool = False
    failed: bool = False
    base: str | None = None


def check(world: World, options: CheckOptions) -> int:
    """The verdict's exit code."""
    with runner_of(world) as runner:
        loaded, _ = load(runner, str(options.config))
        world = world.hiding(loaded.config.providers.key_names)
        if options.failed:
            chosen = only_failed(runner, options.output, options.selection, resume=options.resume)
            options = replace(options, selection=chosen)
        policy = policy_of(loaded, options.profile, options.fail_on)
        baseline = find_baseline(runner, loaded, options)
        base, side = base_of_baseline(loaded, baseline, options.base, world.env.get("PATH", os.defpath))
        side = side.model_copy(update={"suites": policy.with_base})
        judging = Judging(baseline, policy)
        services = services_of(
            world,
            loaded,
            options.output,
            clear=None if options.resume else (),
            retries=lambda report: retries_of(report, judging),
            base=base,
        )
        order = MeasureOrder(chosen=chosen_of(options.selection), resume=options.resume, base=side)
        report = measured(runner, order, services)
        history = history_of(runner, loaded.config.history, world)
        anchor = anchor_here(world, loaded, policy, options)
        runner.dismiss()
        output = services.output
        output.clear((REPORT_MARKDOWN,))  # with --resume: of an earlier `run`, whose numbers are no longer those
        judgement = judge_report(report, baseline, policy, history, anchor)
        accept = _accepting(loaded, options, report, judging, judgement)
        context = Context(
            head_sha=report.provenance.commit,
            base_sha=baseline.provenance.commit if baseline else None,
            report_path=str(options.output / REPORT_FILE),
            command=reproduce(options),
            accept=accept,
            unprotected=baseline is None,
        )
        world.say(judgement_text(judgement, colour=world.colour(world.err), width=world.width, accept=accept))
        if services.unwritten is not None:
            raise services.unwritten
        output.write(JUDGEMENT_FILE, dump_judgement(judgement))
        output.write(COMMENT_FILE, fit(judgement, context))
        output.write(JUNIT_FILE, junit(judgement.comparison, judgement.verdict))
        output.write(BADGE_FILE, badge(judgement.verdict))
        world.say(f"Written: {', '.join(str(options.output / name) for name in (REPORT_FILE, *FILES))}")
        if failed_in(report):
            world.say(f"Run again what failed: {_command(options, '--failed')}")
        return judgement.verdict.exit_code


def anchor_here(world: World, loaded: LoadedConfig, policy: Policy, options: CheckOptions) -> Anchor | None:
    """What slow losses are measured against; here they are warnings."""
    tree = GitTree(loaded.root, search_path=world.env.get("PATH", os.defpath))
    names = [loaded.config.baseline_for(None, options.profile), loaded.config.baseline]
    prefix = tree.prefix()
    paths = [repository_path(prefix, [name]) for name in names] if prefix is not None else []
    anchor, notes = find_anchor(tree, Anchoring(policy, paths))
    for note in notes:
        world.say(f"warning: {note}")
    return anchor


def policy_of(loaded: LoadedConfig, profile: str | None, fail_on: FailOn | None) -> Policy:
    """The config's policy, with the profile and the fail-on that the caller names."""
    policy = loaded.config.policy_for(None, profile, file=loaded.file)
    return policy.model_copy(update={"fail_on": fail_on}) if fail_on else policy


def find_baseline(runner: Runner, loaded: LoadedConfig, options: CheckOptions) -> Baseline | None:
    """The baseline: the one named must exist; the config's may not yet, then nothing is compared, and that is said."""
    named = options.baseline
    path = str(named) if named is not None else loaded.config.baseline_for(None, options.profile)
    content = runner.read(path, anywhere=named is not None)
    if content is None and named is not None:
        raise wrong(path, "there is no such baseline", UPDATE_HINT)
    shown = path if named is not None else str(loaded.root / path)
    return None if content is None else read_baseline(content, shown)


def reproduce(options: CheckOptions) -> str:
    """The command that does the same again.

    Where no patterns say which cases were run because they had failed, it runs again what of them failed this time.
    """
    spelled = spelled_out(options.selection)
    if spelled is None:
        return _command(options, "--failed")
    return _command(replace(options, selection=spelled))


def _command(options: CheckOptions, *more: str) -> str:
    words = ["evalward", "check", "--config", str(options.config), *more]
    selection = options.selection
    for name, values in (("--suite", selection.suites), ("--target", selection.targets), ("--case", selection.cases)):
        for value in values:
            words += [name, value]
    if more and options.output != DEFAULT_OUTPUT:
        words += ["--output", str(options.output)]
    named = {
        "--trials": options.selection.trials,
        "--baseline": options.baseline,
        "--base": options.base,
        "--profile": options.profile,
        "--fail-on": options.fail_on,
    }
    for option, given in named.items():
        if given is not None:
            words += [option, str(given)]
    return " ".join(quote(word) for word in words)


def _accepting(
    loaded: LoadedConfig, options: CheckOptions, report: Report, judging: Judging, judgement: Judgement
) -> Accepting:
    """How to make what was measured the new baseline; a part of it can't be one."""
    if options.selection.partial:
        return Accepting()
    verdict = judgement.verdict
    named = str(options.baseline) if options.baseline is not None else None
    file = named or str(options.config.parent / loaded.config.baseline_for(None, options.profile))
    command = update_command(
        str(options.output / REPORT_FILE), verdict, config=str(options.config), baseline=named, profile=options.profile
    )
    return at_hand(command, file, report, judging, judgement)
