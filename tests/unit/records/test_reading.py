"""Records in texts that may be anything: one clear message, never a traceback."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evalward.records.baseline import Baseline
from evalward.records.policy import Rule
from evalward.records.problem import InputError
from evalward.records.reading import MOST_AT_ONCE, parse_own_record, parse_record
from evalward.records.report import Report, Subject
from evalward.records.result import OtherDetails, Result
from evalward.records.verdict import Judgement
from evalward.suites.bash.details import BashDetails
from support.judgements import failed
from support.results import baseline, passes, report, result, run

MINIMAL: dict[str, Any] = {"schema": "evalward.report/1", "tool": {"version": "1"}, "created_at": "now"}
RUN: dict[str, Any] = {"suite": "s", "kind": "k", "target": "t", "trials": 1, "subject": {"hash": "h"}}


def read(text: str | bytes) -> Report:
    return parse_record(text, "r.json", Report, "a report", "Make one with `evalward run`.")


def refused(text: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        read(text)
    (problem,) = caught.value.problems
    assert problem.place.file == "r.json"
    assert str(problem).endswith("Make one with `evalward run`.")
    return str(problem)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "{",
        "report",
        "[" * 100_000,
        '{"a":' * 100_000,
        "1" * 5_000,
        '{"schema": "evalward.report/1"',
        b"\xff\xfe{",
        b"\x80\x81",
        b"\x00" * 100,
        b"%PDF-1.4",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_what_is_no_json_is_told_so(text: str | bytes) -> None:
    assert "not valid JSON" in refused(text)


@pytest.mark.parametrize("text", ["null", "[]", "1", '"evalward.report/1"', "{}", '{"runs": []}'])
def test_json_without_a_schema_is_no_report(text: str) -> None:
    assert "this is not a report: its schema is missing, not evalward.report/1" in refused(text)


@pytest.mark.parametrize(
    "schema", ["evalward.report/2", "evalward.baseline/1", ["evalward.report/1"], 1, {"a": "b" * 999}]
)
def test_another_schema_is_named_in_short(schema: Any) -> None:
    message = refused(json.dumps({**MINIMAL, "schema": schema}))
    assert "this is not a report" in message
    assert len(message) < 250


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"runs": {}}, "runs"),
        ({"runs": [5]}, "runs.0"),
        ({"runs": [{**RUN, "trials": "many"}]}, "runs.0.trials"),
        ({"runs": [{**RUN, "subject": {}}]}, "runs.0.subject.hash"),
        ({"runs": [{**RUN, "subject": {"hash": "h", "x": 5}}]}, "runs.0.subject.x"),
        ({"runs": [{**RUN, "metrics": {"a": {"value": None}}}]}, "runs.0.metrics.a"),
        ({"runs": [{**RUN, "metrics": {"a": {"value": 10**400}}}]}, "runs.0.metrics.a.value"),
        ({"runs": [{**RUN, "cases": [{"id": "a"}]}]}, "runs.0.cases.0.category"),
        ({"tool": None}, "tool"),
    ],
)
def test_what_doesnt_fit_is_named_with_its_place(change: dict[str, Any], field: str) -> None:
    message = refused(json.dumps({**MINIMAL, **change}))
    assert message.startswith(f"r.json: {field}: ")


def test_several_misfits_are_counted() -> None:
    assert "more problems" in refused(json.dumps({**MINIMAL, "runs": [{}, {}]}))


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_text_is_a_report_or_refused(text: str | bytes) -> None:
    with pytest.raises(InputError):
        read(text)


def test_keys_of_a_newer_version_are_passed_over() -> None:
    assert (
        read(json.dumps({**MINIMAL, "colour": "red", "runs": [{**RUN, "shape": {"round": True}}]})).runs[0].suite == "s"
    )


def test_bytes_with_a_byte_order_mark_are_read() -> None:
    assert read(b"\xef\xbb\xbf" + json.dumps(MINIMAL).encode()).created_at == "now"


HOSTILE_DETAILS = {
    "runs": [
        {
            **RUN,
            "cases": [
                {"id": "a", "category": "c", "definition": "d", "status": "passed", "details": {"kind": ["bash"]}}
            ],
        }
    ]
}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(HOSTILE_DETAILS, id="a kind that can't be a key"),
        pytest.param({"runs": [{**RUN, "metrics": {"a": {"value": float("nan")}}}]}, id="NaN"),
        pytest.param({"runs": [{**RUN, "metrics": {"a": {"value": "Infinity"}}}]}, id="infinity as a text"),
        pytest.param({"warnings": ["\ud800"]}, id="a lone surrogate"),
    ],
)
def test_what_no_writer_could_write_is_refused(change: dict[str, Any]) -> None:
    refused(json.dumps({**MINIMAL, **change}))


# --- round trips ----------------------------------------------------------------------------------------------------


def test_a_report_survives_its_file() -> None:
    whole = report(run([result("a"), result("b", "failed", score=0.1 + 0.2), result("c", "error", message="é\u2028")]))
    assert read(whole.model_dump_json(by_alias=True)) == whole
    assert '"schema":"evalward.report/1"' in whole.model_dump_json(by_alias=True)


def test_a_baseline_survives_its_file() -> None:
    whole = baseline(run(passes("a", "b")))
    assert parse_record(whole.model_dump_json(by_alias=True), "b", Baseline, "a baseline", "") == whole


def test_a_judgement_survives_its_file() -> None:
    whole = failed()
    assert parse_record(whole.model_dump_json(by_alias=True), "j", Judgement, "a judgement", "") == whole


@given(st.dictionaries(st.text("abcdefgh", min_size=1), st.text(st.characters(codec="utf-8")), max_size=5))
def test_a_subject_keeps_all_its_parts(parts: dict[str, str]) -> None:
    parts.pop("hash", None)
    subject = Subject.model_validate({"hash": "h", **parts})
    assert subject.parts == parts
    assert Subject.model_validate_json(subject.model_dump_json()) == subject


def test_details_of_an_unknown_kind_are_kept_as_they_are() -> None:
    data = {"id": "a", "category": "c", "definition": "d", "status": "passed"}
    other = Result.model_validate({**data, "details": {"kind": "csr", "matrix": [[1, 2]]}})
    assert isinstance(other.details, OtherDetails)
    assert json.loads(other.model_dump_json())["details"] == {"kind": "csr", "matrix": [[1, 2]]}
    assert other.details.summary() == OtherDetails(kind="csr")
    bash = Result.model_validate({**data, "details": {"kind": "bash", "turns": 3}})
    assert bash.details == BashDetails(turns=3)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "at least one of"),
        ({"floor": 0.9, "ceiling": 0.1}, "nothing could pass"),
        ({"max_drop": -0.1}, "greater than or equal to 0"),
        ({"florr": 0.1}, "Extra inputs"),
    ],
)
def test_a_rule_that_says_nothing_sensible_is_no_rule(values: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rule.model_validate({"metric": "csr", **values})


def read_own(text: str | bytes) -> Report:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return parse_own_record(data, "r.json", Report, "a report", "Make one with `evalward run`.")


@pytest.mark.parametrize("blanks", [0, MOST_AT_ONCE])
def test_an_own_file_is_read_as_any_other(blanks: int) -> None:
    text = report(run([result("a", message="é 🙂 \x1b"), *passes("b", "c")])).model_dump_json(by_alias=True)
    text += " " * blanks
    assert read_own(text) == read(text)
    assert read_own(text).model_fields_set == read(text).model_fields_set


@pytest.mark.parametrize(
    "text",
    [
        *["", "{", "[]", "null", "[" * 100_000, "{}", b"\xff{}"],
        json.dumps({**MINIMAL, "schema": "evalward.report/9"}),
        json.dumps({key: value for key, value in MINIMAL.items() if key != "schema"}),
        json.dumps({**MINIMAL, "runs": 7}),
        json.dumps({**MINIMAL, "created_at": "\ud800"}),
    ],
)
def test_what_is_no_own_file_is_refused_in_the_same_words(text: str | bytes) -> None:
    with pytest.raises(InputError) as caught:
        read_own(text)
    (problem,) = caught.value.problems
    assert str(problem) == refused(text)


@pytest.mark.parametrize("where", ["runs", "base"])
def test_a_file_with_two_runs_of_the_same_target_is_refused(where: str) -> None:
    twice = [RUN, {**RUN, "target": "u"}, {**RUN, "kind": "l"}]
    data = {**MINIMAL, "runs": twice} if where == "runs" else {**MINIMAL, "base": {"commit": "c" * 40, "runs": twice}}
    assert "two runs are of the suite 's' and the target 't'" in refused(json.dumps(data))


def test_so_is_a_baseline() -> None:
    measured = baseline(run(passes("a")))
    data = json.loads(measured.model_dump_json(by_alias=True))
    data["runs"] *= 2
    with pytest.raises(InputError, match="two runs are of the suite"):
        parse_record(json.dumps(data), "b.json", Baseline, "a baseline", "")


@pytest.mark.parametrize(
    "place",
    [
        {"runs": [0] * 5_000},
        {"texts": dict.fromkeys(map(str, range(5_000)), 0)},
        {"runs": [{**RUN, "cases": [0] * 5_000}]},
        {"runs": [{**RUN, "metrics": dict.fromkeys(map(str, range(5_000)), 0)}]},
    ],
    ids=["a list", "a table", "a list within", "a table within"],
)
def test_of_very_many_wrong_values_the_first_is_noted(place: dict[str, Any]) -> None:
    """Each that is noted takes half a kilobyte: 5 MB of zeros took the keeper 1.9 GB."""
    data = json.dumps({**MINIMAL, **place})
    for read_report in (Report.model_validate_json, lambda text: Report.model_validate(json.loads(text))):
        with pytest.raises(ValidationError) as caught:
            read_report(data)
        assert caught.value.error_count() < 5
