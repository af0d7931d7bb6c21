"""The page of a judgement: well-formed, complete without scripts, harmless whatever the texts in it are."""

import re
from functools import cache

import pytest
from msgspec import structs

from evalward.records.anchor import AnchorFinding
from evalward.records.release import ReleaseReport
from evalward.records.report import Finding
from evalward.records.result import Status
from evalward.records.sections import BarGroup, Bars, GridRow, Row, RunListing, Table
from evalward.records.trend import AnchorLevel, Trend, TrendPoint
from evalward.records.verdict import Judgement
from evalward.render.anchors import case_anchor
from evalward.render.context import Accepting, PageContext
from evalward.render.kept import Sources
from evalward.render.outputs import ShownJudgement, ShownRelease, text_of
from support import judgements
from support.comparisons import SUITE, TARGET, changed_cases
from support.hostile import EVERYTHING, SNIPPETS, fill
from support.html_pages import HtmlPage, faults

JUDGEMENTS = ("failed", "passed", "first_run", "inconclusive", "unjudged", "several")
"""Each with something else to show."""


def full() -> Judgement:
    """A judgement with something in every part of the page."""
    judgement = judgements.failed()
    sections = [
        Table(
            title="Scenarios",
            head="scenario",
            columns=["commands"],
            note="As they were.",
            rows=[
                Row(id="tidy", status=Status.FAILED, outcome="no file", cells=["3"]),
            ],
        ),
        Bars(labels=["agent", "oracle"], groups=[BarGroup(name="sort", values=[1.5, None], mark="*")]),
        RunListing(
            title="Tools",
            head="tool",
            columns=["matched"],
            note="In trials.",
            rows=[GridRow(label="search", values=["2 of 9"])],
        ),
    ]
    finding = Finding(id="x", level="warning", message="Loops", evidence="3 of 4", advice="Stop.", cases=["a"])
    points = [TrendPoint(at=f"2026-11-{day:02}T08:00:00Z", commit=None, value=0.9 - day / 100) for day in range(1, 6)]
    trend = Trend(
        suite=SUITE, target=TARGET, metric="pass_rate", points=points, anchor=AnchorLevel(label="v1", value=0.9)
    )
    lost = AnchorFinding(
        suite=SUITE,
        target=TARGET,
        label="v1",
        at="2026-11-01T08:00:00Z",
        cases=3,
        trials_before=3,
        trials_now=3,
        before=0.9,
        now=0.8,
        allowed=0.02,
        measurements=4,
        commits=4,
        level=0.05,
        lost=True,
    )
    runs = [judgement.comparison.runs[0].model_copy(update={"sections": sections, "findings": [finding]})]
    return judgement.model_copy(
        update={
            "comparison": judgement.comparison.model_copy(update={"runs": runs}),
            "trends": [trend],
            "anchors": [lost],
        }
    )


def page_of(judgement: Judgement, context: PageContext | None = None, sources: Sources | None = None) -> HtmlPage:
    """The page of a judgement, as it is read."""
    shown = ShownJudgement(judgement, context or judgements.context(), sources=sources or Sources())
    return HtmlPage(text_of("html", shown))


def every(name: str) -> Judgement:
    """One of `JUDGEMENTS`."""
    found: Judgement = getattr(judgements, name)()
    return found


def wrong_with(page: HtmlPage, site: str = "https://github.com/acme/tools/") -> list[str]:
    """What the page does beyond showing: its scripts are named by their hashes, and its form sends nothing."""
    return list(faults(page, site, allowed={"script", "form"}))


@pytest.mark.parametrize("name", JUDGEMENTS)
def test_every_page__is_well_formed_and_asks_for_nothing(name: str) -> None:
    page = page_of(every(name))

    assert wrong_with(page) == []


@pytest.mark.parametrize("name", [*JUDGEMENTS, "full"])
def test_every_page__has_one_title_headings_in_order_and_tables_with_captions(name: str) -> None:
    page = page_of(full() if name == "full" else every(name))

    assert page.headings.count(1) == 1
    assert page.headings[0] == 1
    steps = zip(page.headings, page.headings[1:], strict=False)
    assert all(after <= before + 1 for before, after in steps)
    tags = [each.tag for each in page.elements]
    assert tags.count("caption") == tags.count("table") > 0
    assert all(each.attributes.get("scope") for each in page.all("th"))
    assert page.values("lang") == ["en"]
    assert tags.count("main") == 1


def test_every_fragment_that_the_page_leads_to__is_in_it() -> None:
    page = page_of(full())

    inside = {value[1:] for value in page.values("href") if value.startswith("#")}
    assert inside
    assert inside <= set(page.ids)


def test_a_broken_case__stands_at_the_anchor_that_the_comment_leads_to() -> None:
    page = page_of(judgements.failed())

    for case in ("json_nested_keys", "json_to_csv", "json_merge", "tar_list", "find_large"):
        assert case_anchor(SUITE, TARGET, case) in page.ids


def test_the_answer__comes_first() -> None:
    words = page_of(judgements.failed()).words

    said = ["Failed", "tool_call_success_rate fell 8.3 pp", "3 broken", "Where", "What now"]
    places = [words.index(each) for each in said]
    assert places == sorted(places)
    assert max(places) < words.index("What changed", places[-1])


def test_the_page__shows_every_case_of_every_run() -> None:
    page = page_of(judgements.failed())

    rows = page.values("data-status")
    assert len(rows) == len(changed_cases())
    assert set(rows) == {"failed", "passed", "missing", "error"}


@pytest.mark.parametrize("text", [EVERYTHING, *SNIPPETS])
def test_hostile_texts__stay_texts_wherever_they_stand(text: str) -> None:
    judgement = fill(full(), text)
    hostile = PageContext(
        title=text,
        head_sha=text,
        base_ref=text,
        base_sha=text,
        run_url=text,
        report_path=text,
        command=text,
        accept=Accepting(text, text, text),
        repository=text,
        marker="",
        notes=(text,),
        edits=(text,),
        edit_lines=(text,),
    )
    written = text_of("html", ShownJudgement(judgement, hostile))
    page = HtmlPage(written)

    assert {each.tag for each in page.elements} <= plain_tags()
    assert wrong_with(page, site="") == []
    assert not set(written) & set("\x9b\u2028\u2029")


@cache
def plain_tags() -> frozenset[str]:
    """Of which elements the page is made where nobody means harm."""
    return frozenset(each.tag for each in page_of(full()).elements)


def test_links__lead_to_the_repository_of_the_run_and_nowhere_else() -> None:
    page = page_of(judgements.failed())
    elsewhere = page_of(judgements.failed(), judgements.context(run_url="https://evil.example/acme/other/1"))
    script = page_of(judgements.failed(), judgements.context(run_url="javascript:alert(1)//acme/tools/"))

    assert "https://github.com/acme/tools/actions/runs/123456" in page.values("href")
    for found in (elsewhere, script):
        assert [value for value in found.values("href") if not value.startswith("#")] == []


def test_the_same_judgement__gives_the_same_bytes() -> None:
    shown = ShownJudgement(full(), judgements.context())

    assert text_of("html", shown) == text_of("html", structs.replace(shown, judgement=full()))


def test_the_part_that_every_page_has__is_small() -> None:
    written = text_of("html", ShownJudgement(judgements.passed(), judgements.context()))

    assert len(written.encode()) < 150_000


def test_what_can_be_accepted__is_shown_with_its_command() -> None:
    page = page_of(judgements.failed())

    assert "How to accept this change" in page.words
    assert "evalward baseline update --report evalward-out/report.json --keep --accept intended" in page.words


def test_rules__are_drawn_and_trends_too() -> None:
    page = page_of(full())

    names = [each.attributes["class"] for each in page.all("svg")]
    assert sum("plot-interval" in name for name in names) == 3
    assert sum("plot-lines" in name for name in names) == 1
    assert sum("plot-bar" in name for name in names) == 2
    assert all(each.attributes["role"] == "img" for each in page.all("svg"))


def test_a_release__shows_both_judgements_on_one_page() -> None:
    found = ReleaseReport(
        commit="9e" * 20,
        branch="main",
        tag="v1.2.0",
        accepted=["2026-11-20 abc by octocat: intended"],
        against_branch=judgements.passed(),
        against_tag=judgements.failed(),
    )
    written = text_of("html", ShownRelease(found, judgements.context()))
    page = HtmlPage(written)

    assert wrong_with(page) == []
    assert page.headings.count(1) == 1
    assert "Blocked" in page.words
    assert "Accepted since the last release" in page.words
    inside = {value[1:] for value in page.values("href") if value.startswith("#")}
    assert inside <= set(page.ids)


def test_a_release_without_an_earlier_one__says_so() -> None:
    found = ReleaseReport(against_branch=judgements.passed(), note="There is no earlier release.")
    page = HtmlPage(text_of("html", ShownRelease(found)))

    assert "There is no earlier release." in page.words
    assert re.search("May be released", page.words)
