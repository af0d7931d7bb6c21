"""`evalward baseline update|show|diff`: make the committed record, and read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from evalward.commands.emitting import emit, write_text
from evalward.commands.files import read_baseline_file, read_baseline_if_any, read_report
from evalward.commands.keeping import kept_baseline
from evalward.commands.pipeline import decide_report, kinds_of, policy_of, remeasured
from evalward.commands.world import World
from evalward.config.load import load_config
from evalward.decide.baseline import (
    NO_POLICY,
    BaselineUpdate,
    RunName,
    doubted,
    dump_baseline,
    update_baseline,
    with_acceptance,
)
from evalward.decide.baseline_diff import diff_baselines
from evalward.decide.pooling import NamedReport, report_digest
from evalward.decide.staleness import age_days, few_trials, stale
from evalward.records.baseline import Acceptance, Baseline
from evalward.records.exits import EXIT_FAILED, EXIT_OK, EXIT_UNJUDGED
from evalward.records.policy import Policy
from evalward.records.problem import wrong
from evalward.records.report import Report
from evalward.records.verdict import Outcome, Reason
from evalward.render.baseline import baseline_text
from evalward.render.baseline_diff import difference_markdown, difference_text
from evalward.render.escape import log_text, one_line
from evalward.render.numbers import plural
from evalward.render.sentences import message, says, warnings

LONGEST_REASON = 500  # characters: a sentence or three in a file that people read in diffs
_MOST_SENTENCES = 10
_LONGEST_SENTENCE = 300

DiffFormat = Literal["terminal", "markdown", "json"]


@dataclass(frozen=True)
class UpdateOptions:
    """How a baseline is updated.

    `also`: further reports, pooled with the first. `pool`: add to the baseline's trials rather than replace them;
    `replace`: replace them also where a drop is in doubt, which takes the old trials' place otherwise never; `keep`:
    replace those of cases that changed, add to all others, and leave no trial of the report out.
    `policy` judges the report against the old baseline; a drop needs the reason `accept`, which is written down with
    `by`, whoever gave it, and whether that is `verified`. `dry_run`: show, and write nothing.
    """

    also: tuple[Path, ...] = ()
    pool: bool = False
    replace: bool = False
    keep: bool = False
    policy: Policy = NO_POLICY
    accept: str | None = None
    by: str | None = None
    verified: bool = False
    dry_run: bool = False


def baseline_path(config: Path, baseline: Path | None, profile: str | None = None) -> Path:
    """The file that was named, else the config's, or its profile's."""
    if baseline is not None:
        return baseline
    loaded = load_config(config)
    return loaded.root / loaded.config.baseline_for(None, profile)


def update_policy(config: Path, baseline: Path | None, profile: str | None = None) -> Policy:
    """What judges an update: the config's policy; the kinds' own rules where a baseline is named and no config is."""
    if baseline is not None and profile is None and not config.exists():
        return NO_POLICY
    return policy_of(load_config(config), profile, None)


# --- update ---------------------------------------------------------------------------------------------------------


def update(world: World, report: Path, path: Path, options: UpdateOptions | None = None) -> int:
    """Write the report's content as the baseline; nothing is written when there is no news.

    Returns 1, and writes nothing, when the report is worse than the baseline by more than the policy allows and nobody
    accepts it; 3 when that can't be judged. Raises `InputError` for reports that can't be a baseline.
    """
    options = options or UpdateOptions()
    reason = _clean_reason(options.accept)
    previous = read_baseline_if_any(path)
    measured = [NamedReport(read_report(file), str(file)) for file in (report, *options.also)]
    done = _made(measured, previous, options)
    for note in done.notes:
        _tell(world, f"note: {note}")
    if done.report is None or done.baseline is previous:
        world.show(f"{path}: no change")
        return EXIT_OK
    judged = _judged(done.report, previous, options.policy, str(report))
    if judged.outcome is Outcome.ERROR or (judged.blocking and reason is None):
        return _refuse(world, path, judged)
    made = done.baseline
    if judged.doubted and reason is None and not (options.replace or options.keep):
        pooled = _made(measured, previous, options, judged.doubted)
        if pooled.spared:
            return _refuse_doubt(world, path, judged)
        for note in [note for note in pooled.notes if note not in done.notes]:
            _tell(world, f"note: {note}")
        made = pooled.baseline
    if judged.blocking and reason:
        made = with_acceptance(made, _acceptance(world, done.report, reason, judged, options))
    _warn(world, made, judged, options)
    return _finish(world, path, previous, made, options)


def _made(
    measured: Sequence[NamedReport],
    previous: Baseline | None,
    options: UpdateOptions,
    spare: Mapping[RunName, str] = MappingProxyType({}),
) -> BaselineUpdate:
    if options.keep:
        if len(measured) > 1:
            raise wrong("--report", "only one report can be kept", "Use --pool for several of them.")
        return kept_baseline(measured[0], previous, options.policy).update
    kinds = kinds_of(*(one.report for one in measured))
    return update_baseline(measured, previous, kinds, pool=options.pool, policy=options.policy, spare=spare)


@dataclass(frozen=True)
class GateFindings:
    """What the gate says of a report: `blocking` has to be accepted; `limits` will fail whatever the baseline is.

    `unsure` looks worse, but chance could explain it, in the runs of `doubted`. Without an old baseline nothing blocks.
    """

    outcome: Outcome
    blocking: Sequence[Reason]
    limits: Sequence[Reason]
    unsure: Sequence[Reason]
    doubted: Mapping[RunName, str]


def _clean_reason(text: str | None) -> str | None:
    if text is None:
        return None
    reason = one_line(text)
    if not reason:
        raise wrong("--accept", "the reason is missing", "Say in a sentence why the drop is acceptable.")
    if len(reason) > LONGEST_REASON:
        message = f"the reason has {len(reason):,} characters; at most {LONGEST_REASON:,} are allowed"
        raise wrong("--accept", message, "Shorten it and link to the rest.")
    return reason


def _judged(report: Report, previous: Baseline | None, policy: Policy, file: str) -> GateFindings:
    verdict = decide_report(remeasured(report, file), previous, policy).verdict
    worse = [reason for reason in verdict.reasons if reason.outcome in {Outcome.FAIL, Outcome.ERROR}]
    return GateFindings(
        outcome=verdict.outcome,
        blocking=worse if previous or verdict.outcome is Outcome.ERROR else [],
        limits=[reason for reason in worse if reason.stage == "limit"],
        unsure=[r for r in verdict.reasons if r.outcome is Outcome.INCONCLUSIVE and r.stage == "drop"],
        doubted=doubted(verdict) if previous else {},
    )


def _refuse(world: World, path: Path, judged: GateFindings) -> int:
    if judged.outcome is Outcome.ERROR:
        world.show(f"{path}: not updated, because these results can't be judged:")
    else:
        world.show(f"{path}: not updated, because the gate fails on these results:")
    for reason in judged.blocking:
        world.show(_harmless(f"  ✗ {message(reason)}"))
    if judged.outcome is Outcome.ERROR:
        return EXIT_UNJUDGED
    world.show('Fix that and run it again; or accept the drop with --accept "why it is right".')
    return EXIT_FAILED


def _refuse_doubt(world: World, path: Path, judged: GateFindings) -> int:
    world.show(f"{path}: not updated, because a drop is in doubt, and its trials can't be pooled with the old ones:")
    for reason in judged.unsure:
        world.show(_harmless(f"  ? {message(reason)}"))
    world.show("More trials settle it (`evalward run --trials 5`). To accept it as it is: --replace.")
    return EXIT_FAILED


def _acceptance(world: World, report: Report, reason: str, judged: GateFindings, options: UpdateOptions) -> Acceptance:
    return Acceptance(
        at=world.now(),
        commit=report.provenance.commit,
        reason=reason,
        by=one_line(options.by, _LONGEST_SENTENCE) if options.by else None,
        verified=options.verified,
        report=report_digest(report),
        what=what_failed(judged.blocking),
    )


def what_failed(reasons: Sequence[Reason]) -> list[str]:
    """What would have failed, in sentences for the record of an acceptance."""
    return [one_line(message(reason), _LONGEST_SENTENCE) for reason in reasons[:_MOST_SENTENCES]]


def _warn(world: World, made: Baseline, judged: GateFindings, options: UpdateOptions) -> None:
    for reason in judged.limits:
        _tell(world, f"warning: the check will still fail by its limit, with any baseline: {message(reason)}")
    for reason in judged.unsure:
        _tell(world, f"warning: it looks worse, though chance can't be excluded: {message(reason)}")
    if options.accept and not judged.blocking:
        world.say("warning: nothing had to be accepted, so the reason is not recorded.")
    for few in filter(None, map(few_trials, made.runs)):
        _tell(world, f"warning: {says(few)}.")


def _finish(world: World, path: Path, previous: Baseline | None, made: Baseline, options: UpdateOptions) -> int:
    if options.dry_run:
        difference = diff_baselines(previous, made)
        emit(world, difference_text(difference, colour=world.colour(world.out), width=world.width), None)
        world.show(f"{path}: nothing was written (--dry-run)")
        return EXIT_OK
    write_text(path, dump_baseline(made), world.redaction)
    cases = sum(len(run.cases) for run in made.runs)
    world.show(f"{path}: {plural(len(made.runs), 'run')}, {plural(cases, 'case')}. Commit it.")
    return EXIT_OK


def _tell(world: World, text: str) -> None:
    """A note or warning that may name what others wrote."""
    world.say(_harmless(text))


def _harmless(text: str) -> str:
    """One line of a log, with its indent."""
    return log_text(text[: len(text) - len(text.lstrip())] + one_line(text, 2000))


# --- read -----------------------------------------------------------------------------------------------------------


def show(world: World, path: Path) -> int:
    """What the baseline holds, for people."""
    baseline, now = read_baseline_file(path), world.now()
    age = age_days(baseline.provenance.created_at, now)
    text = baseline_text(
        baseline, age=age, stale=warnings(stale(baseline, None, now)), colour=world.colour(world.out), width=world.width
    )
    emit(world, text, None)
    return EXIT_OK


def diff(
    world: World, old: Baseline | None, new: Baseline, form: DiffFormat = "terminal", output: Path | None = None
) -> int:
    """What is different between two baselines; without an old one all is new. Always 0: it tells, and doesn't judge."""
    difference = diff_baselines(old, new)
    if form == "json":
        text = difference.model_dump_json(by_alias=True, indent=1) + "\n"
    elif form == "markdown":
        text = difference_markdown(difference)
    else:
        text = difference_text(difference, colour=output is None and world.colour(world.out), width=world.width)
    emit(world, text, output)
    return EXIT_OK
