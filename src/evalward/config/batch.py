"""What the configuration says about batches: requests that a provider answers within a day, at half the price."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from evalward.records.base import StrictRecord
from evalward.records.words import shown

LONGEST_H = 24
"""Hours after which providers give up what they have not answered."""
_WAIT = re.compile(r"([1-9][0-9]{0,3})([mh])")
_SECONDS = {"m": 60, "h": 3600}
_EXAMPLE = "{{wait: {0}, then: live}} or {{wait: {0}, then: stop}}"

AfterWait = Literal["live", "stop"]


def seconds_of(wait: str) -> int:
    """The seconds of a time like `90m` or `24h`. Raises `ValueError`."""
    found = _WAIT.fullmatch(wait)
    if found is None:
        raise ValueError(
            f"{shown(wait)} is not a time like 90m or 24h. Write minutes (m) or hours (h), at most {LONGEST_H}h"
        )
    seconds = int(found[1]) * _SECONDS[found[2]]
    if seconds > LONGEST_H * 3600:
        raise ValueError(f"{shown(wait)} is too long. At most {LONGEST_H}h is allowed")
    return seconds


def _checked(wait: str) -> str:
    seconds_of(wait)
    return wait


Wait = Annotated[str, AfterValidator(_checked), Field(json_schema_extra={"pattern": f"^{_WAIT.pattern}$"})]


class Batch(StrictRecord):
    """How long a run waits for batches, and what happens then to requests that have no answer."""

    wait: Wait = Field(default="24h", description="How long one run waits for its batches in all, such as 90m or 24h")
    then: AfterWait = Field(
        default="live",
        description="What happens to requests without an answer after that: live sends them as usual, at the full "
        "price; stop ends the run, which is not judged",
    )

    @property
    def wait_s(self) -> int:
        """Seconds."""
        return seconds_of(self.wait)


def _form(given: object) -> str:
    return "terms" if isinstance(given, Mapping | Batch) else "switch"


def _switch(given: object) -> object:
    if not isinstance(given, bool):
        raise ValueError(
            f"must be true or false, or say how long a run waits, and what then: {_EXAMPLE.format(_time_in(given))}"
        )
    return given


def _time_in(given: object) -> str:
    """The time that was given in the place of the terms, or one that could be."""
    return given if isinstance(given, str) and _WAIT.fullmatch(given) else "5h"


BatchTerms = Annotated[
    Annotated[bool, BeforeValidator(_switch), Tag("switch")] | Annotated[Batch, Tag("terms")], Discriminator(_form)
]
"""Whether, or on which terms: a mistake in one form is not told as one in the other."""
