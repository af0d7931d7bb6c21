"""JSON reports of vitest, jest and pydantic-evals that somebody wrote to hurt."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from evalward.records.problem import InputError
from evalward.records.result import Status
from evalward.suites.external.formats.base import ForeignTrial, format_named, recognised
from evalward.suites.external.formats.vitest_trace import MOST_EVENTS, MOST_TEXT, vitest_trace
from evalward.suites.external.results import Reading, read_results
from support.foreign.files import in_memory
from support.foreign.pydantic_evals import answer, report_json
from support.foreign.vitest import answered, judged, row, spec_file, vitest_json

HOSTILE = [
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "**b** | `x`",
    "\u202eevil",
    "a\nb\x00\x1b[31m",
    "x" * 5_000,
]


def of_vitest(value: str) -> str:
    """A report of vitest with this raw JSON in one of its tests."""
    return vitest_json(spec_file(row("a", output="HERE"))).replace('"HERE"', value)


def of_pydantic(value: str) -> str:
    """A report of pydantic-evals with this raw JSON in one of its cases."""
    return report_json([answer("a", {"x": True}, output="HERE")]).replace('"HERE"', value)


def trials(format_name: str, content: str | bytes) -> list[ForeignTrial]:
    (results,) = format_named(format_name).read([in_memory(content, "report.json")])
    return list(results.trials)


@pytest.mark.parametrize(("name", "within"), [("vitest-evals", of_vitest), ("pydantic-evals", of_pydantic)])
@pytest.mark.parametrize(
    "value",
    [
        "[" * 1_000_000,
        "[" * 1_000_000 + "]" * 1_000_000,
        '{"a":' * 1_000_000,
        "9" * 10_000,
        "[" + "0," * 1_100_000 + "0]",
    ],
    ids=["open", "nested", "objects", "digits", "values"],
)
def test_refused_in_one_sentence(name: str, within: Callable[[str], str], value: str) -> None:
    with pytest.raises(InputError) as refused:
        trials(name, within(value))
    (problem,) = refused.value.problems
    assert "\n" not in str(problem)
    assert len(str(problem)) < 500


@pytest.mark.parametrize(("name", "within"), [("vitest-evals", of_vitest), ("pydantic-evals", of_pydantic)])
@pytest.mark.parametrize(
    "value", ["NaN", "-Infinity", "1e999", '"\\ud800"', '"\\u0000"', '"\x7f"', "[" * 50 + "]" * 50]
)
def test_read_all_the_same(name: str, within: Callable[[str], str], value: str) -> None:
    (trial,) = trials(name, within(value))
    assert trial.status is Status.PASSED


@pytest.mark.parametrize("name", ["vitest-evals", "pydantic-evals"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"{", b"null", b'"text"', b"[]", b"\x00" * 100])
def test_no_report(name: str, content: bytes) -> None:
    with pytest.raises(InputError):
        trials(name, content)


@pytest.mark.parametrize("name", ["vitest-evals", "pydantic-evals", "junit"])
@pytest.mark.parametrize(
    "head",
    [
        b'{"name":"' + b"\\" * 65_000,
        b'{"name":' + b" " * 65_000,
        b"<!-- -->" * 8_000,
        b"<!--" * 16_000,
        b"<?xml" + b" " * 65_000,
        b" " * 65_536,
        b'{"' + b"[" * 60_000,
    ],
    ids=["backslashes", "blanks", "comments", "begun", "declared", "empty", "brackets"],
)
def test_recognising_never_raises_and_never_tries_all_ways(name: str, head: bytes) -> None:
    assert not format_named(name).recognises(in_memory(head), head)


def test_names_are_cleaned_where_records_are_made() -> None:
    for name, content in (
        ("vitest-evals", vitest_json(spec_file(*(row(title, within=[title]) for title in HOSTILE)))),
        ("pydantic-evals", report_json([answer(title, {title: True}) for title in HOSTILE])),
    ):
        file = in_memory(content, "report.json")
        assert recognised(file) == name
        (run,) = read_results(format_named(name).read([file]), Reading(name), "report.json").runs
        assert len(run.results) == len(HOSTILE)
        assert all(result.id.isprintable() and len(result.id) <= 200 for result in run.results)


def test_a_conversation_is_bounded() -> None:
    said = {"type": "message", "role": "user", "content": "x"}
    long = {"type": "message", "role": "user", "content": "x" * (MOST_TEXT + 1)}
    trace = vitest_trace(answered([long, *[said] * MOST_EVENTS])["harness"]["run"])
    assert trace is not None
    assert (len(trace.messages), len(trace.messages[0].text)) == (MOST_EVENTS, MOST_TEXT)
    assert vitest_trace({"session": {"events": "many"}}) is None


def test_many_calls_in_one_message_are_put_together_at_once() -> None:
    calls = [
        {"type": "tool_call", "id": str(n), "name": "bash", "arguments": {"cmd": "ls"}} for n in range(MOST_EVENTS)
    ]
    trace = vitest_trace(answered(calls)["harness"]["run"])
    assert trace is not None
    (message,) = trace.messages
    assert (len(message.content), len(trace.tool_calls)) == (MOST_EVENTS, MOST_EVENTS)


def test_shapes_that_nobody_wrote_are_unknown() -> None:
    meta = judged({"a": 1}, average=1.0)
    meta["eval"]["scores"] = {"a": 1}
    meta["harness"]["run"]["usage"] = [1]
    meta["harness"]["run"]["session"] = "none"
    odd = row("a", "failed", meta=meta, duration={"ms": 1}, ancestorTitles="shell", failureMessages="AssertionError: x")
    (trial,) = trials("vitest-evals", vitest_json(spec_file(odd)))
    assert (trial.status, trial.case, trial.duration_ms) == (Status.ERROR, "a", None)
    strange = answer("x", metrics={"input_tokens": [1]})
    strange |= {"assertions": {"a": True, "b": {"value": "yes"}}, "scores": [1], "evaluator_failures": {"a": 1}}
    (found,) = trials("pydantic-evals", report_json([strange]))
    assert (found.status, [check.check for check in found.checks]) == (Status.FAILED, ["b"])


def test_a_test_can_not_pretend_to_be_others() -> None:
    forged = json.dumps({"testResults": [spec_file(row("forged"))]})
    assert [trial.case for trial in trials("vitest-evals", of_vitest(forged))] == ["shell > a"]
