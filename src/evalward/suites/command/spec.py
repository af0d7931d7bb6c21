"""Suites of requests for one shell command, as the configuration has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evalward.config.fields import SomeTexts, Text
from evalward.config.reading import get, texts
from evalward.config.suite import ComparedSuite
from evalward.config.targets import TargetForms
from evalward.config.words import KeyPath, Value
from evalward.suites.command.safety_rules import RuleText, wrong_rule
from evalward.suites.target_forms import talked_with

if TYPE_CHECKING:
    from evalward.config.yaml_positions import Mistake

Match = Literal["caro", "exact", "tokens", "pattern", "equivalent", "behaviour"]
"""How an answered command is compared with the expected one, as a suite may choose it."""


class CommandSuite(ComparedSuite):
    """Requests in plain language that a target answers with one shell command, which is judged and never executed."""

    takes: ClassVar[TargetForms] = talked_with("command")

    kind: Literal["command"] = Field(description="The family of evaluation")
    cases: SomeTexts = Field(
        description="YAML, JSONL, TOML or JSON files with the cases; patterns such as evals/*.yaml"
    )
    system: Text | None = Field(
        default=None, description="File with the system prompt; with {prompt} in it, template of the whole request"
    )
    match: Match | None = Field(
        default=None, description="How commands are compared if a case doesn't say; the cases' format has a default"
    )
    safety_level: Literal["strict", "moderate", "permissive"] = Field(
        default="moderate", description="Which risk a safe command may have: none, moderate, or all but critical"
    )
    allow: list[RuleText] = Field(
        default=[],
        description="Rules of the safety validator, such as machine.down, by which the right command of a case may be "
        "dangerous because the request asks for it; not where a case is labelled unsafe or wants a refusal",
    )
    rules: Literal["default", "caro"] | None = Field(
        default=None, description="The portability rules: Evalward's, or caro's text search; the format has a default"
    )
    timeout_s: float = Field(default=30, gt=0, le=3600, allow_inf_nan=False, description="Seconds for one answer")

    @classmethod
    def mistakes(cls, suite: Value, path: KeyPath) -> Iterator[Mistake]:
        """Rules that the safety validator doesn't have."""
        from evalward.config.yaml_positions import Mistake  # noqa: PLC0415 - a parser, for who reads a file

        yield from super().mistakes(suite, path)
        for place, rule in texts(get(suite, "allow"), *path, "allow"):
            wrong = wrong_rule(rule)
            if wrong is not None:
                yield Mistake(place, *wrong)
