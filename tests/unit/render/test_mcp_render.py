"""Mcp runs for people: listings in the comment, at a terminal, in reports; and no name becomes anything else."""

from __future__ import annotations

from functools import cache

import pytest

from evalward.commands.pipeline import Criteria
from evalward.records.base import clean_text
from evalward.records.policy import Policy
from evalward.records.report import Report
from evalward.records.result import Result, Status
from evalward.records.verdict import Judgement, Outcome, Verdict
from evalward.render.markdown import comment
from evalward.render.terminal import judgement_text
from evalward.suites.mcp.findings import interpret
from evalward.suites.mcp.judging import score_calls
from evalward.suites.mcp.kind import MCP
from support import judgements
from support.hostile import EVERYTHING, SNIPPETS
from support.markdown import Rendered, rendered
from support.mcp_calls import call, mcp_case, shop, undeclared
from support.mcp_reports import confused, fine, mcp_report, mcp_run
from support.shown import report_markdown, report_text
from support.written import make_baseline

LISTINGS = ("Confused tools", "Tools", "Categories by tool choice")


def judged(now: Report, before: Report | None = None) -> Judgement:
    baseline = make_baseline(before, "report.json", None, {"mcp": MCP}) if before else None
    return Judgement(
        comparison=Criteria(baseline, Policy()).compared(now).comparison,
        verdict=Verdict(outcome=Outcome.FAIL, headline="it got worse"),
    )


def report(results: list[Result]) -> Report:
    return mcp_report(mcp_run(results, findings=interpret(results)))


def test_the_comment_has_each_listing_beside_the_baseline() -> None:
    text = comment(judged(report(confused()), report(fine())), judgements.context())
    assert "<details open><summary><b>Confused tools: 2</b></summary>" in text
    assert "| asked for → taken | trials | baseline |" in text
    assert "| `search_orders → list_orders` | 7 of 9 | 0 of 9 |" in text
    assert "| tool | matched | matched, baseline | taken wrongly | taken wrongly, baseline |" in text
    assert "Asked for `search_orders`, took `list_orders`" in text


def test_a_terminal_of_80_columns_shows_every_listing() -> None:
    shown = judgement_text(judged(report(confused()), report(fine())), colour=False, width=80, verbose=True)
    alone = report_text([report(confused())], colour=False, width=80)
    for text in (shown, alone):
        assert all(title in text for title in LISTINGS)
        assert "list_orders" in text
        assert max(map(len, text.splitlines())) <= 80


def test_a_report_alone_has_the_listings_without_a_baseline() -> None:
    text = report_markdown([report(confused())])
    assert all(f"<summary>{title}: " in text for title in LISTINGS)
    assert text.count("<details open><summary>Confused tools: 2</summary>") == 1
    assert "| asked for → taken | trials |" in text


def named(text: str) -> Report:
    """A run whose tools and undeclared names are this text; those that differ still do."""
    asked, other = f"a {clean_text(text)}"[:200], f"b {clean_text(text)}"[:200]
    catalogue = shop(names=[asked, other])
    case = mcp_case(asked)
    results = []
    invented = {"invented": [text]}
    calls = [call(other).model_copy(update=invented)] * 2 + [undeclared(f"c {text}")] * 2
    for number, made in enumerate(calls, 1):
        scored = score_calls(case, [made], catalogue)
        results.append(
            Result(
                id="one",
                category=f"{text} d" if number > 2 else "general",
                definition=case.definition,
                trial=number,
                status=Status.FAILED,
                checks=scored.checks,
                details=scored.details,
            )
        )
    return report(results)


@pytest.mark.parametrize("text", [*(f"x{snippet} y" for snippet in SNIPPETS), EVERYTHING])
def test_hostile_names_of_tools_change_no_element(text: str) -> None:
    for elements, other in zip(calm_elements(), documents(text), strict=True):
        assert "Confused tools" in other.text
        assert other.elements == list(elements)
        assert other.links() == []


def documents(text: str) -> list[Rendered]:
    """The comment and the report that name everything so."""
    report = named(text)
    return [rendered(comment(judged(report), judgements.context())), rendered(report_markdown([report]))]


@cache
def calm_elements() -> tuple[tuple[str, ...], ...]:
    """What both are made of where nobody means harm."""
    return tuple(tuple(document.elements) for document in documents("calm"))


def test_hostile_names_of_tools_reach_no_terminal() -> None:
    for text in (
        report_text([named(EVERYTHING)], colour=False, width=100),
        judgement_text(judged(named(EVERYTHING)), colour=False, width=100, verbose=True),
    ):
        assert "Confused tools" in text
        assert "\x1b" not in text
