"""Suites of shell tasks, as the configuration has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from evalward.config.fields import SomeTexts, Text
from evalward.config.suite import ComparedSuite, FilesNamed, SandboxedSuite
from evalward.config.targets import TargetForms
from evalward.suites.target_forms import talked_with


class BashSuite(SandboxedSuite, ComparedSuite):
    """Tasks that a target solves with a `bash` tool, in a virtual interpreter or with a real program."""

    takes: ClassVar[TargetForms] = talked_with(
        "bash",
        {
            "program:NAME": (
                "can't use tools, which suites of kind bash are about",
                "Programs answer suites of kind command.",
            )
        },
    )
    file_keys: ClassVar[Sequence[str]] = (*ComparedSuite.file_keys, "tool")

    kind: Literal["bash"] = Field(description="The family of evaluation")
    cases: SomeTexts = Field(description="YAML or JSONL files with the tasks; patterns such as evals/bash/*.yaml")
    tool: Text | None = Field(default=None, description="File with the tool's description")
    max_turns: int = Field(default=10, ge=1, le=100, description="Turns after which a trial is ended")
    timeout_s: float = Field(default=30, gt=0, le=3600, allow_inf_nan=False, description="Seconds for each tool call")

    @classmethod
    def files_named_in(cls, path: str, content: bytes) -> FilesNamed:
        """The graders that the tasks of a file name; none where it can't be read: the loader says why."""
        from evalward.suites.bash.named_files import files_named  # noqa: PLC0415 - few suites have graders

        return files_named(path, content)
