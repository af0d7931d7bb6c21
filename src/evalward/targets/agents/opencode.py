"""`opencode/PROVIDER/MODEL`: the open agent, non-interactive, with a model of any of our providers."""

from __future__ import annotations

import json
from typing import Any

from evalward.records.providers import PROVIDERS
from evalward.targets.agents.base import AgentJob
from evalward.targets.agents.driver import AgentLaunch, Dialect, plain
from evalward.targets.agents.make import CodingAgent
from evalward.targets.agents.model_access import ModelLink
from evalward.targets.agents.readers import opencode

# A title of ours saves the request that would make one; --auto approves what would be asked.
ARGUMENTS = ("run", "--format", "json", "--auto", "--title", "evalward")
# Its own names of providers, by the protocol in which it asks them; Chat Completions go to one of ours.
_OWN = {"anthropic": "anthropic", "openai_responses": "openai"}
_OURS = "evalward"


def launch(executable: str, job: AgentJob, link: ModelLink | None) -> AgentLaunch:
    """Its configuration is given in a variable. It has no place for a system prompt: that goes before the task."""
    words = [executable, *ARGUMENTS]
    env = {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }
    if link is not None:
        model = f"{_own(link)}/{link.model}"
        env["OPENCODE_CONFIG_CONTENT"] = json.dumps(_config(link, model))
        words += ["--model", model]
    prompt = f"{job.system}\n\n{job.prompt}" if job.system else job.prompt
    return AgentLaunch(words, env, plain(prompt).encode())


def _own(link: ModelLink) -> str:
    return _OWN.get(PROVIDERS[link.provider].protocol, _OURS)


def _config(link: ModelLink, model: str) -> dict[str, Any]:
    provider: dict[str, Any] = {
        "options": {"baseURL": link.openai_url, "apiKey": link.token},
        "models": {link.model: {}},
    }
    if _own(link) == _OURS:
        provider |= {"npm": "@ai-sdk/openai-compatible", "name": "Evalward"}
    return {
        "provider": {_own(link): provider},
        "model": model,
        "small_model": model,
        "autoupdate": False,
        "share": "disabled",
    }


OPENCODE = CodingAgent("opencode", "opencode-ai", Dialect(launch, opencode.read))
