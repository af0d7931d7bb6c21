"""`evalward compare`: judge a report that was made earlier, elsewhere, or by another tool."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Literal

from evalward.commands.accepting import at_hand, update_command
from evalward.commands.check import policy_of
from evalward.commands.files import emit, read_baseline_file, read_report
from evalward.commands.pipeline import Judging, judge_report, remeasured
from evalward.commands.world import World
from evalward.config.load import load_config
from evalward.records.policy import FailOn, Policy
from evalward.records.problem import InputError, wrong
from evalward.records.verdict import Judgement
from evalward.render.context import Context
from evalward.render.junit import junit
from evalward.render.markdown import fit
from evalward.render.sentences import dump_judgement
from evalward.render.terminal import judgement_text
from evalward.suites.across import unfed_rules

Format = Literal["terminal", "markdown", "junit", "json"]


@dataclass(frozen=True)
class CompareOptions:
    """What `compare` was asked for. Without `policy` the kinds' own rules hold."""

    report: Path
    baseline: Path
    policy: Path | None = None
    profile: str | None = None
    fail_on: FailOn | None = None
    format: Format = "terminal"
    output: Path | None = None


def compare_files(world: World, options: CompareOptions) -> int:
    """The verdict's exit code."""
    report = remeasured(read_report(options.report), str(options.report))
    baseline = read_baseline_file(options.baseline)
    policy = _policy(options)
    judgement = judge_report(report, baseline, policy)
    command = update_command(
        str(options.report),
        judgement.verdict,
        config=str(options.policy) if options.policy else None,
        baseline=str(options.baseline),
        profile=options.profile,
    )
    context = Context(
        head_sha=report.provenance.commit,
        base_sha=baseline.provenance.commit,
        report_path=str(options.report),
        command=_reproduce(options),
        accept=at_hand(command, str(options.baseline), report, Judging(baseline, policy), judgement),
    )
    emit(world, _text(judgement, context, options, world), options.output)
    return judgement.verdict.exit_code


def _reproduce(options: CompareOptions) -> str:
    words = ["evalward", "compare", "--report", str(options.report), "--baseline", str(options.baseline)]
    named = {"--policy": options.policy, "--profile": options.profile, "--fail-on": options.fail_on}
    words += [word for name, value in named.items() if value is not None for word in (name, str(value))]
    return " ".join(map(quote, words))


def _policy(options: CompareOptions) -> Policy:
    if options.policy is None:
        if options.profile is not None:
            raise wrong("--profile", "a profile is part of a policy", "Name the config with --policy.")
        return Policy(fail_on=options.fail_on or "regression")
    loaded = load_config(options.policy)
    problems = unfed_rules(loaded)
    if problems:
        raise InputError(problems)
    return policy_of(loaded, options.profile, options.fail_on)


def _text(judgement: Judgement, context: Context, options: CompareOptions, world: World) -> str:
    if options.format == "json":
        return dump_judgement(judgement)
    if options.format == "markdown":
        return fit(judgement, context)
    if options.format == "junit":
        return junit(judgement.comparison, judgement.verdict)
    colour = options.output is None and world.colour(world.out)
    return judgement_text(judgement, colour=colour, width=world.width)
