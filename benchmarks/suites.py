"""Suites of any size, and the model that solves them in two turns each."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from evalward.commands.run import RunOptions, run
from evalward.commands.world import World
from support.model_server import KEY, Remote, Script, Settings, oracle_like

VARIABLE = "BENCH_KEY"
MODELS = {"anthropic": "claude-haiku-4-5", "openai": "gpt-5"}
TURNS = 2
ENV = {VARIABLE: KEY}


def prompt(number: int) -> str:
    """What the model is asked."""
    return f"Print word{number:05d}."


def task(number: int) -> dict[str, Any]:
    """A case."""
    word = f"word{number:05d}"
    checks = [{"check": f"stdout_contains:{word}"}, {"check": "exit_code:0"}]
    return {
        "id": word,
        "category": "echo",
        "prompt": prompt(number),
        "expectations": checks,
        "solution": f"echo {word}",
    }


def server_settings(latency: float = 0.0) -> Settings:
    """A model that needs no looking up: the same answers to everybody, so that the server is not what is measured."""
    return Settings(script=Script(oracle_like({"word": ["echo $((1))"]}).conversations), latency=latency)


def write_suite(folder: Path, server: Remote, provider: str, cases: int, concurrency: int = 8) -> Path:
    """A suite of so many cases, one trial each; the path of its config."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({**task(n), "expectations": [{"check": "stdout_contains:1"}]}) + "\n" for n in range(cases)]
    (folder / "cases.jsonl").write_text("".join(lines), "utf-8")
    url = server.messages_url if provider == "anthropic" else server.openai_url
    config = {
        "version": 1,
        "providers": {provider: {"base_url": url, "key_env": VARIABLE, "concurrency": concurrency}},
        "suites": [
            {"name": "bench", "kind": "bash", "cases": "cases.jsonl", "targets": [f"{provider}/{MODELS[provider]}"]}
        ],
    }
    path = folder / "evalward.yml"
    path.write_text(json.dumps(config), "utf-8")
    return path


def run_here(config: Path, output: str = "out") -> None:
    """`evalward run` in this process; everything has to pass."""
    world = World(io.StringIO(), io.StringIO(), lambda: "2026-01-01T00:00:00Z", env=ENV, cwd=config.parent)
    code = run(world, RunOptions(config=config, output=config.parent / output))
    assert code == 0, world.err
    check_passed(config.parent / output / "report.json")


def check_passed(report: Path) -> int:
    """The number of trials, all of which passed."""
    (measured,) = json.loads(report.read_bytes())["runs"]
    assert {case["status"] for case in measured["cases"]} == {"passed"}
    return len(measured["cases"])
