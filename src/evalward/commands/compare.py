"""`evalward compare`: judge a report that was made earlier, elsewhere, or by another tool."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from evalward.commands.accepting import at_hand
from evalward.commands.default_rules import rules_by_default
from evalward.commands.ending import display_of, emit_as, sources_of
from evalward.commands.files import is_ours, read_baseline_file, read_committed, read_report
from evalward.commands.options import CompareOptions
from evalward.commands.pipeline import Criteria, decide_report, default_rules, policy_of, remeasured
from evalward.commands.spelling import UpdateCommand, compare_again, shown_by
from evalward.commands.stored_history import history_of
from evalward.commands.world import World
from evalward.decide.anchor import Anchor
from evalward.records.baseline import Baseline
from evalward.records.history import HistoryEntry
from evalward.records.policy import Policy
from evalward.records.problem import InputError, wrong
from evalward.records.report import Report
from evalward.render.context import PageContext
from evalward.render.outputs import ShownJudgement, text_of

if TYPE_CHECKING:
    from evalward.config import LoadedConfig


def compare_files(world: World, options: CompareOptions) -> int:
    """The verdict's exit code."""
    loaded = _config(options.config) if options.config else None
    policy = _policy(options, loaded)
    file = _baseline_file(options, loaded)
    report, baseline = _both_sides(world, options, file)
    judgement = decide_report(report, baseline, policy, *_past(world, loaded, policy, options.profile))
    if loaded is None:
        world.note(f"note: no evalward.yml in this folder or above; {rules_by_default(default_rules(report))}")
    config = str(options.config) if options.config else None
    named = str(options.baseline) if options.baseline else None
    update = UpdateCommand(str(options.report), config, named, options.profile)
    context = PageContext(
        head_sha=report.provenance.commit,
        base_sha=baseline.provenance.commit if baseline else None,
        report_path=str(options.report),
        command=compare_again(options),
        show=shown_by(options.report) if is_ours(options.report) else None,
        accept=at_hand(update, str(file), report, Criteria(baseline, policy), judgement),
    )
    display = display_of(world, None if options.output else world.out, verbose=options.verbose)
    sources = sources_of(report, baseline, options.report.parent, world.redaction)
    shown = ShownJudgement(judgement, context, display, sources)
    emit_as(world, options.format, shown, options.output)
    if world.quiet and options.output:
        world.show(text_of("terminal", structs.replace(shown, display=display_of(world, world.out))))
    return judgement.verdict.exit_code


def _config(file: Path) -> LoadedConfig:
    """The configuration. What reads it is loaded here: two files can be compared without one."""
    from evalward.config.load import load_config  # noqa: PLC0415 - two files are compared without it

    return load_config(file)


def _baseline_file(options: CompareOptions, loaded: LoadedConfig | None) -> Path:
    """The baseline that was named, else the config's. Raises `InputError` where neither is."""
    if options.baseline is not None:
        return options.baseline
    if loaded is None:
        message = "no baseline is named, and no evalward.yml in this folder or above names one"
        raise wrong("--baseline", message, "Name the file: --baseline FILE.")
    folder = options.config.parent if options.config else Path()
    return folder / loaded.config.baseline_for(None, options.profile)


def _past(
    world: World, loaded: LoadedConfig | None, policy: Policy, profile: str | None
) -> tuple[Sequence[HistoryEntry], Anchor | None]:
    """What `check` judges by besides the baseline: the history and the anchor that the config names."""
    if loaded is None:
        return (), None
    from evalward.commands.anchoring import anchor_of_config  # noqa: PLC0415 - only a config has a repository around it
    from evalward.git import GitTree  # noqa: PLC0415 - nothing else here looks into a repository

    root = loaded.root

    def read(name: str) -> bytes | None:
        path = root / name
        return read_committed(path, "history", "", root) if os.path.lexists(path) else None

    history = history_of(world, loaded.config.history, read)
    tree = GitTree(root, search_path=world.env.get("PATH", os.defpath))
    anchor, notes = anchor_of_config(tree, loaded, policy, profile=profile)
    for note in notes:
        world.say(f"warning: {note}")
    return history, anchor


def _both_sides(world: World, options: CompareOptions, file: Path) -> tuple[Report, Baseline | None]:
    """Files of ours, or results of other harnesses, on either side. The config's baseline may not be there yet: then
    nothing is compared, as in `check`.
    """
    missing = options.baseline is None and not os.path.lexists(file)
    ours = is_ours(options.report), missing or is_ours(file)
    if not all(ours):
        from evalward.commands import foreign  # noqa: PLC0415 - its readers are needed by few

        how = foreign.ForeignOptions(scores=options.scores)
    elif options.scores:
        raise wrong("--score", "--score is for other harnesses' files", "Leave --score out.")
    if ours[0]:
        report = remeasured(read_report(options.report), str(options.report))
    else:
        report = foreign.foreign_report(world, [options.report], how)
    if missing:
        return report, None
    return report, read_baseline_file(file) if ours[1] else foreign.foreign_baseline(world, file, how)


def _policy(options: CompareOptions, loaded: LoadedConfig | None) -> Policy:
    if loaded is None:
        if options.profile is not None:
            raise wrong("--profile", "a profile is part of a config", "Name the config with --config.")
        return Policy(fail_on=options.fail_on or "regression")
    from evalward.suites.across import unfed_rules  # noqa: PLC0415 - loads the kinds that only a config names

    problems = unfed_rules(loaded)
    if problems:
        raise InputError(problems)
    return policy_of(loaded, options.profile, options.fail_on)
