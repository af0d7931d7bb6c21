"""What a row of promptfoo's results asks: its case's name, its definition, its category."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evalward.records.base import canonical
from evalward.suites.external.formats.naming import category_of, short_digest, short_name
from evalward.suites.external.formats.values import mapping, text

_ASKED = ("vars", "assert", "threshold", "assertScoringFunction", "options", "metadata")
_OF_THE_RUN = frozenset({"_conversation", "sessionId"})
"""Variables that promptfoo sets while it runs."""
_NUMBERED = re.compile(r"Row #\d+")
"""The description that promptfoo gives a row of a CSV file: it names the place, and another case after an insertion."""


def asked_by(row: Mapping[str, Any]) -> dict[str, Any]:
    """The definition: variables, assertions, threshold, who grades, metadata. The prompt is not in it: it is tested."""
    test = mapping(row.get("testCase"))
    found = {key: test.get(key) for key in _ASKED}
    found["vars"] = variables(row)
    return {key: value for key, value in found.items() if value not in (None, {}, [])}


def variables(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the test puts into the prompt."""
    given = mapping(mapping(row.get("testCase")).get("vars"))
    return {key: value for key, value in given.items() if key not in _OF_THE_RUN}


def description(row: Mapping[str, Any]) -> str:
    """What the test is called; "" where nobody has named it."""
    found = text(mapping(row.get("testCase")).get("description")).strip()
    return "" if _NUMBERED.fullmatch(found) else found


def by_variables(row: Mapping[str, Any]) -> str:
    """A name that a case without one keeps as long as it asks the same: its variables, a long one cut, with a hash."""
    given = variables(row)
    if not given:
        return f"test #{short_digest(asked_by(row))}"
    return short_name(", ".join(f"{key}={_shown(value)}" for key, value in sorted(given.items())), given)


def category(row: Mapping[str, Any]) -> str:
    """What the test's metadata call it, or the first of its tags."""
    told = mapping(mapping(row.get("testCase")).get("metadata"))
    return category_of(told, told.get("tags"))


def says_nothing(row: Mapping[str, Any]) -> bool:
    """Whether it is the one row that promptfoo makes where there is no test: without name, variables, assertions."""
    test = mapping(row.get("testCase"))
    return not (test.get("description") or variables(row) or test.get("assert"))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value)
