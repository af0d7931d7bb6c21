"""From a judgement to its page: what is shown, how much of it, and in which words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from evalward.records.comparison import (
    PROMPT_PARTS,
    BaseNow,
    CaseChange,
    CaseChangeKind,
    Comparison,
    RunComparison,
    SubjectChange,
)
from evalward.records.evidence import SideBySide
from evalward.records.sections import Note
from evalward.records.verdict import EXIT_OK, Judgement, Outcome, Reason, RuleOutcome, Verdict
from evalward.render.context import Accepting, PageContext
from evalward.render.entries import (
    blamed,
    change_counts,
    changed_cases,
    excused,
    new_failures,
    still_failing,
    wrong_answers,
)
from evalward.render.escape import one_line
from evalward.render.findings import finding_lines
from evalward.render.guidance import build_guidance
from evalward.render.names import quoted, short_hash
from evalward.render.numbers import format_number, plural
from evalward.render.rows import category_rows, metric_rows, sure_rows
from evalward.render.sections import bars, matrices, tables
from evalward.render.sentences import headline, message, remedy, warnings
from evalward.render.sentences.rules import part
from evalward.render.succession import replaced_lines
from evalward.render.trend import trend_section
from evalward.render.view import (
    MISSING,
    NEW,
    NOT_JUDGED,
    NOT_MEASURED,
    OUTCOMES,
    SEVERITY,
    STATUSES,
    UNCOMPARED_PASS,
    UNPROTECTED_PASS,
    Badge,
    Caps,
    JudgementPage,
    ReasonLine,
    RunView,
    Some,
    SubjectLine,
)

_T = TypeVar("_T")

# The parts of a subject that a replay can't measure: what the model was told.
_OPEN_RUNS = 3  # with more runs than this, or beside one that isn't, the ones that are fine are folded
_REASON_CASES = 5
_RENAMED = 10  # cases that a note names
_ALLOWING = 5  # cases that a note names
_OTHER_CHANGES: tuple[CaseChangeKind, ...] = ("missing", "not_valid", "worse", "redefined", "added", "better")
_BAD_CHANGES: tuple[CaseChangeKind, ...] = ("missing", "not_valid", "worse")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_LEFT_OUT = {
    "full": "",
    "failures": "Shortened to fit: metrics that are ok or only inform, fixed cases, changes for the better and "
    "categories that did not fall are left out.",
    "headline": "Shortened to fit: tables, cases and categories are left out.",
}


def build_page(judgement: Judgement, context: PageContext, caps: Caps, *, counts: bool = True) -> JudgementPage:
    """The page of a judgement, no longer than `caps` allow. `counts` adds n of N to ratios."""
    comparison, verdict = judgement.comparison, judgement.verdict
    several = len(comparison.runs) > 1
    broken = changed_cases(comparison, ("broken",), caps.broken, caps, several=several, wanted=blamed)
    unsafe, wrong = wrong_answers(comparison, caps, several)
    first, reasons = _reasons(verdict, {case.id for case in [*unsafe.shown, *broken.shown]}, caps)
    runs = [_run(run, judgement, caps, counts) for run in comparison.runs]
    detailed = caps.detail != "headline"
    open_first = sorted(runs, key=lambda run: run.folded)
    others = _OTHER_CHANGES if caps.detail == "full" else _BAD_CHANGES
    return JudgementPage(
        detail=caps.detail,
        marker=context.marker,
        title=context.title,
        badge=_outcome(judgement, context),
        headline=_headline(judgement),
        facts=_facts(comparison, verdict, context),
        alerts=[
            *_alerts(comparison, context),
            *_without_room(comparison, open_first[: caps.runs] if detailed else []),
        ],
        notes=list(context.notes),
        edits=list(context.edits),
        edit_lines=list(context.edit_lines),
        first=first,
        reasons=reasons,
        runs=_some(open_first, caps.runs),
        several=several,
        unsafe=unsafe,
        broken=broken,
        new=new_failures(comparison, caps, several=several),
        still=still_failing(comparison, caps, several=several),
        excused=changed_cases(comparison, ("broken",), caps.broken, caps, several=several, wanted=excused),
        wrong=wrong,
        fixed=changed_cases(
            comparison, ("fixed",), caps.changes if caps.detail == "full" else 0, caps, several=several
        ),
        others=changed_cases(comparison, others, caps.changes, caps, several=several),
        other_counts=change_counts(comparison, others),
        compared=comparison.baseline is not None,
        subject=[run for run in runs if run.subject][: caps.runs] if detailed else [],
        categories=[run for run in runs if run.categories][: caps.runs] if detailed else [],
        fell=sum(category.fell for run in runs for category in run.categories),
        category_count=sum(len(run.categories) for run in comparison.runs),
        warnings=_some(warnings([*comparison.notices, *verdict.notices]), caps.warnings),
        command=context.command if detailed else "",
        accept=context.accept if detailed else Accepting(),
        left_out=_LEFT_OUT[caps.detail],
        block=caps.block,
        run_url=context.run_url or "",
        report_path=context.report_path or "",
        trends=trend_section(judgement.trends) if caps.detail == "full" else "",
        guidance=[build_guidance(one, caps.detail) for one in comparison.guidance[: caps.runs]],
        replaced=replaced_lines(comparison, min(caps.broken, _RENAMED))[: caps.runs],
        matrices=matrices(((run.suite, run.target, run.sections) for run in comparison.runs), caps.table),
    )


def _some(items: Sequence[_T], limit: int) -> Some[_T]:
    return Some(list(items[:limit]), len(items))


def _outcome(judgement: Judgement, context: PageContext) -> Badge:
    if judgement.verdict.outcome is Outcome.PASS and judgement.comparison.baseline is None:
        return UNCOMPARED_PASS
    if judgement.verdict.outcome is Outcome.PASS and context.unprotected:
        return UNPROTECTED_PASS
    return OUTCOMES[judgement.verdict.outcome]


def _headline(judgement: Judgement) -> str:
    """The verdict's, with how many new cases fail: that of a pass says it already."""
    comparison, text = judgement.comparison, headline(judgement.verdict)
    count = sum(len(run.new_failures) for run in comparison.runs)
    if not count or comparison.baseline is None or judgement.verdict.outcome is Outcome.PASS:
        return text
    return f"{text.rstrip('.')}; {plural(count, 'new case fails', 'new cases fail')}"


def _facts(comparison: Comparison, verdict: Verdict, context: PageContext) -> list[str]:
    """The one line of context: what was compared with what."""
    facts = [_scope(comparison.runs), _case_count(comparison)]
    if comparison.baseline is None:
        facts.append("no baseline")
    elif all(run.base_now for run in comparison.runs if not run.added) and any(run.base_now for run in comparison.runs):
        facts.append("compared with the base commit, measured now")
    else:
        commit = f" {quoted(short_hash(comparison.baseline_commit))}" if comparison.baseline_commit else ""
        date = _DATE.match(comparison.baseline_created_at or "")
        facts.append(f"baseline{commit}" + (f" of {date[0]}" if date else ""))
    if context.base:
        facts.append(f"judged against {quoted(context.base)}")
    elif context.base_sha and not comparison.baseline_commit:
        facts.append(f"base {quoted(short_hash(context.base_sha))}")
    if context.head_sha:
        facts.append(f"head {quoted(short_hash(context.head_sha))}")
    if verdict.exit_code == EXIT_OK and verdict.outcome is not Outcome.PASS:
        facts.append(f"does not fail the check (`fail-on: {verdict.fail_on}`)")
    return facts


def _scope(runs: Sequence[RunComparison]) -> str:
    if len(runs) == 1:
        return f"{quoted(runs[0].suite)} × {quoted(runs[0].target)}"
    suites, targets = len({run.suite for run in runs}), len({run.target for run in runs})
    if suites * targets == len(runs):
        return f"{plural(suites, 'suite')} × {plural(targets, 'target')}"
    return plural(len(runs), "run")


def _case_count(comparison: Comparison) -> str:
    total = sum(run.total for run in comparison.runs)
    comparable = sum(run.comparable for run in comparison.runs)
    text = plural(total, "case" if len(comparison.runs) == 1 else "case run")
    trials = {run.trials for run in comparison.runs}
    if len(trials) == 1 and (each := trials.pop()) > 1:
        text += f" × {each} trials"
    if comparison.baseline is not None and comparable != total:
        text += f" ({comparable:,} comparable)"
    return text


def _alerts(comparison: Comparison, context: PageContext) -> list[str]:
    alerts: list[str] = []
    if context.unprotected:
        alerts.append(
            "Unprotected: the base commit has no configuration that could judge, so this pull request was judged by "
            "its own policy."
        )
    if comparison.baseline is None:
        alerts.append("There is no baseline, so nothing was compared: only floors and ceilings were checked.")
    if comparison.interrupted:
        alerts.append(f"The run was interrupted: {comparison.interrupted}")
    if comparison.partial:
        alerts.append("Partial run: only the selected suites, targets and cases were run and compared.")
    return alerts


def _reasons(verdict: Verdict, listed: set[str], caps: Caps) -> tuple[ReasonLine | None, Some[ReasonLine]]:
    """The reason that the headline tells, and the others. Cases that are listed anyway are not named again.

    What to do stands at the first reason that it is about.
    """
    first = {tuple(reason.advice): index for index, reason in reversed(list(enumerate(verdict.reasons)))}
    lines = [
        _reason(reason, listed, advised=first[tuple(reason.advice)] == index)
        for index, reason in enumerate(verdict.reasons)
    ]
    return (lines[0] if lines else None), _some(lines[1:], caps.reasons)


def _reason(reason: Reason, listed: set[str], *, advised: bool) -> ReasonLine:
    named = {*listed, *reason.named}
    cases = [case for case in reason.cases if case not in named]
    advice = remedy(reason) if advised else ""
    return ReasonLine(OUTCOMES[reason.outcome], message(reason), advice, _some(cases, _REASON_CASES))


def _run(run: RunComparison, judgement: Judgement, caps: Caps, counts: bool) -> RunView:
    rules = [rule for rule in judgement.verdict.rules if (rule.suite, rule.target) == (run.suite, run.target)]
    rows, info = metric_rows(run, rules, counts=counts)
    badge = _run_badge(run, rules, judgement.verdict.reasons)
    categories = category_rows(run.categories)
    if caps.detail != "full":
        rows, info = [row for row in rows if row.badge.word not in {"ok", "info", "part only"}], []
        categories = [category for category in categories if category.fell]
    measured = run.not_measured is None and not run.missing
    fine = badge.word in {"ok", "info", "new", "part only"} and not _allowances(run)
    return RunView(
        suite=run.suite,
        target=run.target,
        badge=badge,
        folded=fine and (len(judgement.comparison.runs) > _OPEN_RUNS or judgement.verdict.outcome is not Outcome.PASS),
        rows=rows[: caps.rows] if measured else [],
        info=info[: caps.rows] if measured else [],
        notes=[*_run_notes(run, judgement.comparison), *_allowances(run), *_rule_notes(rules, judgement.verdict)],
        categories=categories[: caps.categories],
        subject=[_subject(change) for change in run.subject[: caps.rows]],
        sure=sure_rows(rules),
        tables=tables(run.sections, caps.table, _ended_before(run)),
        findings=_some(finding_lines(run.findings), caps.findings),
        bars=bars(run.sections) if measured else "",
    )


def _ended_before(run: RunComparison) -> dict[str, str]:
    """How the cases that broke or were fixed ended in the baseline."""
    return {case.id: str(case.before) for case in run.of("broken", "fixed") if case.before}


def _run_badge(run: RunComparison, rules: Sequence[RuleOutcome], reasons: Iterable[Reason]) -> Badge:
    blamed = {reason.outcome for reason in reasons if (reason.suite, reason.target) == (run.suite, run.target)}
    worst = max((rule.status for rule in rules), key=SEVERITY.__getitem__, default=None)
    choices: list[tuple[bool, Badge]] = [
        (run.not_measured is not None, NOT_MEASURED),
        (run.missing, MISSING),
        (Outcome.ERROR in blamed, NOT_JUDGED),
        (Outcome.FAIL in blamed, STATUSES["fail"]),
        (Outcome.INCONCLUSIVE in blamed and worst != "fail", STATUSES["inconclusive"]),
        (worst is not None, STATUSES[worst or "ok"]),
        (run.added, NEW),
    ]
    return next((badge for holds, badge in choices if holds), STATUSES["ok"])


def _run_notes(run: RunComparison, comparison: Comparison) -> list[str]:
    if run.not_measured is not None:
        return [f"Not measured: {run.not_measured}", "It counts neither as passed nor as failed."]
    if run.missing:
        return ["The baseline has this run; this pull request does not."]
    notes: list[str] = [_base_now(run.base_now)] if run.base_now is not None and run.base_now.trials else []
    if comparison.baseline is not None and run.added:
        notes.append("New: the baseline does not have this run, so there is nothing to compare it with.")
    elif comparison.baseline is not None and run.comparable != run.total:
        notes.append(
            f"Baseline, now and Δ are over the {run.comparable:,} comparable of {plural(run.total, 'case')}."
            if run.comparable
            else f"None of the {plural(run.total, 'case')} can be compared with the baseline."
        )
    renamed = [case for case in run.cases if case.was is not None]
    if renamed:
        some = ", ".join(_renamed(case) for case in renamed[:_RENAMED])
        more = f" and {len(renamed) - _RENAMED:,} more" if len(renamed) > _RENAMED else ""
        notes.append(f"Renamed, with an equal definition: {some}{more}.")
    if run.whole is not None:
        notes.append(f"A part of the suite: {part(run.total, run.whole)}.")
    if run.errors:
        notes.append(
            f"{run.errors:,} of {plural(run.planned, 'trial')} ended in an error of the provider or the harness; "
            + (_own_note(run, "errors") or "errors count neither as passed nor as failed.")
        )
    if run.random and run.baseline_trials is not None and run.baseline_trials != run.trials:
        notes.append(f"Trials per case: {run.baseline_trials} in the baseline, {run.trials} now.")
    if run.pass_at is not None and run.pass_all is not None:
        k, some, every = run.trials, format_number(run.pass_at, "ratio"), format_number(run.pass_all, "ratio")
        notes.append(f"Over {k} trials: `pass@{k}` {some} (at least one passes), `pass^{k}` {every} (all pass).")
    return [*notes, *_confirm_notes(run), *(_replay_notes(run) if run.replay else [])]


def _renamed(case: CaseChange) -> str:
    return f"{quoted(one_line(case.was or '', 40))} → {quoted(one_line(case.id, 40))}"


def _base_now(base: BaseNow) -> str:
    """What the run was compared with, where that was measured now."""
    commit = f" {quoted(short_hash(base.commit))}" if base.commit else ""
    trials = plural(base.trials, "trial")
    cost = "" if not base.cost_usd else f", for {format_number(base.cost_usd, 'usd')}"
    return f"Compared with the base commit{commit}, measured now, in turns with this: {trials} of it{cost}."


def _confirm_notes(run: RunComparison) -> list[str]:
    """What the confirm stage tried again, and what came of it."""
    confirmation, both_sides = run.confirmation, run.beside
    notes = [_both_sides(both_sides)] if both_sides is not None and both_sides.unusable is None else []
    if confirmation is None or not (confirmation.cases or confirmation.unusable):
        return notes
    if confirmation.unusable is not None:
        rest = "" if notes else " The planned trials alone decide."
        return [f"The fresh tries don't count: {confirmation.unusable}.{rest}", *notes]
    cases = plural(len(confirmation.cases), "case that failed was", "cases that failed were")
    tries = plural(confirmation.trials, "fresh try", "fresh tries")
    return [f"{cases} tried again: {confirmation.passed} of {tries} passed.", *notes]


def _both_sides(sides: SideBySide) -> str:
    """What came of the base, measured again, and of the head beside it."""
    cases = plural(len(sides.cases), "case", "cases")
    commit = f" ({sides.commit[:7]})" if sides.commit else ""
    here, there = f"{sides.head_passed} of {sides.head_trials}", f"{sides.base_passed} of {sides.base_trials}"
    return (
        f"The base{commit} was measured again, side by side: of {cases} {here} trials passed here and {there} there. "
        "Only these decide about drops of pass rates."
    )


def _allowances(run: RunComparison) -> list[str]:
    """Cases that let answers break rules of the safety validator, and did not in the baseline; known cases first."""
    cases = [case for case in run.cases if case.allows] if not run.added else []
    if not cases:
        return []
    cases.sort(key=lambda case: case.change == "added")
    shown = ", ".join(_allowance(case) for case in cases[:_ALLOWING])
    more = f" and {len(cases) - _ALLOWING:,} more" if len(cases) > _ALLOWING else ""
    count = plural(len(cases), "case allows", "cases allow")
    return [f"⚠️ {count} dangerous commands that the baseline does not: {shown}{more}."]


def _without_room(comparison: Comparison, shown: Sequence[RunView]) -> list[str]:
    """The allowances of runs whose notes the page leaves out: what a run allows is never cut."""
    on_page = {(view.suite, view.target) for view in shown}
    left = [run for run in comparison.runs if (run.suite, run.target) not in on_page and _allowances(run)]
    named = [
        f"{quoted(one_line(run.suite, 40))} × {quoted(one_line(run.target, 40))}: {note}"
        for run in left[:_ALLOWING]
        for note in _allowances(run)
    ]
    more = len(left) - _ALLOWING
    return [*named, f"And in {plural(more, 'more run')}."] if more > 0 else named


def _allowance(case: CaseChange) -> str:
    rules = ", ".join(one_line(rule, 40) for rule in case.allows[:3])
    more = f" and {len(case.allows) - 3} more" if len(case.allows) > 3 else ""
    return f"{quoted(one_line(case.id, 40))} ({rules}{more})"


def _replay_notes(run: RunComparison) -> list[str]:
    notes = [
        _own_note(run, "replay")
        or "Replay: recorded model messages, tool calls executed again. "
        f"{run.diverged:,} of {plural(run.replayed, 'replayed trial')} diverged from the recording."
    ]
    changed = [change.part for change in run.subject if change.part in PROMPT_PARTS]
    if changed:
        parts = " and ".join(quoted(part) for part in changed)
        notes.append(f"⚠️ The subject's {parts} changed: replay does not measure this change.")
    return notes


def _own_note(run: RunComparison, about: str) -> str | None:
    """What the run's kind says in the place of what is said of others."""
    notes = (each for each in run.sections if isinstance(each, Note))
    return next((note.text for note in notes if note.about == about), None)


def _rule_notes(rules: Iterable[RuleOutcome], verdict: Verdict) -> list[str]:
    """What rules say that is neither fine nor told as a reason or warning."""
    blamed = {(reason.suite, reason.target, reason.metric) for reason in verdict.reasons}
    part = [rule.rule.metric for rule in rules if rule.status == "not_judged"]
    limits = f"Floors, ceilings and goals hold for the whole suite and are not judged here ({', '.join(part)})."
    return ([limits] if part else []) + [
        message(rule)
        for rule in rules
        if rule.status not in {"ok", "fail", "not_judged"} and (rule.suite, rule.target, rule.rule.metric) not in blamed
    ]


def _subject(change: SubjectChange) -> SubjectLine:
    return SubjectLine(change.part, short_hash(change.before), short_hash(change.now))
