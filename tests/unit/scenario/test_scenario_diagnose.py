"""What several agents show together."""

from __future__ import annotations

from evalward.records.report import Run
from evalward.records.result import CheckResult, Result
from evalward.suites.scenario.details import FailedCommand, GateResult, Interaction, ScenarioDetails, SubcommandStats
from evalward.suites.scenario.diagnose import diagnose
from support.results import run


def tried(case: str, gates: dict[str, bool], errors: int = 0, total: int = 4) -> Result:
    passed = all(gates.values())
    details = ScenarioDetails(
        interaction=Interaction(per_subcommand={"add": SubcommandStats(total=total, errors=errors)}),
        gates=[GateResult(gate_type=name, passed=held) for name, held in gates.items()],
    )
    status = "passed" if passed else "failed"
    data = {"id": case, "category": "c", "definition": "sha256:1", "status": status, "details": details}
    return Result.model_validate(data)


def of(target: str, *results: Result) -> Run:
    return run(list(results)).model_copy(update={"target": target, "kind": "scenario"})


def test_what_all_fail_is_told_with_the_gate_that_they_share() -> None:
    bad = tried("a", {"x": False, "y": True})
    worse = tried("a", {"x": False, "y": False})
    (found,) = diagnose([of("one", bad, tried("b", {"x": True})), of("two", worse, tried("b", {"x": False}))])
    assert (found.id, found.cases) == ("failed_by_all", ["a"])
    assert found.evidence == "gates that fail for all: x"
    assert found.message == "All 2 targets fail `a`: check the tool, its docs and the scenario"


def gated(check: str, *said: str, trial: int = 1) -> Result:
    """A trial that failed at this check, with what the tool said to its failed commands."""
    one = tried("a", {"file_exists": False})
    failed = [FailedCommand(subcommand="add", command="todo add", exit_code=1, said=words) for words in said]
    details = ScenarioDetails(interaction=Interaction(failed=failed), gates=[])
    checks = [CheckResult(check=check, passed=False, detail="")]
    return one.model_copy(update={"checks": checks, "details": details, "trial": trial})


def test_the_same_check__is_found_over_trials_and_told_by_what_it_looks_at() -> None:
    one = of("one", gated("file_exists: a"), gated("file_exists: b", trial=2))
    (found,) = diagnose([one, of("two", gated("file_exists: b"))])
    assert found.evidence == "gates that fail for all: file_exists: b"
    (found,) = diagnose([of("one", gated("file_exists: a")), of("two", gated("file_exists: b"))])
    assert found.evidence == "they fail different gates"


def test_what_the_tool_says_to_all_of_them__stands_beside() -> None:
    one = of("one", gated("x", "todo: bad date '1'"), gated("x", "todo: locked", trial=2))
    (found,) = diagnose([one, of("two", gated("x", "usage: todo", "todo: bad date '7'"))])
    assert found.evidence == "gates that fail for all: x; the tool says to all: todo: bad date '1' (2 times)"


def test_a_subcommand_that_is_hard_for_all_is_named() -> None:
    runs = [of("one", tried("a", {"x": True}, errors=2)), of("two", tried("a", {"x": True}, errors=3))]
    (found,) = diagnose(runs)
    assert (found.id, found.evidence) == ("hard_subcommand", "50.0 % to 75.0 % of its uses")


def test_trouble_of_one_is_its_own() -> None:
    runs = [of("one", tried("a", {"x": True}, errors=0)), of("two", tried("a", {"x": False}, errors=3))]
    assert diagnose(runs) == []
    assert diagnose(runs[1:]) == []


def test_a_scenario_that_only_one_is_meant_for_is_no_evidence() -> None:
    runs = [of("one", tried("a", {"x": False})), of("two", tried("b", {"x": True}))]
    assert diagnose(runs) == []
