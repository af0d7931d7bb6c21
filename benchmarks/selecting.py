"""Suites of kind mcp in mode select: what a trial costs beyond its request, and what many tools take of memory."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anthropic
import openai

from benchmarks.measure import EVALWARD, Row, Spent, middle, ms, ratio, spent, watched
from benchmarks.raw import together
from benchmarks.suites import ENV, MODELS, VARIABLE, run_here
from evalward.suites.mcp.offered import SYSTEM_PROMPT
from support.model_server import KEY, Answer, Call, Conversation, Remote, Script, Settings, spawned

TITLE = "One trial that selects tools (n = 200), against the SDK alone; and many tools"
FEW, MANY = 12, 200
"""Tools of a server."""
WARM, CASES = 8, 200
_MEMORY_CASES = 100


def tool(number: int) -> dict[str, Any]:
    """A tool as `tools/list` has it, of the size of real ones."""
    words = "Searches the records of this kind by their text, and gives back those that fit best, the newest first."
    properties = {
        "query": {"type": "string", "description": "What to look for, in the words of the records"},
        "limit": {"type": "integer", "minimum": 1, "description": "How many to give back"},
    }
    schema = {"type": "object", "properties": properties, "required": ["query"]}
    return {"name": f"search_{number}", "description": words, "inputSchema": schema}


def settings() -> Settings:
    """A model that calls the first tool, whatever it is asked."""
    answer = Answer(calls=(Call({"query": "word"}, "search_0"),))
    return Settings(script=Script((Conversation("word", (answer,)),)))


def write_suite(folder: Path, server: Remote, targets: list[str], tools: int, cases: int) -> Path:
    """A suite of so many tools and cases, one trial each; the path of its config."""
    folder.mkdir(parents=True, exist_ok=True)
    expect = {"calls": [{"tool": "search_0", "args": {"query": "word"}}]}
    lines = [{"id": f"c{n}", "prompt": f"Look for word{n:05d}.", "expect": expect} for n in range(cases)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    (folder / "tools.json").write_text(json.dumps([tool(n) for n in range(tools)]), "utf-8")
    urls = {"anthropic": server.messages_url, "openai": server.openai_url, "openai-responses": server.openai_url}
    suite = {"name": "t", "kind": "mcp", "server": {"snapshot": "tools.json"}, "cases": "cases.jsonl"}
    config = {
        "version": 1,
        "providers": {name: {"base_url": url, "key_env": VARIABLE} for name, url in urls.items()},
        "suites": [{**suite, "targets": targets}],
    }
    path = folder / "evalward.yml"
    path.write_text(json.dumps(config), "utf-8")
    return path


def selecting() -> list[Row]:
    """One more trial, against the same request by the SDK alone; and the memory of many trials with many tools."""
    with tempfile.TemporaryDirectory(prefix="evalward-bench-") as name, spawned(settings()) as server:
        here = Path(name)
        return [*_trial_rows(here, server), _memory_row(here, server)]


def _trial_rows(here: Path, server: Remote) -> list[Row]:
    rows = []
    clocks: Mapping[str, Callable[[Spent], float]] = {
        "processor of the keeper": lambda each: each.cpu,
        "processor of keeper and runner": lambda each: each.cpu + each.below,
    }
    for provider in MODELS:
        for tools in (FEW, MANY if provider == "anthropic" else 128):
            ours, sdk = _trials(here / f"{provider}{tools}", server, provider, tools)
            for clock, of in clocks.items():
                took, held = of(middle(ours)) / CASES, of(middle(sdk)) / CASES
                what = f"{provider}, {tools} tools: {clock}"
                rows.append(Row(what, ms(took), ms(held), ratio(ours, sdk, of), "≤ 1.5"))
    return rows


def _trials(here: Path, server: Remote, provider: str, tools: int) -> tuple[list[Spent], list[Spent]]:
    targets = [f"{provider}/{MODELS[provider]}"]
    small = write_suite(here / "small", server, targets, tools, WARM)
    config = write_suite(here / "suite", server, targets, tools, WARM + CASES)
    run_here(small, "warm")
    ask(server, provider, tools, WARM)
    ours, sdk = [], []
    for number in range(5):
        few = spent(lambda: ask(server, provider, tools, WARM))
        sdk.append(spent(lambda: ask(server, provider, tools, WARM + CASES)).beyond(few))
        few = spent(partial(run_here, small, f"out{number}"))
        ours.append(spent(partial(run_here, config, f"out{number}")).beyond(few))
    return ours, sdk


def _memory_row(here: Path, server: Remote) -> Row:
    targets = ["anthropic/claude-haiku-4-5", "openai/gpt-5", "openai-responses/gpt-5"]
    took = []
    for tools, cases in ((FEW, WARM), (MANY, _MEMORY_CASES)):
        config = write_suite(here / f"memory{cases}", server, targets, tools, cases)
        took.append(watched(EVALWARD, "run", "--config", config, cwd=config.parent, env=ENV))
    few, many = took
    what = f"peak of memory, {MANY} tools × {_MEMORY_CASES} cases × 3 targets"
    more = many.peak_mb - few.peak_mb
    against = f"{few.peak_mb:.0f} MB ({FEW} tools, {WARM} cases)"
    return Row(what, f"{many.peak_mb:.0f} MB ({more:+.0f})", against, many.peak_mb / few.peak_mb, "< 100 MB")


def ask(server: Remote, provider: str, tools: int, cases: int) -> None:
    """Have so many conversations of one turn by the SDK alone."""
    asyncio.run((_anthropic if provider == "anthropic" else _openai)(server, tools, cases))


async def _anthropic(server: Remote, tools: int, cases: int) -> None:
    offered: Any = [
        {"name": each["name"], "description": each["description"], "input_schema": each["inputSchema"]}
        for each in map(tool, range(tools))
    ]
    async with anthropic.AsyncAnthropic(api_key=KEY, base_url=server.messages_url, max_retries=0) as client:

        async def one(number: int) -> None:
            messages: Any = [{"role": "user", "content": f"Look for word{number:05d}."}]
            said = await client.messages.create(
                model=MODELS["anthropic"], max_tokens=16_000, system=SYSTEM_PROMPT, tools=offered, messages=messages
            )
            assert [block.name for block in said.content if block.type == "tool_use"] == ["search_0"]

        await together(one, cases, 8)


async def _openai(server: Remote, tools: int, cases: int) -> None:
    offered: Any = [
        {
            "type": "function",
            "function": {
                "name": each["name"],
                "description": each["description"],
                "parameters": each["inputSchema"],
            },
        }
        for each in map(tool, range(tools))
    ]
    async with openai.AsyncOpenAI(api_key=KEY, base_url=server.openai_url, max_retries=0) as client:

        async def one(number: int) -> None:
            asked = {"role": "user", "content": f"Look for word{number:05d}."}
            messages: Any = [{"role": "system", "content": SYSTEM_PROMPT}, asked]
            answer = await client.chat.completions.create(model=MODELS["openai"], messages=messages, tools=offered)
            assert answer.choices[0].message.tool_calls

        await together(one, cases, 8)
