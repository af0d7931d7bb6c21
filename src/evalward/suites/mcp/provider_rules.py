"""What providers refuse of tools: the whole request, whichever of its tools is wrong. So it is looked for before.

What can be sent otherwise without another meaning is sent otherwise (names, arrays without `items`), and read back;
what can't is left out, for the models of that provider alone, and said by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalward.records.base import canonical
from evalward.records.providers import PROVIDERS
from evalward.records.target_id import target_id
from evalward.records.words import shown
from evalward.suites.mcp.names import NamedTool, sent_keys
from evalward.targets.base import ToolSpec

_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_NESTING = ("oneOf", "anyOf", "allOf")
_ONE_SCHEMA = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_MANY_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTED_SCHEMAS = ("oneOf", "anyOf", "allOf", "prefixItems")
_NAMING = ("patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies", "if", "not")
"""Keywords by which a schema may speak of its arguments' names, beside `properties` and `required`."""


@dataclass(frozen=True)
class ProviderRules:
    """What one maker's models refuse. `refused_at_top`: keywords beside the outermost `type`."""

    maker: str
    refused_at_top: tuple[str, ...] = _NESTING
    plain_keys: bool = False
    wants_items: bool = False
    most_tools: int | None = None


_RULES: Mapping[str, ProviderRules] = {
    "Anthropic": ProviderRules("Anthropic", plain_keys=True),
    "OpenAI": ProviderRules("OpenAI", (*_NESTING, "enum", "not"), wants_items=True, most_tools=128),
}


@dataclass(frozen=True)
class RefusedTool:
    """A tool that a provider's models are not offered, and why."""

    named: NamedTool
    maker: str
    why: str


@dataclass(frozen=True)
class Offer:
    """The tools as the models of one provider get them, and those that would have its requests refused.

    `keys`: of tools (by the name that is sent) whose arguments have other names there, the arguments' own by these.
    """

    tools: tuple[ToolSpec, ...]
    left_out: tuple[RefusedTool, ...] = ()
    keys: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def lacks(self, tool: str) -> RefusedTool | None:
        """Why a tool of the suite's own server isn't offered; `None` where it is."""
        return next((each for each in self.left_out if each.named.own and each.named.tool.name == tool), None)

    def own_keys(self, sent: str, arguments: Any) -> Any:
        """The arguments of a call with the tool's own names for them."""
        renamed = self.keys.get(sent)
        if renamed is None or not isinstance(arguments, dict):
            return arguments
        return {renamed.get(key, key): value for key, value in arguments.items()}


def rules_of(target: str) -> ProviderRules | None:
    """What the provider of a target refuses; `None` for targets that are no models."""
    provider = target_id(target).provider
    return _RULES.get(PROVIDERS[provider].maker) if provider in PROVIDERS else None


def offer(tools: Sequence[NamedTool], rules: ProviderRules | None) -> Offer:
    """What models are sent that obey these rules; all of it without any."""
    if rules is None:
        return Offer(tuple(_spec(named, named.tool.input_schema) for named in tools))
    kept: list[NamedTool] = []
    left_out: list[RefusedTool] = []
    for named in tools:
        why = refusal(named.tool.input_schema, rules)
        if why is None:
            kept.append(named)
        else:
            left_out.append(RefusedTool(named, rules.maker, why))
    fitting, too_many = _at_most(kept, rules)
    sent = tuple(_spec(named, _sendable(named.tool.input_schema, rules)) for named in fitting)
    keys = {named.sent: own for named in fitting if rules.plain_keys and (own := _renamed(named.tool.input_schema))}
    return Offer(sent, (*left_out, *too_many), keys)


def refusal(schema: Mapping[str, Any], rules: ProviderRules) -> str | None:
    """Why a provider would refuse a tool for its input schema: the first reason; `None` where it takes it."""
    return next(_refusals(schema, rules), None)


def _refusals(schema: Mapping[str, Any], rules: ProviderRules) -> Iterator[str]:
    if schema.get("type") != "object":
        yield 'its input schema has no "type": "object"'
    for keyword in rules.refused_at_top:
        if keyword in schema:
            yield f"its input schema has {keyword} at the top"
    odd = _odd_keys(schema) if rules.plain_keys else []
    if odd and not _can_rename(schema):
        yield f"its argument {shown(odd[0])} has a name that isn't of 1 to 64 letters, digits, _, . and -"
    why = _invalid(schema)
    if why is not None:
        yield f"its input schema {why}"


def _odd_keys(schema: Mapping[str, Any]) -> list[str]:
    properties = schema.get("properties")
    return [key for key in properties if not _KEY.fullmatch(key)] if isinstance(properties, dict) else []


def _can_rename(schema: Mapping[str, Any]) -> bool:
    """Whether nothing in a schema but `properties` and `required` speaks of its arguments by their names."""
    return not any(key in schema for key in _NAMING) and '"#/properties/' not in canonical(schema)


def _renamed(schema: Mapping[str, Any]) -> dict[str, str]:
    """The arguments whose names have to be others, by these."""
    if not _odd_keys(schema):
        return {}
    return {sent: key for key, sent in sent_keys(list(schema["properties"])).items() if sent != key}


def _invalid(schema: Mapping[str, Any]) -> str | None:
    """What is wrong with a schema by the draft that providers check against, whatever `$schema` it names."""
    from evalward.suites.mcp.json_schema import SchemaUnusableError, schema_problem  # noqa: PLC0415 - takes 60 ms

    try:
        problem = schema_problem(schema)
    except SchemaUnusableError as error:
        return f"can't be checked: {error.why}"
    return None if problem is None else f"is no JSON Schema of draft 2020-12: {problem}"


def _at_most(tools: Sequence[NamedTool], rules: ProviderRules) -> tuple[Sequence[NamedTool], Sequence[RefusedTool]]:
    """The tools that a provider takes at once: those of other servers go first, from the end."""
    most = rules.most_tools
    if most is None or len(tools) <= most:
        return tools, ()
    first = [*(each for each in tools if each.own), *(each for each in tools if not each.own)]
    kept = {id(each) for each in first[:most]}
    why = f"no more than {most} tools are taken at once, and there are {len(tools)}"
    dropped = tuple(RefusedTool(each, rules.maker, why) for each in tools if id(each) not in kept)
    return [each for each in tools if id(each) in kept], dropped


def _spec(named: NamedTool, schema: Mapping[str, Any]) -> ToolSpec:
    return ToolSpec(named.sent, named.tool.description or named.tool.title or "", schema)


def _sendable(schema: Mapping[str, Any], rules: ProviderRules) -> Mapping[str, Any]:
    """The schema as it is sent: it means the same."""
    if rules.plain_keys and (own := _renamed(schema)):
        schema = _with_keys(schema, {key: sent for sent, key in own.items()})
    return _with_items(schema) if rules.wants_items and _lacks_items(schema) else schema


def _with_keys(schema: Mapping[str, Any], sent: Mapping[str, str]) -> Mapping[str, Any]:
    """The schema with other names for its arguments."""
    changed = {**schema, "properties": {sent.get(key, key): value for key, value in schema["properties"].items()}}
    if isinstance(schema.get("required"), list):
        changed["required"] = [sent.get(key, key) for key in schema["required"]]
    return changed


def _lacks_items(value: Any) -> bool:
    return any(_is_bare_array(each) for each in _schemas(value))


def _is_bare_array(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return (kind == "array" or (isinstance(kind, list) and "array" in kind)) and "items" not in schema


def _schemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    """A schema and every one in it, as far as keywords hold schemas."""
    if not isinstance(schema, dict):
        return
    yield schema
    for keyword in _ONE_SCHEMA:
        yield from _schemas(schema.get(keyword))
    for keyword in _MANY_SCHEMAS:
        inner = schema.get(keyword)
        for each in inner.values() if isinstance(inner, dict) else ():
            yield from _schemas(each)
    for keyword in _LISTED_SCHEMAS:
        listed = schema.get(keyword)
        for each in listed if isinstance(listed, list) else ():
            yield from _schemas(each)


def _with_items(schema: Any) -> Any:
    """The schema with `items: {}` in each array that says nothing of its items, which means any."""
    if not isinstance(schema, dict):
        return schema
    changed: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _ONE_SCHEMA:
            changed[key] = _with_items(value)
        elif key in _MANY_SCHEMAS and isinstance(value, dict):
            changed[key] = {name: _with_items(each) for name, each in value.items()}
        elif key in _LISTED_SCHEMAS and isinstance(value, list):
            changed[key] = [_with_items(each) for each in value]
        else:
            changed[key] = value
    return {**changed, "items": {}} if _is_bare_array(schema) else changed
