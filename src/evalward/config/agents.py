"""What the configuration says about agents: programs of one's own, and scripts that stand in for an agent."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evalward.records.base import StrictRecord
from evalward.records.providers import PROVIDERS

AGENT_FORMS = (
    "claude-code/MODEL",
    "codex/MODEL",
    "opencode/PROVIDER/MODEL",
    "agent:NAME",
    "scripted:NAME",
    "oracle",
    "nop",
)
"""The forms that a scenario's target can have, beside `PROVIDER/MODEL` for the built-in loop and `replay:NAME`."""

AgentOutput = Literal["text", "events", "claude-code", "codex", "opencode"]
Text = Annotated[str, Field(min_length=1)]
VariableText = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"})]
ModelText = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": f"^({'|'.join(PROVIDERS)})/.+"})]


class AgentProgram(StrictRecord):
    """A coding agent: a program that is started in the scenario's folder, as it is, never through a shell.

    With `model:` it gets the address of a loopback proxy and a token of one trial, in the variables that its
    provider's clients read (ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY, or OPENAI_BASE_URL and OPENAI_API_KEY) and in
    EVALWARD_BASE_URL, EVALWARD_TOKEN and EVALWARD_MODEL. The key itself it never gets.
    """

    command: list[Text] = Field(
        min_length=1,
        description="The program and its arguments; {prompt} stands for the task, which otherwise comes on stdin",
    )
    output: AgentOutput = Field(
        default="text", description="What it prints: text, Evalward's events, or another agent's format"
    )
    model: ModelText | None = Field(default=None, description="The model that it may use, such as anthropic/NAME")
    pinned: bool = Field(
        default=True,
        description="Refuse other models; by default, models of the provider that cost no more are allowed",
    )
    env: dict[VariableText, str] = Field(default={}, description="More environment variables; don't put keys here")
    timeout_s: float | None = Field(
        default=None,
        gt=0,
        le=86_400,
        allow_inf_nan=False,
        description="Seconds for one trial, if fewer than the trial's own limit",
    )
