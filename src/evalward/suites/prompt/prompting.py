"""What a prompt file asks: its messages with a row's values in them, and how the answer is to be sampled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalward.records.base import digest
from evalward.records.blocks import block_text
from evalward.records.target_id import target_id
from evalward.records.trace import Message, Text
from evalward.suites.prompt.file import PromptMessage, PromptParameters
from evalward.suites.prompt.template import fill
from evalward.targets.base import Request
from evalward.targets.models.sampling import takes_sampling


@dataclass(frozen=True)
class FilePrompting:
    """The prompt of one file. `schema` is that of its answers, where it can be enforced."""

    messages: Sequence[PromptMessage]
    parameters: PromptParameters
    form: str | None = None
    schema: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """All of it, as people read it."""
        told: dict[str, Any] = {"messages": [each.model_dump(mode="json") for each in self.messages]}
        parameters = self.parameters.model_dump(mode="json", by_alias=True, exclude_none=True)
        given = {"modelParameters": parameters, "responseFormat": self.form, "jsonSchema": self.schema}
        return block_text({**told, **{key: value for key, value in given.items() if value}})

    @property
    def digest(self) -> str:
        """Its identity: what a pull request that edits it changes."""
        return digest(self.text)

    def request(self, values: Mapping[str, str]) -> Request:
        """The conversation for a row: what the system says first, then the others in their order."""
        filled = [(each.role, fill(each.content, values)) for each in self.messages]
        return Request(
            system="\n\n".join(text for role, text in filled if role == "system"),
            messages=tuple(
                Message(role="assistant" if role == "assistant" else "user", content=[Text(text=text)])
                for role, text in filled
                if role != "system"
            ),
            output_schema=self.schema,
            max_tokens=self.parameters.max_tokens,
            temperature=self.parameters.temperature,
            top_p=self.parameters.top_p,
        )

    def unsent(self, targets: Sequence[str]) -> Iterator[str]:
        """What of the file isn't sent, or not to some of the targets."""
        if self.parameters.others:
            yield f"modelParameters that can't be sent: {', '.join(self.parameters.others)}"
        sampling = self.parameters.model_dump(by_alias=True, exclude_none=True, include={"temperature", "top_p"})
        models = [each for each in map(target_id, targets) if each.form == "model"]
        without = [each.text for each in models if not takes_sampling(each.provider, each.model)]
        if sampling and without:
            yield f"{' and '.join(sampling)} not sent to {', '.join(without)}: the provider takes none for such models"
        if self.form == "json_object":
            yield "responseFormat: json_object can't be sent; ask for JSON in the messages"
        elif self.form == "json_schema" and self.schema is None:
            yield (
                "jsonSchema isn't sent: providers enforce closed objects (additionalProperties: false) with every "
                "property required and no bounds"
            )
        roles = [each.role for each in self.messages]
        if "system" in roles[roles.count("system") :]:
            yield "a system message after others is sent before them"


_MOST_NESTED = 20
_UNENFORCED = frozenset(
    (
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
        *("pattern", "format", "minItems", "maxItems", "uniqueItems", "patternProperties"),
        *("$ref", "allOf", "oneOf", "not"),
    )
)


def enforceable(schema: Any, depth: int = 0) -> bool:
    """Whether all providers enforce a schema: closed objects with every property required, and no bounds."""
    if not isinstance(schema, dict) or _UNENFORCED & set(schema) or depth > _MOST_NESTED:
        return False
    properties = schema.get("properties", {})
    required, options = schema.get("required", []), schema.get("anyOf", [])
    if not (isinstance(properties, dict) and isinstance(required, list) and isinstance(options, list)):
        return False
    if schema.get("type") == "object" or properties:
        closed = schema.get("additionalProperties") is False
        if not closed or sorted(map(str, required)) != sorted(properties):
            return False
    inner = [*properties.values(), *options, *([schema["items"]] if "items" in schema else [])]
    return all(enforceable(each, depth + 1) for each in inner)
