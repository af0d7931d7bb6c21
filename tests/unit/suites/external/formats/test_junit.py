"""JUnit XML: what each writer's elements and names mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import Status
from evalward.records.trace import Usage
from evalward.suites.external.formats.base import (
    ForeignFile,
    ForeignResults,
    ForeignTrial,
    Score,
    format_named,
    recognised,
)
from support.foreign.files import in_memory, stored
from support.foreign.junit import case, jest_case, jest_xml, promptfoo_xml, pytest_xml, vitest_xml


def read(content: str | bytes | ForeignFile) -> ForeignResults:
    file = content if isinstance(content, ForeignFile) else in_memory(content, "out/junit.xml")
    assert recognised(file) == "junit"
    (results,) = format_named("junit").read([file])
    return results


def trials(content: str | bytes | ForeignFile) -> Sequence[ForeignTrial]:
    return list(read(content).trials)


def endings(content: str | bytes | ForeignFile) -> dict[str, Status | None]:
    found = trials(content)
    assert len({trial.case for trial in found}) == len(found)
    return {trial.case: trial.status for trial in found}


PASSED, FAILED, ERROR, SKIPPED = Status.PASSED, Status.FAILED, Status.ERROR, Status.SKIPPED


# pytest


def test_real_files_of_pytest_with_reruns() -> None:
    results = read(stored("junit/pytest-reruns.xml"))
    found = {trial.case.removeprefix("test_agent::"): trial for trial in results.trials}
    assert {name: trial.status for name, trial in found.items()} == {
        "test_answers[plain]": PASSED,
        "test_answers[flaky]": PASSED,
        "test_answers[wrong]": FAILED,
        "test_answers[2026-11-22]": PASSED,
        "test_answers[raises]": FAILED,
        "test_wrong_and_teardown": FAILED,
        "test_right_and_teardown": FAILED,
        "test_setup": ERROR,
        "test_expected_to_fail": SKIPPED,
        "test_expected_to_fail_and_passed": PASSED,
        "test_skipped": SKIPPED,
    }
    flaky = found["test_answers[flaky]"]
    assert flaky.usage == Usage(input_tokens=200, output_tokens=20, cost_usd=0.0002)
    assert flaky.scores == {"helpful": Score(0.75)}
    assert {trial.target for trial in found.values()} == {"scripted/one"}
    assert {trial.category for trial in found.values()} == {"test_agent"}
    assert found["test_setup"].message == 'failed on setup with "ConnectionError: provider down"'
    assert results.notes == ["6 tests ran again after a failure (pytest-rerunfailures); the last attempt counts"]
    assert results.made_at is not None
    assert results.made_at.endswith("Z")


def test_real_file_of_pytest_repeat_numbers_the_trials() -> None:
    results = read(stored("junit/pytest-repeat.xml"))
    found = list(results.trials)
    names = ["answers[plain]", "answers[flaky]", "answers[2026-11-22]"]
    names += ["expected_to_fail", "expected_to_fail_and_passed"]
    assert [(one.case, one.number) for one in found] == [(f"test_agent::test_{n}", i) for n in names for i in (1, 2, 3)]
    assert [one.status for one in found[:6]] == [PASSED] * 3 + [FAILED] + [PASSED] * 2
    assert results.planned == 15


def test_real_file_of_pytest_with_a_module_that_cannot_be_imported() -> None:
    assert endings(stored("junit/pytest-collection.xml")) == {"test_broken": ERROR, "test_fine::test_fine": PASSED}


def test_of_attempts_of_one_name_the_last_counts() -> None:
    again = case("m", "t", properties=[("input_tokens", "9")])
    last = case("m", "t", properties=[("input_tokens", "9"), ("input_tokens", "7")])
    (trial,) = trials(pytest_xml(again, last, tests=1))
    assert (trial.status, trial.usage.input_tokens) == (PASSED, 7)
    assert endings(pytest_xml(case("m", "t"), case("m", "t", "failure:no"), tests=1)) == {"m::t": FAILED}
    assert endings(pytest_xml(case("m", "t"), case("m", "t", "error:failed on setup"), tests=1)) == {"m::t": ERROR}


def test_a_failure_counts_before_its_broken_teardown() -> None:
    pair = (case("m", "t", "failure:wrong"), case("m", "t", "error:failed on teardown"))
    results = read(pytest_xml(*pair, tests=1))
    (trial,) = results.trials
    assert (trial.status, trial.reason, trial.message) == (FAILED, "failed", "wrong")
    assert results.notes == []
    assert read(pytest_xml(case("m", "t"), *pair, tests=1)).notes != []


def test_equal_names_in_two_suites_of_a_merged_file_are_trials() -> None:
    one = pytest_xml(case("m", "t"))
    suite = one[one.index("<testsuite name") : one.index("</testsuites>")]
    assert [trial.status for trial in trials(one.replace(suite, suite * 3))] == [PASSED] * 3


def test_attempts_are_known_by_the_order_of_attributes_whatever_the_suite_is_called() -> None:
    attempts = pytest_xml(case("m", "t"), case("m", "t", "failure:no"), tests=1, name="our evals")
    assert endings(attempts.replace("pytest tests", "x")) == {"m::t": FAILED}


def test_ids_that_look_like_repeats_stay_whole() -> None:
    days = [case("m", f"test_day[2026-11-{day}]") for day in (22, 23)]
    assert list(endings(pytest_xml(*days))) == ["m::test_day[2026-11-22]", "m::test_day[2026-11-23]"]
    once = [case("m", "test_a[x-1-1]"), case("m", "test_b[3-2]"), case("m", "test_c[x-01-2]"), case("m", "test_d[2-2]")]
    assert [trial.number for trial in trials(pytest_xml(*once))] == [None] * 4


def test_a_repeat_that_is_missing_is_seen_in_the_plan() -> None:
    whole = [case("m", f"test_a[x-{n}-3]") for n in (1, 2, 3)]
    results = read(pytest_xml(*whole, case("m", "test_a[y-1-3]"), case("m", "test_b")))
    assert [(trial.case, trial.number) for trial in results.trials][3:] == [("m::test_a[y]", 1), ("m::test_b", None)]
    assert results.planned == 7


def test_a_case_of_two_subtests_that_failed_tells_the_first() -> None:
    (trial,) = trials(pytest_xml(case("m", "t", "failure:first", "failure:contains 2 failed subtests"), tests=3))
    assert (trial.status, trial.message) == (FAILED, "first")


@pytest.mark.parametrize(
    ("properties", "usage"),
    [
        ({"input_tokens": "12", "cache_read_tokens": "5"}, {"input_tokens": 12, "cache_read_tokens": 5}),
        ({"output_tokens": "1e2", "reasoning_tokens": "7.0"}, {"output_tokens": 100, "reasoning_tokens": 7}),
        ({"cost_usd": "0"}, {"cost_usd": 0.0}),
        ({"input_tokens": "nan", "output_tokens": "-1", "cost_usd": "inf"}, {}),
        ({"input_tokens": "1.5", "output_tokens": "many", "cost_usd": ""}, {}),
        ({"input_tokens": "9" * 400, "cost_usd": "1e300"}, {}),
    ],
)
def test_usage_in_properties(properties: dict[str, str], usage: dict[str, Any]) -> None:
    (trial,) = trials(pytest_xml(case("m", "t", properties=list(properties.items()))))
    assert trial.usage == Usage(**usage)


def test_scores_in_properties() -> None:
    said = [("score:a", "0.5"), ("score:b", "True"), ("score:c", "False"), ("score:d", "nan"), ("score:", "1")]
    (trial,) = trials(pytest_xml(case("m", "t", properties=said)))
    assert trial.scores == {"a": Score(0.5), "b": Score(1.0, True), "c": Score(0.0, False), "d": Score()}


def test_a_test_that_broke_before_the_model_was_named_belongs_to_the_one_model() -> None:
    named = case("m", "a", properties=[("model", "one")])
    assert [trial.target for trial in trials(pytest_xml(named, case("m", "b", "error:setup")))] == ["one", "one"]
    other = case("m", "c", properties=[("model", "two")])
    assert [one.target for one in trials(pytest_xml(named, case("m", "b"), other))] == ["one", "", "two"]


def test_the_definition_is_the_name_alone() -> None:
    (one,) = trials(pytest_xml(case("m", "t", time="3.2")))
    (two,) = trials(pytest_xml(case("m", "t", "failure:no")))
    assert one.asked == two.asked == {"test": "m::t"}
    assert (one.duration_ms, two.duration_ms) == (3200, 1)


# vitest


def test_vitest() -> None:
    file = "shell.eval.ts"
    cases = [
        case(file, "shell > 'count'", time="0.0073"),
        case(file, "shell > 'count'", "failure:Score: 0.50 below threshold: 1.00"),
        case(file, "shell > skipped", "skipped:", time="0"),
    ]
    found = trials(vitest_xml(file, *cases))
    assert [(one.case, one.category, one.status) for one in found] == [
        ("shell > 'count'", file, PASSED),
        ("shell > 'count'", file, FAILED),
        ("shell > skipped", file, SKIPPED),
    ]
    assert [one.duration_ms for one in found] == [7, 1, None]
    assert found[0].again == "shell 'count'", "as vitest's -t has the full name"


def test_vitest_files_that_cannot_be_loaded_and_hooks_that_broke_are_errors() -> None:
    broken = read(vitest_xml("bad.eval.ts", case("bad.eval.ts", "bad.eval.ts", "failure:no such module")))
    (trial,) = broken.trials
    assert (trial.status, trial.reason, trial.message) == (ERROR, "not_loaded", "no such module")
    assert len(broken.notes) == 1
    hook = vitest_xml("a.ts", case("a.ts", "shell > one", "skipped:"), case("a.ts", "shell", "failure:no database"))
    assert endings(hook) == {"shell > one": SKIPPED, "shell": ERROR}


def test_tests_are_tried_again_by_what_their_runner_selects_by() -> None:
    (pytest_one, pytest_two) = trials(pytest_xml(case("m", "test_a[x]"), case("m", "test_b")))
    assert (pytest_one.again, pytest_two.again) == ("test_a[x", "test_b")
    (vitest,) = trials(vitest_xml("a.ts", case("a.ts", "outer > inner > 'a'")))
    (jest,) = trials(jest_xml("undefined", jest_case(" at the top")))
    assert (vitest.again, jest.again) == ("outer inner 'a'", "at the top")


def test_equal_titles_of_two_files_of_vitest_are_two_cases() -> None:
    one, two = (vitest_xml(file, case(file, "shell > a"), case(file, f"only in {file}")) for file in ("1.ts", "2.ts"))
    both = one.replace("</testsuites>", "") + two[two.index("<testsuite ") :]
    found = trials(both)
    assert [trial.case for trial in found] == ["1.ts > shell > a", "only in 1.ts", "2.ts > shell > a", "only in 2.ts"]
    assert found[0].asked != found[2].asked


def test_real_file_of_vitest() -> None:
    found = {trial.case: (trial.status, trial.reason) for trial in trials(stored("junit/vitest.xml"))}
    assert len(found) == 28
    assert found["shell > 'wrong'"] == found["shell > 'down'"] == found["shell > 'slow'"] == (FAILED, "failed")
    assert found["bad.eval.ts"] == found["hook.eval.ts"] == (ERROR, "not_loaded")
    assert found["hook"] == found["hook after"] == (ERROR, "hook")
    assert found["hook > one"] == found["shell > todo case"] == (SKIPPED, "skipped")


# jest-junit


def test_real_file_of_jest_junit_with_control_characters() -> None:
    file = stored("junit/jest-junit.xml")
    with file.open() as stream:
        assert b"\x1b" in stream.read()
    found = [(trial.case, trial.category, trial.status) for trial in trials(file)]
    assert (" control #x1B[31m #x00 <b>", "", FAILED) in found
    assert ("shell wrong", "", FAILED) in found
    assert ("hook one", "hook", FAILED) in found
    assert not any("bad" in case for case, _, _ in found)


def test_jest() -> None:
    message = 'Error: expect(received).toContain(expected)\n\nExpected: "a"'
    results = read(jest_xml("shell", jest_case("shell a"), jest_case("shell b", message), jest_case("c", skipped=True)))
    found = list(results.trials)
    assert [(one.case, one.status) for one in found] == [("shell a", PASSED), ("shell b", FAILED), ("c", SKIPPED)]
    assert found[1].message == message
    assert {one.category for one in found} == {"shell"}
    assert results.made_at == "2026-11-22T04:01:00Z"
    assert not results.notes


def test_jest_todo_looks_passed_and_is_noted() -> None:
    results = read(jest_xml("shell", jest_case("shell a"), jest_case("shell later"), todo=1))
    (note,) = results.notes
    assert "todo" in note
    assert "JSON" in note


# promptfoo


def test_promptfoo() -> None:
    where = "[openai:gpt [x]] prompt 1"
    cases = [
        case(where, "test 1: count"),
        case(where, "test 2: count", "error:Evaluation error"),
        case(where, "test 3: a: b", "failure:Assertion failed"),
        case(where, "test 4"),
    ]
    found = trials(promptfoo_xml("openai:gpt [x]", *cases))
    assert [(one.case, one.status) for one in found] == [
        ("count", PASSED),
        ("count", ERROR),
        ("a: b", FAILED),
        ("test 4", PASSED),
    ]
    assert {(one.target, one.suite) for one in found} == {("openai:gpt [x]", "prompt 1")}


@pytest.mark.parametrize("write", ["raw", "attribute"])
def test_control_characters_that_break_the_xml_are_read_as_pytest_spells_them(write: str) -> None:
    name = "test 1: \x00a\x1bb\ufffe" if write == "attribute" else "test 1: ab"
    text = "bell \x07" if write == "raw" else "quiet"
    xml = promptfoo_xml("p", case("[p] prompt 1", name), case("[p] prompt 1", "test 2: c", f"failure:{text}"))
    one, two = trials(xml)
    assert one.case == ("#x00a#x1Bb#xFFFE" if write == "attribute" else "ab")
    assert two.message == ("bell #x07" if write == "raw" else "quiet")


# others


def test_other_writers_are_read_by_the_elements() -> None:
    plain = '<testsuite name="x"><testcase name="a"/>{}</testsuite>'
    more = '<testcase classname="C" name="b" time="1,234.5"><error>broke</error></testcase>'
    both = '<testcase classname="C" name="c" time="x"><error>later</error><failure>first</failure></testcase>'
    found = trials(plain.format(more + both))
    assert [(one.case, one.status, one.duration_ms, one.message) for one in found] == [
        ("a", PASSED, None, ""),
        ("C::b", ERROR, 1_234_500, "broke"),
        ("C::c", FAILED, None, "first"),
    ]


def test_suites_within_suites() -> None:
    inner = '<testsuite name="inner"><testcase name="a"/></testsuite>'
    assert [
        one.case
        for one in trials(f'<testsuites><testsuite name="o">{inner}<testcase name="b"/></testsuite></testsuites>')
    ] == ["a", "b"]


def test_several_files_are_several_runs() -> None:
    files = [in_memory(pytest_xml(case("m", "t")), f"{n}.xml") for n in (1, 2)]
    assert [len(list(results.trials)) for results in format_named("junit").read(files)] == [1, 1]


@pytest.mark.parametrize(
    "head", ["<testsuites/>", "\ufeff<?xml version='1.0'?>\n<!-- a --><testsuite name='x'>", "  <testsuites>"]
)
def test_recognised(head: str) -> None:
    assert format_named("junit").recognises(in_memory(head), head.encode())


@pytest.mark.parametrize("head", ["", "<testsuitesx>", "<html>", '{"a": "<testsuites>"}', "<coverage/>", "\x00"])
def test_not_recognised(head: str) -> None:
    assert not format_named("junit").recognises(in_memory(head), head.encode())


def test_belongs() -> None:
    assert format_named("junit").belongs("out/TEST-a.XML")
    assert not format_named("junit").belongs("out/a.json")


def test_no_test_is_refused() -> None:
    with pytest.raises(InputError, match=r"out/junit\.xml: a JUnit XML file without a test that ran\."):
        read(pytest_xml())


def test_tests_that_are_all_skipped_are_refused() -> None:
    skipped = pytest_xml(case("m", "a", "skipped:no key"), case("m", "b", "skipped:no key"))
    with pytest.raises(InputError, match="without a test that ran: all 2 are skipped"):
        read(skipped)
    files = [in_memory(skipped, "1.xml"), in_memory(pytest_xml(case("m", "t")), "2.xml")]
    assert [len(list(results.trials)) for results in format_named("junit").read(files)] == [2, 1]


@pytest.mark.parametrize("attributes", ['status="notrun" result="suppressed"', 'status="notrun"', 'status="skipped"'])
def test_a_test_that_says_that_it_was_not_run__is_skipped(attributes: str) -> None:
    text = f'<testsuite name="s"><testcase classname="s" name="one" {attributes}/><testcase name="two"/></testsuite>'
    (found,) = format_named("junit").read([in_memory(text)])
    assert [str(trial.status) for trial in found.trials] == ["skipped", "passed"]


@pytest.mark.parametrize("counts", ['failures="1" errors="0"', 'failures="0" errors="1"', 'failures="2"'])
def test_a_suite_that_says_that_more_broke_than_it_shows__is_refused(counts: str) -> None:
    text = f'<testsuites><testsuite name="s" {counts}><testcase classname="s" name="one"/></testsuite></testsuites>'
    with pytest.raises(
        InputError, match=r"a suite in it counts \d tests that failed or ended in an error, but only 0 of its tests did"
    ):
        format_named("junit").read([in_memory(text)])
