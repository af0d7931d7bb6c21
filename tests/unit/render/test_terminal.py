"""The terminal says the same, aligned, within its width, and without anybody else's control characters."""

from __future__ import annotations

import re

import pytest

from evalward.records.metric import CategorySummary
from evalward.records.result import OtherDetails, Status
from evalward.records.trace import Usage
from evalward.render.console import Screen
from evalward.render.context import Closing
from evalward.render.terminal import judgement_text
from support import comparisons, example_reports, judgements
from support.hostile import EVERYTHING, fill
from support.shown import report_text

EXAMPLES = {
    "failed": judgements.failed,
    "passed": judgements.passed,
    "first_run": judgements.first_run,
    "inconclusive": judgements.inconclusive,
    "unjudged": judgements.unjudged,
    "several": judgements.several,
    "upgraded": judgements.upgraded,
}
COLOUR = re.compile(r"\x1b\[(?:\d+)m")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("failed", "✗ Evalward: failed — tool_call_success_rate fell 8.3 pp"),
        ("passed", "✓ Evalward: passed — nothing got worse"),
        ("first_run", "! Evalward: passed, but nothing was compared — there is no baseline yet"),
        ("inconclusive", "? Evalward: inconclusive — pass_rate fell"),
        ("unjudged", "! Evalward: could not be judged — bash-tools × openai/gpt-5.5: 12 of"),
    ],
)
def test_first_line__is_the_verdict(name: str, start: str) -> None:
    assert judgement_text(EXAMPLES[name](), colour=False, width=100).startswith(start)


def test_table__is_aligned() -> None:
    lines = judgement_text(judgements.failed(), colour=False, width=140).split("\n")
    start = next(index for index, line in enumerate(lines) if line.startswith("metric"))

    header, rows = lines[start], lines[start + 2 : start + 5]
    now = header.index("now") + len("now")
    assert [row[now - 14 : now].strip() for row in rows] == ["72.9 % (70/96)", "86.5 % (32/37)", ".8 % (169/184)"]
    assert [row[now : now + 2] for row in rows] == ["  "] * 3
    assert [row[header.index("threshold") :].split(",")[0] for row in rows[:2]] == ["≥ 70 %", "≥ 80 %"]
    assert [row[header.index("status") :] for row in rows] == ["✗ fail", "? inconclusive", "✓ ok"]


@pytest.mark.parametrize("cell", ["1,000", "1,234,567", "1,000.5", "True", "1e5", "0x10", "nan"])
def test_table__takes_no_text_for_a_number(cell: str) -> None:
    screen = Screen(colour=False, width=40)
    screen.table(["metric", "value"], [["total_tasks", cell]], "lr")
    assert screen.lines[-1].split() == ["total_tasks", cell]


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("width", [80, 100, 160])
def test_lines__keep_within_the_width(name: str, width: int) -> None:
    text = judgement_text(EXAMPLES[name](), colour=False, width=width)

    assert [line for line in text.split("\n") if len(line) > width] == []


def test_broken_cases__with_check_and_command() -> None:
    text = judgement_text(judgements.failed(), colour=False, width=100)

    assert (
        "Broken: 3\n"
        "  ✗ json_nested_keys (json_processing): passed → failed\n"
        "      exit_code:0\n"
        "        expected 0, got 5\n"
        "      stdout_contains:hobbies\n"
        "        stdout is empty\n"
        "      $ cat user.json | jq -r '.user.hobbies[] | @csv' | sort -u\n"
        "      jq: error (at user.json:4): Cannot iterate over null (null)\n"
    ) in text


def test_several_runs__each_has_a_heading() -> None:
    text = judgement_text(judgements.several(), colour=False, width=100)

    assert "\n✗ bash-tools × replay:haiku\n" in text
    assert "\n? scenarios × anthropic/claude-haiku-4-5: not measured\n" in text
    assert "Not measured: the key ANTHROPIC_API_KEY is not available" in text
    assert "\n✗ commands × nop: missing\n" in text
    assert "  ! Partial run" in text


def test_colour__only_on_request() -> None:
    plain = judgement_text(judgements.failed(), colour=False, width=100)
    coloured = judgement_text(judgements.failed(), colour=True, width=100)

    assert "\x1b" not in plain
    assert "\x1b[31m✗ fail\x1b[0m" in coloured
    assert "\x1b[33m? inconclusive\x1b[0m" in coloured
    assert "\x1b[32m✓ ok\x1b[0m" in coloured
    assert COLOUR.sub("", coloured) == plain


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_hostile_text__controls_nothing(name: str, colour: bool) -> None:
    text = judgement_text(fill(EXAMPLES[name](), EVERYTHING), colour=colour, width=100)

    assert "octocat" in text
    _assert_harmless(text)


@pytest.mark.parametrize("count", [1, 3])
def test_hostile_report__controls_nothing(count: int) -> None:
    text = report_text([fill(example_reports.report(), EVERYTHING)] * count, colour=True, width=100, verbose=True)

    assert "octocat" in text
    _assert_harmless(text)


def _assert_harmless(text: str) -> None:
    rest = COLOUR.sub("", text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", rest)
    assert not re.search(r"^\s*::", rest, re.MULTILINE)
    assert "##[" not in rest


def test_one_report__in_full() -> None:
    text = report_text([example_reports.report()], colour=False, width=100)

    assert text.startswith("Evalward report: 2026-11-21 08:00 UTC · evalward 0.1.0 · commit 9e8d7c6\n")
    assert "bash-tools × replay:haiku: 1 passed, 1 failed, 1 error, 1 skipped" in text
    assert "\ntool_call_success_rate                72.9 % (70/96)\n" in text
    assert "\njson_processing       62.5 % (5 of 8 passed)\n" in text
    assert (
        "  ✗ failed 1/2 json_nested_keys (json_processing) – checks failed\n"
        "      ✗ stdout_contains:42: stdout is '41\\n'\n"
        "        $ echo 41 | tee out.txt\n"
        "  ! error 0/2 awk_join (json_processing) – rate limit: 429 after 5 tries\n"
    ) in text
    assert "  ! json_processing is the weakest category (62.5 % (5/8), threshold 80 %)\n    → Read the traces" in text
    assert "exit_code:0" not in text


def test_one_report__verbose_shows_every_check_and_what_each_task_took() -> None:
    text = report_text([example_reports.report()], colour=False, width=100, verbose=True)
    assert "✓ exit_code:0" in text
    assert "      4 turns · calls 2 ok, 1 error · tokens 1,200 in, 310 out · 8.1 s\n" in text
    assert "4 turns" not in report_text([example_reports.report()], colour=False, width=100)


def test_one_report__what_nobody_told_of_a_task_is_left_out() -> None:
    report = example_reports.report()
    untold = {"usage": Usage(output_tokens=5), "duration_ms": 0, "details": OtherDetails()}
    run = report.runs[0].model_copy(update={"cases": [case.model_copy(update=untold) for case in report.runs[0].cases]})
    text = report_text([report.model_copy(update={"runs": [run]})], colour=False, width=100, verbose=True)
    assert "      tokens n/a in, 5 out\n" in text


def test_one_report__counts_what_another_tools_file_does_not_list() -> None:
    report = example_reports.report()
    (run,) = report.runs
    failed = [case for case in run.cases if case.status is Status.FAILED]
    counted = CategorySummary(tasks=48, passed=45, score=45, max_score=48, rate=45 / 48)
    told = run.model_copy(update={"planned": 48, "cases": failed, "categories": {"all": counted}})
    text = report_text([report.model_copy(update={"runs": [told]})], colour=False, width=100)
    assert "bash-tools × replay:haiku: 45 passed, 3 failed (2 not listed)" in text
    assert "Trials: 45 of 48 passed" in text
    unnamed = told.model_copy(update={"cases": []})
    text = report_text([report.model_copy(update={"runs": [unnamed]})], colour=False, width=100)
    assert "bash-tools × replay:haiku: 45 passed, 3 failed (not listed)" in text


def test_one_report__knows_nothing_of_what_is_neither_listed_nor_counted() -> None:
    report = example_reports.report()
    (run,) = report.runs
    failed = [case for case in run.cases if case.status is Status.FAILED]
    told = run.model_copy(update={"planned": 48, "cases": failed, "categories": {}})
    text = report_text([report.model_copy(update={"runs": [told]})], colour=False, width=100)
    assert "bash-tools × replay:haiku: 1 failed, 47 not listed" in text
    assert "Trials: 0 of 1 passed" in text


def test_one_report__a_category_without_a_case_has_no_rate() -> None:
    report = example_reports.report()
    empty = CategorySummary(tasks=0, passed=0, score=0, max_score=0, rate=None)
    run = report.runs[0].model_copy(update={"categories": {"posix": empty}})
    text = report_text([report.model_copy(update={"runs": [run]})], colour=False, width=100)
    assert re.search(r"\nposix +no cases\n", text)


def test_one_report__of_several_trials_per_case_counts_trials() -> None:
    report = example_reports.report()
    run = report.runs[0].model_copy(update={"trials": 2})
    text = report_text([report.model_copy(update={"runs": [run]})], colour=False, width=100)
    passed = sum(case.status is Status.PASSED for case in run.cases)
    assert f"Trials: {passed} of {len(run.cases)} passed" in text
    assert f"Trials: {passed} of {len(run.cases)} passed" in report_text([report], colour=False, width=100)


def test_not_measured_run__says_so() -> None:
    report = example_reports.report()
    run = report.runs[0].model_copy(update={"not_measured": "no key", "metrics": {}, "categories": {}, "cases": []})

    text = report_text([report.model_copy(update={"runs": [run]})], colour=False, width=100)

    assert "? Not measured: no key" in text


def test_several_reports__stand_side_by_side() -> None:
    text = report_text([example_reports.report(), example_reports.report("oracle")], colour=False, width=100)

    assert "  replay:haiku = bash-tools × replay:haiku · 2026-11-21 08:00 UTC" in text
    assert "  oracle = bash-tools × oracle ·" in text
    assert re.search(r"^pass_rate +86\.5 % \(32/37\) +86\.5 % \(32/37\)$", text, re.MULTILINE)
    assert re.search(r"^json_processing +62\.5 % \(5 of 8 passed\) +62\.5 %", text, re.MULTILINE)


def test_several_reports_of_one_target__are_told_apart_by_their_days() -> None:
    days = ["2026-02-07T10:00:00Z", "2026-02-08T10:00:00Z", "2026-02-09T10:00:00Z"]
    reports = [example_reports.report().model_copy(update={"created_at": day}) for day in days]
    text = report_text(reports, colour=False, width=100)
    assert re.search(r"^metric +2026-02-07 +2026-02-08 +2026-02-09$", text, re.MULTILINE)

    alike = report_text([reports[0], reports[0]], colour=False, width=100)
    assert re.search(r"^metric +A +B$", alike, re.MULTILINE)


def test_many_reports__are_split_into_tables_that_fit() -> None:
    text = report_text([example_reports.report(f"target-{number}") for number in range(30)], colour=False, width=80)

    assert " target-29" in text
    assert text.count("\nmetric") > 1
    assert max(map(len, text.split("\n"))) <= 80


def test_reports_that_measured_differently__leave_gaps() -> None:
    other = example_reports.report("oracle")
    run = other.runs[0].model_copy(update={"metrics": {"csr": comparisons.rate(1, 2)}, "categories": {}})

    text = report_text([example_reports.report(), other.model_copy(update={"runs": [run]})], colour=False, width=100)

    assert re.search(r"^csr +– +50\.0 % \(1/2\)$", text, re.MULTILINE)


def test_table__without_rows() -> None:
    screen = Screen(colour=False, width=80)
    screen.table(["metric", "value"], [], "lr")

    assert screen.text().startswith("metric")


def test_verdict__stands_first_and_last() -> None:
    closing = Closing("evalward check --failed", "Written to out: report.html")
    text = judgement_text(judgements.failed(), colour=False, width=300, ending=closing)
    first, *_, last, files = text.splitlines()
    assert first == last
    assert first.startswith("✗ Evalward: failed — ")
    assert files == "  Written to out: report.html"
    assert "How to run again what failed\n  evalward check --failed\n" in text


def test_log_of_a_job__folds_the_tables_and_neither_verdict_nor_broken_cases() -> None:
    text = judgement_text(judgements.failed(), colour=False, width=100, grouped=True)
    open_parts = re.sub(r"(?ms)^::group::.*?^::endgroup::$", "", text)
    assert "Broken: " in open_parts
    assert open_parts.count("Evalward: failed") == 2
    assert "metric " in text
    assert "metric " not in open_parts
