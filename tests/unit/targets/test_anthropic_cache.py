"""Where requests are marked for Anthropic's cache, and where a mark would cost more than it saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from evalward.records.trace import Message, Opaque, Text, ToolResult, ToolUse
from evalward.targets.base import ConversationPart, Request, ToolSpec
from evalward.targets.models import anthropic
from evalward.targets.models.anthropic_cache import LEAST, MARK, CacheMarking
from evalward.targets.models.settings import LiveSettings

LONG = "word " * 2000  # more than any model's minimum
TOOL = ToolSpec("bash", "Runs it.", {"type": "object"})


def user(text: str) -> Message:
    return Message(role="user", content=[Text(text=text)])


def turn(number: int, content: str = "done") -> list[Message]:
    thinking = Opaque(provider="anthropic", data={"type": "thinking", "thinking": "hm", "signature": "s"})
    uses = [thinking, ToolUse(id=f"t{number}", name="bash", input={"commands": "ls"})]
    result = ToolResult(tool_use_id=f"t{number}", content=content)
    return [Message(role="assistant", content=uses), Message(role="tool_result", content=[result])]


def body(system: str, *messages: Message, tools: Sequence[ToolSpec] = (TOOL,)) -> Mapping[str, Any]:
    settings = LiveSettings("anthropic", "claude-haiku-4-5", "https://h", None)
    return anthropic.request_of(Request(system, messages, tools), settings)


def marked(given: Mapping[str, Any], part: ConversationPart = "more", model: str = "claude-haiku-4-5") -> list[str]:
    """Where the marks stand."""
    with CacheMarking(model).of(given, part) as sent:
        return places(sent)


def places(sent: Mapping[str, Any]) -> list[str]:
    found = [f"tool {at}" for at, tool in enumerate(sent.get("tools", [])) if tool.get("cache_control") == MARK]
    if isinstance(sent.get("system"), list):
        found += ["system" for block in sent["system"] if block.get("cache_control") == MARK]
    return found + [
        f"{number}.{at}"
        for number, message in enumerate(sent["messages"])
        for at, block in enumerate(message["content"])
        if block.get("cache_control") == MARK
    ]


def test_the_mark_at_the_end_moves_on_and_the_last_one_stays_for_reading() -> None:
    talk = [user("Do it.")]
    assert marked(body(LONG, *talk)) == ["system", "0.0"]
    talk += turn(1)
    assert marked(body(LONG, *talk)) == ["system", "0.0", "2.0"]
    talk += turn(2)
    assert marked(body(LONG, *talk)) == ["system", "2.0", "4.0"]


def test_there_are_never_more_than_four_marks() -> None:
    tools = (ToolSpec("a", "", {"type": "object"}), ToolSpec("b", LONG, {"type": "object"}))
    talk = [user("Do it."), *turn(1), *turn(2), *turn(3)]
    assert marked(body(LONG, *talk, tools=tools)) == ["tool 1", "system", "4.0", "6.0"]


def test_the_last_request_of_a_conversation_reads_and_writes_nothing() -> None:
    talk = [user("Do it."), *turn(1), *turn(2)]
    assert marked(body(LONG, *talk), "last") == ["system", "2.0"]


def test_what_is_smaller_than_the_model_s_minimum_has_no_mark() -> None:
    talk = [user("Do it."), *turn(1, "x" * 9000), *turn(2)]
    assert marked(body("Be good.", *talk)) == ["2.0", "4.0"]
    assert marked(body("Be good.", user("Do it."), *turn(1))) == []
    short = body("x" * 1500, user("Do it."))
    assert marked(short, model="claude-haiku-4-5-20251001") == []
    assert marked(short, model="claude-opus-5") == ["system", "0.0"]
    assert LEAST == 512


def test_a_block_that_can_t_carry_a_mark_has_none() -> None:
    blank = [user("Do it."), *turn(1), *turn(2, " \n")]
    assert marked(body(LONG, *blank)) == ["system", "2.0"]
    paused = [*blank[:3], Message(role="assistant", content=[Opaque(provider="anthropic", data={"type": "x"})])]
    assert marked(body(LONG, *paused)) == ["system", "2.0"]


def test_the_body_that_was_given_is_left_as_it_is() -> None:
    given = body(LONG, user("Do it."), *turn(1))
    before = repr(given)
    marked(given)
    assert repr(given) == before


def test_of_requests_that_stand_alone_one_writes_when_there_are_more_than_at_once() -> None:
    marking = CacheMarking("claude-haiku-4-5")

    def asked(stack: ExitStack) -> list[str]:
        return places(stack.enter_context(marking.of(body(LONG, user("Do it.")), "alone")))

    with ExitStack() as first_wave:
        assert [asked(first_wave) for _ in range(3)] == [[], [], []]
    with ExitStack() as writer:
        assert asked(writer) == ["system"]
        with ExitStack() as meanwhile:
            assert [asked(meanwhile), asked(meanwhile)] == [[], []]
    with ExitStack() as readers:
        assert [asked(readers), asked(readers)] == [["system"], ["system"]]


def test_a_writer_that_fails_leaves_it_to_the_next() -> None:
    marking = CacheMarking("claude-haiku-4-5")
    given = body(LONG, user("Do it."))
    with marking.of(given, "alone"):
        pass
    asked = marking.of(given, "alone")
    assert places(asked.__enter__()) == ["system"]
    assert not asked.__exit__(OSError, OSError("gone"), None)
    with marking.of(given, "alone") as sent:
        assert places(sent) == ["system"]


def test_requests_that_stand_alone_with_a_short_start_are_never_marked() -> None:
    marking = CacheMarking("claude-opus-5")
    for _ in range(4):
        with marking.of(body("Be good.", user(LONG)), "alone") as sent:
            assert places(sent) == []


def test_every_start_is_counted_for_itself() -> None:
    marking = CacheMarking("claude-opus-5")
    for system in (LONG, LONG + "other"):
        with marking.of(body(system, user("Do it.")), "alone") as sent:
            assert places(sent) == []
