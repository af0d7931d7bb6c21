"""From the kind of a suite to the record of such suites, which belongs to the kind: loaded when a file names it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import SerializeAsAny, ValidationInfo, WrapValidator
from pydantic_core import PydanticKnownError

from evalward.config.suite import Suite
from evalward.config.targets import ALL_FORMS, TargetForms
from evalward.registry import KINDS, SPECS, BrokenPartError, has, installed, load

AS_WRITTEN: Mapping[str, Any] = {"strict": True, "by_alias": True, "by_name": False}
"""How a file is read: no text counts as a number, and keys have one name each. Also the context of validation then."""


def spec_of(kind: str) -> type[Suite]:
    """The record of a kind's suites. Raises `KeyError` for no kind, `ValueError` for one that can't be loaded."""
    if not has(KINDS, kind):
        raise KeyError(kind)
    try:
        spec = load(SPECS, kind) if has(SPECS, kind) else getattr(load(KINDS, kind), "spec", None)
    except BrokenPartError as error:
        raise ValueError(f"the kind {kind} can't be loaded: {error}") from error
    if not (isinstance(spec, type) and issubclass(spec, Suite)):
        raise ValueError(f"the kind {kind} can't be used: its spec is not a subclass of evalward.config.Suite")
    return spec


class UnknownSuite(Suite):
    """A suite whose kind can't be known: that is its mistake, and no target of it is another."""

    takes: ClassVar[TargetForms] = TargetForms(ALL_FORMS)


def spec_at(suite: Any) -> type[Suite]:
    """The record of a suite as it was written."""
    try:
        return spec_of(suite["kind"])
    except (KeyError, TypeError, ValueError):
        return UnknownSuite


def _of_its_kind(value: Any, _: Any, info: ValidationInfo) -> Suite:
    if isinstance(value, Suite):
        return value
    if not isinstance(value, dict):
        raise PydanticKnownError("model_type", {"class_name": "Suite"})
    if "kind" not in value:
        raise PydanticKnownError("union_tag_not_found", {"discriminator": "'kind'"})
    kind = value["kind"]
    try:
        spec = spec_of(kind) if isinstance(kind, str) else None
    except KeyError:
        spec = None
    if spec is None:
        known = ", ".join(f"'{name}'" for name in installed(KINDS))
        context = {"discriminator": "'kind'", "tag": str(kind), "expected_tags": known}
        raise PydanticKnownError("union_tag_invalid", context)
    return spec.model_validate_json(json.dumps(value), context=info.context, **(info.context or {}))


SuiteOfItsKind = Annotated[SerializeAsAny[Suite], WrapValidator(_of_its_kind)]
