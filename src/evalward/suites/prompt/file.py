"""A prompt file as GitHub Models has defined it: messages, parameters, test data, evaluators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator
from pydantic.alias_generators import to_camel

from evalward.records.base import Record
from evalward.records.judge import Share
from evalward.suites.bounds import CaseText
from evalward.suites.prompt.details import MOST_EVALUATORS
from evalward.targets.base import MostTokens, Temperature, TopP

MOST_ROWS = 10_000
Words = Annotated[CaseText, Field(min_length=1)]
ScoredName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""How an evaluator is called; its metric is `score:NAME`."""
_AS_WRITTEN = ConfigDict(alias_generator=to_camel, populate_by_name=False)


class PromptRecord(Record):
    """A part of a prompt file: keys as in `startsWith`, and a key that it doesn't know is a mistake."""

    model_config = ConfigDict(**_AS_WRITTEN, extra="forbid")


class PromptMessage(PromptRecord):
    """One message. In `content` stand placeholders such as {{input}}."""

    role: Literal["system", "user", "assistant"] = Field(description="Who says it")
    content: Words = Field(description="Its text; {{name}} stands for the value of a row of testData")

    @field_validator("role", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value


class PromptParameters(Record):
    """How the answer is sampled. Parameters that aren't listed here can't be sent, which is said."""

    model_config = ConfigDict(**_AS_WRITTEN, extra="allow")

    max_tokens: MostTokens | None = Field(default=None, description="The most tokens of an answer")
    temperature: Temperature | None = Field(default=None, description="Sampling temperature")
    top_p: TopP | None = Field(default=None, description="Share of the likeliest tokens that are sampled from")

    @property
    def others(self) -> list[str]:
        """The names of those that can't be sent."""
        return list(self.model_extra or {})


class StringEvaluator(PromptRecord):
    """Texts that the answer has to equal, or to have in it; with several, all have to hold."""

    equals: Words | None = Field(default=None, description="The whole answer, letter by letter")
    contains: Words | None = Field(default=None, description="A part of the answer, in any case")
    starts_with: Words | None = Field(default=None, description="How the answer begins, in any case")
    ends_with: Words | None = Field(default=None, description="How the answer ends, in any case")

    @model_validator(mode="after")
    def _something(self) -> StringEvaluator:
        if not any(True for _ in self.wanted):
            raise ValueError("there is none of equals, contains, startsWith, endsWith")
        return self

    @property
    def wanted(self) -> Iterator[tuple[str, str]]:
        """Each way of comparing that is given, by its key, with its text."""
        yield from self.model_dump(by_alias=True, exclude_none=True).items()


class EvaluatorChoice(PromptRecord):
    """An answer of the judge, and its score; above 0 passes."""

    choice: Words = Field(description="What the judge answers")
    score: Share = Field(description="What that is worth, from 0 to 1; above 0 passes")


class LlmEvaluator(PromptRecord):
    """A question to the judge, who answers with one of the choices."""

    model_id: str | None = Field(default=None, description="A note: the judge is that of evalward.yml")
    prompt: Words = Field(description="The question; {{completion}} stands for the answer")
    choices: list[EvaluatorChoice] = Field(min_length=1, max_length=100, description="The judge's possible answers")
    system_prompt: CaseText = Field(default="", description="The judge's instructions")

    @field_validator("choices")
    @classmethod
    def _tell_apart(cls, value: list[EvaluatorChoice]) -> list[EvaluatorChoice]:
        if len({each.choice.strip().casefold() for each in value}) < len(value):
            raise ValueError("a choice occurs twice")
        if not any(each.score > 0 for each in value):
            raise ValueError("no choice has a score above 0, so no answer can pass")
        return value


class PromptEvaluator(PromptRecord):
    """One evaluator: compares texts (`string`), asks the judge (`llm`), or is one that GitHub has defined (`uses`)."""

    name: ScoredName = Field(description="Its name; the metric is score:NAME")
    string: StringEvaluator | None = Field(default=None, description="Compares texts")
    llm: LlmEvaluator | None = Field(default=None, description="Asks the judge")
    uses: Words | None = Field(default=None, description="One of GitHub's own, such as github/similarity")

    @model_validator(mode="after")
    def _one_way(self) -> PromptEvaluator:
        given = [name for name in ("string", "llm", "uses") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"it needs one of string, llm and uses, and has {' and '.join(given) or 'none'}")
        return self


class PromptFile(Record):
    """A prompt file. Keys that aren't listed here are passed over, which is said."""

    model_config = ConfigDict(**_AS_WRITTEN, extra="ignore")

    name: str | None = Field(default=None, description="Its name, for people")
    description: str | None = Field(default=None, description="What it is for")
    model: str | None = Field(default=None, description="A note: the suite's targets are asked")
    model_parameters: PromptParameters = Field(default=PromptParameters(), description="How answers are sampled")
    response_format: Literal["text", "json_object", "json_schema"] | None = Field(
        default=None, description="The form of answers"
    )
    json_schema: str | None = Field(default=None, description="JSON with `name` and `schema`, for json_schema")
    messages: list[PromptMessage] = Field(min_length=1, max_length=1000, description="The conversation")
    test_data: list[dict[str, Any]] = Field(
        default=[], max_length=MOST_ROWS, description="Rows: the values of placeholders; each is a case"
    )
    evaluators: list[PromptEvaluator] = Field(
        default=[], max_length=MOST_EVALUATORS, description="What is looked at in each answer"
    )

    @model_validator(mode="after")
    def _asks(self) -> PromptFile:
        if not any(message.role == "user" for message in self.messages):
            raise ValueError("no message has the role user")
        return self
