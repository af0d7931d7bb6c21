"""The links that a comment gets once the page is uploaded: where they stand, and what stays as it was."""

from __future__ import annotations

import re

import pytest

from evalward.github.comment import Marker, comment_body
from evalward.github.report_link import MAX_LINKED, linked
from evalward.github.tries import with_tries
from evalward.records.verdict import Judgement, Outcome
from evalward.render.anchors import case_anchor
from evalward.render.markdown import comment
from evalward.render.problems import problems_markdown
from support import comparisons, judgements
from support.markdown import rendered, tags

MARKER = Marker("evalward", "a" * 40, 20, 1)
URL = "https://github.com/octo-org/octo-repo/actions/runs/20/artifacts/3001"
OTHER = "https://github.com/octo-org/octo-repo/actions/runs/20/artifacts/3002"
ANCHOR = case_anchor(comparisons.SUITE, comparisons.TARGET, "json_nested_keys")


def posted(judgement: Judgement | None = None) -> str:
    """A comment as the check posts it."""
    text = comment(judgement or judgements.failed(), judgements.context(marker=MARKER.format()))
    return with_tries(comment_body(text, MARKER), [])


def without_links(text: str) -> str:
    return re.sub(r" · \[(?:Report|in the report)\]\([^)]*\)", "", text)


def test_heading__has_the_link_behind_the_verdict() -> None:
    before, after = posted().split("\n"), linked(posted(), URL).split("\n")
    heading = next(number for number, line in enumerate(before) if line.startswith("### "))
    assert after[heading] == f"{before[heading]} · [Report]({URL})"
    assert after[:heading] == before[:heading]


def test_broken_cases__have_a_link_to_their_anchor() -> None:
    document = rendered(linked(posted(), URL))
    links = [tag for tag in tags(document, ["a"]) if URL in tag]
    broken = [case.id for case in judgements.failed().comparison.runs[0].of("broken")]
    assert ANCHOR in {case_anchor(comparisons.SUITE, comparisons.TARGET, case) for case in broken}
    assert links == [f"a href={URL}"] + [
        f"a href={URL}#{case_anchor(comparisons.SUITE, comparisons.TARGET, case)}" for case in broken
    ]


def test_new_cases_that_fail__have_one_too() -> None:
    judgement = judgements.failed()
    case = comparisons.broken_case("brand_new").model_copy(update={"change": "added", "before": None})
    judgement = judgement.model_copy(update={"comparison": comparisons.comparison(comparisons.run(cases=[case]))})
    assert f"{URL}#{case_anchor(comparisons.SUITE, comparisons.TARGET, 'brand_new')})" in linked(posted(judgement), URL)


@pytest.mark.parametrize("judgement", [judgements.failed(), judgements.passed(), judgements.unjudged()])
def test_everything_else__stays_to_the_letter(judgement: Judgement) -> None:
    text = posted(judgement)
    assert without_links(linked(text, URL)) == text != linked(text, URL)


def test_a_page_that_says_why_nothing_was_judged__has_the_link_in_its_heading() -> None:
    text = comment_body(problems_markdown("the input is wrong", (), marker=MARKER.format()), MARKER)
    assert f"### 🛑 Evalward: error — the input is wrong · [Report]({URL})\n" in linked(text, URL)


def test_a_second_time__replaces_the_links() -> None:
    once = linked(posted(), URL)
    assert linked(once, URL) == once
    assert linked(once, OTHER) == once.replace(URL, OTHER)


def test_a_comment_that_was_edited_by_hand__has_other_line_ends() -> None:
    text = linked(posted().replace("\n", "\r\n"), URL)
    assert f"· [in the report]({URL}#{ANCHOR})" in text
    assert without_links(text).replace("\r", "") == posted()


def test_too_long__the_first_links_stay_and_the_others_are_left_out() -> None:
    text = posted(judgements.failed())
    room = len(f" · [Report]({URL})")
    heading_only = linked(text, URL, len(text) + room)
    assert heading_only.count(URL) == 1
    assert len(heading_only) == len(text) + room
    assert linked(text, URL, len(text)) == text


def test_the_longest_comment__takes_at_least_the_heading() -> None:
    cases = [comparisons.broken_case(f"case_{number:03}") for number in range(400)]
    judgement = Judgement(
        comparison=comparisons.comparison(comparisons.run(cases=cases)), verdict=judgements.failed().verdict
    )
    body = comment_body(posted(judgement) + "x\n" * 65_000, MARKER)
    text = linked(body, URL)
    assert f" · [Report]({URL})" in text
    assert len(body) < len(text) <= MAX_LINKED < 65_536


def test_outcome__is_no_part_of_it() -> None:
    """A link says nothing of the verdict: that of a pass and that of a failure get the same."""
    outcomes = {Outcome.PASS: judgements.passed(), Outcome.FAIL: judgements.failed()}
    assert {linked(posted(each), URL).count(f"[Report]({URL})") for each in outcomes.values()} == {1}
