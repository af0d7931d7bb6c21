"""Live runs as users have them: real `evalward` processes in a repository of their own, and what they leave."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from support import warm
from support.model_server import KEY, MODELS, Answer, Conversation, ModelServer, Script, Tokens, bash

VARIABLE = "GATEWAY_KEY"
CLAUDE, CHAT, RESPONSES = "anthropic/claude-haiku-4-5", "openai/gpt-5", "openai-responses/gpt-5"
EVERYWHERE = (CLAUDE, CHAT, RESPONSES)
OUTPUT = "evalward-out"
PRICE = {"input": 1.0, "cache_read": 0.1, "cache_write": 2.0, "output": 10.0}
TOKENS = Tokens(input=70, cache_read=20, output=30, reasoning=12)  # of every turn
CLOCKS = {"created_at", "duration_ms", "working_ms", "wall_ms", "avg_duration_ms", "total_duration_ms"}


def task(name: str, *scripts: str, **more: Any) -> dict[str, Any]:
    """A case that is passed when `name` was printed; the model runs these scripts, one a turn."""
    return {
        "id": name,
        "category": "echo",
        "prompt": f"Print the word {name}.",
        "expectations": [{"check": f"stdout_contains:{name}"}, {"check": "exit_code:0"}],
        "solution": list(scripts) or [f"echo {name}"],
        **more,
    }


TASKS = (
    task("alpha"),
    task("beta", "mkdir -p /tmp/b", "echo beta | tee /tmp/b/file"),
    task("gamma", "cat /no/such/file", "echo gamma"),
    task("delta", "echo something else"),  # failed
)


def model_of(tasks: Iterable[Mapping[str, Any]], *more: Conversation) -> Script:
    """A model that answers each task with its scripts, then says that it is done."""
    end = Answer(text="Done.", tokens=TOKENS)
    known = [
        Conversation(str(item["prompt"]), (*(bash(each, tokens=TOKENS) for each in item["solution"]), end))
        for item in tasks
    ]
    return Script((*more, *known))


def answering(name: str, *answers: Answer) -> Conversation:
    """The conversation of the task of this name."""
    return Conversation(f"the word {name}.", answers)


@dataclass(frozen=True)
class Done:
    """What a process did."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Repo:
    """A repository with a suite whose targets are served by `server`."""

    root: Path
    server: ModelServer
    env: dict[str, str] = field(default_factory=dict)

    def copied(self, place: Path) -> Repo:
        """The same in a folder that is empty or not there yet, served by the same server."""
        return replace(self, root=shutil.copytree(self.root, place, symlinks=True, dirs_exist_ok=True))

    def write(
        self,
        targets: Sequence[str] = (CHAT,),
        tasks: Sequence[Mapping[str, Any]] = TASKS,
        *,
        suite: Mapping[str, Any] | None = None,
        more: Mapping[str, Any] | None = None,
        **provider: Any,
    ) -> None:
        """The config and the cases. `provider` holds for every provider, `more` stands at the config's top."""
        prices = dict.fromkeys(MODELS, PRICE)
        providers = {
            name: {"base_url": url, "key_env": VARIABLE, "prices": prices, **provider}
            for name, url in (
                ("anthropic", self.server.messages_url),
                ("openai", self.server.openai_url),
                ("openai-responses", self.server.openai_url),
            )
        }
        one = {"name": "live", "kind": "bash", "cases": "cases.jsonl", "targets": list(targets), **(suite or {})}
        config = {"version": 1, "providers": providers, "suites": [one], **(more or {})}
        (self.root / "evalward.yml").write_text(json.dumps(config, indent=1), "utf-8")
        (self.root / "cases.jsonl").write_text("".join(json.dumps(item) + "\n" for item in tasks), "utf-8")

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> warm.Command:
        """A process under way."""
        basic = {"PATH": os.environ["PATH"], "HOME": str(self.root), "COLUMNS": "160", VARIABLE: KEY}
        return warm.start_evalward(*words, cwd=self.root, env={**basic, **self.env, **(env or {})})

    def run(self, *words: str, env: Mapping[str, str] | None = None) -> Done:
        """A process from beginning to end."""
        return ended(self.start(*words, env=env))

    def path(self, name: str = "report.json", folder: str = OUTPUT) -> Path:
        """A file of the output."""
        return self.root / folder / name

    def report(self, folder: str = OUTPUT) -> dict[str, Any]:
        """What was measured."""
        found: dict[str, Any] = json.loads(self.path(folder=folder).read_text("utf-8"))
        return found

    def cases(self, folder: str = OUTPUT) -> dict[str, dict[str, Any]]:
        """The results of the only run with one trial a case, by id."""
        (run,) = self.report(folder)["runs"]
        return {case["id"]: case for case in run["cases"]}

    def trials(self, folder: str = OUTPUT) -> list[Path]:
        """The trial files."""
        return sorted((self.root / folder / "trials").rglob("*.json"))

    def hidden(self) -> list[Path]:
        """What writers have left behind by mistake."""
        return [path for path in self.root.rglob(".*") if path.is_file()]

    def asked(self, since: int = 0) -> list[str]:
        """The first words of the conversations of every request, in order."""
        return [logged.asked.prompt for logged in self.server.requests[since:] if logged.asked]


def repo_with(root: Path, server: ModelServer, baseline: bytes, tasks: Sequence[Mapping[str, Any]], more: Any) -> Repo:
    """A repository with these cases and a committed baseline; `more` stands at the config's top."""
    (root / ".evalward").mkdir()
    (root / ".evalward" / "baseline.json").write_bytes(baseline)
    repo = Repo(root, server)
    repo.write(tasks=tasks, more=more)
    return repo


def ended(process: warm.Command, timeout: float = warm.PATIENCE_S) -> Done:
    """What the process did, when it ends by itself; nothing may look as if we broke."""
    done = warm.ended(process, timeout=timeout)
    assert "internal error" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def timeless(value: Any) -> Any:
    """A record without what clocks say."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in CLOCKS}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def values(run: Mapping[str, Any]) -> dict[str, float | None]:
    """The metrics of a run, without those of clocks."""
    return {name: metric["value"] for name, metric in run["metrics"].items() if name not in CLOCKS}
