"""Suites of prompt files, as the configuration has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from evalward.config.fields import SomeTexts
from evalward.config.reading import get
from evalward.config.suite import ComparedSuite
from evalward.config.targets import TargetForms
from evalward.config.words import KeyPath, Value
from evalward.suites.target_forms import talked_with

if TYPE_CHECKING:
    from evalward.config.yaml_positions import Mistake


class PromptSuite(ComparedSuite):
    """Prompt files of GitHub Models, each row of whose test data is a case: one turn, and the file's evaluators."""

    takes: ClassVar[TargetForms] = talked_with(
        "prompt",
        {
            "program:NAME": (
                "has a prompt of its own, and suites of kind prompt are about the files' prompts",
                "Programs answer suites of kind command.",
            )
        },
    )

    kind: Literal["prompt"] = Field(description="The family of evaluation")
    cases: SomeTexts = Field(description="Prompt files; patterns such as prompts/*.prompt.yml")
    timeout_s: float = Field(default=120, gt=0, le=3600, allow_inf_nan=False, description="Seconds for one answer")

    @classmethod
    def mistakes(cls, suite: Value, path: KeyPath) -> Iterator[Mistake]:
        """The files bring their own messages."""
        from evalward.config.yaml_positions import Mistake  # noqa: PLC0415 - a parser, for who reads a file

        yield from super().mistakes(suite, path)
        if get(suite, "system") is not None:
            message = "a prompt file has its own system message"
            yield Mistake((*path, "system"), message, "Remove the key, and write the message into the files.")
