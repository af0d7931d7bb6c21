"""Speedups on the pages that people read: bars in comment, terminal and report, the summary table."""

from __future__ import annotations

from evalward.records.comparison import Comparison, RunComparison
from evalward.records.report import Report, Run, Subject, Tool
from evalward.records.timing import TaskSpeed
from evalward.records.verdict import Judgement, Outcome, Verdict
from evalward.render.markdown import comment, report_markdown
from evalward.render.speedup import compared_bars
from evalward.render.terminal import judgement_text, report_text
from evalward.suites.speedup.kind import SPEEDUP
from support.judgements import context
from support.speedups import details, speeds, trial_of


def judgement(target: str) -> Judgement:
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
        speeds=[TaskSpeed(case="`sort`|<b>", agent=4.0, oracle=8.0, before=2.0)],
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
    assert "█" not in comment(judgement("oracle"), context())


def test_the_terminal_has_them_too() -> None:
    assert "4× (was 2×)" in judgement_text(judgement("patch:mine"), colour=False, width=100)


def test_a_report_has_the_table_and_the_benchmarks_of_a_single_task() -> None:
    made = trial_of("tiny", details(speeds(("m.S.a", 2.0, 4.0), ("m.S.b", 1.0, 1.0))))
    measured = SPEEDUP.measure([made])
    run = Run(
        suite="fast",
        kind="speedup",
        target="patch:mine",
        trials=1,
        planned=1,
        subject=Subject(hash="sha256:x"),
        metrics=measured.metrics,
        findings=SPEEDUP.findings([made], measured),
        cases=[made],
    )
    report = Report(tool=Tool(version="1"), created_at="2026-11-21T08:00:00Z", runs=[run])
    text = report_markdown([report])
    assert "| mean speedup | 1.414214 |" in text
    assert "m.S.a agent  │" in text
    assert "m.S.b agent  │" in report_text([report], colour=False, width=100)
