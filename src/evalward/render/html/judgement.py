"""What the page of a judgement shows: the view that every output has, and beyond it what needs a page."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from evalward.records.anchor import AnchorFinding
from evalward.records.comparison import RunComparison
from evalward.records.sections import Bars
from evalward.records.verdict import Judgement, Reason, Stage, Verdict
from evalward.render.changed_texts import ChangedText
from evalward.render.context import PageContext
from evalward.render.html.anchoring import AnchorBook
from evalward.render.html.answers import Answers, answers
from evalward.render.html.bars import FactorBars, factor_bars
from evalward.render.html.case_rows import RunCases, compared_cases
from evalward.render.html.changes import ChangedCase, RunsByName, changed, runs_by_name
from evalward.render.html.links import Links
from evalward.render.html.rules import RuleLine, rule_lines
from evalward.render.html.setup import SetupView, judgement_setup
from evalward.render.html.sides import trials_of
from evalward.render.html.texts import RunTexts, texts_of
from evalward.render.html.trends import TrendLine, trend_lines
from evalward.render.kept import Sources
from evalward.render.numbers import format_number, plural
from evalward.render.page import build_page
from evalward.render.sentences import message, remedy
from evalward.render.view import HTML, OUTCOMES, Badge, JudgementPage, RunView

STAGES: dict[Stage, str] = {
    "validity": "Validity",
    "missing": "Missing",
    "limit": "Limits",
    "drop": "Drops",
    "arm": "Arms",
    "anchor": "Slow losses",
}


class RunBody(Struct, frozen=True):
    """One run: its view as in every output, and its rules and factors drawn. `place` is the fragment of its section."""

    view: RunView
    rules: list[RuleLine]
    bars: list[FactorBars]
    place: str


class DecidedReason(Struct, frozen=True):
    """One reason of the verdict: at which stage of the judgement, how it ended, what it says, and what to do."""

    stage: str
    badge: Badge
    message: str
    remedy: str


class AnchorLine(Struct, frozen=True):
    """What a run lost since the anchor, in words."""

    name: str
    label: str
    move: str
    allowed: str
    over: str
    lost: bool


class PromptChange(Struct, frozen=True):
    """A text that models read and that changed, and the runs in which it did."""

    text: ChangedText
    runs: list[str]


class JudgementBody(Struct, frozen=True):
    """Everything that the page of a judgement shows. `prefix` keeps the ids of two judgements on one page apart.

    `numbers_only`: of some run there is a baseline that keeps numbers, and no texts of its trials.
    """

    page: JudgementPage
    links: Links
    prefix: str
    answers: Answers
    broken: list[ChangedCase]
    new: list[ChangedCase]
    excused: list[ChangedCase]
    fixed: list[ChangedCase]
    others: list[ChangedCase]
    prompts: list[PromptChange]
    numbers_only: bool
    runs: list[RunBody]
    cases: list[RunCases]
    trends: list[TrendLine]
    decisions: list[DecidedReason]
    anchors: list[AnchorLine]
    exit_code: int
    setup: SetupView = field(default_factory=SetupView)


def judgement_body(
    judgement: Judgement, context: PageContext, sources: Sources, book: AnchorBook, prefix: str = ""
) -> JudgementBody:
    """The whole of it. `book` has the places of the cases, of all that is on the page."""
    comparison, verdict = judgement.comparison, judgement.verdict
    page, links = build_page(judgement, context, HTML), Links.of(context)
    trials = [trials_of(run, sources) for run in comparison.runs]
    texts = texts_of(comparison.runs, sources)
    parts = _changes(page, runs_by_name(comparison.runs, trials, texts), book)
    return JudgementBody(
        page=page,
        links=links,
        prefix=prefix,
        answers=answers(judgement, page, [*parts[0], *parts[1]], prefix),
        broken=parts[0],
        new=parts[1],
        excused=parts[2],
        fixed=parts[3],
        others=parts[4],
        prompts=_prompts(comparison.runs, texts),
        numbers_only=not all(found.measured for found in trials),
        runs=_runs(page, comparison.runs, verdict, prefix),
        cases=compared_cases(comparison.runs, trials, book),
        trends=trend_lines(judgement.trends, verdict.rules),
        decisions=[_decision(reason) for reason in verdict.reasons],
        anchors=[_anchor(found) for found in judgement.anchors],
        exit_code=verdict.exit_code,
        setup=judgement_setup(comparison, verdict, sources, links),
    )


def _changes(page: JudgementPage, runs: RunsByName, book: AnchorBook) -> list[list[ChangedCase]]:
    """In the order in which they stand on the page: the first that shows a case is its place."""
    lists = (page.broken, page.new, page.excused, page.fixed, page.others)
    return [changed(entries.shown, runs, book) for entries in lists]


def _prompts(runs: Sequence[RunComparison], texts: Sequence[RunTexts]) -> list[PromptChange]:
    """Each change once, with all runs in which it is the same."""
    found: list[PromptChange] = []
    for run, told in zip(runs, texts, strict=True):
        for text in told.prompts:
            known = next((each for each in found if each.text == text), None)
            if known is None:
                found.append(PromptChange(text, [run.name]))
            else:
                known.runs.append(run.name)
    return found


def _runs(page: JudgementPage, runs: Sequence[RunComparison], verdict: Verdict, prefix: str) -> list[RunBody]:
    compared = {(run.suite, run.target): run for run in runs}
    return [
        _run(view, compared[view.suite, view.target], verdict, f"{prefix}run-{number}")
        for number, view in enumerate(page.runs.shown, 1)
    ]


def _run(view: RunView, run: RunComparison, verdict: Verdict, place: str) -> RunBody:
    outcomes = [rule for rule in verdict.rules if (rule.suite, rule.target) == (run.suite, run.target)]
    bars = [factor_bars(section) for section in run.sections if isinstance(section, Bars)] if view.bars else []
    return RunBody(view, rule_lines(view.rows, view.sure, outcomes), bars, place)


def _decision(reason: Reason) -> DecidedReason:
    return DecidedReason(STAGES[reason.stage], OUTCOMES[reason.outcome], message(reason), remedy(reason))


def _anchor(found: AnchorFinding) -> AnchorLine:
    ends = [found.before, found.now]
    before, now = (format_number(end, "ratio", [other for other in ends if other != end]) for end in ends)
    return AnchorLine(
        name=found.name,
        label=found.label,
        move=f"{before} → {now}",
        allowed=format_number(found.allowed, "ratio"),
        over=f"{plural(found.cases, 'case')}, {plural(found.measurements, 'measurement')}",
        lost=found.lost,
    )
