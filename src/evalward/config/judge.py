"""What the configuration says about the judge: who judges, how often it is asked, how often it may fail to judge."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evalward.records.base import StrictRecord
from evalward.records.policy import Off
from evalward.records.providers import PROVIDERS

RECORDED = "recorded:"
"""A judge whose answers stand in a file: `recorded:PATH`."""

JUDGE_FORMS: tuple[str, ...] = (*(f"{name}/NAME" for name in PROVIDERS), f"{RECORDED}PATH")
"""The forms that the name of a judge can have."""

DEFAULT_CACHE = ".evalward/judge-cache"

_PATTERN = "^(" + "|".join(form.replace("NAME", ".+").replace("PATH", ".+") for form in JUDGE_FORMS) + ")$"
_Model = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": _PATTERN})]
_Path = Annotated[str, Field(min_length=1)]


class JudgeConfig(StrictRecord):
    """The judge. In the action it is the base's, whatever a pull request says."""

    model: _Model | None = Field(
        default=None,
        description="The judge: " + ", ".join(JUDGE_FORMS) + "; default: a cheap model of a provider with a key",
    )
    votes: int = Field(default=1, ge=1, le=9, description="How often it is asked about each trial")
    pass_threshold: float = Field(
        default=0.7, ge=0, le=1, allow_inf_nan=False, description="The score that passes, unless a case sets its own"
    )
    max_error_rate: float = Field(
        default=0.1, ge=0, le=1, description="If the judge fails on more than this share of trials, there is no verdict"
    )
    cache: _Path | Off = Field(default=DEFAULT_CACHE, description="Folder of its earlier answers, or off")
