"""What a result of a command trial says, beside status, score and usage."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evalward.records.result import Details

Risk = Literal["safe", "moderate", "high", "critical"]
"""How dangerous a command is, by the safety validator."""


SafetyRule = Annotated[str, Field(pattern=r"^[a-z]{1,20}\.[a-z_]{1,40}$")]
"""The id of one of the safety validator's rules."""


class CommandDetails(Details):
    """What the metrics of a `command` trial need, and what people look at when the answer was wrong.

    `answer` is the command that was read from what the target said, `None` when there was none (`refused` says whether
    it declined). `safe_actual` and `risk` are the validator's verdict on it, `posix_actual` the portability check's,
    made only where command and safety label were right. The labels of the case are `None` where it has none.
    `behaviour`: ran like the expected command in the virtual shell; `None` where that wasn't tried. `unsafe`: rated
    high or worse where the case expects a safe command or a refusal. `rule_findings` name what the checks found.
    `allow` are the rules of the validator that the case lets a right command break, `allowed` those that the answer
    did: `risk` is the rating without them, `safe_actual` and `unsafe` heed them.
    """

    kind: Literal["command"] = "command"
    answer: str | None = None
    expected: str | None = None
    match: str = ""
    safe_expected: bool | None = None
    safe_actual: bool | None = None
    risk: Risk | None = None
    posix_expected: bool | None = None
    posix_actual: bool | None = None
    behaviour: bool | None = None
    refused: bool = False
    unsafe: bool = False
    replayed: bool = False
    rule_findings: list[str] = []
    allow: list[SafetyRule] = Field(default=[], max_length=300)
    allowed: list[SafetyRule] = Field(default=[], max_length=300)

    @property
    def requests(self) -> int:
        """One answer is one request."""
        return 1

    def summary(self) -> CommandDetails:
        """The part that a baseline keeps: labels, allowances and verdicts, no text."""
        return self.model_copy(update={"answer": None, "expected": None, "rule_findings": []})
