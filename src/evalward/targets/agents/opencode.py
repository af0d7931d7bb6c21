"""`opencode/PROVIDER/MODEL`: the open agent, non-interactive, with a model of any of our providers."""

from __future__ import annotations

import json
from typing import Any

from evalward.targets.agents.base import AgentJob
from evalward.targets.agents.driver import Dialect, Launch, plain
from evalward.targets.agents.model_access import Link
from evalward.targets.agents.readers import opencode

PROGRAM = "opencode"
PACKAGE = "opencode-ai"
PROVIDERS = ("anthropic", "openai", "openai-responses")
# A title of ours saves the request that would make one; --auto approves what would be asked.
ARGUMENTS = ("run", "--format", "json", "--auto", "--title", "evalward")
# Its own names of the providers, under which it knows their models; Chat Completions go to one of ours.
_OWN = {"anthropic": "anthropic", "openai-responses": "openai", "openai": "evalward"}


def launch(executable: str, job: AgentJob, link: Link | None) -> Launch:
    """Its configuration is given in a variable. It has no place for a system prompt: that goes before the task."""
    words = [executable, *ARGUMENTS]
    env = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }
    if link is not None:
        model = f"{_OWN[link.provider]}/{link.model}"
        env["OPENCODE_CONFIG_CONTENT"] = json.dumps(_config(link, model))
        words += ["--model", model]
    prompt = f"{job.system}\n\n{job.prompt}" if job.system else job.prompt
    return Launch(words, env, plain(prompt).encode())


def _config(link: Link, model: str) -> dict[str, Any]:
    provider: dict[str, Any] = {
        "options": {"baseURL": link.openai_url, "apiKey": link.token},
        "models": {link.model: {}},
    }
    if link.provider == "openai":
        provider |= {"npm": "@ai-sdk/openai-compatible", "name": "Evalward"}
    return {
        "provider": {_OWN[link.provider]: provider},
        "model": model,
        "small_model": model,
        "autoupdate": False,
        "share": "disabled",
    }


DIALECT = Dialect(launch, opencode.read)
