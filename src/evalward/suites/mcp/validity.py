"""Whether arguments fit a tool's input schema, by the schema's own `$schema`, else draft 2020-12.

Formats are not asserted and no reference leaves the schema. Both sides are hostile: a schema is the pull request's and
arguments are a model's. So patterns are RE2's, and size, depth and the steps of one validation are bounded. A schema
that is none, or that goes beyond a bound, judges no arguments: `None`, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalward.suites.mcp.catalogue import Catalogue, CatalogueTool

MOST_INVENTED, LONGEST_INVENTED = 10, 100
_LONGEST_WHY = 300
_FREE = ("patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas", "propertyNames")
"""Keywords with which a schema may know more names than its `properties` say."""


@dataclass(frozen=True)
class ArgumentVerdict:
    """Whether arguments fit a schema: `None` where it can't judge them. `why` says what is wrong, or why it can't."""

    valid: bool | None
    why: str = ""


@dataclass
class ArgumentSchemas:
    """The input schemas of the tools of one catalogue, each prepared when a call of it is first checked."""

    catalogue: Catalogue
    _known: dict[str, Any] = field(default_factory=dict, repr=False)

    def check(self, tool: str, arguments: Mapping[str, Any]) -> ArgumentVerdict:
        """Whether the arguments fit. Raises `KeyError` for a tool that is not in the catalogue."""
        from evalward.suites.mcp.json_schema import SchemaUnusableError, prepared  # noqa: PLC0415 - takes 60 ms

        if tool not in self._known:
            try:
                self._known[tool] = prepared(self.catalogue.by_name[tool].input_schema)
            except SchemaUnusableError as error:
                self._known[tool] = error
        found = self._known[tool]
        if isinstance(found, SchemaUnusableError):
            return ArgumentVerdict(None, found.why)
        try:
            problem = found.problem(arguments)
        except SchemaUnusableError as error:
            return ArgumentVerdict(None, error.why)
        return ArgumentVerdict(problem is None, (problem or "")[:_LONGEST_WHY])


def invented_arguments(tool: CatalogueTool, arguments: Mapping[str, Any]) -> list[str]:
    """The arguments that the tool's schema doesn't name, where it names all that it takes: the first ones, cut."""
    schema = tool.input_schema
    properties = schema.get("properties")
    if not isinstance(properties, dict) or any(key in schema for key in _FREE):
        return []
    if schema.get("additionalProperties", False) is not False:
        return []
    return [name[:LONGEST_INVENTED] for name in arguments if name not in properties][:MOST_INVENTED]
