"""What a sample asks: the definition's side of it.

It is always read from the sample itself. The summaries hold the same input cut at 5,120 characters, with "(Image)" for
an image, and neither files nor setup: two cases could seem to be one there. The metadata are left out, since solvers
write into them while a sample runs; so are the ids of messages, which are random.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalward.suites.external.formats.values import mapping, text

FIELDS = frozenset({"id", "epoch", "input", "choices", "target", "description", "sandbox", "files", "setup"})
"""What a sample's document begins with, before the first that was made by running it."""
_OF_THE_RUN = frozenset({"id", "internal", "source", "model"})


def asked_by(sample: Mapping[str, Any]) -> dict[str, Any]:
    """What a sample asks, as a JSON value: input, choices, target, files, setup, kind of sandbox."""
    found = {key: sample.get(key) for key in ("choices", "target", "files", "setup")}
    found["input"] = _without_ids(sample.get("input"))
    found["sandbox"] = text(mapping(sample.get("sandbox")).get("type"))
    return {key: value for key, value in found.items() if value not in (None, "", [])}


def thinned(row: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a summary whose sample can't be found: marked, since it is never equal to the whole."""
    return {"summary": asked_by(row)}


def _without_ids(value: Any) -> Any:
    """A prompt: a text, or messages with parts of their own."""
    if isinstance(value, list):
        return [_without_ids(each) for each in value]
    if isinstance(value, dict):
        return {key: _without_ids(inner) for key, inner in value.items() if key not in _OF_THE_RUN}
    return value
