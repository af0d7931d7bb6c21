"""The base beside the head: who is measured with what number, in which order, and where the results go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec import structs

from evalward.decide.confirm import Retrials
from evalward.engine.beside import NotMeasuredError, Pairs, beside_plan, equally_defined, with_beside
from evalward.engine.plan import Plan, PlannedRun, make_plan
from evalward.engine.scheduler import Executed, in_turns, jobs_of
from evalward.engine.selection import Selection
from evalward.engine.subject import make_subject
from evalward.records.report import Interruption, Report, Run
from evalward.records.result import Result
from support.cases import task, write_suite
from support.results import report, result, run

COMMIT = "a" * 40


def planned(folder: Path, *cases: str, **changes: str) -> Plan:
    """A plan of these cases; `changes` gives some another prompt, and so another definition."""
    folder.mkdir(exist_ok=True)
    tasks = [task(id=case, prompt=changes.get(case, f"Print {case}.")) for case in cases]
    return make_plan(write_suite(folder, tasks, targets=["oracle", "nop"], trials=2), Selection())


def measured(plan: Plan, **fresh: int) -> Report:
    """What the planned trials gave, and so many fresh ones of some cases."""

    def run_of(each: PlannedRun) -> Run:
        cases = [result(case.id, trial=number) for case in each.cases for number in (1, 2)]
        again = [result(case, trial=3 + number) for case, count in fresh.items() for number in range(count)]
        return run(cases, suite="shell", target=each.target.id, trials=2, confirmation=again)

    return report(*(run_of(each) for each in plan.runs))


def base_of(plan: Plan) -> Mapping[tuple[str, str], PlannedRun]:
    return {(each.suite.spec.name, each.target.id): each for each in plan.runs}


def pairs_of(head: Plan, base: Plan, now: Report, **trials: int) -> Pairs:
    known = base_of(base)
    return beside_plan(head, now, [Retrials("shell", "nop", trials, beside=True)], lambda *key: known[key])


def order(pairs: Pairs) -> list[tuple[bool, str, int]]:
    jobs = [jobs_of(each, make_subject({})) for each in pairs.plan.runs]
    return [(job.run.of_base, job.case.id, job.trial) for job in in_turns(jobs)]


def test_both_sides_take_turns__numbered_on_from_all_that_the_head_has_had(tmp_path: Path) -> None:
    head = planned(tmp_path, "a", "b", "c")
    pairs = pairs_of(head, planned(tmp_path / "base", "a", "b", "c"), measured(head, a=3), a=2, c=1)
    head_first = [("a", 6), ("a", 7), ("c", 3)]
    assert order(pairs) == [(apart, *key) for key in head_first for apart in (False, True)]
    assert (pairs.cases, pairs.trials, dict(pairs.notes)) == (2, 3, {})
    assert [each.target.id for each in pairs.plan.runs] == ["nop", "nop"]


def test_runs_without_a_base__are_in_the_plans_order(tmp_path: Path) -> None:
    plan = planned(tmp_path, "a", "b")
    jobs = [jobs_of(each, make_subject({})) for each in plan.runs]
    assert list(in_turns(jobs)) == [job for each in jobs for job in each]


def test_base_that_has_fewer_cases__turns_where_there_are_two(tmp_path: Path) -> None:
    head, base = planned(tmp_path, "a", "b").runs[0], planned(tmp_path / "base", "b", "z").runs[0]
    jobs = [jobs_of(each, make_subject({})) for each in (head, structs.replace(base, of_base=True))]
    found = [(job.run.of_base, job.case.id, job.trial) for job in in_turns(jobs)]
    assert found == [
        *[(False, "a", 1), (False, "a", 2)],
        *[(False, "b", 1), (True, "b", 1), (False, "b", 2), (True, "b", 2)],
        *[(True, "z", 1), (True, "z", 2)],
    ]


def test_case_that_the_base_asks_otherwise__is_left_out_on_both_sides(tmp_path: Path) -> None:
    head = planned(tmp_path, "a", "b")
    pairs = pairs_of(head, planned(tmp_path / "base", "a", "b", a="Print A."), measured(head), a=2, b=2)
    assert {case for _, case, _ in order(pairs)} == {"b"}
    assert pairs.notes == {("shell", "nop"): "1 case is different or missing in the base"}


def test_case_of_another_id__is_measured_as_what_it_was(tmp_path: Path) -> None:
    head = planned(tmp_path, "new", "b", new="Print a.")
    base = planned(tmp_path / "base", "a", "b")
    pairs = pairs_of(head, base, measured(head), new=1)
    assert order(pairs) == [(False, "new", 3), (True, "new", 3)]
    assert dict(pairs.notes) == {}
    known = equally_defined(head.runs[0].cases, base.runs[0].cases)
    assert {name: case.id for name, case in known.items()} == {"new": "a", "b": "b"}


def test_several_of_one_definition__are_none_of_them_paired(tmp_path: Path) -> None:
    head = planned(tmp_path, "new", "newer", "b", new="Print a.", newer="Print a.")
    base = planned(tmp_path / "base", "a", "b")
    assert list(equally_defined(head.runs[0].cases, base.runs[0].cases)) == ["b"]


def test_no_case_that_both_have__is_a_note(tmp_path: Path) -> None:
    head = planned(tmp_path, "a")
    pairs = pairs_of(head, planned(tmp_path / "base", "z"), measured(head), a=2)
    assert (pairs.plan.runs, pairs.trials) == ([], 0)
    assert pairs.notes == {("shell", "nop"): "each of the cases is different or missing in the base"}


def test_base_that_cant_be_measured__is_a_note_of_its_run_alone(tmp_path: Path) -> None:
    head = planned(tmp_path, "a")
    known = base_of(planned(tmp_path / "base", "a"))

    def find(suite: str, target: str) -> PlannedRun:
        if target == "nop":
            raise NotMeasuredError("it is too large")
        return known[suite, target]

    wanted = [Retrials("shell", target, {"a": 2}, beside=True) for target in ("oracle", "nop")]
    pairs = beside_plan(head, measured(head), wanted, find)
    assert [(each.target.id, each.of_base) for each in pairs.plan.runs] == [("oracle", False), ("oracle", True)]
    found = with_beside(measured(head), pairs, executed(pairs), COMMIT)
    sides = {each.target: each.beside for each in found.runs}
    assert sides["nop"] is not None
    assert (sides["nop"].note, sides["nop"].base, sides["nop"].head) == ("it is too large", [], [])
    assert sides["oracle"] is not None
    assert (sides["oracle"].note, len(sides["oracle"].base), len(sides["oracle"].head)) == (None, 2, 2)


def executed(pairs: Pairs, interrupted: str | None = None) -> Executed:
    """Results of every trial: the base's passed, the head's failed."""

    def results(each: PlannedRun) -> list[Result]:
        status = "passed" if each.of_base else "failed"
        return [result(case.id, status, trial=n) for case in each.cases for n in each.numbers_of(case)]

    runs = [run(results(each), suite="shell", target=each.target.id) for each in pairs.plan.runs]
    by: Interruption = "signal" if interrupted and "SIG" in interrupted else "budget"
    return Executed(runs, interrupted, by if interrupted else None)


def told(results: list[Result]) -> list[tuple[str, int, str]]:
    return [(each.id, each.trial, each.status.value) for each in results]


def test_results_of_both_sides__are_in_no_metric(tmp_path: Path) -> None:
    head = planned(tmp_path, "a", "b")
    now = measured(head)
    pairs = pairs_of(head, planned(tmp_path / "base", "a", "b"), now, a=2)
    found = with_beside(now, pairs, executed(pairs), COMMIT)
    beside = found.runs[1].beside
    assert beside is not None
    assert (beside.commit, beside.note) == (COMMIT, None)
    assert told(beside.base) == [("a", 3, "passed"), ("a", 4, "passed")]
    assert told(beside.head) == [("a", 3, "failed"), ("a", 4, "failed")]
    assert found.runs[0].beside is None
    assert found.runs[1].model_copy(update={"beside": None}) == now.runs[1]


@pytest.mark.parametrize(
    ("why", "interrupted"),
    [("interrupted by SIGINT", "interrupted by SIGINT"), ("budget: $1 of $1 is spent", None)],
)
def test_stage_that_ended_early__keeps_what_there_is(tmp_path: Path, why: str, interrupted: str | None) -> None:
    head = planned(tmp_path, "a")
    now = measured(head)
    pairs = pairs_of(head, planned(tmp_path / "base", "a"), now, a=2)
    found = with_beside(now, pairs, executed(pairs, why), COMMIT)
    beside = found.runs[1].beside
    assert beside is not None
    assert (beside.note, len(beside.base), found.interrupted) == (f"it ended early: {why}", 2, interrupted)
