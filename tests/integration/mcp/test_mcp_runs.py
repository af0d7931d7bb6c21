"""Suites of kind mcp over the wire: three protocols against the model server, gate, comment and baseline, a replay."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.live_runs import CHAT, CLAUDE, RESPONSES, Repo
from support.mcp_suites import CASES, ORDERS, SEARCH, write_json
from support.model_server import Answer, Call, Conversation, ModelServer, Script

SERVER = {"server": {"snapshot": "orders.json"}, "cases": "mcp.jsonl"}


def calls(prompt: str, *made: Call, text: str = "") -> Conversation:
    return Conversation(prompt, (Answer(text=text, calls=made),))


SCRIPT = Script(
    (
        calls("of tulips", Call({"query": "tulips", "limit": 3}, "search_orders")),
        calls("5 newest", Call({"query": "newest"}, "search_orders")),
        calls("Cancel order", Call({"id": "A-7"}, "order_cancel"), text="At once."),
        calls("Say hello", text="Hello."),
    )
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(SCRIPT) as running:
        yield running


def repo_of(root: Path, server: ModelServer, targets: Sequence[str], tools: Any = ORDERS, **more: Any) -> Repo:
    repo = Repo(root, server)
    suite = {"name": "tools", "kind": "mcp", **SERVER, **more.pop("suite", {})}
    repo.write(targets, (), suite=suite, more=more)
    write_json(root, "mcp.jsonl", "".join(json.dumps(case) + "\n" for case in CASES))
    write_json(root, "orders.json", list(tools))
    return repo


def names_sent(body: Mapping[str, Any]) -> list[str]:
    return [tool.get("function", tool)["name"] for tool in body["tools"]]


@pytest.mark.parametrize("target", [CLAUDE, CHAT, RESPONSES])
def test_each_case_is_asked_once__and_the_calls_are_judged(tmp_path: Path, server: ModelServer, target: str) -> None:
    repo = repo_of(tmp_path, server, [target])
    done = repo.run("run")
    assert done.code == 0, done.err
    assert {name: (case["status"], case["reason"]) for name, case in repo.cases().items()} == {
        "find": ("passed", None),
        "newest": ("failed", "wrong_tool"),
        "stop": ("passed", None),
        "hello": ("passed", None),
    }
    assert all(logged.error is None for logged in server.requests)
    assert len(server.requests) == len(CASES)
    assert all(
        names_sent(logged.body) == ["search_orders", "list_orders", "order_cancel"] for logged in server.requests
    )
    (run,) = repo.report()["runs"]
    values = {name: metric["value"] for name, metric in run["metrics"].items()}
    assert values["tool_selection_accuracy"] == pytest.approx(2 / 3)
    assert values["abstention_accuracy"] == 1.0
    assert values["forbidden_call_rate"] == 0.0
    assert values["argument_validity_rate"] == 1.0
    assert "order_cancel" not in repo.path("report.md").read_text("utf-8")
    shown = repo.run("show", "stop", "--report", "evalward-out/report.json")
    assert "order.cancel" in shown.out
    assert "order_cancel" not in shown.out


def test_a_worse_description_fails_the_gate__and_the_comment_shows_it(tmp_path: Path, server: ModelServer) -> None:
    policy = [{"metric": "tool_selection_accuracy", "floor": 0.6, "max_drop": 0.03}]
    repo = repo_of(tmp_path, server, [CHAT], policy=policy)
    first = repo.run("check")
    assert first.code == 0, first.err
    assert repo.run("baseline", "update", "--report", "evalward-out/report.json").code == 0
    with ModelServer(Script((calls("of tulips", Call({}, "list_orders")), *SCRIPT.conversations))) as mistaken:
        repo_of(tmp_path, mistaken, [CHAT], [{**SEARCH, "description": "Look at orders."}, *ORDERS[1:]], policy=policy)
        done = repo.run("check")
    assert done.code == 1, done.err
    comment = repo.path("comment.md").read_text("utf-8")
    assert "tool:search_orders" in comment
    page = repo.path("report.html").read_text("utf-8")
    assert "Find orders by a text." in page
    assert "Look at orders." in page
    assert repo.cases()["find"]["reason"] == "wrong_tool"
    baseline = json.loads((tmp_path / ".evalward/baseline.json").read_text("utf-8"))
    assert "tulips" not in json.dumps(baseline["runs"])
    again = repo.run("compare", "--report", "evalward-out/report.json", "--baseline", ".evalward/baseline.json")
    assert again.code == 1
    assert "tool_selection_accuracy" in again.out


def test_a_replay_scores_a_recording_again(tmp_path: Path, server: ModelServer) -> None:
    repo = repo_of(tmp_path, server, [CHAT])
    assert repo.run("run", "--record", "rec/gpt.jsonl").code == 0
    asked = len(server.requests)
    recorded = repo.cases()
    replay = repo_of(tmp_path, server, ["replay:gpt"], recordings={"gpt": "rec/gpt.jsonl"})
    done = replay.run("run")
    assert done.code == 0, done.err
    assert len(server.requests) == asked
    found = replay.cases()
    assert {name: (each["status"], each["reason"]) for name, each in found.items()} == {
        name: (each["status"], each["reason"]) for name, each in recorded.items()
    }
    assert found["stop"]["details"]["calls"] == recorded["stop"]["details"]["calls"]
    assert found["stop"]["details"]["replayed"] is True
    stricter = [{**SEARCH, "inputSchema": {**SEARCH["inputSchema"], "required": ["query", "page"]}}, *ORDERS[1:]]
    write_json(tmp_path, "orders.json", stricter)
    assert replay.run("run").code == 0
    assert replay.cases()["find"]["details"]["valid"] == 0


def test_a_tool_that_one_provider_refuses_is_said__before_anything_is_asked(
    tmp_path: Path, server: ModelServer
) -> None:
    odd = {"name": "odd", "inputSchema": {"type": "object", "properties": {"a b": {}}, "dependentRequired": {}}}
    repo = repo_of(tmp_path, server, [CLAUDE, CHAT], [*ORDERS, odd])
    done = repo.run("validate")
    assert done.code == 0
    assert 'warning: odd is left out for models of Anthropic: its argument "a b" has a name' in done.out
    assert not server.requests
    assert repo.run("run").code == 0
    sent = {"order_cancel" in names_sent(each.body) and "odd" in names_sent(each.body) for each in server.requests}
    assert sent == {True, False}
    assert any("odd is left out for models of Anthropic" in str(each) for each in repo.report()["warnings"])


def test_a_case_of_a_tool_that_is_left_out_is_wrong__and_no_failure_of_the_model(
    tmp_path: Path, server: ModelServer
) -> None:
    odd = {**ORDERS[1], "inputSchema": {"type": "object", "anyOf": [{}]}}
    repo = repo_of(tmp_path, server, [CHAT], [SEARCH, odd, ORDERS[2]])
    done = repo.run("validate")
    assert done.code == 2
    assert "mcp.jsonl:2: newest: models of OpenAI can't be offered the tool" in done.err
    assert "has anyOf at the top" in done.err
    assert not server.requests
    assert repo.run("run").code == 0
    (skipped,) = [case for case in repo.cases().values() if case["status"] != "passed"]
    assert (skipped["id"], skipped["status"], skipped["reason"]) == ("newest", "skipped", "tool_left_out")
    assert "5 newest" not in " ".join(repo.asked())
    (run,) = repo.report()["runs"]
    assert run["metrics"]["tool_selection_accuracy"]["value"] == 1.0
