"""What the configuration says about batches: requests that a provider answers within a day, at half the price."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from evalward.records.base import StrictRecord

LONGEST_H = 24
"""Hours after which providers give up what they have not answered."""
_WAIT = re.compile(r"([1-9][0-9]{0,3})([mh])")
_SECONDS = {"m": 60, "h": 3600}

AfterWait = Literal["live", "stop"]


def seconds_of(wait: str) -> int:
    """The seconds of a time like `90m` or `24h`. Raises `ValueError`."""
    found = _WAIT.fullmatch(wait)
    seconds = int(found[1]) * _SECONDS[found[2]] if found else 0
    if not 0 < seconds <= LONGEST_H * 3600:
        raise ValueError(f"it is not a time like 90m or 24h, of at most {LONGEST_H}h")
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


BatchTerms = Annotated[Annotated[bool, Tag("switch")] | Annotated[Batch, Tag("terms")], Discriminator(_form)]
"""Whether, or on which terms: a mistake in one form is not told as one in the other."""
