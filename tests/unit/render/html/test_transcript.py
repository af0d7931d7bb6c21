"""A trial's transcript: turn by turn, bounded however much was said."""

from __future__ import annotations

from evalward.records.result import Status
from evalward.records.trace import Usage
from evalward.render.conversation import Called, Said, Step, TrialView, TurnEnd
from evalward.render.html.passages import TextLimits
from evalward.render.html.transcript import MOST_STEPS, GapBlock, text_anchor, transcript_of, usage_facts

WIDE = TextLimits(10**6, 10**7)


def view(*steps: Step) -> TrialView:
    return TrialView(
        *("suite", "target", "case", "category"), 1, Status.FAILED, "0/1", "", "", [], Usage(), None, 5, list(steps)
    )


def end(number: int, stop: str = "tool_use") -> TurnEnd:
    return TurnEnd(number, Usage(input_tokens=5, output_tokens=2), stop, "m", 1500)


def test_steps__belong_to_the_turn_that_ends_after_them() -> None:
    steps: list[Step] = [
        Said("system", "s"),
        Said("user", "u"),
        Called("bash", "ls"),
        end(1),
        Said("assistant", "a"),
        end(2, "length"),
    ]
    asked, first, second = transcript_of(view(*steps), WIDE).turns

    assert [block.kind for block in asked.blocks] == ["said", "said"]
    assert (asked.title, first.title, second.title) == ("Asked", "Turn 1", "Turn 2")
    assert first.facts == ["5 tokens in", "2 out", "cost n/a", "1.5 s", "m"]
    assert "stopped: length" in second.facts


def test_what_comes_after_the_last_turn__is_there() -> None:
    turns = transcript_of(view(Said("user", "u"), end(1), Called("bash", "ls")), WIDE).turns

    assert [turn.title for turn in turns] == ["Asked", "Turn 1", "After the last turn"]


def test_a_call__says_what_is_known_and_no_more() -> None:
    calls = [
        Called("bash", "a", exit_code=0, stdout="x"),
        Called("t", "{}", answer="y"),
        Called("bash", "b", ran=False),
    ]
    (turn,) = transcript_of(view(*calls, Called("bash", "c", exit_code=2, cut=3)), WIDE).turns
    known, unknown, never, bad = turn.blocks

    assert (known.kind, getattr(known, "facts", None)) == ("call", ["exit 0"])
    assert getattr(unknown, "facts", None) == ["exit code unknown"]
    assert getattr(never, "facts", None) == ["not run", "no output"]
    assert getattr(bad, "facts", None) == ["exit 2", "3 characters of its output not kept", "no output"]
    assert [getattr(block, "failed", None) for block in turn.blocks] == [False, False, True, True]


def test_very_many_steps__are_left_out_in_the_middle() -> None:
    (turn,) = transcript_of(view(*[Called("bash", f"step {n}") for n in range(MOST_STEPS + 100)]), WIDE).turns

    assert len(turn.blocks) == MOST_STEPS + 1
    assert turn.blocks[MOST_STEPS // 2] == GapBlock(100)


def test_all_texts_together__keep_to_the_limit_of_a_trial() -> None:
    calls = [Called("bash", "cat", stdout=f"{n}" * 5_000) for n in range(10)]
    found = transcript_of(view(*calls), TextLimits(5_000, 20_000))

    assert sum(len(text) for text in found.texts) <= 20_000 + 10 * 100  # the words that say what is left out
    assert found.left_out >= 30_000


def test_few_texts__stand_in_the_page_as_they_are() -> None:
    found = transcript_of(view(Called("bash", "cat", stdout="x" * 3_000)), WIDE)

    assert (found.texts, found.left_out) == ([], 0)


def test_a_prompt__is_a_link_only_where_it_stands_elsewhere() -> None:
    prompt = Said("system", "Be terse.")
    (alone,) = transcript_of(view(prompt), WIDE).turns
    (linked,) = transcript_of(view(prompt), WIDE, {prompt: text_anchor(prompt)}).turns

    assert getattr(alone.blocks[0], "link", None) == ""
    assert getattr(linked.blocks[0], "link", None) == text_anchor(prompt)
    assert getattr(linked.blocks[0], "words").text == ""  # noqa: B009 - of one kind of block


def test_usage__says_nothing_of_what_nobody_told() -> None:
    assert usage_facts(Usage()) == []
    told = Usage(input_tokens=10, cache_read_tokens=90, output_tokens=5, reasoning_tokens=3, cost_usd=0.5)
    assert usage_facts(told) == ["100 tokens in", "90 of them cached", "5 out", "3 of them reasoning", "$0.5000"]
