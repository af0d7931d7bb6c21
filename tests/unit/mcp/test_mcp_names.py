"""Names that models read: what every provider takes, one for each tool, the same in every run, and the way back."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from evalward.suites.mcp.catalogue import Catalogue
from evalward.suites.mcp.names import ToolNames
from support.mcp_suites import catalogue

TAKEN = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def tool(name: str) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}}


def server(name: str, *tools: str) -> Catalogue:
    return catalogue([tool(each) for each in tools], name)


def sent(names: ToolNames) -> dict[tuple[str, str], str]:
    return {(each.server, each.tool.name): each.sent for each in names.tools}


def test_a_name_that_providers_take_stays() -> None:
    names = ToolNames(server("s", "search_orders", "List-2"))
    assert [each.sent for each in names.tools] == ["search_orders", "List-2"]
    assert [each.shown for each in names.tools] == ["search_orders", "List-2"]


def test_others_are_told_apart__and_lead_back() -> None:
    own = server("s", "a.b", "a_b", "a/b", "ä b", "x" * 64, "x" * 65, "x" * 66)
    names = ToolNames(own)
    found = sent(names)
    assert found["s", "a_b"] == "a_b"
    assert found["s", "a.b"] != found["s", "a/b"]
    assert found["s", "ä b"] == "__b"
    assert found["s", "x" * 64] == "x" * 64
    assert len(set(found.values())) == len(own.tools)
    assert all(TAKEN.fullmatch(name) for name in found.values())
    for each in names.tools:
        assert names.find(each.sent) is each
        assert names.find(each.shown) is each
        assert names.shown(each.sent) == each.tool.name
    assert names.find("nope") is None
    assert names.shown("nope") == "nope"


def test_beside_other_servers_each_name_says_whose_it_is() -> None:
    names = ToolNames(server("orders", "search", "a.b"), [server("git hub", "search", "issues")])
    assert sent(names) == {
        ("orders", "search"): "orders__search",
        ("orders", "a.b"): "orders__a_b",
        ("git hub", "search"): "git_hub__search",
        ("git hub", "issues"): "git_hub__issues",
    }
    assert [each.shown for each in names.tools] == ["search", "a.b", "git hub:search", "git hub:issues"]
    assert [each.own for each in names.tools] == [True, True, False, False]
    found = names.find("git_hub__search")
    assert found is not None
    assert (found.server, found.tool.name, found.own) == ("git hub", "search", False)
    own = names.find("search")  # a recording, and the oracle, have the servers' own names
    assert own is not None
    assert own.own


@pytest.mark.parametrize(
    ("own", "others"),
    [
        (["a__b"], {"a": ["b"]}),  # the own tool's name is what the other's would be sent as
        (["x"], {"a": ["b__c"], "a__b": ["c"]}),
        (["o:x", ":o:x"], {"o": ["x"]}),  # the own tools' names are what the other's would be shown as
        (["orders__x", "x"], {"z": ["z"]}),
        (["", "é"], {"": ["é"], "é": [""]}),
    ],
)
def test_no_word_means_two_tools(own: list[str], others: dict[str, list[str]]) -> None:
    names = ToolNames(
        server("orders", *(each or "_" for each in own)),
        [server(name or "_", *(each or "_" for each in tools)) for name, tools in others.items()],
    )
    for each in names.tools:
        assert names.find(each.sent) is each
        assert names.find(each.shown) is each
        assert TAKEN.fullmatch(each.sent)
    words = [word for each in names.tools for word in {each.sent, each.shown}]
    assert len(set(words)) == len(words)


def test_any_names_are_mapped_alike_whatever_the_order() -> None:
    chance = random.Random(7)
    for _ in range(200):
        some = list(dict.fromkeys("".join(chance.choices("ab._ é", k=chance.randint(1, 3))) for _ in range(12)))
        forward = ToolNames(server("s", *some))
        backward = ToolNames(server("s", *reversed(some)))
        assert sent(forward) == sent(backward)
        assert len(set(sent(forward).values())) == len(some)
        assert all(forward.find(each.sent) is each and forward.find(each.shown) is each for each in forward.tools)


def test_a_tool_that_is_added_changes_no_name_but_those_it_is_taken_for() -> None:
    before = sent(ToolNames(server("s", "a.b", "c.d", "e")))
    now = sent(ToolNames(server("s", "a.b", "c.d", "e", "c d", "f.g")))
    assert {name for name in before if before[name] != now[name]} == {("s", "c.d")}
