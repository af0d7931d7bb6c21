"""The scenario's own programs and what they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.suites.scenario.details import EvaluatorResult
from evalward.suites.scenario.model import Evaluator, PostScript
from evalward.suites.scenario.scripts import (
    ScriptContext,
    check_health,
    run_evaluator,
    run_evaluators,
    run_post_scripts,
    run_setup,
)
from support.workplace import FolderPlace

CONTEXT = ScriptContext(
    scenario="add", agent="claude-code", model="m", fixture_dir="/f", results_dir="/r", tool_env={"X": "1"}
)


async def evaluated(folder: Path, command: str, timeout_secs: float = 300) -> EvaluatorResult:
    return await run_evaluator(
        FolderPlace(folder), Evaluator(name="e", command=command, timeout_secs=timeout_secs), CONTEXT
    )


def test_variables_have_both_names_and_the_targets_own_win() -> None:
    env = ScriptContext("add", "a", "m", "/f", "/r", "/t", "/e", {"EVALWARD_MODEL": "mine", "HOME_DIR": "/h"}).env
    for prefix in ("LLM_TOOL_TEST_", "EVALWARD_"):
        told = {
            name: env[prefix + name]
            for name in ("FIXTURE_DIR", "RESULTS_DIR", "SCENARIO", "AGENT", "TRANSCRIPT", "EVENTS")
        }
        assert list(told.values()) == ["/f", "/r", "add", "a", "/t", "/e"]
    assert (env["LLM_TOOL_TEST_MODEL"], env["EVALWARD_MODEL"], env["HOME_DIR"]) == ("m", "mine", "/h")
    assert "EVALWARD_EVENTS" not in CONTEXT.env


async def test_an_evaluator_gives_numbers(tmp_path: Path) -> None:
    found = await evaluated(tmp_path, """echo '{"metrics": {"a": 1, "b": 0.5}, "score": 0.8, "summary": "good"}'""")
    assert found == EvaluatorResult(name="e", metrics={"a": 1, "b": 0.5}, score=0.8, summary="good")


@pytest.mark.parametrize(
    ("command", "summary", "error"),
    [
        ("echo hello", "hello", "it printed no JSON"),
        ("echo '[1]'", "[1]", "JSON that is not an object"),
        ("echo part; echo bad >&2; exit 4", "part", "it failed: exit code 4: bad"),
        (
            """echo '{"score": "high", "metrics": [1], "summary": 3}'""",
            "",
            "metrics is not an object; score is not a number; summary",
        ),
        ("""echo '{"metrics": {"a": true, "b": 1e999}}'""", "", "the metric 'a' is not a number; the metric 'b'"),
    ],
)
async def test_what_is_wrong_with_an_evaluator_is_told_and_its_text_kept(
    tmp_path: Path, command: str, summary: str, error: str
) -> None:
    found = await evaluated(tmp_path, command)
    assert (found.summary, found.score, found.metrics) == (summary, None, {})
    assert error in str(found.error)


async def test_an_evaluator_that_hangs_is_an_error_and_the_next_one_runs(tmp_path: Path) -> None:
    both = [
        Evaluator(name="a", command="sleep 60", timeout_secs=0.1),
        Evaluator(name="b", command="echo '{\"score\": 1}'"),
    ]
    hung, fine = await run_evaluators(FolderPlace(tmp_path), both, CONTEXT)
    assert "longer than 0.1 s" in str(hung.error)
    assert fine.score == 1


async def test_setup_ends_at_the_first_failure(tmp_path: Path) -> None:
    place = FolderPlace(tmp_path)
    runs = await run_setup(place, ["echo $X > made", "exit 2", "echo never"], CONTEXT)
    assert [run.succeeded for run in runs] == [True, False]
    assert runs[-1].words() == "`exit 2`: exit code 2"
    assert (tmp_path / "made").read_text() == "1\n"


async def test_post_scripts_all_run(tmp_path: Path) -> None:
    scripts = [PostScript(command="exit 1"), PostScript(command="echo $EVALWARD_SCENARIO")]
    runs = await run_post_scripts(FolderPlace(tmp_path), scripts, CONTEXT)
    assert [(run.exit_code, run.stdout) for run in runs] == [(1, ""), (0, "add\n")]


async def test_health_check(tmp_path: Path) -> None:
    assert (await check_health(FolderPlace(tmp_path), "true", CONTEXT)).succeeded
    assert "exit code 127" in (await check_health(FolderPlace(tmp_path), "no-such-tool --version", CONTEXT)).words()
