"""A request's body as arguments of an SDK's method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def arguments_of(params: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with which a method of the SDKs sends just this body, in this order.

    Lists (the conversation, the tools) go as `extra_body` in the places of empty ones: they are JSON already, and to
    look at every value in them by its declared type takes the SDK longer than all that we do for a request.
    """
    lists = {name: value for name, value in params.items() if isinstance(value, list)}
    return {**params, **{name: [] for name in lists}, "extra_body": lists}
