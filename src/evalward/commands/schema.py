"""`evalward schema`: the JSON Schemas of what Evalward writes and of what people write for it, from the records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from evalward.commands.emitting import emit
from evalward.commands.world import World
from evalward.records.exits import EXIT_OK
from evalward.records.parts import loaded
from evalward.records.problem import wrong
from evalward.records.words import near_or_known
from evalward.registry import SCHEMAS, installed, ours

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PUBLISHED = "https://raw.githubusercontent.com/evalward/evalward/main/src/evalward/schemas"
"""Where a schema of ours can be had; a release's tag in place of `main` gives that release's."""


class _Schema(GenerateJsonSchema):
    """As pydantic writes them; of records that a function tells apart, several may fit a value."""

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchemaValue:
        """One of several records, by a field or by a function."""
        found = super().tagged_union_schema(schema)
        return found if "discriminator" in found else {"anyOf": found.pop("oneOf"), **found}


def schema_of(name: str) -> dict[str, Any]:
    """The schema of this name. Raises `InputError` where there is none."""
    try:
        part = loaded(SCHEMAS, name)
    except KeyError:
        raise wrong(
            f"schema {name}", "there is no such schema", near_or_known(name, installed(SCHEMAS), "Schemas")
        ) from None
    if isinstance(part, TypeAdapter):
        schema = part.json_schema(schema_generator=_Schema)
    elif isinstance(part, type) and issubclass(part, BaseModel):
        schema = part.model_json_schema(schema_generator=_Schema)
    else:
        schema = part()
    identity = {"$id": f"{PUBLISHED}/{name}.schema.json"} if name in ours(SCHEMAS) else {}
    return {**schema, "$schema": DIALECT, **identity}


def schema_text(name: str) -> str:
    """The schema's file. Raises `InputError`."""
    schema = schema_of(name)
    first = {key: schema[key] for key in ("$schema", "$id") if key in schema}
    return json.dumps({**first, **schema}, indent=2, ensure_ascii=False) + "\n"


def show_schema(world: World, name: str | None, output: Path | None) -> int:
    """One schema, or the names of all."""
    emit(world, schema_text(name) if name is not None else "\n".join(installed(SCHEMAS)) + "\n", output)
    return EXIT_OK
