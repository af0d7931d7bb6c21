"""What a release check found: the verdicts against the branch's baseline and against the last release."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalward.records.base import Record
from evalward.records.verdict import Judgement

RELEASE_SCHEMA: Literal["evalward.release/1"] = "evalward.release/1"


class ReleaseReport(Record):
    """Both judgements. `tagged` is `None` where there is no earlier release, or its baseline is not known: `note`."""

    schema_: Literal["evalward.release/1"] = Field(default=RELEASE_SCHEMA, alias="schema")
    commit: str | None = None
    branch: str | None = None
    profile: str | None = None
    tag: str | None = None
    note: str = ""
    accepted: list[str] = []
    against_branch: Judgement
    against_tag: Judgement | None = None

    @property
    def worse(self) -> Judgement:
        """The judgement whose exit code is the higher one."""
        both = [self.against_branch, *([self.against_tag] if self.against_tag else [])]
        return max(both, key=lambda judgement: judgement.verdict.exit_code)

    @property
    def exit_code(self) -> int:
        """The worse of both verdicts'."""
        return self.worse.verdict.exit_code
