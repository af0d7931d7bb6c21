"""`codex/MODEL`: OpenAI's agent, non-interactive; it asks the Responses API."""

from __future__ import annotations

import json

from evalward.targets.agents.base import AgentJob
from evalward.targets.agents.driver import AgentLaunch, Dialect, plain
from evalward.targets.agents.make import CodingAgent
from evalward.targets.agents.model_access import ModelLink
from evalward.targets.agents.readers import codex

TOKEN = "EVALWARD_TOKEN"  # noqa: S105 - the name of the variable
ARGUMENTS = ("exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")


def launch(executable: str, job: AgentJob, link: ModelLink | None) -> AgentLaunch:
    """Its provider is given in arguments, so that nothing has to be written into its HOME."""
    words = [executable, *ARGUMENTS]
    env: dict[str, str] = {}
    if link is not None:
        provider = {
            "name": '"Evalward"',
            "base_url": _quoted(link.openai_url),
            "env_key": _quoted(TOKEN),
            "wire_api": '"responses"',
        }
        table = ", ".join(f"{key} = {value}" for key, value in provider.items())
        words += ["-c", f"model_providers.evalward={{{table}}}", "-c", 'model_provider="evalward"', "-m", link.model]
        env[TOKEN] = link.token
    if job.system:
        words += ["-c", f"developer_instructions={_quoted(plain(job.system))}"]
    return AgentLaunch([*words, "-"], env, plain(job.prompt).encode())


def _quoted(text: str) -> str:
    """A basic string of TOML, of which JSON's is one but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


CODEX = CodingAgent("codex", "@openai/codex", Dialect(launch, codex.read))
