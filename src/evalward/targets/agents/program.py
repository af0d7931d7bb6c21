"""`agent:NAME`: any program that works in a folder."""

from __future__ import annotations

from evalward.config import PROMPT_MARK
from evalward.config.agents import AgentProgram
from evalward.records.base import clean_text
from evalward.records.providers import PROVIDERS
from evalward.records.trace import Message, Text
from evalward.targets.agents.base import AgentJob
from evalward.targets.agents.driver import AgentLaunch, Dialect, plain
from evalward.targets.agents.model_access import ModelLink
from evalward.targets.agents.readers import claude_code, codex, events, opencode
from evalward.targets.agents.readers.common import AgentAccount


def read_text(stdout: str) -> AgentAccount:
    """The output as the agent's words. What it ran isn't known."""
    text = clean_text(stdout).strip()
    words = [Message(role="assistant", content=[Text(text=text)])] if text else []
    return AgentAccount(words, structured=False)


READERS = {
    "text": read_text,
    "events": events.read,
    "claude-code": claude_code.read,
    "codex": codex.read,
    "opencode": opencode.read,
}


def dialect_of(program: AgentProgram) -> Dialect:
    """The program's own way of being started and read."""

    def launch(executable: str, job: AgentJob, link: ModelLink | None) -> AgentLaunch:
        prompt = plain(f"{job.system}\n\n{job.prompt}" if job.system else job.prompt)
        given = any(PROMPT_MARK in word for word in program.command)
        words = [executable, *(word.replace(PROMPT_MARK, prompt) for word in program.command[1:])]
        env = {**program.env, **(_model_env(link) if link else {})}
        return AgentLaunch(words, env, b"" if given else prompt.encode())

    return Dialect(launch, READERS[program.output])


def _model_env(link: ModelLink) -> dict[str, str]:
    own = {"EVALWARD_BASE_URL": link.url, "EVALWARD_TOKEN": link.token, "EVALWARD_MODEL": link.model}
    row = PROVIDERS[link.provider]
    url, key = row.client_env
    return {**own, url: f"{link.url}{row.client_path}", key: link.token}
