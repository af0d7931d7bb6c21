from __future__ import annotations

from typing import Any

import pytest

from evalward.records.report import Finding, Run
from evalward.records.result import CheckResult, Result
from evalward.suites.bash.details import BashDetails, FailedCall
from evalward.suites.bash.diagnose import diagnose
from support.results import result, run


def failed(case: str, stderr: str, **more: object) -> Result:
    one = result(case, "failed", **more)  # type: ignore[arg-type]
    assert isinstance(one.details, BashDetails)
    return one.model_copy(update={"details": one.details.model_copy(update={"failing_stderr": stderr})})


def erring(case: str, *calls: tuple[str, str], status: str = "failed", check: str = "", trial: int = 1) -> Result:
    """A trial whose failing calls are these (script, standard error); `check` is the check that failed."""
    checks = [CheckResult(check=check, passed=False, detail="")] if check else []
    failures = [FailedCall(command=command, message=said, exit_code=1) for command, said in calls]
    return with_failures(case, *failures, status=status, checks=checks, trial=trial)


def with_failures(case: str, *failures: FailedCall, status: str = "failed", **more: Any) -> Result:
    one = result(case, status, **more)
    assert isinstance(one.details, BashDetails)
    return one.model_copy(update={"details": one.details.model_copy(update={"failures": list(failures)})})


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


AWK = ("awk '{ a[1, 2] = 3 }' merged.ini", "execution error: awk: unexpected token")


def test_all_fail__with_one_error_among_many__in_any_call_and_any_trial() -> None:
    """What the last failing call says is an accident: the common fault may stand in an earlier one, or in trial 2."""
    one = run([erring("a", AWK, ("bash merge.sh", "bash: merge.sh: expected 'done' at line 4"))], target="m/one")
    two = run([erring("a", ("ls x", "ls: x: permission denied")), erring("a", AWK, trial=2)], target="m/two")
    finding = found(one, two)["all_fail_alike"]
    assert "awk: unexpected token" in finding.evidence
    assert "merge.sh" not in finding.evidence
    assert "all_fail" not in found(one, two)


def test_all_fail__at_the_same_check__is_not_each_in_its_own_way() -> None:
    one = run([erring("a", ("ls x", "ls: x: denied"), check="file_exists:/out")], target="m/one")
    two = run([erring("a", check="file_exists:/out")], target="m/two")
    finding = found(one, two)["all_fail"]
    assert finding.message == "All 2 targets fail `a` at the same check"
    assert "file_exists:/out" in finding.evidence
    other = run([erring("a", check="exit_code:0")], target="m/two")
    finding = found(one, other)["all_fail"]
    assert finding.message == "All 2 targets fail `a`; no check fails for all"
    assert finding.evidence == "`m/one`: file_exists:/out; `m/two`: exit_code:0"


def test_all_fail__names_every_check_that_failed() -> None:
    """One target may share a check with each of the others, and all of them none."""
    both = [
        CheckResult(check=name, passed=False, detail="") for name in ("contains:5", "contains:HELLO", "exit_code:0")
    ]
    runs = [
        run([result("a", "failed", checks=checks)], target=name)
        for name, checks in (("m/one", both[:1]), ("m/two", both[1:2]), ("m/three", both))
    ]
    assert found(*runs)["all_fail"].evidence == (
        "`m/one`: contains:5; `m/two`: contains:HELLO; `m/three`: contains:5, contains:HELLO, exit_code:0"
    )


@pytest.mark.parametrize(
    ("script", "said", "code", "message"),
    [
        ("/usr/bin/rev f", "bash: /usr/bin/rev: No such file or directory", 127, "`/usr/bin/rev` fails"),
        ("comm a b", "", 2, "`comm` fails with all 2 targets, and says nothing to all"),
        ("cat /etc/x", "cat: /etc/x: denied", 1, "`cat` fails"),
        ("comm a b", "", 1, None),  # how grep and diff say no
        ("comm a b 2>/dev/null", "", 2, None),  # the model wanted to hear nothing
        ("comm a b; false", "", 2, None),
        ("cat < /etc/x", "/etc/x: denied", 1, None),
    ],
)
def test_a_command_that_says_nothing__or_has_a_path(script: str, said: str, code: int, message: str | None) -> None:
    runs = [
        run([with_failures("a", FailedCall(command=script, message=said, exit_code=code))], target=name)
        for name in ("m/one", "m/two")
    ]
    finding = found(*runs).get("command_fails_for_all")
    assert (finding is None) if message is None else (finding is not None and finding.message.startswith(message))


def test_one_command_that_fails_with_all_targets__whatever_the_trials_came_to() -> None:
    """The specification: if all models fail on the same commands, it is the tool; also if they pass."""
    one = run([erring("a", AWK, status="passed"), erring("b", AWK, status="passed")], target="m/one")
    two = run([erring("c", AWK, status="passed")], target="m/two")
    finding = found(one, two)["command_fails_for_all"]
    assert finding.message == "`awk` fails with all 2 targets, and says the same to all"
    assert finding.evidence == "awk: unexpected token: 3 calls in 3 tasks"
    assert finding.cases == ["a", "b", "c"]


def test_a_command_that_fails_otherwise_or_with_one_target__is_nobodys_pattern() -> None:
    one = run([erring("a", AWK, status="passed")], target="m/one")
    other = run([erring("a", ("awk x", "awk: no such file or directory: x"), status="passed")], target="m/two")
    none = run([erring("a", status="passed")], target="m/two")
    assert "command_fails_for_all" not in found(one, other)
    assert "command_fails_for_all" not in found(one, none)


def test_hostile_messages__are_compared_within_bounds() -> None:
    long = "x" * 300
    many = [(f"c{n}", f"c{n}: {long}{'y' * n}") for n in range(200)]
    one, two = (run([erring("a", *many)], target=name) for name in ("m/one", "m/two"))
    assert len(found(one, two)["all_fail_alike"].evidence) < 1_000


def test_one_passes__is_the_models_difference() -> None:
    one = run([result("a"), result("b")], target="m/one")
    others = [run([result("a", "failed"), result("b")], target=f"m/{n}") for n in range(2)]
    finding = found(one, *others)["one_passes"]
    assert finding.message == "Only `m/one` passes 1 task: a difference of the models"
    assert (finding.cases, finding.evidence) == (["a"], "a; of 2 shared tasks")


def test_equal_pass_rate__with_other_calls_and_tokens() -> None:
    thrifty = run([result("a", calls=(4, 4), tokens=(100, 10))], target="m/one")
    wasteful = run([result("a", calls=(5, 5), tokens=(150, 15))], target="m/two")
    findings = found(thrifty, wasteful)
    assert "`m/two` passes as much as `m/one` with 1.2 times the tool calls" in findings["reasoning_gap"].message
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
    assert finding.evidence == "`m/one` 40.0 %, `m/two` 40.0 %"
    strong = run([result("a", "failed", category="tar", score=0.5), result("b", category="jq")], target="m/two")
    assert "category_fails_for_all" not in found(weak("m/one"), strong)
