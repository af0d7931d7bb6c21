"""The committed record: small, sorted, without anybody's words, and silent when there is no news."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.baseline import dump_baseline, read_baseline
from evalward.records.baseline import Baseline, BaselineCase, BaselineProvenance, BaselineRun, BaselineTrial
from evalward.records.metric import CategorySummary, Metric
from evalward.records.policy import Rule
from evalward.records.problem import InputError
from evalward.records.report import Finding, Partial, Report, Run, Subject
from evalward.records.result import CheckResult, OtherDetails, Status
from evalward.records.trace import Usage
from evalward.records.verdict import Outcome
from evalward.suites.bash.details import BashDetails
from support.results import KINDS, SUITE, TARGET, baseline, compared, passes, report, result, run, verdict_of
from support.written import make_baseline

CANARY = "CANARY-5f1e"


def test_runs_and_cases_are_sorted() -> None:
    made = baseline(run(passes("b", "a"), target="z"), run(passes("c"), suite="a"), run(passes("b"), target="m"))
    assert [(r.suite, r.target) for r in made.runs] == [("a", TARGET), (SUITE, "m"), (SUITE, "z")]
    assert [case.id for case in made.runs[2].cases] == ["a", "b"]
    trials = [result("a", trial=2, turns=9), result("a", trial=1, turns=1)]
    (case,) = baseline(run(trials)).runs[0].cases
    assert [t.details.turns for t in case.trials if isinstance(t.details, BashDetails)] == [1, 9]


def test_one_line_per_case_metric_and_category() -> None:
    text = dump_baseline(baseline(run([result("a", category="x"), result("b", "failed", category="y")])))
    lines = text.splitlines()
    assert len([line for line in lines if '"definition"' in line]) == 2
    for name in ("pass_rate", "total_tasks", "cost_usd"):
        (line,) = [line for line in lines if line.strip().startswith(f'"{name}":')]
        assert json.loads("{" + line.strip().rstrip(",") + "}")
    assert len([line for line in lines if line.startswith('    "') and '"tasks"' in line]) == 2
    assert text.endswith("\n")


def test_the_text_is_json_with_its_schema_first() -> None:
    text = dump_baseline(baseline(run(passes("a"))))
    data = json.loads(text)
    assert list(data) == ["schema", "provenance", "runs"]
    assert data["schema"] == "evalward.baseline/1"
    (digest,) = data["provenance"].pop("reports")
    assert digest.startswith("sha256:")
    assert data["provenance"] == {"created_at": "2026-11-21T08:00:00Z", "commit": "abc", "evalward": "0.1.0"}


def test_metrics_keep_their_counts_unrounded() -> None:
    made = baseline(run([result("a", "failed", score=174, most=184)]))
    data = json.loads(dump_baseline(made))["runs"][0]["metrics"]["overall_rate"]
    assert data == {"value": 0.9456521739130435, "numerator": 174.0, "denominator": 184.0}


def test_per_trial_it_keeps_what_later_tests_need() -> None:
    row = result("a", "failed", score=1, most=4, calls=(2, 3), turns=5, tokens=(7, 8), cost=0.5, reason="turn_limit")
    trial = json.loads(dump_baseline(baseline(run([row]))))["runs"][0]["cases"][0]["trials"][0]
    assert trial == {
        "status": "failed",
        "score": 1.0,
        "max_score": 4.0,
        "reason": "turn_limit",
        "usage": {"input_tokens": 7, "output_tokens": 8, "cost_usd": 0.5},
        "duration_ms": 50,
        "details": {"kind": "bash", "tool_calls": 3, "tool_calls_ok": 2, "turns": 5, "natural_stop": True},
    }


def test_nothing_that_a_model_wrote_is_in_it() -> None:
    details = BashDetails(failing_command=CANARY, failing_stderr=CANARY)
    other = OtherDetails.model_validate({"kind": "csr", "answer": CANARY})
    rows = [
        result("a", "failed", details=details, message=CANARY, trace=CANARY,
               checks=[CheckResult(check=CANARY, passed=False, detail=CANARY)]),
        result("b", details=other, message=CANARY),
    ]  # fmt: skip
    whole = run(rows, findings=[Finding(id="x", message=CANARY)], details=other)
    assert CANARY in report(whole, warnings=[CANARY]).model_dump_json()
    assert CANARY not in dump_baseline(baseline(whole, warnings=[CANARY]))


# --- no news is no diff ---------------------------------------------------------------------------------------------


def again(previous: Baseline, *runs: Run) -> Baseline:
    return baseline(*runs, previous=previous, created_at="2027-01-01T00:00:00Z")


def test_equal_content_gives_the_previous_baseline_back() -> None:
    old = baseline(run(passes("a", "b")), run(passes("a"), suite="z"))
    assert again(old, run(passes("a"), suite="z"), run(passes("b", "a"))) is old


def test_durations_alone_are_no_change() -> None:
    old = baseline(run([result("a", duration_ms=50), result("b")]))
    details = BashDetails(tool_calls=1, tool_calls_ok=1, turns=2, natural_stop=True, working_ms=7)
    assert again(old, run([result("a", duration_ms=900, details=details), result("b")])) is old


@pytest.mark.parametrize(
    "now",
    [
        run([result("a", "failed"), result("b")]),
        run([result("a", turns=3), result("b")]),
        run([result("a", tokens=(1, 1)), result("b")]),
        run([result("a", definition="sha256:new"), result("b")]),
        run([result("a", category="new"), result("b")]),
        run([result("a")]),
        run([result("a"), result("b"), result("c")]),
        run([result("a"), result("a", trial=2), result("b"), result("b", trial=2)]),
        run(passes("a", "b"), parts={"system": "s2", "bashkit": "1"}),
        run(passes("a", "b"), target="other"),
        run(passes("a", "b"), random=True),
    ],
)
def test_anything_else_is_news_with_new_provenance(now: Run) -> None:
    old = baseline(run(passes("a", "b")))
    new = again(old, now)
    assert new is not old
    assert new.provenance.created_at == "2027-01-01T00:00:00Z"
    assert dump_baseline(new) != dump_baseline(old)


def test_cases_without_news_keep_their_durations() -> None:
    old = baseline(run([result("a", duration_ms=50), result("b", duration_ms=60)]))
    new = again(old, run([result("a", duration_ms=999), result("b", "failed", duration_ms=999)]))
    kept, fresh = new.runs[0].cases
    assert (kept.trials[0].duration_ms, fresh.trials[0].duration_ms) == (50, 999)
    assert new.runs[0].metrics["total_duration_ms"].value == 1049
    changed = set(dump_baseline(new).splitlines()) - set(dump_baseline(old).splitlines())
    assert not any('"id": "a"' in line for line in changed)


def test_the_order_of_cases_and_parts_is_no_news() -> None:
    rows = [result(name, "failed", score=score, most=1) for name, score in zip("abc", (0.1, 0.2, 0.3), strict=True)]
    one = baseline(run(rows, parts={"system": "s", "bashkit": "1"}))
    other = baseline(run(rows[::-1], parts={"bashkit": "1", "system": "s"}))
    assert dump_baseline(one) == dump_baseline(other)


# --- what can be no baseline ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (report(run(passes("a")), partial=Partial(cases=["a"])), "the run was restricted to a part"),
        (report(run(passes("a")), interrupted="killed"), "the run was interrupted: killed"),
        (
            report(run([result("a"), result("b", "error", message="provider down")])),
            "bash-tools × replay:haiku is incomplete: 1 error, 0 skipped (first: b: provider down)",
        ),
        (
            report(run([result("a", "skipped", reason="not_run"), result("b", "error")])),
            "is incomplete: 1 error, 1 skipped (first: a: not_run)",
        ),
        (report(run(passes("a"), planned=3)), "bash-tools × replay:haiku has 1 of 3 trials"),
        (report(run([], not_measured="no key"), run(passes("a"), suite="x")), "was not measured: no key"),
        (report(run(passes("a"), kind="csr")), "is of the kind 'csr', which isn't installed"),
        (report(), "the report has no case"),
        (report(run([])), "the report has no case"),
    ],
)
def test_what_is_not_whole_is_refused(bad: Report, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make_baseline(bad, "r.json", None, KINDS)
    assert any(str(problem).startswith("r.json: ") and message in str(problem) for problem in caught.value.problems)


def test_all_obstacles_are_told_at_once() -> None:
    bad = report(run([result("a", "error")]), interrupted="killed", partial=Partial(suites=["x"]))
    with pytest.raises(InputError) as caught:
        make_baseline(bad, "r.json", None, KINDS)
    assert len(caught.value.problems) == 3


# --- reading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"schema": "evalward.report/1"}', b"\xff", '{"schema": "evalward.baseline/1"}']
)
def test_what_is_no_baseline_is_told_with_a_remedy(text: str | bytes) -> None:
    with pytest.raises(InputError) as caught:
        read_baseline(text, "b.json")
    assert re.match(r"b\.json(:\d+)?: ", str(caught.value))
    assert "evalward baseline update" in str(caught.value)


numbers = st.floats(0, 1e9, allow_nan=False) | st.integers(0, 10**6).map(float)
words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
counted = st.none() | st.integers(0, 10**9)
metrics = st.one_of(
    st.builds(Metric, value=numbers, numerator=numbers, denominator=numbers, unit=st.sampled_from(["ratio", "count"])),
    st.builds(Metric, value=st.none(), reason=words, better=st.sampled_from(["lower", "neither"])),
)
details = st.one_of(
    st.builds(
        BashDetails, tool_calls=st.integers(0, 9), replayed=st.booleans(), diverged_at=st.none() | st.integers(1, 9)
    ),
    st.builds(OtherDetails, kind=st.sampled_from(["", "csr"])),
)
trials = st.builds(
    BaselineTrial,
    status=st.sampled_from([Status.PASSED, Status.FAILED]),
    score=numbers,
    max_score=numbers,
    reason=st.none() | words,
    usage=st.builds(Usage, input_tokens=counted, output_tokens=counted, cost_usd=st.none() | numbers),
    duration_ms=st.integers(0, 10**6),
    details=details,
)
cases = st.builds(BaselineCase, id=words, category=words, definition=words, trials=st.lists(trials, max_size=3))
subjects = st.dictionaries(st.text("abcxyz_", min_size=1, max_size=6), words, max_size=3).map(
    lambda parts: Subject.model_validate({**parts, "hash": "sha256:1"})
)
summaries = st.builds(
    CategorySummary, tasks=numbers, passed=numbers, score=numbers, max_score=numbers, rate=st.none() | numbers
)
runs = st.builds(
    BaselineRun,
    suite=words,
    kind=words,
    target=words,
    trials=st.integers(1, 9),
    random=st.booleans(),
    subject=subjects,
    metrics=st.dictionaries(words, metrics, max_size=3),
    categories=st.dictionaries(words, summaries, max_size=2),
    cases=st.lists(cases, max_size=3),
)
provenances = st.builds(BaselineProvenance, created_at=words, commit=st.none() | words, evalward=words)


some_runs = st.lists(runs, max_size=2, unique_by=lambda run: (run.suite, run.target))


@given(st.builds(Baseline, provenance=provenances, runs=some_runs))
def test_what_was_written_is_what_is_read(made: Baseline) -> None:
    text = dump_baseline(made)
    assert read_baseline(text, "b.json") == made
    assert dump_baseline(read_baseline(text.encode(), "b.json")) == text


# --- a baseline and the report it was made from ---------------------------------------------------------------------

outcomes: st.SearchStrategy[list[Any]] = st.lists(
    st.builds(
        result,
        st.sampled_from([*"abcdefgh"]),
        st.sampled_from(["passed", "failed"]),
        score=st.floats(0, 5),
        most=st.just(5.0),
        calls=st.integers(0, 4).map(lambda n: (n, 4)),
        turns=st.integers(1, 10),
        category=st.sampled_from(["x", "y"]),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row.id,
)


@given(outcomes)
def test_a_report_against_its_own_baseline_has_no_change_and_passes(rows: list[Any]) -> None:
    now = report(run(rows))
    made = read_baseline(dump_baseline(make_baseline(now, "r.json", None, KINDS)), "b.json")
    strict = [Rule(metric=name, max_drop=0.0, max_rise=0.0) for name in ("overall_rate", "total_turns", "pass_rate")]
    found = compared(now, made)
    assert {case.change for case in found.runs[0].cases} == {"same"}
    assert {change.delta for change in found.runs[0].metrics} <= {0.0, None}
    assert verdict_of(now, made, *strict).outcome is Outcome.PASS
    assert make_baseline(now, "r.json", made, KINDS) is made
