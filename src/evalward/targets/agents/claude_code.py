"""`claude-code/MODEL`: Anthropic's agent, non-interactive."""

from __future__ import annotations

from evalward.targets.agents.base import AgentJob
from evalward.targets.agents.driver import AgentLaunch, Dialect, plain
from evalward.targets.agents.make import CodingAgent
from evalward.targets.agents.model_access import ModelLink
from evalward.targets.agents.readers import claude_code

ARGUMENTS = ("-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions")


def launch(executable: str, job: AgentJob, link: ModelLink | None) -> AgentLaunch:
    """It asks for nothing: the place is what isolates it. IS_SANDBOX lets it believe so, when it runs as root."""
    env = {"IS_SANDBOX": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    words = [executable, *ARGUMENTS]
    if link is not None:
        env |= {"ANTHROPIC_BASE_URL": link.url, "ANTHROPIC_API_KEY": link.token}
        words += ["--model", link.model]
    if job.system:
        words += ["--append-system-prompt", plain(job.system)]
    return AgentLaunch(words, env, plain(job.prompt).encode())


CLAUDE_CODE = CodingAgent("claude", "@anthropic-ai/claude-code", Dialect(launch, claude_code.read))
