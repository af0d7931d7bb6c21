"""What the page says about accepting: commands that run as they stand, and what is said after them."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from evalward.cli import build_parser
from evalward.commands.accepting import in_ci, of_fork
from evalward.commands.pipeline import Criteria, decide_report
from evalward.github.event import EventPlan
from evalward.github.settings import ActionInputs, RunnerEnvironment
from evalward.github.spoken import find_command
from evalward.records.policy import Policy, Rule
from evalward.records.report import Report
from evalward.records.verdict import Outcome
from evalward.render.context import Accepting
from support.results import baseline, passes, report, result, run

DROP = Rule(metric="pass_rate", max_drop=0.1)
OTHERS = [Rule(metric="overall_rate", max_drop=1), Rule(metric="tool_call_success_rate", max_drop=1)]
BEFORE = baseline(run(passes(*"abcd")))
BROKEN = report(run([*passes("a", "b"), result("c", "failed"), result("d", "failed")]))
PULL = EventPlan("pull_request", "acme/tools", "e" * 40, "a" * 40, base_ref="main", pull_number=7)
STATUS = ActionInputs(status="evalward ({base})")


def runner(server: str = "https://github.com") -> RunnerEnvironment:
    here = Path("/w")
    return RunnerEnvironment(
        here, here / "event", None, None, "acme/tools", 42, 1, "https://api.github.com", server, "/bin"
    )


def told(
    settings: ActionInputs = STATUS, plan: EventPlan = PULL, measured: Report = BROKEN, *rules: Rule, server: str = ""
) -> Accepting:
    judging = Criteria(BEFORE, Policy(rules=[DROP, *OTHERS, *rules]))
    judgement = decide_report(measured, judging.baseline, judging.policy)
    return in_ci(settings, runner(server or "https://github.com"), plan, measured, judging, judgement=judgement)


def commands(accepting: Accepting) -> list[list[str]]:
    return [shlex.split(line) for line in accepting.command.splitlines()]


def test_pull_request__one_way_to_green_and_what_is_said_after_it() -> None:
    found = told()
    assert find_command(found.comment) == "intended"
    assert "The status `evalward (main)` of that commit says: passed." in found.text
    assert "Later runs on this pull request are compared with what was accepted." in found.text


def test_pull_request__without_a_status_the_check_has_to_run_again() -> None:
    assert "to start the check on that commit. It says: passed." in told(ActionInputs()).text


def test_pull_request__what_accepting_can_not_change_is_said_before() -> None:
    found = told(STATUS, PULL, BROKEN, Rule(metric="overall_rate", floor=0.9))
    assert "says: fail, overall_rate is 50.0 % (2 of 4), below its floor of 90 %." in found.text


def test_by_hand__fetches_the_artifact_of_this_run_and_keeps_its_trials() -> None:
    first, second = commands(told(replace(STATUS, config="my ci/evalward.yml", working_directory="a b")))
    assert first == [
        *("gh", "run", "download", "42", "--repo", "acme/tools", "--name", "evalward", "--dir", "evalward-run-42")
    ]
    args = build_parser().parse_args(second[1:])
    assert (args.config, args.report) == (Path("a b/my ci/evalward.yml"), [Path("evalward-run-42/report.json")])
    assert (args.keep, args.accept, args.baseline) == (True, "intended", None)


def test_by_hand__with_the_inputs_that_the_workflow_has() -> None:
    settings = replace(STATUS, baseline="b.json", working_directory="x", artifact="my out", report="out/r.json")
    first, second = commands(told(settings, server="https://git.acme.example"))
    assert first[5:8] == ["git.acme.example/acme/tools", "--name", "my out"]
    args = build_parser().parse_args(second[1:])
    assert (args.baseline, args.report) == (Path("x/b.json"), [Path("evalward-run-42/r.json")])


def test_a_pass__has_nothing_to_accept() -> None:
    found = told(STATUS, PULL, report(run(passes(*"abcd"))))
    assert (found.comment, "--accept" in found.command, "--keep" in found.command) == ("", False, True)


def test_a_push__has_no_comment() -> None:
    assert told(STATUS, EventPlan("push", "acme/tools", "e" * 40, "a" * 40)).comment == ""


def test_a_fork__is_taken_into_the_repository_first() -> None:
    found = told(STATUS, replace(PULL, fork=True))
    assert found.comment == ""
    assert found.text.startswith("Only a branch of this repository can be accepted")


def test_what_can_not_be_a_baseline__has_no_command() -> None:
    skipped = report(run([*passes("a", "b"), result("c", "failed"), result("d", "skipped")]))
    found = told(STATUS, PULL, skipped)
    assert found.text.startswith("This report can't be accepted: ")
    assert (found.command, found.comment) == ("", "")


def test_what_could_not_be_judged__is_not_accepted() -> None:
    broke = report(run([*passes("a"), *(result(name, "error") for name in "bcd")]))
    verdict = decide_report(broke, BEFORE, Policy()).verdict
    assert verdict.outcome is Outcome.ERROR
    assert not told(STATUS, PULL, broke)
    assert not of_fork(STATUS, runner(), report(), verdict)
