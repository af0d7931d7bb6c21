"""`evalward compare`: judge a report that was made earlier, elsewhere, or by another tool."""

from __future__ import annotations

from evalward.commands.accepting import at_hand
from evalward.commands.ending import display_of, emit_as, sources_of
from evalward.commands.files import is_ours, read_baseline_file, read_report
from evalward.commands.options import CompareOptions
from evalward.commands.pipeline import Criteria, decide_report, policy_of, remeasured
from evalward.commands.spelling import UpdateCommand, compare_again, shown_by
from evalward.commands.world import World
from evalward.config.load import load_config
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy
from evalward.records.problem import InputError, wrong
from evalward.records.report import Report
from evalward.render.context import PageContext
from evalward.render.outputs import ShownJudgement
from evalward.suites.across import unfed_rules


def compare_files(world: World, options: CompareOptions) -> int:
    """The verdict's exit code."""
    ours = is_ours(options.report)
    report, baseline = _both_sides(world, options, report_is_ours=ours)
    policy = _policy(options)
    judgement = decide_report(report, baseline, policy)
    config = str(options.policy) if options.policy else None
    update = UpdateCommand(str(options.report), config, str(options.baseline), options.profile)
    context = PageContext(
        head_sha=report.provenance.commit,
        base_sha=baseline.provenance.commit,
        report_path=str(options.report),
        command=compare_again(options),
        show=shown_by(options.report) if ours else None,
        accept=at_hand(update, str(options.baseline), report, Criteria(baseline, policy), judgement),
    )
    display = display_of(world, None if options.output else world.out)
    sources = sources_of(report, baseline, options.report.parent, world.redaction)
    shown = ShownJudgement(judgement, context, display, sources)
    emit_as(world, options.format, shown, options.output)
    return judgement.verdict.exit_code


def _both_sides(world: World, options: CompareOptions, *, report_is_ours: bool) -> tuple[Report, Baseline]:
    """Files of ours, or results of other harnesses, on either side."""
    ours = report_is_ours, is_ours(options.baseline)
    if not all(ours):
        from evalward.commands import foreign  # noqa: PLC0415 - its readers are needed by few

        how = foreign.ForeignOptions(scores=options.scores)
    elif options.scores:
        raise wrong("--score", "both files say by themselves what passed", "Leave --score out.")
    if ours[0]:
        report = remeasured(read_report(options.report), str(options.report))
    else:
        report = foreign.foreign_report(world, [options.report], how)
    if ours[1]:
        return report, read_baseline_file(options.baseline)
    return report, foreign.foreign_baseline(world, options.baseline, how)


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
