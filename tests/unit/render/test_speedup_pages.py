"""Speedups on the pages that people read: bars in comment, terminal and report, the summary table."""

from __future__ import annotations

import pytest

from evalward.records.comparison import Comparison, RunComparison
from evalward.records.report import Report, Run, Subject, Tool
from evalward.records.sections import Bars
from evalward.records.verdict import Judgement, Outcome, Verdict
from evalward.render.markdown import comment
from evalward.render.terminal import judgement_text
from evalward.suites.speedup.kind import SPEEDUP
from evalward.suites.speedup.sections import TaskSpeed, compared_bars
from support.judgements import context
from support.shown import report_markdown, report_text
from support.speedups import details, speeds, trial_of


def judgement(target: str) -> Judgement:
    speed = TaskSpeed(case="`sort`|<b>", agent=4.0, oracle=8.0, before=2.0)
    run = RunComparison(
        suite="fast",
        kind="speedup",
        target=target,
        random=False,
        baseline_trials=1,
        trials=1,
        comparable=1,
        total=1,
        errors=0,
        planned=1,
        sections=[Bars(labels=["agent", "oracle"], groups=compared_bars([speed]))],
    )
    verdict = Verdict(outcome=Outcome.PASS, headline="fine", reasons=[], rules=[], warnings=[], fail_on="regression")
    return Judgement(comparison=Comparison(baseline="b", runs=[run]), verdict=verdict)


def test_what_a_task_was_before_stands_behind_its_bar() -> None:
    speeds_ = [
        TaskSpeed(case="a", agent=4.0, oracle=8.0, before=2.0),
        TaskSpeed(case="b", agent=4.0, oracle=8.0, before=4.0001),
        TaskSpeed(case="c", agent=1.0, oracle=8.0, before=4.0, fell_back=True),
        TaskSpeed(case="d", oracle=8.0),
    ]
    assert [pair.mark for pair in compared_bars(speeds_)] == ["was 2×", "", "fell back, was 4×", ""]


def test_the_comment_has_bars_of_who_is_judged() -> None:
    text = comment(judgement("patch:mine"), context())
    assert "`sort`|<b> agent  │" in text
    assert "4× (was 2×)" in text


@pytest.mark.parametrize("target", ["oracle", "nop"])
def test_what_others_are_measured_by_has_no_bars_of_its_own(target: str) -> None:
    one = measured_run(target)
    assert SPEEDUP.sections(one, None) == []
    assert SPEEDUP.sections(one.model_copy(update={"target": "patch:mine"}), None) != []


def test_the_terminal_has_them_too() -> None:
    assert "4× (was 2×)" in judgement_text(judgement("patch:mine"), colour=False, width=100)


def measured_run(target: str) -> Run:
    made = trial_of("tiny", details(speeds(("m.S.a", 2.0, 4.0), ("m.S.b", 1.0, 1.0))))
    measured = SPEEDUP.measure([made])
    return Run(
        suite="fast",
        kind="speedup",
        target=target,
        trials=1,
        planned=1,
        subject=Subject(hash="sha256:x"),
        metrics=measured.metrics,
        findings=SPEEDUP.findings([made], measured),
        cases=[made],
    )


def test_a_report_has_the_table_and_the_benchmarks_of_a_single_task() -> None:
    report = Report(tool=Tool(version="1"), created_at="2026-11-21T08:00:00Z", runs=[measured_run("patch:mine")])
    text = report_markdown([report])
    assert "| mean speedup | 1.414214 |" in text
    assert "m.S.a agent  │" in text
    assert "m.S.b agent  │" in report_text([report], colour=False, width=100)
