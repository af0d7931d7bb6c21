from __future__ import annotations

from evalward.records.report import Finding, Run
from evalward.records.result import BashDetails, Result
from evalward.suites.bash.diagnose import diagnose
from support.results import result, run


def failed(case: str, stderr: str, **more: object) -> Result:
    one = result(case, "failed", **more)  # type: ignore[arg-type]
    assert isinstance(one.details, BashDetails)
    return one.model_copy(update={"details": one.details.model_copy(update={"failing_stderr": stderr})})


def found(*runs: Run) -> dict[str, Finding]:
    return {finding.id: finding for finding in diagnose(runs)}


def test_one_run__has_nothing_to_be_compared_with() -> None:
    assert diagnose([run([result("a", "failed")])]) == []
    assert diagnose([run([result("a")]), run([result("a", "error")], target="other")]) == []


def test_all_fail_with_similar_errors__is_the_tools_limitation() -> None:
    one = run([failed("a", "tar: invalid option -- 'C'\n"), result("b")], target="m/one")
    two = run([failed("a", "tar: invalid option -- 'h'\n"), result("b")], target="m/two")
    finding = found(one, two)["all_fail_alike"]
    assert (finding.level, finding.cases) == ("warning", ["a"])
    assert "tar: invalid option" in finding.evidence


def test_all_fail_differently__is_a_task_to_look_at() -> None:
    one = run([failed("a", "tar: invalid option -- 'C'\n")], target="m/one")
    two = run([failed("a", "no such file or directory: report.md, giving up after three attempts")], target="m/two")
    findings = found(one, two)
    assert "all_fail_alike" not in findings
    assert findings["all_fail"].cases == ["a"]


def test_one_passes__is_the_models_difference() -> None:
    one = run([result("a"), result("b")], target="m/one")
    others = [run([result("a", "failed"), result("b")], target=f"m/{n}") for n in range(2)]
    finding = found(one, *others)["one_passes"]
    assert finding.message == "Only m/one passes 1 task: a difference of the models"
    assert finding.cases == ["a"]


def test_equal_pass_rate__with_other_calls_and_tokens() -> None:
    thrifty = run([result("a", calls=(4, 4), tokens=(100, 10))], target="m/one")
    wasteful = run([result("a", calls=(5, 5), tokens=(150, 15))], target="m/two")
    findings = found(thrifty, wasteful)
    assert "m/two passes as much as m/one with 1.2 times the tool calls" in findings["reasoning_gap"].message
    assert "1.5 times the tokens" in findings["cost_gap"].message
    near = run([result("a", calls=(4, 4), tokens=(110, 11))], target="m/two")
    assert not found(thrifty, near)


def test_other_pass_rate__is_no_efficiency_gap() -> None:
    good = run([result("a"), result("b")], target="m/one")
    bad = run([result("a", calls=(9, 9)), result("b", "failed", calls=(9, 9))], target="m/two")
    assert "reasoning_gap" not in found(good, bad)


def test_unknown_tokens__make_no_gap() -> None:
    known, unknown = run([result("a")], target="m/one"), run([result("a", tokens=None)], target="m/two")
    assert "cost_gap" not in found(known, unknown)


def test_category_that_fails_for_all() -> None:
    def weak(target: str) -> Run:
        return run([result("a", "failed", category="tar", score=0.4), result("b", category="jq")], target=target)

    finding = found(weak("m/one"), weak("m/two"))["category_fails_for_all"]
    assert "Category tar is weak for all 2 targets" in finding.message
    strong = run([result("a", "failed", category="tar", score=0.5), result("b", category="jq")], target="m/two")
    assert "category_fails_for_all" not in found(weak("m/one"), strong)
