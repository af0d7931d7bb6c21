"""Which tool use is which execution, and in which order a trace is read."""

from __future__ import annotations

from evalward.records.pairing import LONGEST_CALL, named_call, paired
from evalward.records.trace import Block, Message, Text, ToolCall, ToolUse, Trace


def use(command: object, name: str = "bash", identity: str = "1") -> ToolUse:
    return ToolUse(id=identity, name=name, input={"commands": command})


def said(*blocks: Block) -> Message:
    return Message(role="assistant", content=list(blocks))


def order(trace: Trace) -> list[tuple[str, str | None]]:
    """What is shown in which order: a word for the block, and the command that ran."""
    return [
        (type(part.block).__name__ if part.block else "-", part.call.commands if part.call else None)
        for message in paired(trace)
        for part in message.parts
    ]


def test_a_call_stands_where_it_was_asked_for() -> None:
    trace = Trace(
        messages=[said(Text(text="Now."), use("ls")), said(use("ls")), said(Text(text="Done."))],
        tool_calls=[ToolCall(commands="ls", exit_code=0), ToolCall(commands="ls", exit_code=1)],
    )
    assert order(trace) == [("Text", None), ("ToolUse", "ls"), ("ToolUse", "ls"), ("Text", None)]
    codes = [part.call.exit_code for message in paired(trace) for part in message.parts if part.call]
    assert codes == [0, 1]


def test_a_use_without_a_call_keeps_its_place() -> None:
    trace = Trace(
        messages=[said(use("a.txt", "Read")), said(use("ls"))], tool_calls=[ToolCall(commands="ls", exit_code=0)]
    )
    assert order(trace) == [("ToolUse", None), ("ToolUse", "ls")]


def test_calls_that_no_message_asks_for_come_before_the_next_that_one_does_or_last() -> None:
    calls = [ToolCall(commands=command, exit_code=0) for command in ("helper", "ls", "later")]
    trace = Trace(messages=[said(Text(text="Go.")), said(use("ls")), said(Text(text="Done."))], tool_calls=calls)

    assert order(trace) == [("Text", None), ("-", "helper"), ("ToolUse", "ls"), ("Text", None), ("-", "later")]
    assert [message.role for message in paired(trace)] == ["assistant", "assistant", "assistant", None]


def test_a_call_that_could_not_be_run_stands_at_its_use() -> None:
    broken = ToolUse(id="1", name="bash", input={"script": 7})
    unknown = ToolUse(id="2", name="python", input={"code": "1"})
    calls = [
        ToolCall(commands="{'script': 7}", stderr="no text", exit_code=2, ran=False),
        ToolCall(commands="python", stderr="no tool", exit_code=2, ran=False),
        ToolCall(commands="ls", exit_code=0),
    ]
    trace = Trace(messages=[said(broken), said(unknown), said(use("ls"))], tool_calls=calls)

    assert order(trace) == [("ToolUse", "{'script': 7}"), ("ToolUse", "python"), ("ToolUse", "ls")]


def test_calls_keep_their_order_whatever_the_uses_say() -> None:
    calls = [ToolCall(commands=command, exit_code=0) for command in ("a", "b")]
    trace = Trace(messages=[said(use("b")), said(use("a"))], tool_calls=calls)
    assert order(trace) == [("-", "a"), ("ToolUse", "b"), ("ToolUse", None)]


def test_input_of_any_form_is_no_reason_to_stop() -> None:
    for value in (None, 7, "ls", ["ls"], {"commands": ["ls"]}, {"commands": {"ls": 1}}):
        odd = ToolUse(id="1", name="bash", input=value)
        assert order(Trace(messages=[said(odd)], tool_calls=[ToolCall(commands="ls", exit_code=0)])) == [
            ("ToolUse", None),
            ("-", "ls"),
        ]


def test_a_call_with_arguments_stands_where_its_tool_was_asked_for_with_them() -> None:
    uses = [ToolUse(id="1", name="a", input={"q": "x", "n": 1}), ToolUse(id="2", name="a", input={"q": "y"})]
    uses += [ToolUse(id="3", name="b", input=None), ToolUse(id="4", name="b", input="no object")]
    uses.append(ToolUse(id="5", name="c", input={"long": "z" * LONGEST_CALL}))
    calls = [ToolCall(commands=named_call(use.name, use.input), exit_code=0) for use in uses]
    assert [call.commands for call in calls[:4]] == ['a {"q": "x", "n": 1}', 'a {"q": "y"}', "b", "b no object"]
    assert len(calls[4].commands) == LONGEST_CALL + 1
    trace = Trace(messages=[Message(role="assistant", content=list(uses))], tool_calls=calls)
    (message,) = paired(trace)
    assert [(part.block, part.call) for part in message.parts] == list(zip(uses, calls, strict=True))
