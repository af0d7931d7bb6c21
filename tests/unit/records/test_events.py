"""Events: the form of the specification, what upstream writes, and a trace as events."""

from __future__ import annotations

from evalward.records.events import (
    Complete,
    Event,
    OtherEvent,
    OutputEvent,
    Spawn,
    ToolAnswered,
    ToolCalled,
    answered_calls,
    completed,
    dump_events,
    events_of,
    read_events,
)
from evalward.records.trace import Message, Text, ToolCall, ToolUse, Trace

EVENTS: list[Event] = [
    Spawn(ts="2026-01-01T00:00:00Z", command="agent", args=["-p", "do"]),
    OutputEvent(text="I begin. ☃"),
    ToolCalled(tool="bash", command="todo add a"),
    ToolAnswered(output="no", exit_code=1),
    ToolCalled(id="7", tool="bash", command="todo list"),
    ToolAnswered(id="7", output=""),
    Complete(exit_code=0, duration_secs=1.5),
    OtherEvent.model_validate({"event": "execution", "tool": "x", "exit_code": 0}),
]


def test_events_can_be_written_and_read_again() -> None:
    assert read_events(dump_events(EVENTS)) == (EVENTS, 0)


def test_the_form_of_the_specification() -> None:
    assert dump_events(EVENTS[2:4]).splitlines() == [
        '{"event": "tool_call", "tool": "bash", "command": "todo add a"}',
        '{"event": "tool_result", "output": "no", "exit_code": 1}',
    ]


def test_the_kind_may_stand_at_type_and_broken_lines_are_counted() -> None:
    text = (
        '{"type":"tool_call","tool":"bash","command":"x"}\n\nnot json\n[1]\n{"a":1}\n{"event":"tool_call"}\n'
        + "[" * 9999
    )
    events, skipped = read_events(text)
    assert events == [ToolCalled(tool="bash", command="x")]
    assert skipped == 5


def called(name: str, key: str | None = None) -> ToolCalled:
    return ToolCalled(command=name, id=key)


def answered(code: int, key: str | None = None) -> ToolAnswered:
    return ToolAnswered(exit_code=code, id=key)


def pairs(*events: Event) -> list[tuple[str, int | None]]:
    return [(pair.call.command, pair.answer.exit_code if pair.answer else None) for pair in answered_calls(events)]


def test_results_answer_calls_by_order_or_by_id() -> None:
    assert pairs(called("a"), answered(1), called("b"), answered(2)) == [("a", 1), ("b", 2)]
    assert pairs(called("a"), called("b"), answered(1), answered(2)) == [("a", 1), ("b", 2)]
    assert pairs(called("a", "x"), called("b", "y"), answered(2, "y"), answered(1, "x")) == [("a", 1), ("b", 2)]


def test_a_lost_result_is_not_borrowed_from_another_call() -> None:
    assert pairs(called("a"), called("b"), answered(2)) == [("a", None), ("b", 2)]
    assert pairs(called("a", "x"), called("b"), answered(2)) == [("a", None), ("b", 2)]
    assert pairs(answered(9), called("a"), answered(1), answered(2)) == [("a", 1)]


def test_completed_needs_proof() -> None:
    assert completed([Complete(exit_code=0)])
    assert not any(map(completed, ([], [Complete()], [Complete(exit_code=1)], [Complete(exit_code=0), Complete()])))


def test_a_trace_as_events() -> None:
    use = ToolUse(id="1", name="bash", input={"command": "todo add"})
    trace = Trace(
        messages=[
            Message(role="user", content=[Text(text="Do.")]),
            Message(
                role="assistant", content=[Text(text="Now."), use, ToolUse(id="2", name="Read", input={"path": "x"})]
            ),
            Message(role="assistant", content=[Text(text="Done.")]),
        ],
        tool_calls=[
            ToolCall(commands="todo add", stdout="out", stderr="err", exit_code=3),
            ToolCall(commands="ls", exit_code=None),
        ],
        duration_ms=2500,
    )
    assert events_of(trace, "2026-01-01T00:00:00+00:00", command=["agent", "-p"], exit_code=0) == [
        Spawn(ts="2026-01-01T00:00:00+00:00", command="agent", args=["-p"]),
        OutputEvent(text="Now."),
        ToolCalled(tool="bash", command="todo add"),
        ToolAnswered(output="out\nerr", exit_code=3),
        OutputEvent(text="Done."),
        ToolCalled(command="ls"),
        ToolAnswered(exit_code=None),
        Complete(ts="2026-01-01T00:00:02.500000+00:00", exit_code=0, duration_secs=2.5),
    ]


def test_without_a_start_there_are_no_times() -> None:
    assert all(event.ts is None for event in events_of(Trace(duration_ms=5)))
