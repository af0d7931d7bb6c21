"""What Anthropic's prompt cache saves, by the accounting of the model server: a ratio of tokens, no time."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import Row
from benchmarks.suites import ENV, VARIABLE
from evalward.commands.run import RunOptions, run
from evalward.commands.world import World
from support.model_server import MODELS, Answer, CacheRules, Call, Conversation, ModelServer, Script

CACHING = "Input tokens of the example's 37 tasks with prompt caching, against the same without"
EXAMPLE = Path(__file__).parents[1] / "examples" / "bash-tools"
RULES = CacheRules({"claude-haiku-4-5": 4096, "claude-sonnet-5": 1024}, least=512)
GUIDE = "\n".join(f"{number}. Read the output of a command before you write the next one." for number in range(360))
READ, WRITTEN = 0.1, 1.25  # what a token costs, as a part of a fresh one


def caching() -> list[Row]:
    """For the least sizes that providers cache: the example as it is, and with a system prompt of 6,000 tokens."""
    models = ("claude-haiku-4-5", "claude-sonnet-5", "claude-opus-5")
    plain = [_row(model, "", trials) for model in models for trials in (1, 5)]
    return plain + [_row(model, GUIDE, trials) for model in models[:2] for trials in (1, 5)]


def _row(model: str, system: str, trials: int) -> Row:
    read, written, fresh = used(model, system, trials)
    whole = read + written + fresh
    paid = fresh + READ * read + WRITTEN * written
    least = RULES.minimums.get(model, RULES.least)
    prompt = "a long system prompt" if system else "the example's system prompt"
    shares = f"{read / whole:.0%} read, {written / whole:.0%} written"
    what = f"{prompt}, trials: {trials}, cached from {least:,} tokens on: {shares}"
    return Row(what, f"{paid:,.0f}", f"{whole:,} fresh tokens", paid / whole)


def used(model: str, system: str, trials: int) -> tuple[int, int, int]:
    """Tokens that the runs read from the cache, wrote to it, and sent fresh."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ModelServer(script(), caching=RULES, models=(*MODELS, "claude-opus-5")) as server,
    ):
        config = _config(Path(folder), server.messages_url, model, system, trials)
        world = World(io.StringIO(), io.StringIO(), lambda: "2026-01-01T00:00:00Z", env=ENV, cwd=config.parent)
        code = run(world, RunOptions(config=config, output=config.parent / "out"))
        assert code == 0, world.err
        counted = [logged.counted for logged in server.requests]
    return (
        sum(each.read for each in counted if each),
        sum(each.written for each in counted if each),
        sum(each.input for each in counted if each),
    )


def _config(folder: Path, url: str, model: str, system: str, trials: int) -> Path:
    shutil.copytree(EXAMPLE / "cases", folder / "cases")
    (folder / "system.md").write_text(system or "You solve tasks with a shell.\n", "utf-8")
    suite = {"name": "bash-tools", "kind": "bash", "cases": "cases/*.jsonl", "targets": [f"anthropic/{model}"]}
    if system:
        suite["system"] = "system.md"
    provider = {"base_url": url, "key_env": VARIABLE, "prompt_cache": True}
    config = {"version": 1, "providers": {"anthropic": provider}, "suites": [{**suite, "trials": trials}]}
    path = folder / "evalward.yml"
    path.write_text(json.dumps(config), "utf-8")
    return path


def script() -> Script:
    """The model of the example's recording: what it typed in each task, turn by turn."""
    lines = (EXAMPLE / "recordings" / "hand-written-before.jsonl").read_text("utf-8").splitlines()
    talks = [json.loads(line)["trace"]["messages"] for line in lines]
    return Script(tuple(_conversation(talk) for talk in sorted(talks, key=lambda talk: -len(_text(talk[0])))))


def _conversation(talk: list[dict[str, Any]]) -> Conversation:
    return Conversation(_text(talk[0]), tuple(_answers(talk)))


def _answers(talk: list[dict[str, Any]]) -> Iterator[Answer]:
    for message in talk:
        if message["role"] == "assistant":
            calls = [Call(block["input"]) for block in message["content"] if block["type"] == "tool_use"]
            yield Answer(text=_text(message), calls=tuple(calls))


def _text(message: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in message["content"] if block["type"] == "text")
