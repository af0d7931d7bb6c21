"""Prompt files over the wire: three protocols against the model server, with a judge, through the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.live_runs import CHAT, CLAUDE, RESPONSES, Repo
from support.model_server import Answer, Conversation, ModelServer, Script
from support.prompt_files import CAPITALS, TONE

FILE = {**CAPITALS, "evaluators": [*CAPITALS["evaluators"], TONE]}
JUDGE = {"judge": {"model": "openai/gpt-5-mini", "cache": "off"}}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CLOSED = {**SCHEMA, "additionalProperties": False}


def judged(choice: str) -> Answer:
    return Answer(text=json.dumps({"reason": "So it is.", "choice": choice}))


SCRIPT = Script(
    (
        Conversation("Is this a friendly answer about France", (judged("yes"),)),
        Conversation("Is this a friendly answer about Italy", (judged("no"),)),
        Conversation("Tell me about", (Answer(text="Ask someone else."),)),
        Conversation("capital of France", (Answer(text="Paris\n"),)),
        Conversation("capital of Italy", (Answer(text="Rome"),)),
    )
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(SCRIPT) as running:
        yield running


def repo_of(root: Path, server: ModelServer, targets: list[str], file: Any = FILE, **more: Any) -> Repo:
    repo = Repo(root, server)
    suite = {"name": "prompts", "kind": "prompt", "cases": "*.prompt.yml"}
    repo.write(targets, (), suite=suite, more={**JUDGE, **more})
    (root / "capitals.prompt.yml").write_text(json.dumps(file), "utf-8")
    return repo


@pytest.mark.parametrize("target", [CLAUDE, CHAT, RESPONSES, "openai/gpt-4.1"])
def test_each_row_is_asked_answered_and_judged(tmp_path: Path, server: ModelServer, target: str) -> None:
    repo = repo_of(tmp_path, server, [target])
    done = repo.run("run")
    assert done.code == 0, done.err
    found = repo.cases()
    assert {name: (case["status"], case["score"]) for name, case in found.items()} == {
        "capitals/1": ("passed", 2.0),
        "capitals/italy": ("failed", 1.0),
    }
    assert found["capitals/italy"]["checks"][1]["detail"] == 'scored 0.00, 0.50 wanted; issue: chose "no": So it is.'
    assert all(logged.error is None for logged in server.requests)
    asked = [dict(logged.body) for logged in server.requests if logged.asked and "capital of" in logged.asked.prompt]
    sampled = [body.get("temperature") for body in asked]
    assert sampled == [0.5, 0.5] if target == "openai/gpt-4.1" else [None, None]
    bounds = [next(body[key] for key in body if key.startswith("max_")) for body in asked]
    assert bounds == [50, 50]
    (run,) = repo.report()["runs"]
    assert run["metrics"]["pass_rate"]["value"] == 0.5
    assert run["metrics"]["score:tone"]["value"] == 0.5
    assert set(run["subject"]) >= {"prompt:capitals", "judge", "model"}
    warned = [each for each in repo.report()["warnings"] if "temperature" in str(each)]
    assert len(warned) == (target != "openai/gpt-4.1")


def test_a_closed_schema_is_enforced_by_the_provider(tmp_path: Path, server: ModelServer) -> None:
    form = {"responseFormat": "json_schema", "jsonSchema": json.dumps({"name": "n", "schema": CLOSED})}
    file = {**CAPITALS, **form, "testData": CAPITALS["testData"][:1]}
    repo = repo_of(tmp_path, server, [CHAT], file)
    assert repo.run("run").code == 0
    (body,) = [dict(logged.body) for logged in server.requests]
    assert body["response_format"]["json_schema"]["schema"] == CLOSED


def test_a_changed_prompt_is_shown_as_text__and_a_worse_answer_fails_the_gate(
    tmp_path: Path, server: ModelServer
) -> None:
    policy = {"policy": [{"metric": "pass_rate", "floor": 0.5}, {"metric": "mean_score", "floor": 0.6}]}
    file = {**CAPITALS, "evaluators": CAPITALS["evaluators"]}
    repo = repo_of(tmp_path, server, [CHAT], file, **policy)
    assert repo.run("run").code == 0
    assert repo.run("baseline", "update").code == 0
    assert repo.run("check").code == 0
    talk = [CAPITALS["messages"][0], {"role": "user", "content": "Tell me about {{input}}."}]
    (tmp_path / "capitals.prompt.yml").write_text(json.dumps({**file, "messages": talk}), "utf-8")
    done = repo.run("check")
    assert done.code == 1, done.err
    assert "pass_rate is 0.0 % (0 of 2), below its floor of 50 %" in done.out + done.err
    comment = repo.path("comment.md").read_text("utf-8")
    assert "prompt:capitals" in comment
    page = repo.path("report.html").read_text("utf-8")
    assert "Tell me about" in page
    assert "What is the capital of" in page


def test_where_nobody_judges__the_cases_are_not_measured(tmp_path: Path, server: ModelServer) -> None:
    repo = repo_of(tmp_path, server, [CHAT])
    config = json.loads((tmp_path / "evalward.yml").read_text("utf-8"))
    del config["judge"]
    (tmp_path / "evalward.yml").write_text(json.dumps(config), "utf-8")
    repo.run("run")
    assert {case["reason"] for case in repo.cases().values()} == {"no_judge"}
    assert server.requests == []
