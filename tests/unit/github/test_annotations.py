"""Where broken cases are annotated, and that nothing they say can be a command."""

from __future__ import annotations

import pytest

from evalward.github.annotations import Roots, judgement_annotations
from evalward.github.runner_files import annotation_commands
from evalward.records.comparison import CaseChange, CaseChangeKind, RunComparison, Tally
from evalward.records.result import CheckResult
from evalward.records.verdict import Judgement, Outcome, Verdict
from support.comparisons import comparison, run

ROOTS = Roots("/github/workspace", "packages/a/ci")
FAIL = Verdict(outcome=Outcome.FAIL, headline="pass_rate fell")
PASS = Verdict(outcome=Outcome.PASS, headline="fine")


def broken(case_id: str = "one", place: str | None = "evals/a.jsonl:7") -> CaseChange:
    return CaseChange(
        id=case_id,
        category="c",
        change="broken",
        before=Tally(passed=1, trials=1),
        now=Tally(passed=0, trials=1),
        checks=[CheckResult(check="exit_code:0", passed=False, detail="got 2")],
        place=place,
    )


def judged(*runs: RunComparison, verdict: Verdict = FAIL) -> Judgement:
    return Judgement(comparison=comparison(*runs), verdict=verdict)


def test_headline_first__then_the_case_at_its_line() -> None:
    first, case = judgement_annotations(judged(run(cases=[broken()])), ROOTS)
    assert (first.level, first.message, first.title) == ("error", "pass_rate fell", "Evalward: fail")
    assert (case.file, case.line, case.title) == ("packages/a/ci/evals/a.jsonl", 7, "Evalward: one broke")
    assert case.message.endswith("passed → failed; exit_code:0: got 2")


def test_a_case__is_annotated_once_for_all_runs() -> None:
    found = judgement_annotations(judged(run(cases=[broken()]), run(target="nop", cases=[broken()])), ROOTS)
    assert len(found) == 2
    assert len(found[1].message.splitlines()) == 2


def test_a_pass_that_broke_a_case__warns() -> None:
    assert [item.level for item in judgement_annotations(judged(run(cases=[broken()]), verdict=PASS), ROOTS)] == [
        "warning"
    ]


def test_what_does_not_fail_the_step__is_no_error() -> None:
    lenient = FAIL.model_copy(update={"fail_on": "never"})
    assert {a.level for a in judgement_annotations(judged(run(cases=[broken()]), verdict=lenient), ROOTS)} == {
        "warning"
    }


def test_another_runs_report__has_no_places_here() -> None:
    assert len(judgement_annotations(judged(run(cases=[broken()])), None)) == 1


@pytest.mark.parametrize(
    ("place", "file", "line"),
    [
        ("../../b/x.jsonl:3", "packages/b/x.jsonl", 3),
        ("/github/workspace/x.jsonl:3", "x.jsonl", 3),
        ("../../../../etc/passwd:1", None, None),
        ("/etc/passwd:1", None, None),
        ("x.jsonl", None, None),
        ("x.jsonl:-1", None, None),
        ("x.jsonl:٣", None, None),
        (None, None, None),
    ],
)
def test_places__stay_in_the_workspace(place: str | None, file: str | None, line: int | None) -> None:
    [_, case] = judgement_annotations(judged(run(cases=[broken(place=place)])), ROOTS)
    assert (case.file, case.line) == (file, line)


def test_at_most_ten_of_a_type__the_headline_among_them() -> None:
    cases = [broken(f"case{number}") for number in range(30)]
    commands = annotation_commands(judgement_annotations(judged(run(cases=cases)), ROOTS))
    assert len(commands) == 10
    assert commands[0].endswith("::pass_rate fell")
    assert "more are in the job summary" in commands[-1]


def test_hostile_text__is_one_command() -> None:
    case = broken("x\n::error::y,file=z", "a,b:c\n.jsonl:2")
    [_, command] = annotation_commands(judgement_annotations(judged(run(cases=[case])), ROOTS))
    assert "\n" not in command
    assert command.startswith("::error file=packages/a/ci/a%2Cb%3Ac%0A.jsonl,line=2,title=")


@pytest.mark.parametrize("standing", ["not_repeated", "unreliable"])
def test_a_case_that_is_not_held_against_the_change__is_not_annotated(standing: str) -> None:
    excused = broken("two").model_copy(update={"standing": standing})
    found = judgement_annotations(judged(run(cases=[broken("one"), excused])), ROOTS)
    assert [item.title for item in found[1:]] == ["Evalward: one broke"]


def failing(change: CaseChangeKind, case_id: str = "one") -> CaseChange:
    return broken(case_id).model_copy(
        update={"change": change, "before": None if change == "added" else Tally(passed=0, trials=1)}
    )


def test_a_new_case_that_fails__is_annotated_as_new() -> None:
    found = judgement_annotations(judged(run(cases=[failing("added")])), ROOTS)
    assert [(each.title, each.line) for each in found[1:]] == [("Evalward: one is new and fails", 7)]
    assert found[1].message.endswith("new → failed; exit_code:0: got 2")


def test_what_failed_before__and_a_first_run__annotate_no_case() -> None:
    assert len(judgement_annotations(judged(run(cases=[failing("same")])), ROOTS)) == 1
    first = Judgement(comparison=comparison(run(cases=[failing("added")]), baseline=None), verdict=FAIL)
    assert len(judgement_annotations(first, ROOTS)) == 1
