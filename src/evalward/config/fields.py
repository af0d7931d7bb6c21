"""The shapes that values of several suites have."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field


def one_or_more(value: Any) -> Any:
    """One text where a list of texts may stand."""
    return [value] if isinstance(value, str) else value


Name = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="Letters, digits and . _ -, at most 64"),
]
Text = Annotated[str, Field(min_length=1)]
TextList = Annotated[list[Text], BeforeValidator(one_or_more, json_schema_input_type=Text | list[Text])]
SomeTexts = Annotated[
    list[Text],
    Field(min_length=1),
    BeforeValidator(one_or_more, json_schema_input_type=Text | Annotated[list[Text], Field(min_length=1)]),
]
