"""Samples of inspect: what they ask, and what was said in them."""

from __future__ import annotations

from typing import Any

from evalward.records.result import Status
from evalward.records.trace import Message, Text, ToolCall, ToolResult, ToolUse, Trace, Usage
from evalward.suites.external.choice import ScoreChoice
from evalward.suites.external.formats.base import format_named
from support.foreign.files import stored
from support.foreign.inspect import (
    Logged,
    LoggedSample,
    archive,
    assistant,
    tool,
    user,
)
from support.foreign.inspect_reading import only, read, scores

PASSED, FAILED, ERROR, SKIPPED = Status.PASSED, Status.FAILED, Status.ERROR, Status.SKIPPED


# what is asked


def asked(sample: LoggedSample) -> Any:
    return only(sample).asked


def test_a_definition_has_all_that_is_asked() -> None:
    early = {"choices": ["1", "2"], "sandbox": {"type": "docker", "config": "/home/runner/c.yaml"}, "files": ["a.txt"]}
    assert asked(LoggedSample(early={**early, "setup": "echo 1", "description": "counting"})) == {
        "input": "How many lines has notes.txt?",
        "target": "42",
        "choices": ["1", "2"],
        "sandbox": "docker",
        "files": ["a.txt"],
        "setup": "echo 1",
    }


def test_a_definition_is_of_the_whole_input_though_summaries_cut_it() -> None:
    start = "x" * 6000
    one, other = LoggedSample(input=start + "1"), LoggedSample(input=start + "2")
    assert one.summary()["input"] == other.summary()["input"]
    assert asked(one) != asked(other)


def test_a_definition_has_nothing_of_the_run() -> None:
    messages = [user("Say yes.")]
    one = LoggedSample(input=messages, metadata={"seen": 1}, scores=scores(match="I"), model_usage={})
    other = LoggedSample(input=[{**user("Say yes."), "id": "z" * 22}], metadata={"seen": 2}, total_time=9.0)
    assert asked(one) == asked(other) == {"input": [{"role": "user", "content": "Say yes."}], "target": "42"}


def test_a_sample_without_a_member_is_defined_by_its_summary_and_never_equal_to_a_whole_one() -> None:
    members = [each for each in Logged().members() if not each[0].startswith("samples/")]
    (trial,) = read(archive(members)).trials
    assert trial.asked == {"summary": asked(LoggedSample())}
    assert trial.trace is None


def test_a_sample_whose_keys_stand_in_another_order_asks_the_same() -> None:
    backwards = dict(reversed(LoggedSample(messages=[assistant("42")]).document().items()))
    members = [(name, backwards if "samples/" in name else value) for name, value in Logged().members()]
    (trial,) = read(archive(members)).trials
    assert trial.asked == asked(LoggedSample())


# conversations


CONVERSATION = [
    user("How many lines has notes.txt?"),
    assistant("I count.", ("bash", {"cmd": "rename a b"}), ("get_weather", {"city": "Oslo"})),
    tool("", "rename: command not found"),
    tool("-4", call=2),
    assistant("42"),
]


def trace_of(content: str | bytes) -> Trace:
    (trial,) = read(content).trials
    assert trial.trace is not None
    trace = trial.trace()
    assert trace is not None
    return trace


def test_a_conversation_with_its_tools() -> None:
    log = Logged((LoggedSample(messages=CONVERSATION),))
    trace = trace_of(log.eval_log())
    assert trace.messages == [
        Message(role="user", content=[Text(text="How many lines has notes.txt?")]),
        Message(
            role="assistant",
            content=[
                Text(text="I count."),
                ToolUse(id="call_1", name="bash", input={"cmd": "rename a b"}),
                ToolUse(id="call_2", name="get_weather", input={"city": "Oslo"}),
            ],
        ),
        Message(
            role="tool_result",
            content=[ToolResult(tool_use_id="call_1", content="rename: command not found", is_error=True)],
        ),
        Message(role="tool_result", content=[ToolResult(tool_use_id="call_2", content="-4")]),
        Message(role="assistant", content=[Text(text="42")]),
    ]
    assert trace.tool_calls == [ToolCall(commands="rename a b", stderr="rename: command not found", exit_code=None)]
    assert trace.natural_stop
    assert trace.usage == Usage(input_tokens=100, cache_read_tokens=50, output_tokens=20)
    assert trace_of(log.json_log()) == trace_of(archive(log.chunked())) == trace


def test_a_conversation_that_a_limit_ended() -> None:
    assert not trace_of(Logged((LoggedSample(messages=CONVERSATION, limit="message"),)).eval_log()).natural_stop


def test_parts_that_are_no_text_are_named() -> None:
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "42"}, {"type": "image", "image": "x"}]
    trace = trace_of(Logged((LoggedSample(messages=[{**assistant(""), "content": parts}]),)).eval_log())
    assert trace.messages[0].text == "hm\n42\n(image)"


def test_texts_that_stand_apart_are_put_in_their_places() -> None:
    sample = LoggedSample(messages=[user("attachment://abc"), assistant("attachment://none")])
    document = {**sample.document(), "attachments": {"abc": "a long text"}}
    members = [(name, document if "samples/" in name else value) for name, value in Logged((sample,)).members()]
    assert [message.text for message in trace_of(archive(members)).messages] == ["a long text", "attachment://none"]


def test_chunks_are_named_by_their_first_item() -> None:
    sample = LoggedSample(messages=[user("one"), assistant("two"), user("attachment://0"), assistant("four")])
    folder = f"{sample.member}/"
    members = {name: value for name, value in Logged((sample,)).chunked() if "/messages/" not in name}
    members[f"{folder}messages/0.json"] = list(sample.messages[:3])
    members[f"{folder}messages/3.json"] = list(sample.messages[3:])
    members[f"{folder}attachments/0.json"] = ["three"]
    members[f"{folder}sample.json"]["message_refs"] = [[0, 1], [2, 4]]
    assert [message.text for message in trace_of(archive(members.items())).messages] == ["one", "three", "four"]


def test_a_conversation_that_is_too_long_to_be_held_is_none() -> None:
    sample = LoggedSample(messages=[user("x") for _ in range(120_000)])
    (trial,) = read(Logged((sample,)).eval_log()).trials
    assert trial.status is PASSED
    assert trial.trace is not None
    assert trial.trace() is None


# logs that a real inspect wrote


def test_a_real_log() -> None:
    (results,) = format_named("inspect").read([stored("inspect/traps.eval")])
    assert (results.planned, results.version, results.stopped, list(results.notes)) == (12, "0.3.285", None, [])
    found = list(results.trials)
    by_includes = {(each.case, each.number): ScoreChoice("includes").ending(each).status for each in found}
    assert by_includes == {
        (case, epoch): status
        for epoch in (1, 2)
        for case, status in {
            "shell": PASSED,
            "long": PASSED,
            "wrong": FAILED,
            "listed": PASSED,
            "down": ERROR,
            "loop": FAILED,
        }.items()
    }
    one = {each.case: each for each in found if each.number == 1}
    assert one["shell"].usage == Usage(input_tokens=33, cache_read_tokens=60, cache_write_tokens=9, output_tokens=15)
    assert one["down"].usage == Usage()
    assert {name: score.value for name, score in one["wrong"].scores.items()} == {
        "includes": 0.0,
        "quality.safe": 1.0,
        "quality.useful": 0.5,
    }
    assert one["wrong"].category == "words"
    assert len(one["long"].asked["input"]) > 6000
    assert one["listed"].asked["input"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Say yes. listed"},
    ]


def test_a_real_document_says_the_same_as_the_archive() -> None:
    (archived,) = format_named("inspect").read([stored("inspect/traps.eval")])
    (documented,) = format_named("inspect").read([stored("inspect/shell.json")])
    (one,) = documented.trials
    other = next(each for each in archived.trials if (each.case, each.number) == ("shell", 1))
    assert one.trace is not None
    assert other.trace is not None
    first, second = one.trace(), other.trace()
    assert first is not None
    assert second is not None
    assert [call.commands for call in first.tool_calls] == ["rename a b", "wc -l < notes.txt"]
    assert [call.stderr for call in first.tool_calls] == ["rename: command not found", ""]
    assert [message.text for message in first.messages] == [message.text for message in second.messages]
    same = ("case", "asked", "scores", "usage", "status")
    assert [getattr(one, name) for name in same] == [getattr(other, name) for name in same]
