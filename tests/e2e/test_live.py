"""Live models from end to end: real processes, a model server that behaves and misbehaves as the real ones do."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from support.git_repo import pull_request_repo
from support.github_api import REPOSITORY
from support.live_runs import (
    CHAT,
    CLAUDE,
    EVERYWHERE,
    RESPONSES,
    TASKS,
    VARIABLE,
    Repo,
    answering,
    ended,
    model_of,
    task,
    timeless,
    values,
)
from support.model_server import Answer, Fault, ModelServer, bash
from support.patience import wait_until

SIX = tuple(task(name) for name in ("one", "two", "three", "four", "five", "six"))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(model_of((*TASKS, *SIX))) as running:
        yield running


@pytest.fixture
def repo(tmp_path: Path, server: ModelServer) -> Repo:
    return Repo(tmp_path, server)


# --- measuring ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
def test_the_three_protocols_measure_the_same(repo: Repo, stream: bool) -> None:
    repo.write(EVERYWHERE, stream=stream)
    done = repo.run("run")
    assert done.code == 0, done.err
    runs = repo.report()["runs"]
    assert [run["target"] for run in runs] == list(EVERYWHERE)
    first = values(runs[0])
    assert [values(run) for run in runs] == [first] * 3
    assert {name: first[name] for name in ("pass_rate", "total_turns", "total_tool_calls", "tool_calls_error")} == {
        "pass_rate": 0.75,
        "total_turns": 10,
        "total_tool_calls": 6,
        "tool_calls_error": 1,
    }
    assert (first["total_input_tokens"], first["total_output_tokens"]) == (10 * 90, 10 * 30)
    assert first["cost_usd"] == pytest.approx(10 * (70 * 1 + 20 * 0.1 + 30 * 10) / 1e6)
    assert {logged.asked.stream for logged in repo.server.requests if logged.asked} == {stream}


def test_a_recording_replays_to_the_same_at_no_cost(repo: Repo) -> None:
    repo.write([CLAUDE])
    assert repo.run("run", "--record", "recorded").code == 0
    asked = len(repo.server.requests)
    (recording,) = (repo.root / "recorded").iterdir()
    before = repo.report()["runs"][0]
    repo.write(["replay:it"], more={"recordings": {"it": f"recorded/{recording.name}"}})
    done = repo.run("run", "--output", "again")
    assert done.code == 0, done.err
    again = repo.report("again")["runs"][0]
    assert {**values(again), "cost_usd": None} == {**values(before), "cost_usd": None}
    assert (again["metrics"]["cost_usd"]["value"], len(repo.server.requests)) == (0.0, asked)
    outcomes = [[(case["id"], case["status"], case["checks"]) for case in run["cases"]] for run in (before, again)]
    assert outcomes[0] == outcomes[1]
    assert {case["details"]["diverged_at"] for case in again["cases"]} == {None}


def test_what_the_model_does_wrong_is_its_result_and_no_error(repo: Repo, server: ModelServer) -> None:
    wrong = {
        "refusal": ("failed", "refusal"),
        "content_filter": ("failed", "content_filter"),
        "length": ("failed", "length"),
        "empty_answer": ("failed", "checks_failed"),
        "context_length": ("failed", "context_length"),
        "unknown_tool": ("passed", None),
        "broken_arguments": ("passed", None),
        "list_arguments": ("passed", None),
    }
    tasks = [task(name, "true", f"echo {name}") for name in wrong]
    server.settings = replace(server.settings, script=model_of(tasks))
    server.misbehave(*(Fault(name, turn=0, match=f"word {name}\\.") for name in wrong))
    repo.write(EVERYWHERE, tasks)
    done = repo.run("run")
    assert done.code == 0, done.err
    for run in repo.report()["runs"]:
        expected = dict(wrong)
        if run["target"] == CLAUDE:
            expected["content_filter"] = ("failed", "refusal")  # Anthropic has no other word for it
        assert {case["id"]: (case["status"], case["reason"]) for case in run["cases"]} == expected
        assert run["metrics"]["harness_error_rate"]["value"] == 0


# --- going on -------------------------------------------------------------------------------------------------------


def test_killed_and_resumed__nothing_is_lost_or_done_twice(repo: Repo, server: ModelServer) -> None:
    repo.write(tasks=SIX, suite={"trials": 2}, concurrency=2)
    whole = repo.run("run", "--output", "whole")
    assert whole.code == 0, whole.err
    server.misbehave(Fault("stall", match=r"word six\."))  # without an end it never ends
    process = repo.start("run")
    wait_until(lambda: len(repo.trials()) >= 4)
    process.kill()
    process.communicate()
    finished = {path: path.read_bytes() for path in repo.trials()}
    assert 4 <= len(finished) < 12
    assert not repo.path().exists()

    server.misbehave()
    since = len(server.requests)
    done = repo.run("run", "--resume")
    assert done.code == 0, done.err
    assert len(repo.asked(since)) == 2 * (12 - len(finished))
    assert {path: path.read_bytes() for path in finished} == finished
    assert timeless(repo.report()) == timeless(repo.report("whole"))
    assert len(repo.trials()) == len(repo.trials("whole")) == 12


def test_resume__tells_what_it_cant_use_and_does_it_again(repo: Repo) -> None:
    repo.write()
    assert repo.run("run").code == 0
    alpha, beta, _, gamma = repo.trials()
    alpha.write_bytes(alpha.read_bytes()[:300])
    beta.write_bytes(gamma.read_bytes())
    changed = {**TASKS[3], "expectations": [{"check": "stdout_contains:something"}]}
    repo.write(tasks=[*TASKS[:3], changed])
    since = len(repo.server.requests)
    done = repo.run("run", "--resume")
    assert done.code == 0, done.err
    assert set(repo.asked(since)) == {TASKS[n]["prompt"] for n in (0, 1, 3)}
    told = repo.report()["warnings"]
    assert [(path.name in note, "run again" in note) for path, note in zip((alpha, beta), told, strict=False)] == [
        (True, True),
        (True, True),
    ]
    assert "trial of something else" in told[1]
    assert "case or subject have changed" in told[2]
    assert all(path.name in done.out for path in (alpha, beta)), done.out
    assert repo.report()["runs"][0]["metrics"]["pass_rate"]["value"] == 1.0


def test_resume__another_subject_is_asked_again(repo: Repo) -> None:
    repo.write()
    assert repo.run("run").code == 0
    repo.write(max_tokens=500)
    since = len(repo.server.requests)
    assert repo.run("run", "--resume").code == 0
    assert len(repo.asked(since)) == 10
    assert len(repo.report()["warnings"]) == 4


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(repo: Repo, server: ModelServer, number: signal.Signals) -> None:
    server.misbehave(Fault("stall", match=r"word six\."))
    repo.write(tasks=SIX, concurrency=1)
    process = repo.start("run")
    wait_until(lambda: len(repo.trials()) >= 2)
    process.send_signal(number)
    done = ended(process)
    assert done.code == 3, done.err
    assert repo.report()["interrupted"] == f"interrupted by {number.name}"
    assert f"interrupted by {number.name}" in done.out
    states = [(case["status"], case["reason"]) for case in repo.cases().values()]
    assert sorted(set(states)) == [("passed", None), ("skipped", "not_run")]
    assert states.count(("passed", None)) == len(repo.trials()) >= 2
    assert repo.hidden() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_it_waits_for_a_rate_limit(
    repo: Repo, server: ModelServer, number: signal.Signals
) -> None:
    server.misbehave(Fault("rate_limit", retry_after=60, match="word (gamma|delta)"))
    repo.write(concurrency=1)
    process = repo.start("check")
    wait_until(lambda: [logged.status for logged in server.requests].count(429) == 1)
    process.send_signal(number)
    done = ended(process, timeout=45)  # before it would go on by itself
    assert done.code == 3, done.err
    assert [case["status"] for case in repo.cases().values()] == ["passed", "passed", "skipped", "skipped"]
    verdict = json.loads(repo.path("judgement.json").read_text())["verdict"]
    assert (verdict["outcome"], verdict["headline"]) == ("error", f"interrupted by {number.name}")
    assert repo.hidden() == []


# --- budgets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [{"budget_tokens": 400}, {"budget_usd": 0.0012}])
def test_a_spent_budget_ends_the_run_and_keeps_what_is_done(repo: Repo, budget: dict[str, float]) -> None:
    repo.write(tasks=SIX, more=budget, concurrency=1)  # a trial has 240 tokens and costs $0.000744
    done = repo.run("check")
    assert done.code == 3, done.err
    verdict = json.loads(repo.path("judgement.json").read_text())["verdict"]
    assert verdict["outcome"] == "error"
    assert verdict["headline"].startswith("budget: ")
    assert "budget: " in done.out
    assert [case["status"] for case in repo.cases().values()] == ["passed"] * 2 + ["skipped"] * 4
    assert (len(repo.trials()), len(repo.server.requests)) == (2, 4)


def test_a_dollar_budget_without_a_price_is_refused_before_anything_is_asked(repo: Repo) -> None:
    repo.write(more={"budget_usd": 1}, prices={})
    done = repo.run("run")
    assert done.code == 2
    assert "the price of openai/gpt-5 (suite live) is unknown" in done.err
    assert "Write it into providers.openai.prices.gpt-5, or use budget_tokens." in done.err
    assert repo.server.requests == []


# --- failures -------------------------------------------------------------------------------------------------------


def test_a_missing_key_names_its_variable_and_nothing_is_asked(repo: Repo) -> None:
    repo.write(EVERYWHERE)
    done = repo.run("check", env={VARIABLE: ""})
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"needs a key, and {VARIABLE} is not set" in done.err
    assert repo.server.requests == []
    assert not repo.path().exists()


@pytest.mark.parametrize(
    ("cause", "target"), [("key", CLAUDE), ("quota", CLAUDE), ("quota", RESPONSES), ("model_not_found", CHAT)]
)
def test_what_every_trial_would_meet_is_told_once(repo: Repo, server: ModelServer, cause: str, target: str) -> None:
    server.misbehave(Fault(cause))
    repo.write([target], SIX, suite={"trials": 3}, concurrency=2)
    done = repo.run("check")
    assert done.code == 3, done.err
    assert len(server.requests) <= 2
    (run,) = repo.report()["runs"]
    states = [(case["status"], case["reason"]) for case in run["cases"]]
    assert sorted(states) == [("error", cause)] + [("skipped", "not_run")] * 17
    verdict = json.loads(repo.path("judgement.json").read_text())["verdict"]
    assert verdict["headline"].startswith(f"{target}: ")
    assert [case["message"] is not None for case in run["cases"]].count(True) == 1


def test_an_outage_is_not_judged(repo: Repo, server: ModelServer) -> None:
    repo.write(tasks=TASKS[:2], suite={"trials": 1})
    assert repo.run("run").code == 0
    assert repo.run("baseline", "update").code == 0
    server.misbehave(Fault("unavailable", retry_after=0.0))
    done = repo.run("check")
    assert done.code == 3, done.err
    assert {(case["status"], case["reason"]) for case in repo.cases().values()} == {("error", "overload")}
    assert len(server.requests) == 5 + 2 * 5


def test_a_short_outage_changes_nothing_but_the_time(repo: Repo, server: ModelServer) -> None:
    repo.write([RESPONSES])
    assert repo.run("run", "--output", "calm").code == 0
    server.misbehave(Fault("rate_limit", tries=1, retry_after=1.0))
    since = len(server.requests)
    done = repo.run("run")
    assert done.code == 0, done.err
    calm, rough = repo.report("calm")["runs"], repo.report()["runs"]
    assert [values(run) for run in rough] == [values(run) for run in calm]
    assert [logged.status for logged in server.requests[since:]].count(429) == 4
    for case in (case for run in rough for case in run["cases"]):
        assert case["duration_ms"] >= 1000
        assert case["details"]["working_ms"] < case["duration_ms"] - 900


# --- secrets --------------------------------------------------------------------------------------------------------


def test_secrets_are_in_no_line_no_file_and_no_recording(repo: Repo, server: ModelServer) -> None:
    key = "correct.horse/battery=staple"  # nothing gives it away but its value
    other = "value-of-another-secret"
    prints = answering("prints", bash(f"echo prints {other}"), Answer(text="Done."))
    server.settings = replace(server.settings, script=model_of(TASKS, prints), key=key)
    server.misbehave(Fault("key_echoed", match="word gamma"), Fault("key_echoed", protocol="chat"))
    repo.write(EVERYWHERE, [task("prints"), *TASKS], concurrency=1)
    done = repo.run("run", "--record", "recorded", "--verbose", env={VARIABLE: key, "DEPLOY_TOKEN": other})
    assert done.code == 3
    assert "[key]" in done.out
    assert key not in done.out + done.err
    files = [path for path in repo.root.rglob("*") if path.is_file()]
    assert [path.name for path in files if key.encode() in path.read_bytes()] == []
    recordings = sorted((repo.root / "recorded").iterdir())
    assert len(recordings) == 2  # chat answered nothing
    for text in (path.read_text("utf-8") for path in recordings):
        assert "echo prints [redacted]" in text
        assert other not in text


# --- forks ----------------------------------------------------------------------------------------------------------


def test_on_a_fork__no_key_is_neither_an_error_nor_a_pass(repo: Repo, server: ModelServer, tmp_path: Path) -> None:
    repo.write()
    files = {name: (tmp_path / name).read_bytes() for name in ("evalward.yml", "cases.jsonl")}
    pull = pull_request_repo(tmp_path / "workspace", files, {"README.md": "mine\n"})
    side = {"head": (pull.head, "topic", "stranger/fork"), "base": (pull.fork_point, "main", REPOSITORY)}
    sides = {name: {"sha": sha, "ref": ref, "repo": {"full_name": of}} for name, (sha, ref, of) in side.items()}
    event = {"action": "opened", "number": 7, "pull_request": {"number": 7, **sides}}
    (tmp_path / "event.json").write_text(json.dumps(event))
    env = {
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_SHA": pull.merge,
        "GITHUB_WORKSPACE": str(pull.folder),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        VARIABLE: "",  # forks get no secrets
    }
    done = repo.run("action", env=env)
    assert done.code == 0, done.out + done.err
    assert (tmp_path / "output").read_text().splitlines()[1] == "inconclusive"
    for told in (done.out, (tmp_path / "summary").read_text()):
        assert f"there is no key here ({VARIABLE} is not set)" in told
    assert server.requests == []
