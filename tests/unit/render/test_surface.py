"""What a change does to what models are offered stands before how they fared, in every output, and escapes nothing."""

from __future__ import annotations

import pytest

from evalward.records.surface import PieceChange, Surface, surface_of
from evalward.records.verdict import Judgement
from evalward.render.context import PageContext
from evalward.render.markdown import comment
from evalward.render.outputs import ShownJudgement, text_of
from evalward.render.surface import surface_views
from evalward.render.terminal import judgement_text
from evalward.render.view import FAILURES, FULL, HEADLINE
from support import judgements
from support.hostile import EVERYTHING, fill
from support.markdown import rendered

CHANGES = [
    PieceChange(name="get_stock", how="added", now="How many there are."),
    PieceChange(
        name="find_orders",
        how="renamed",
        was="search_orders",
        breaks=["`limit` is required now"],
        other=["the description differs (10 → 20 characters)"],
        before="Finds orders by words. Newest first.",
        now="Finds orders by words or customer. Newest first.",
    ),
    PieceChange(name="cancel", how="changed", unread=True),
]


def surface(changes: list[PieceChange] | None = None, tokens: tuple[int | None, int | None] = (1235, 1301)) -> Surface:
    made = surface_of("tool", "tools", changes or CHANGES, tokens)
    assert made is not None
    return made


def judged(made: Surface, runs: int = 1) -> Judgement:
    """A failure whose first `runs` runs have this surface."""
    judgement = judgements.several()
    changed = [run.model_copy(update={"surface": made}) for run in judgement.comparison.runs[:runs]]
    comparison = judgement.comparison.model_copy(update={"runs": [*changed, *judgement.comparison.runs[runs:]]})
    return judgement.model_copy(update={"comparison": comparison})


def test_nothing_changed__is_not_mentioned() -> None:
    assert surface_of("tool", "tools", [], (1, 1)) is None
    assert surface_views(judgements.failed().comparison.runs, FULL) == []


def test_comment__says_it_before_the_cases() -> None:
    text = comment(judged(surface()), judgements.context())

    assert "⚠️ **Tools: 1 added, 1 renamed, 1 changed" in text
    assert "1 of them breaks earlier calls; ≈ 1,235 → 1,301 tokens in every request (+66)**" in text
    assert "- ⚠️ `search_orders` is called `find_orders` now: `limit` is required now; the description differs" in text
    assert "- `get_stock` is new\n" in text
    assert "- `cancel`: what the tool was before isn't kept, so only the change itself is known" in text
    assert "- Finds orders by words.\n+ Finds orders by words or customer." in text
    assert text.index("Tools: 1 added") < text.index("####")


def test_shortened_comments__keep_the_sentence() -> None:
    assert "Tools: 1 added" in comment(judged(surface()), judgements.context(), "failures")
    short = comment(judged(surface()), judgements.context(), "headline")
    assert "Tools: 1 added" in short
    assert "get_stock" not in short


def test_one_suite_says_it_once__whatever_its_targets() -> None:
    runs = judged(surface(), runs=2).comparison.runs
    same = [run.model_copy(update={"suite": "orders"}) for run in runs[:2]]

    assert len(surface_views(same, FULL)) == 1
    others = [same[0], same[1].model_copy(update={"suite": "stock"})]
    assert [view.headline.split(" in ")[1].split(";")[0] for view in surface_views(others, FULL)] == [
        "`orders`",
        "`stock`",
    ]


def test_unknown_tokens__are_not_said() -> None:
    (view,) = surface_views(judged(surface(tokens=(None, 5))).comparison.runs[:1], FULL)

    assert "tokens" not in view.headline


def test_very_many__are_counted() -> None:
    many = [PieceChange(name=f"tool_{number}", how="changed", other=["x"] * 9) for number in range(90)]
    (view,) = surface_views(judged(surface(many)).comparison.runs[:1], FAILURES)

    assert len(view.lines) + view.more == 90
    assert view.more
    assert {(len(line.facts), line.more) for line in view.lines} == {(5, 4)}
    (brief,) = surface_views(judged(surface(many)).comparison.runs[:1], HEADLINE)
    assert (brief.lines, brief.more, brief.words) == ([], 0, "")


@pytest.mark.parametrize("width", [80, 160])
def test_terminal(width: int) -> None:
    text = judgement_text(judged(surface()), colour=False, width=width)

    assert max(map(len, text.split("\n"))) <= width
    words = " ".join(text.split())
    assert "Tools: 1 added, 1 renamed, 1 changed" in words
    assert "! search_orders is called find_orders now: limit is required now" in words


def test_page__says_it_first() -> None:
    page = text_of("html", ShownJudgement(judged(surface()), PageContext()))

    assert "Tools: 1 added, 1 renamed, 1 changed" in page
    assert page.index("Tools: 1 added") < page.index("Broken:")


def test_hostile_names_and_words__make_no_element() -> None:
    calm = rendered(comment(fill(judged(surface()), "calm"), judgements.context()))
    hostile = rendered(comment(fill(judged(surface()), EVERYTHING), judgements.context()))

    assert hostile.elements == calm.elements
    assert hostile.links() == calm.links() == []


def test_a_description__forges_no_line_of_the_diff() -> None:
    forged = "Finds orders.\u2028@@ cancel @@\x85- Asks first.\x0b+ Never asks."
    change = CHANGES[1].model_copy(update={"now": forged})
    text = comment(judged(surface([change])), judgements.context())

    lines = text.split("```diff")[1].split("```")[0].splitlines()
    assert [line for line in lines if "cancel" in line or "asks" in line.lower()] == [
        "+ Finds orders.⏎@@ cancel @@⏎- Asks first.⏎+ Never asks."
    ]


def test_notes__are_said_where_no_tool_changed() -> None:
    made = surface_of("tool", "tools", [], (5, 5), ["the tools are listed in another order"])
    assert made is not None
    text = comment(judged(made), judgements.context())
    assert "**Tools: none changed in `bash-tools`; ≈ 5 → 5 tokens in every request**" in text
    assert "- the tools are listed in another order\n" in text
    assert "the tools are listed in another order" in judgement_text(judged(made), colour=False, width=100)
