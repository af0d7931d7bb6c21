"""Live targets against the local model server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalward.config import LoadedConfig
from evalward.config.load import parse_config
from evalward.keeper.models import live_target as live
from evalward.records.trace import Trace
from evalward.suites.loop import converse
from evalward.suites.tool import load_prompting
from evalward.targets.limiter import Limiters
from evalward.targets.models.common import Behaviour, LiveTarget
from evalward.targets.retry import RetryPolicy, Timing
from support.cases import FakeShell, case
from support.model_server import KEY, ModelServer
from support.model_server.api import Protocol

PROMPTING = load_prompting(Path(), None, None, "")
PROTOCOLS: Mapping[str, Protocol] = {"anthropic": "messages", "openai": "chat", "openai-responses": "responses"}
MODELS = {"anthropic": "claude-haiku-4-5", "openai": "gpt-5", "openai-responses": "gpt-5"}
PRICE = {"input": 1.0, "cache_read": 0.1, "cache_write": 2.0, "output": 10.0}
VARIABLE = "TEST_KEY"


@dataclass
class FakeTime:
    """A clock that only moves when somebody sleeps, and what was slept. Chance takes the largest number."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def timing(self) -> Timing:
        return Timing(clock=lambda: self.now, sleep=self.sleep, uniform=lambda _, high: high)


def live_config(targets: Sequence[str], providers: Mapping[str, Any], **more: Any) -> LoadedConfig:
    """A config with one suite of these targets."""
    suite = {"name": "shell", "kind": "bash", "cases": "cases.jsonl", "targets": list(targets)}
    config = {"version": 1, "suites": [suite], "providers": dict(providers), **more}
    return parse_config(json.dumps(config), "evalward.yml", Path("/nowhere"))


def live_target(
    server: ModelServer | str,
    provider: str,
    model: str = "",
    *,
    env: Mapping[str, str] | None = None,
    policy: RetryPolicy | None = None,
    time: FakeTime | None = None,
    limiters: Limiters | None = None,
    **settings: Any,
) -> LiveTarget:
    """A live target that asks the server (or another address) and never really sleeps."""
    name = model or MODELS[provider]
    if isinstance(server, ModelServer):
        url = server.messages_url if provider == "anthropic" else server.openai_url
    else:
        url = server
    given = {"base_url": url, "key_env": VARIABLE, "prices": {name: PRICE}, "timeout_s": 20, **settings}
    asked = {key: value for key, value in given.items() if value is not None}
    loaded = live_config([f"{provider}/{name}"], {provider: asked})
    target = live(provider, name, loaded.config, {VARIABLE: KEY} if env is None else env, limiters)
    target.behaviour = Behaviour(policy or RetryPolicy(), (time or FakeTime()).timing())
    return target


async def talk(
    target: LiveTarget,
    shell: FakeShell | None = None,
    prompt: str = "Do it.",
    max_turns: int = 10,
    *,
    close: bool = True,
) -> Trace:
    """One conversation of the agent loop with the target, which is closed then."""
    chat = target.open(case(), 1)
    try:
        return await converse(
            chat, shell or FakeShell(), system="Be good.", tool=PROMPTING.tool, prompt=prompt, max_turns=max_turns
        )
    finally:
        if close:
            await target.close()
