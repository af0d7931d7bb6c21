"""From a judgement to its page: what is shown, how much of it, and in which words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from evalward.records.codes.reasons import PromptReplayed
from evalward.records.comparison import (
    CaseChangeKind,
    Comparison,
    RunComparison,
    SubjectChange,
)
from evalward.records.exits import EXIT_OK
from evalward.records.verdict import Judgement, Outcome, Reason, RuleOutcome, Verdict
from evalward.render.context import Accepting, PageContext
from evalward.render.entries import (
    EntryWriter,
    blamed,
    change_counts,
    change_groups,
    changed_cases,
    excused,
    new_failures,
    still_failing,
    without_answers,
    wrong_answers,
)
from evalward.render.findings import finding_lines
from evalward.render.guidance import build_guidance
from evalward.render.moved import telling
from evalward.render.names import quoted, short_hash
from evalward.render.numbers import plural
from evalward.render.rows import category_rows, metric_rows, sure_rows
from evalward.render.run_notes import RENAMED, allowances, run_notes, without_room
from evalward.render.sections import bars, listings, matrices, tables
from evalward.render.sentences import headline, message, remedy, warnings
from evalward.render.succession import replaced_lines
from evalward.render.surface import surface_views
from evalward.render.trend import trend_section
from evalward.render.view import (
    MISSING,
    NEW,
    NOT_JUDGED,
    NOT_MEASURED,
    OUTCOMES,
    SEVERITY,
    STATUSES,
    UNCHANGED,
    UNCOMPARED_PASS,
    UNPROTECTED_PASS,
    WITHIN_NOISE,
    Badge,
    Caps,
    CaseEntry,
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
_QUIET = {"ok", WITHIN_NOISE.word, "info", "part only", "not compared"}  # badges that ask nothing of anybody
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
    writer = EntryWriter(comparison, caps, context.show)
    unsafe, wrong = wrong_answers(writer)
    broken = changed_cases(writer, ("broken",), caps.broken, wanted=blamed)
    if not caps.runs_named:
        broken = without_answers(broken, unsafe)
    new = new_failures(writer)
    first, reasons = _reasons(verdict, {case.id for case in [*unsafe.shown, *broken.shown]}, caps)
    rules: dict[tuple[str, str], list[RuleOutcome]] = {}
    for rule in verdict.rules:
        rules.setdefault((rule.suite, rule.target), []).append(rule)
    runs = [_run(run, rules.get((run.suite, run.target), []), judgement, caps, counts) for run in comparison.runs]
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
            *without_room(comparison, open_first[: caps.runs] if detailed else []),
        ],
        notes=list(context.notes),
        edits=list(context.edits),
        edit_lines=list(context.edit_lines),
        first=first,
        reasons=reasons,
        runs=_some(open_first, caps.runs),
        several=several,
        cases_of=writer.one.name if writer.one else "",
        unsafe=unsafe,
        broken=broken,
        new=new,
        still=still_failing(comparison, caps, several=writer.several),
        excused=changed_cases(writer, ("broken",), caps.broken, wanted=excused),
        wrong=wrong,
        fixed=changed_cases(writer, ("fixed",), caps.changes if caps.detail == "full" else 0),
        others=changed_cases(writer, others, caps.changes),
        other_groups=change_groups(writer, others, caps.changes),
        other_counts=change_counts(comparison, others),
        compared=comparison.baseline is not None,
        subject=[run for run in runs if run.subject][: caps.runs] if detailed else [],
        categories=[run for run in runs if run.categories][: caps.runs] if detailed else [],
        fell=sum(category.fell for run in runs for category in run.categories),
        category_count=sum(len(run.categories) for run in comparison.runs),
        warnings=_some(warnings([*comparison.notices, *verdict.notices]), caps.warnings),
        command=context.command if detailed else "",
        failed_command=_failed_command(context, [*unsafe.shown, *broken.shown, *new.shown]) if detailed else "",
        download=context.download if detailed and (broken or new) else "",
        accept=context.accept if detailed else Accepting(),
        left_out=_LEFT_OUT[caps.detail],
        block=caps.block,
        run_url=context.run_url or "",
        report_path=context.report_path or "",
        trends=trend_section(judgement.trends) if caps.detail == "full" else "",
        guidance=[build_guidance(one, caps.detail) for one in comparison.guidance[: caps.runs]],
        surfaces=surface_views(comparison.runs, caps),
        replaced=replaced_lines(comparison, min(caps.broken, RENAMED))[: caps.runs],
        matrices=matrices(((run.suite, run.target, run.sections) for run in comparison.runs), caps.table),
    )


def _failed_command(context: PageContext, failed: Sequence[CaseEntry]) -> str:
    """The command that runs the listed cases alone."""
    ids = list(dict.fromkeys(case.id for case in failed))
    return context.cases(ids) if context.cases and ids else ""


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

    What to do stands at the first reason that it is about. Where all are of one run, the headline alone names it.
    """
    runs = {f"{reason.suite} × {reason.target}: " for reason in verdict.reasons if reason.target}
    named = runs.pop() if len(runs) == 1 and not caps.runs_named else ""
    if named and not message(verdict.reasons[0]).startswith(named):
        named = ""
    first = {tuple(reason.advice): index for index, reason in reversed(list(enumerate(verdict.reasons)))}
    lines = [
        _reason(reason, listed, named, advised=first[tuple(reason.advice)] == index)
        for index, reason in enumerate(verdict.reasons)
    ]
    return (lines[0] if lines else None), _some(lines[1:], caps.reasons)


def _reason(reason: Reason, listed: set[str], run: str, *, advised: bool) -> ReasonLine:
    """`run` is a beginning that the reader knows by then."""
    named = {*listed, *reason.named}
    cases = [case for case in reason.cases if case not in named]
    advice = remedy(reason) if advised else ""
    return ReasonLine(OUTCOMES[reason.outcome], message(reason).removeprefix(run), advice, _some(cases, _REASON_CASES))


def _run(run: RunComparison, rules: Sequence[RuleOutcome], judgement: Judgement, caps: Caps, counts: bool) -> RunView:
    rows, info = metric_rows(run, rules, counts=counts)
    badge = _run_badge(run, rules, judgement.verdict.reasons)
    categories = category_rows(run.categories)
    if caps.detail != "full":
        rows, info = [row for row in rows if row.badge.word not in _QUIET], []
        categories = [category for category in categories if category.fell]
    news = telling(run.metrics, [row.metric for row in rows])
    measured = run.not_measured is None and not run.missing and badge.word != UNCHANGED.word
    fine = badge.word in {*_QUIET, "new"} and not allowances(run)
    return RunView(
        suite=run.suite,
        target=run.target,
        badge=badge,
        folded=fine and (len(judgement.comparison.runs) > _OPEN_RUNS or judgement.verdict.outcome is not Outcome.PASS),
        rows=rows[: caps.rows] if measured else [],
        info=info[: caps.rows] if measured else [],
        notes=[
            *_run_notes(run, judgement),
            *allowances(run),
            *_rule_notes(rules, judgement.verdict),
        ],
        categories=categories[: caps.categories] if measured else [],
        subject=[_subject(change) for change in run.subject[: caps.rows]],
        sure=[] if run.unchanged is not None else sure_rows(rules),
        tables=tables(run.sections, caps.table, _ended_before(run)),
        listings=listings(run.sections, caps.table) if measured else [],
        findings=_some(finding_lines(run.findings), caps.findings),
        bars=bars(run.sections) if measured else "",
        moved=[row for row in info[: caps.rows] if row.metric in news] if measured else [],
    )


def _run_notes(run: RunComparison, judgement: Judgement) -> list[str]:
    """The notes, without what a reason says: that a replay doesn't measure the changed prompt of the run's suite."""
    said = (each for reason in judgement.verdict.reasons for each in reason.statements)
    prompt_said = any(isinstance(each, PromptReplayed) and each.suite == run.suite for each in said)
    return run_notes(run, judgement.comparison, prompt_said=prompt_said)


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
        (run.unchanged is not None, UNCHANGED),
        (worst is not None, STATUSES[worst or "ok"]),
        (run.added, NEW),
    ]
    return next((badge for holds, badge in choices if holds), STATUSES["ok"])


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
