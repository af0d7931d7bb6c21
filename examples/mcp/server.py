"""A flower shop as an MCP server over stdio: twelve tools, and orders in the file `orders.json` of its folder.

It needs nothing but Python, so that the example runs anywhere; your server is probably made with an SDK. What the tools
are called and how they are described stands in `tools.json`, or in the file that is its argument.

    evalward mcp snapshot --output tools.json -- python3 server.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Arguments = Mapping[str, Any]

STATE = Path("orders.json")
FIRST: dict[str, Any] = {
    "orders": {
        "O-1033": {"customer": "C-7", "articles": ["roses"], "status": "sent", "note": "red ribbon", "euros": 25.0},
        "O-1042": {"customer": "C-7", "articles": ["tulips", "vase"], "status": "open", "note": "", "euros": 31.5},
        "O-1050": {
            "customer": "C-12",
            "articles": ["roses"],
            "status": "open",
            "note": "for a birthday",
            "euros": 40.0,
        },
    },
    "customers": {"C-7": {"name": "Mara Lund"}, "C-12": {"name": "Ivo Brandt"}},
    "stock": {"peonies": 12, "roses": 80, "tulips": 45, "vase": 9},
    "messages": [],
}
SEASONS = {"spring": ["tulips"], "summer": ["peonies", "roses"], "autumn": [], "winter": ["vase"]}


class UnknownError(Exception):
    """What was asked for isn't there."""


class Shop:
    """What the tools do."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = json.loads(STATE.read_text("utf-8")) if STATE.exists() else FIRST

    def keep(self) -> None:
        """Write what changed."""
        STATE.write_text(json.dumps(self.state, indent=1, sort_keys=True) + "\n", "utf-8")

    def one(self, kind: str, name: str) -> dict[str, Any]:
        """An order or a customer."""
        found: dict[str, Any] | None = self.state[kind].get(name)
        if found is None:
            raise UnknownError(f"there is no {name}")
        return found

    def search_orders(self, given: Arguments) -> Any:
        """By words, and by status."""
        found = {name: order for name, order in self.state["orders"].items() if given["query"] in json.dumps(order)}
        return {name: order for name, order in found.items() if given.get("status") in {None, order["status"]}}

    def list_orders(self, given: Arguments) -> Any:
        """The newest first."""
        names = [n for n, o in self.state["orders"].items() if given.get("customer") in {None, o["customer"]}]
        return sorted(names, reverse=True)[: given.get("limit", 100)]

    def get_order(self, given: Arguments) -> Any:
        """One."""
        return self.one("orders", given["order"])

    def create_order(self, given: Arguments) -> Any:
        """A new one."""
        name = f"O-{1051 + len(self.state['orders']) - 3}"
        order = {"customer": given["customer"], "articles": given["articles"], "status": "open"}
        self.state["orders"][name] = {**order, "note": given.get("note", ""), "euros": 0.0}
        return {"order": name}

    def cancel_order(self, given: Arguments) -> Any:
        """Only an open one."""
        order = self.one("orders", given["order"])
        if order["status"] != "open":
            raise UnknownError(f"{given['order']} is {order['status']} already")
        order["status"] = "cancelled"
        return {"status": "cancelled"}

    def refund_order(self, given: Arguments) -> Any:
        """No more than it cost."""
        order = self.one("orders", given["order"])
        if given["euros"] > order["euros"]:
            raise UnknownError(f"{given['order']} cost {order['euros']} euros")
        order["euros"] -= given["euros"]
        return {"euros": order["euros"]}

    def change_address(self, given: Arguments) -> Any:
        """Of one order."""
        self.one("orders", given["order"])["address"] = given["address"]
        return {"address": given["address"]}

    def search_customers(self, given: Arguments) -> Any:
        """By name."""
        return {name: each for name, each in self.state["customers"].items() if given["query"] in each["name"]}

    def get_customer(self, given: Arguments) -> Any:
        """One."""
        return self.one("customers", given["customer"])

    def get_stock(self, given: Arguments) -> Any:
        """A number."""
        return {"count": self.state["stock"].get(given["article"], 0)}

    def list_articles(self, given: Arguments) -> Any:
        """Of a season, or all."""
        return SEASONS[given["season"]] if "season" in given else sorted(self.state["stock"])

    def send_message(self, given: Arguments) -> Any:
        """It is only kept."""
        self.one("customers", given["customer"])
        self.state["messages"].append(dict(given))
        return {"sent": True}


def call(shop: Shop, name: str, given: Arguments) -> dict[str, Any]:
    """What a tool answers: as text, as the protocol wants it."""
    tools: Mapping[str, Callable[[Arguments], Any]] = {
        each: getattr(shop, each) for each in dir(Shop) if each not in {"keep", "one"} and not each.startswith("_")
    }
    try:
        text, failed = json.dumps(tools[name](given)), False
        shop.keep()
    except (UnknownError, KeyError, TypeError) as error:
        text, failed = str(error), True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def answer(listed: Mapping[str, Any], shop: Shop, method: str, given: Arguments) -> dict[str, Any] | None:
    """The result of a request; `None` for a method that this server doesn't have."""
    if method == "initialize":
        about = {"name": listed["server"], "version": "1"}
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": about,
            "instructions": listed["instructions"],
        }
    if method == "tools/list":
        return {"tools": listed["tools"]}
    if method == "tools/call":
        return call(shop, given["name"], given.get("arguments") or {})
    return {} if method == "ping" else None


def main() -> None:
    """Answer one request a line."""
    file = Path(__file__).parent / (sys.argv[1] if len(sys.argv) > 1 else "tools.json")
    listed, shop = json.loads(file.read_text("utf-8")), Shop()
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(listed, shop, request["method"], request.get("params") or {})
        said = {"result": result} if result is not None else {"error": {"code": -32601, "message": "Method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **said}), flush=True)


if __name__ == "__main__":
    main()
