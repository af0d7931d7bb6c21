"""`evalward guidance` with other descriptions of an MCP server's tools, asked of a model."""

from __future__ import annotations

import json
from pathlib import Path

from evalward.records.guidance import GuidanceReport
from support.live_runs import CHAT, Repo
from support.mcp_suites import FIND, HELLO, ORDERS, write_json
from support.model_server import Answer, Call, Conversation, ModelServer, Script

SAID = "Looks for words in orders."
SCRIPT = Script(
    (
        Conversation("tulips", (Answer(calls=(Call({"query": "tulips"}, "search_orders"),)),)),
        Conversation("hello", (Answer(text="Hello!"),)),
    )
)
SUITE = {
    "name": "t",
    "kind": "mcp",
    "server": {"snapshot": "orders.json"},
    "cases": "c.jsonl",
    "variants": {"better": "better.yaml"},
}


def repo_of(root: Path, models: ModelServer, *targets: str) -> Repo:
    repo = Repo(root, models)
    repo.write(targets, (), suite=SUITE)
    write_json(root, "c.jsonl", "".join(json.dumps(case) + "\n" for case in (FIND, HELLO)))
    write_json(root, "orders.json", list(ORDERS))
    write_json(root, "better.yaml", f"search_orders: {SAID}\n")
    return repo


def test_a_model_reads_both_and_the_report_has_them_side_by_side(tmp_path: Path) -> None:
    with ModelServer(SCRIPT) as server:
        repo = repo_of(tmp_path, server, CHAT, "oracle")
        assert repo.run("validate").code == 0
        done = repo.run("guidance", "--trials", "2")
        bodies = [json.dumps(logged.body) for logged in server.requests]
    assert done.code == 0, done.err
    assert len(bodies) == 2 * 2 * 2, done.out
    assert sum(SAID in body for body in bodies) == 4
    model, oracle = GuidanceReport.model_validate_json(repo.path("guidance.json").read_bytes()).comparisons
    assert [(column.name, column.trials) for column in model.columns] == [("current", 4), ("better", 4)]
    assert {d.metric: d.standing for d in model.of("better")}["tool_selection_accuracy"] == "same"
    assert oracle.not_measured == "this target reads no descriptions: name a model under `targets`"
    assert "better against current: no difference." in " ".join(done.out.split())
    assert f"Descriptions: t × {CHAT}" in done.out
    assert "Guidance" not in done.out
    page = repo.path("guidance.md").read_text("utf-8")
    assert page.startswith("### Which descriptions are better?\n")
    assert "#### Descriptions: " in page


def test_a_target_that_reads_nothing_compares_nothing(tmp_path: Path) -> None:
    with ModelServer(Script()) as server:
        done = repo_of(tmp_path, server, "oracle").run("guidance")
    assert done.code == 3
    assert "this target reads no descriptions" in " ".join(done.out.split())


def test_an_ordinary_run_asks_with_the_servers_own_descriptions(tmp_path: Path) -> None:
    with ModelServer(SCRIPT) as server:
        done = repo_of(tmp_path, server, CHAT).run("run")
        bodies = [json.dumps(logged.body) for logged in server.requests]
    assert done.code == 0, done.err
    assert bodies
    assert not any(SAID in body for body in bodies)


def test_two_reports_name_the_tools_that_differ(tmp_path: Path) -> None:
    with ModelServer(SCRIPT) as server:
        repo = repo_of(tmp_path, server, CHAT)
        assert repo.run("run", "--output", "before").code == 0
        write_json(tmp_path, "orders.json", [{**ORDERS[0], "description": "Other words."}, *ORDERS[1:]])
        assert repo.run("run", "--output", "after").code == 0
        done = repo.run("guidance", "before/report.json", "after/report.json", "--format", "json")
    assert done.code == 0, done.err
    (found,) = json.loads(done.out)["comparisons"]
    assert [list(column["files"]) for column in found["columns"]] == [["tool:search_orders"]] * 2
