"""Writes the two hand-written recordings of this example.

No model ever made these calls: they are written here by hand, as a model might have made them. That is why the
recordings are called hand-written.

The story: a model picks the right tool for nearly every request (`before`). Then somebody makes two descriptions sound
better (`tools-after.json`): `list_orders` promises to find whatever there is, and is taken for `search_orders` six
times out of seven (`after`).

    python examples/mcp/write_recordings.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalward import api

HERE = Path(__file__).parent
SUITE = "tools"

Calls = Sequence[tuple[str, Mapping[str, Any]]]
"""Tools and their arguments; none where the model answers in words."""

BEFORE: Mapping[str, Calls] = {
    "search-tulips": [("search_orders", {"query": "tulips"})],
    "search-birthday": [("search_orders", {"query": "for a birthday"})],
    "search-open-roses": [("search_orders", {"query": "roses", "status": "open"})],
    "search-vase": [("search_orders", {"query": "vase"})],
    "search-ribbon": [("search_orders", {"query": "red ribbon"})],
    "search-cancelled-lilies": [("search_orders", {"query": "lilies", "status": "cancelled"})],
    "search-wedding": [("search_orders", {"query": "wedding"})],
    "list-newest": [("list_orders", {"limit": 10})],
    "list-of-customer": [("list_orders", {"customer": "C-7", "since": "2026-01-01"})],
    "get-order": [("get_order", {"order": "O-1042"})],
    "get-stock": [("get_stock", {"article": "peonies"})],
    "spring-articles": [("list_articles", {"season": "spring"})],
    "new-order": [("create_order", {"customer": "C-12", "articles": ["tulips", "vase"]})],
    "new-address": [("change_address", {"order": "O-1050", "address": "4 Mill Lane"})],
    "cancel-and-say-so": [
        ("cancel_order", {"order": "O-1042"}),
        ("send_message", {"customer": "C-7", "text": "We are sorry: your order O-1042 is cancelled."}),
    ],
    "refund-part": [("refund_order", {"order": "O-1033", "euros": 12.5})],
    "greeting": [],
    "how-long-tulips-last": [],
    "no-tool-for-it": [],
    "thanks": [],
}
AFTER: Mapping[str, Calls] = {
    **BEFORE,
    "search-tulips": [("list_orders", {"limit": 100})],
    "search-birthday": [("list_orders", {"query": "for a birthday"})],
    "search-vase": [("list_orders", {"query": "vase"})],
    "search-ribbon": [("list_orders", {})],
    "search-cancelled-lilies": [("list_orders", {"status": "cancelled"})],
    "search-wedding": [("list_orders", {"limit": 100})],
}
IN_WORDS = "I can help with orders, customers and stock."


class HandWritten(api.OfflineTarget):
    """A target that makes the calls that stand above. Their tokens are unknown, as there are none."""

    random = False
    subject: Mapping[str, str] = {}

    def __init__(self, version: str, calls: Mapping[str, Calls]) -> None:
        self.id = f"hand-written/{version}"
        self._calls = calls

    def open(self, case: api.Case, trial: int) -> api.Chat:
        return HandWrittenChat(self._calls[case.id])


class HandWrittenChat:
    """One turn."""

    recording: api.Trace | None = None

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def send(self, request: api.Request) -> api.Reply:
        uses = [
            api.ToolUse(id=f"call-{number}", name=tool, input=dict(arguments))
            for number, (tool, arguments) in enumerate(self._calls, 1)
        ]
        content = uses or [api.Text(text=IN_WORDS)]
        return api.Reply(
            api.Message(role="assistant", content=list(content)), api.Turn(stop="tool_use" if uses else "end")
        )


def without_clock(trial: api.Trial) -> api.Trial:
    """Without durations: a recording that is written again shall be the same."""
    turns = [turn.model_copy(update={"wall_ms": 0, "working_ms": 0}) for turn in trial.trace.turns]
    trace = trial.trace.model_copy(update={"turns": turns, "duration_ms": 0, "working_ms": 0})
    result = trial.result.model_copy(update={"duration_ms": 0})
    return trial.model_copy(update={"result": result, "trace": trace})


def main() -> None:
    for version, config, calls in (("before", "evalward.yml", BEFORE), ("after", "pull-request.yml", AFTER)):
        trials = api.record(api.load_config(HERE / config), SUITE, HandWritten(version, calls))
        path = HERE / "recordings" / f"hand-written-{version}.jsonl"
        path.parent.mkdir(exist_ok=True)
        lines = [without_clock(each).model_dump_json(by_alias=True) for each in trials]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        print(f"{path.relative_to(HERE)}: {len(lines)} trials")


if __name__ == "__main__":
    main()
