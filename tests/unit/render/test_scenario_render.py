"""Scenarios for people: a row each, agents side by side, what the runs show; and nothing hostile survives."""

from __future__ import annotations

from functools import cache

import pytest

from evalward.commands.pipeline import Criteria
from evalward.records.comparison import Tally
from evalward.records.policy import Policy
from evalward.records.report import Finding, Report
from evalward.records.result import NOT_RUN, Status
from evalward.records.verdict import Judgement, Outcome, Verdict
from evalward.render.junit import junit
from evalward.render.markdown import COMMENT_LIMIT, comment, fit
from evalward.render.sections import matrices, tables
from evalward.render.terminal import judgement_text
from evalward.render.view import CaseRow, CaseTable
from evalward.suites.scenario.findings import interpret
from evalward.suites.scenario.lines import ScenarioLine, scenario_lines
from evalward.suites.scenario.metrics import measure
from evalward.suites.scenario.sections import scenario_table
from support import judgements
from support.hostile import EVERYTHING, SNIPPETS, fill
from support.markdown import Rendered, rendered
from support.scenario_reports import broke, interaction, scenario_report, scenario_run, trial
from support.shown import report_markdown, report_text

GATE_FAILED = trial("move", Status.FAILED, failing=["file_exists"], reason="gates_failed")
TIMED_OUT = trial("mend", Status.FAILED, failing=["file_exists", "command_succeeds"], completed=False)


def judged(report: Report) -> Judgement:
    """What the report says alone, without a baseline."""
    return Judgement(
        comparison=Criteria(None, Policy()).compared(report).comparison,
        verdict=Verdict(outcome=Outcome.FAIL, headline="it got worse"),
    )


def shown(lines: list[ScenarioLine], limit: int = 10) -> CaseTable:
    (table,) = tables([scenario_table(lines)], limit)
    return table


def row(line: ScenarioLine) -> CaseRow:
    return shown([line]).rows.shown[0]


def line_of(*results: object) -> ScenarioLine:
    (line,) = scenario_lines(results)  # type: ignore[arg-type]  # results, whichever
    return line


# --- lines ----------------------------------------------------------------------------------------------------------


def test_a_line_sums_what_the_trials_gave() -> None:
    line = line_of(trial("a", judge=0.5), trial("a", Status.FAILED, failing=["file_exists"], number=2, judge=0.75))

    assert (line.trials, line.valid, line.passed) == (2, 2, 1)
    assert (line.gates_passed, line.gates_total) == (5, 6)
    assert (line.commands, line.failed_commands, line.identities, line.first_tries) == (10, 2, 6, 4)
    assert (line.completed, line.judged, line.judge_score) == (2, 2, 0.625)


def test_a_line__what_nobody_told_is_unknown() -> None:
    line = line_of(trial("a", used=interaction(errors=0, first=None, unknown=5), completed=None))

    assert (line.failed_commands, line.first_tries, line.completed, line.judge_score) == (None, None, None, None)
    assert row(line).cells == ["3/3", "5 (exit codes unknown)", "n/a", "n/a"]


def test_a_line__says_of_how_many_commands_the_end_is_unknown() -> None:
    line = line_of(trial("a", used=interaction(errors=1, unknown=2)))

    assert row(line).cells[1] == "5 (1, 2 unknown)"


def test_a_line__trials_that_broke_count_as_trials_alone() -> None:
    line = line_of(trial("a"), broke("a"))

    assert (line.trials, line.valid, line.passed) == (2, 1, 1)
    assert scenario_lines([broke("late", reason=NOT_RUN)]) == []


# --- rows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "outcome", "cells"),
    [
        (trial("a"), "passed", ["3/3", "5 (1)", "2/3", "yes"]),
        (TIMED_OUT, "failed", ["1/3", "5 (1)", "2/3", "no"]),
        (trial("a", used=interaction(0, 0, 0, 0)), "passed", ["3/3", "none", "n/a", "yes"]),
        (trial("a", approximate=True), "passed", ["3/3", "≈ 5 (1)", "2/3", "yes"]),
        (broke("a"), "error", ["–", "–", "–", "–"]),
        (broke("a", Status.SKIPPED, "no_script"), "skipped", ["–", "–", "–", "–"]),
    ],
)
def test_a_row_tells_outcome_gates_commands_first_try_and_completion(
    result: object, outcome: str, cells: list[str]
) -> None:
    found = row(line_of(result))

    assert (found.outcome, found.badge.word) == (outcome, outcome)
    assert found.cells == cells


def test_the_table__has_a_judge_and_a_composite_only_where_there_are_any() -> None:
    lines = scenario_lines([trial("a", judge=0.83, composite=0.9), trial("b")])
    table = shown(lines)

    assert table.columns == ["gates", "commands (failed)", "first try", "completed", "judge", "composite"]
    assert [row.cells[-2:] for row in table.rows.shown] == [["0.83", "0.90"], ["–", "–"]]
    assert "judge" not in shown(scenario_lines([trial("b")])).columns


def test_the_table__shows_what_failed_first_and_says_how_many_are_left_out() -> None:
    table = shown(scenario_lines([trial("fine"), GATE_FAILED, TIMED_OUT]), 2)

    assert [row.id for row in table.rows.shown] == ["move", "mend"]
    assert table.rows.more == 1


def test_the_matrix__is_for_several_agents_of_one_suite() -> None:
    tidy, hasty = scenario_lines([trial("stock"), trial("move")]), scenario_lines([GATE_FAILED, TIMED_OUT])
    one, other = [scenario_table(tidy)], [scenario_table(hasty)]
    (matrix,) = matrices([("shelf", "tidy", one), ("shelf", "hasty", other)], 10)

    table = {name: [text for _, text in cells] for name, cells in matrix.rows.shown}
    assert table == {
        "stock": ["passed", "–"],
        "move": ["passed", "failed, gates 2/3"],
        "mend": ["–", "failed, gates 1/3, not completed"],
    }
    assert matrices([("shelf", "tidy", one), ("other", "hasty", other)], 10) == []


# --- pages ----------------------------------------------------------------------------------------------------------


def report_with_findings() -> Report:
    cases = [trial("stock"), GATE_FAILED, TIMED_OUT, trial("guess", used=interaction(8, 2, 5, 0))]
    hasty = scenario_run("scripted:hasty", *cases, findings=interpret(cases, measure(cases)))
    return scenario_report(scenario_run("scripted:tidy", trial("stock"), trial("move")), hasty)


def test_the_comment__has_a_row_per_scenario_a_matrix_and_what_the_runs_show() -> None:
    text = comment(judged(report_with_findings()), judgements.context()).replace("&nbsp;", " ")
    lines = text.split("\n")

    assert "#### Scenarios of `shelf`" in lines
    assert "| scenario | `scripted:tidy` | `scripted:hasty` |" in lines
    assert "| `move` | ✅ passed | ❌ failed, gates 2/3 |" in lines
    assert "| scenario | outcome | gates | commands (failed) | first try | completed |" in lines
    assert "| `move` | ❌ failed | 2/3 | 5 (1) | 2/3 | yes |" in lines
    assert "Isolation: full isolation (own user), network off." in text
    shown = text.partition("What this run shows: ")[2]
    assert shown.index("⚠️ Many errors and little need of help") < shown.index("</details>")


def test_the_comment__tells_what_a_broken_scenario_was_before() -> None:
    comparison = judged(scenario_report(scenario_run("scripted:hasty", GATE_FAILED))).comparison
    (run,) = comparison.runs
    change = run.cases[0].model_copy(update={"change": "broken", "before": Tally(passed=1, trials=1)})
    broken = comparison.model_copy(update={"runs": [run.model_copy(update={"cases": [change]})]})
    judgement = Judgement(comparison=broken, verdict=Verdict(outcome=Outcome.FAIL, headline="it got worse"))
    text = comment(judgement, judgements.context()).replace("&nbsp;", " ")

    assert "| `move` | ❌ failed; passed in the baseline | 2/3 |" in text
    assert "  - `file_exists`: `file_exists` said" in text or "  - `file_exists`: file_exists said" in text
    assert "file_exists: file_exists said" in junit(broken)


def test_a_shorter_comment__has_no_findings_and_the_shortest_no_rows() -> None:
    judgement = judged(report_with_findings())

    assert "What this run shows" not in comment(judgement, judgements.context(), "failures")
    assert "first try" not in comment(judgement, judgements.context(), "headline")


def test_reports_and_the_terminal__have_the_same_rows() -> None:
    report = report_with_findings()
    markdown = report_markdown([report]).replace("&nbsp;", " ")
    terminal = report_text([report], colour=False, width=120)

    assert "| `mend` | ❌ failed | 1/3 | 5 (1) | 2/3 | no |" in markdown
    assert "#### Scenarios of `shelf`" in markdown
    assert any(line.split() == ["mend", "✗", "failed", "1/3", "5", "(1)", "2/3", "no"] for line in terminal.split("\n"))
    assert "Scenarios of shelf" in terminal
    assert "Scenarios of shelf" in judgement_text(judged(report), colour=False, width=120)


def test_the_comment__fits_whatever_the_number_of_agents_and_scenarios() -> None:
    cases = [trial(f"scenario-{number}-{'x' * 200}", Status.FAILED) for number in range(120)]
    found = interpret(cases, measure(cases))
    report = scenario_report(*(scenario_run(f"agent:{number}", *cases, findings=found) for number in range(30)))
    text = fit(judged(report), judgements.context())

    assert len(text) <= COMMENT_LIMIT
    assert "it got worse" in text


def test_findings_of_any_kind_are_in_the_comment() -> None:
    finding = Finding(id="x", level="info", message="Tools rub", evidence="3 of 9", threshold="> 20 %", advice="Oil")
    run = scenario_run("a", trial("stock"), findings=[finding]).model_copy(update={"kind": "bash"})
    text = comment(judged(scenario_report(run)), judgements.context())

    assert "- – Tools rub (3 of 9, threshold &gt; 20 %)<br>→ Oil" in text


def named(report: Report, text: str) -> Report:
    """The report with this text in every name and message; names that differed still do."""
    runs = [
        fill(run, text).model_copy(
            update={
                "kind": run.kind,
                "target": f"{text} {run.target}",
                "cases": [
                    fill(case, text).model_copy(update={"id": f"{text} {case.id}", "details": case.details})
                    for case in run.cases
                ],
            }
        )
        for run in report.runs
    ]
    return report.model_copy(update={"runs": runs})


@pytest.mark.parametrize("text", [*(f"x{snippet} y" for snippet in SNIPPETS), EVERYTHING])
def test_hostile_names_and_words__change_no_element(text: str) -> None:
    for elements, other in zip(calm_elements(), documents(text), strict=True):
        assert "Scenarios of" in other.text
        assert other.elements == list(elements)
        assert other.links() == []


def documents(text: str) -> list[Rendered]:
    """The comment and the report that name everything so."""
    report = named(report_with_findings(), text)
    return [rendered(comment(judged(report), judgements.context())), rendered(report_markdown([report]))]


@cache
def calm_elements() -> tuple[tuple[str, ...], ...]:
    """What both are made of where nobody means harm."""
    return tuple(tuple(document.elements) for document in documents("calm"))


def test_hostile_names_and_words__reach_no_terminal() -> None:
    hostile = named(report_with_findings(), EVERYTHING)

    for text in (
        report_text([hostile], colour=False, width=100),
        judgement_text(judged(hostile), colour=False, width=100),
    ):
        assert "Scenarios of" in text
        assert "\x1b" not in text
