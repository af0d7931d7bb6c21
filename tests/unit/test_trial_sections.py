"""What each kind shows of one trial beside checks and conversation; what is unknown is not 0."""

from __future__ import annotations

from evalward.records.judge import JudgeOutcome, JudgeVote
from evalward.records.result import CheckResult, Details, OtherDetails
from evalward.records.sections import Facts, FileText, SamplePlot, TrialSection
from evalward.render.kinds import ShownKind
from evalward.suites.bash.details import BashDetails
from evalward.suites.bash.kind import BASH
from evalward.suites.command.details import CommandDetails
from evalward.suites.command.kind import COMMAND
from evalward.suites.mcp.kind import MCP
from evalward.suites.prompt.details import PromptDetails
from evalward.suites.prompt.kind import PROMPT
from evalward.suites.scenario.details import (
    EvaluatorResult,
    FailedCommand,
    GateResult,
    Interaction,
    ScenarioDetails,
    SubcommandStats,
)
from evalward.suites.scenario.kind import SCENARIO
from evalward.suites.speedup.details import BenchmarkSpeed, LevelAdvantage, PytestSummary, Samples, SpeedupDetails
from evalward.suites.speedup.kind import SPEEDUP
from support.results import result

LEFT = FileText(name="fixture/a.txt", text="left")
JUDGE = JudgeOutcome(
    model="m",
    rubric="clear",
    threshold=0.7,
    score=0.4,
    passed=False,
    scores={"brevity": 0.4},
    issues=["too long"],
    votes=[JudgeVote(scores={"brevity": 0.4}, score=0.4, passed=False), JudgeVote(scores={}, score=0.4, passed=False)],
)


def sections(kind: ShownKind, details: Details, *files: FileText, **more: object) -> list[TrialSection]:
    return kind.trial_sections(result("a", "failed", details=details, **more), files)  # type: ignore[arg-type]


def rows(found: list[TrialSection], title: str) -> dict[str, list[str]]:
    """A section's values by their labels."""
    (facts,) = [one for one in found if isinstance(one, Facts) and one.title == title]
    return {row.label: row.values for row in facts.rows}


def test_details_of_another_kind_show_the_files_alone() -> None:
    for kind in (BASH, COMMAND, MCP, PROMPT, SCENARIO, SPEEDUP):
        assert sections(kind, OtherDetails(), LEFT) == [LEFT]


def test_bash_shows_a_replays_divergence_and_what_judges_said() -> None:
    found = sections(BASH, BashDetails(replayed=True, diverged_at=3, deterministic=False, judgements=[JUDGE]), LEFT)
    assert rows(found, "Replay") == {"answers, recorded and now": ["differ from call 3"], "the same twice": ["no"]}
    judge = rows(found, "Judge m: clear")
    assert (judge["brevity"], judge["issue"], judge["votes"]) == (["0.40"], ["too long"], ["0.40, 0.40"])
    assert judge["cost"] == ["n/a"]
    assert found[-1] == LEFT
    assert sections(BASH, BashDetails()) == []


def test_a_command_shows_expected_beside_found_and_the_rules() -> None:
    details = CommandDetails(
        expected="ls",
        answer="rm -rf /",
        match="tokens",
        safe_expected=True,
        safe_actual=False,
        risk="critical",
        unsafe=True,
        rule_findings=["files.root"],
        allow=["files.root"],
    )
    found = sections(COMMAND, details)
    assert rows(found, "Answer") == {"command": ["ls", "rm -rf /"], "safe": ["yes", "no"], "POSIX": ["–", "n/a"]}
    judged = rows(found, "How it was judged")
    assert (judged["risk"], judged["rules that it breaks"]) == (["critical"], ["files.root"])
    assert judged["rules that the case allows"] == ["files.root"]
    assert "dangerous" in judged["unsafe"][0]
    assert "behaves like the expected command" not in judged


def test_a_refusal_and_no_answer_are_told_apart() -> None:
    assert rows(sections(COMMAND, CommandDetails(refused=True)), "Answer")["command"] == ["–", "(refused)"]
    assert rows(sections(COMMAND, CommandDetails()), "Answer")["command"] == ["–", "(no command)"]


def scenario(**changes: object) -> ScenarioDetails:
    values: dict[str, object] = {
        "interaction": Interaction(
            total_commands=5,
            unique_commands=2,
            error_count=2,
            retry_count=3,
            first_try_count=1,
            per_subcommand={"move": SubcommandStats(total=4, errors=2, retries=3, first_try=False)},
            failed=[
                FailedCommand(
                    subcommand="move", command="shelf move x", exit_code=4, said="E17", worked="shelf move x --to y"
                )
            ],
        ),
        "gates": [GateResult(gate_type="file_exists", passed=False, message="not there")],
        "evaluators": [EvaluatorResult(name="naming", metrics={"names": 3.0}, score=0.5, error="odd")],
        "judge": JUDGE,
        "completed": None,
        "put_back": ["checks/a.py"],
        "claims": {"turns": 4.0},
        **changes,
    }
    return ScenarioDetails.model_validate(values)


def test_a_scenario_shows_its_commands_judge_evaluators_and_files() -> None:
    files = [FileText(name=name, text="x") for name in ("evaluation.md", "events.jsonl", "metrics.json")]
    found = sections(SCENARIO, scenario(), *files, LEFT)

    used = rows(found, "How the tool was used")
    assert (used["commands"], used["failed"], used["first tries that succeeded"]) == (["5"], ["2"], ["20.0 %"])
    assert used["agent ended by itself"] == ["n/a"]
    assert rows(found, "By subcommand") == {"move": ["4", "2", "3", "no"]}
    assert rows(found, "Commands that failed") == {"shelf move x": ["4", "E17", "shelf move x --to y"]}
    assert rows(found, "Evaluator naming") == {"score": ["0.50"], "names": ["3"], "error": ["odd"]}
    assert rows(found, "Where and how")["changed by the agent and put back before judging"] == ["checks/a.py"]
    assert rows(found, "Judge m: clear")["brevity"] == ["0.40"]
    assert [one.name for one in found if isinstance(one, FileText)] == ["fixture/a.txt"]


def test_gates_are_shown_where_the_checks_do_not_say_them() -> None:
    found = sections(SCENARIO, scenario())
    assert rows(found, "Gates") == {"file_exists": ["fails", "not there"]}
    told = sections(SCENARIO, scenario(), checks=[{"check": "file_exists", "passed": False, "detail": ""}])
    assert not [one for one in told if isinstance(one, Facts) and one.title == "Gates"]


def test_what_is_unknown_of_commands_is_not_available() -> None:
    unknown = Interaction(total_commands=2, unknown_count=2, first_try_count=None)
    used = rows(sections(SCENARIO, ScenarioDetails(interaction=unknown)), "How the tool was used")
    assert (used["failed"], used["first tries that succeeded"]) == (["n/a"], ["n/a"])
    assert used["exit code unknown"] == ["2"]


def test_a_judge_that_said_nothing_is_told() -> None:
    found = sections(SCENARIO, ScenarioDetails(judge_error="no key"))
    assert rows(found, "Judge") == {"not judged": ["no key"]}


def test_a_speedup_shows_its_samples_tests_and_snapshots() -> None:
    benchmarks = [
        BenchmarkSpeed(name="b", agent=2.0, oracle=3.0, samples=Samples(nop=[2.0, 4.0], oracle=[1.0], agent=[])),
        BenchmarkSpeed(name="broken", agent=None, oracle=1.0),
    ]
    details = SpeedupDetails(
        benchmarks=benchmarks,
        pytest_summary=PytestSummary(passed=4, failed=1, total=5, status="failed"),
        task_speedup=2.0,
        levels=[LevelAdvantage(advantage=-1.0, groups=1)] * 4,
        fallback_to_baseline=True,
        notes=["slow machine"],
    )
    found = sections(SPEEDUP, details, LEFT)

    assert rows(found, "Speedup by benchmark") == {
        "b": ["2×", "3×", "−1.00×"],
        "broken": ["n/a", "1×", "n/a: no valid pair"],
    }
    assert rows(found, "Speedup")["the task"] == ["2×"]
    assert rows(found, "Speedup")["advantage by module"] == ["−1.00×"]
    (plot,) = [one for one in found if isinstance(one, SamplePlot)]
    assert plot.unit == "s"
    assert [(group.name, group.samples) for group in plot.groups] == [
        ("b", {"before": [2.0, 4.0], "human patch": [1.0]})
    ]
    tests = rows(found, "Tests and snapshots")
    assert (tests["state"], tests["failed"], tests["errors"]) == (["failed", "missing"], ["1", "n/a"], ["0", "–"])
    assert rows(found, "Notes") == {
        "fell back": ["the untouched code counts instead of the change"],
        "note": ["slow machine"],
    }
    assert found[-1] == LEFT


def test_a_prompt_shows_expected_beside_found__the_scores__and_what_judges_said() -> None:
    checks = [CheckResult(check=name, passed=False, detail="no") for name in ("tone", "short")]
    details = PromptDetails(scores={"short": 0.0}, expected="Paris", judgements=[JUDGE])
    found = sections(PROMPT, details, LEFT, checks=checks)
    assert rows(found, "Answer") == {"answer": ["Paris", "(no answer)"]}
    assert rows(found, "Scores") == {"tone": ["n/a"], "short": ["0"]}
    assert rows(found, "Judge m: clear")["issue"] == ["too long"]
    assert found[-1] == LEFT
