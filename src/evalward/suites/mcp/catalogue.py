"""What a server offers: its tools as `tools/list` gives them on the wire, its instructions; read, hashed, counted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from evalward.opening import MIB, read_inside
from evalward.records.base import Cleaned, Record, canonical, digest, fitting
from evalward.records.blocks import block_text
from evalward.records.json_text import NoJsonError, read_json
from evalward.records.model_words import described, in_words
from evalward.records.problem import InputError, Place, Problem, wrong

MOST_BYTES = 16 * MIB
"""Of a snapshot."""
MOST_TOOLS = 2_000
LONGEST_NAME, LONGEST_TEXT = 256, 200_000
SNAPSHOT = "evalward.mcp/1"
"""What a snapshot says that Evalward wrote; those of others need not say anything."""
_CHARACTERS_PER_TOKEN = 4
_REMEDY = "Write what the server answers to tools/list, or let `evalward mcp snapshot` write it."

Schema = Annotated[dict[str, Any], AfterValidator(fitting)]


class CatalogueTool(Record):
    """One tool as a server lists it. The wire has the same keys in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel)

    name: Cleaned = Field(min_length=1, max_length=LONGEST_NAME)
    title: Cleaned | None = Field(default=None, max_length=LONGEST_TEXT)
    description: Cleaned | None = Field(default=None, max_length=LONGEST_TEXT)
    input_schema: Schema
    output_schema: Schema | None = None
    annotations: Schema | None = None

    @property
    def wire(self) -> dict[str, Any]:
        """The tool as the protocol writes it."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @property
    def characters(self) -> int:
        """The length of what models read of it, as compact JSON."""
        read = {"name": self.name, "description": self.description or "", "input_schema": self.input_schema}
        return len(json.dumps(read, ensure_ascii=False, separators=(",", ":")))


class Catalogue(Record):
    """The tools of a server in its order, what it tells hosts of itself, and the protocol's version.

    `server` is how the server calls itself, or the name of a snapshot's file.
    """

    server: Cleaned = Field(min_length=1, max_length=LONGEST_NAME)
    tools: tuple[CatalogueTool, ...] = Field(max_length=MOST_TOOLS)
    instructions: Cleaned | None = Field(default=None, max_length=LONGEST_TEXT)
    protocol: Cleaned | None = Field(default=None, max_length=LONGEST_NAME)

    @cached_property
    def by_name(self) -> Mapping[str, CatalogueTool]:
        """The tools by their names."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def digest(self) -> str:
        """Its identity: the tools in their order. Instructions have a hash of their own, the protocol has none."""
        return digest([tool.wire for tool in self.tools])

    @cached_property
    def text(self) -> str:
        """The tools as people read them, for showing a change."""
        return block_text([tool.wire for tool in self.tools])

    @cached_property
    def tokens(self) -> int:
        """About how many tokens the tools take in every request: a quarter of their characters, rounded up."""
        return tokens_of(sum(tool.characters for tool in self.tools))

    @property
    def snapshot(self) -> dict[str, Any]:
        """What a snapshot's file holds: a `tools/list` result with what else is known of the server."""
        known = {"instructions": self.instructions, "protocolVersion": self.protocol}
        return {
            "schema": SNAPSHOT,
            "server": self.server,
            **{key: value for key, value in known.items() if value is not None},
            "tools": [tool.wire for tool in self.tools],
        }


def tokens_of(characters: int) -> int:
    """About how many tokens so many characters are: a quarter of them, rounded up."""
    return ceil(characters / _CHARACTERS_PER_TOKEN)


class CatalogueError(ValueError):
    """A list of tools that can't be used. `mistakes`: where in it, by key path, and what is wrong there."""

    def __init__(self, mistakes: Sequence[tuple[str, str]]) -> None:
        self.mistakes = mistakes
        super().__init__("; ".join(f"{where}: {what}" if where else what for where, what in mistakes))


def make_catalogue(
    server: str, tools: Sequence[Any], instructions: str | None = None, protocol: str | None = None
) -> Catalogue:
    """The catalogue of tools as the wire has them. Raises `CatalogueError` with all that is wrong with them."""
    if len(tools) > MOST_TOOLS:
        raise CatalogueError([("tools", f"there are {len(tools):,} tools, more than {MOST_TOOLS:,}")])
    made: list[CatalogueTool] = []
    mistakes: list[tuple[str, str]] = []
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        try:
            made.append(CatalogueTool.model_validate(tool))
        except ValidationError as error:
            mistakes += [(_field(where, item["loc"]), in_words(item)[0]) for item in error.errors()]
    mistakes += _twice(tools)
    if mistakes:
        raise CatalogueError(mistakes)
    try:
        return Catalogue(server=server, tools=tuple(made), instructions=instructions, protocol=protocol)
    except ValidationError as error:
        raise CatalogueError([(_field("", item["loc"]), in_words(item)[0]) for item in error.errors()]) from error


def read_catalogue(root: Path, name: str, server: str | None = None) -> Catalogue:
    """The snapshot in the file `name` below `root`: the result of `tools/list`, its list alone, or the whole answer.

    `server` names the server; else the file does, or its own name. Raises `InputError` with all that is wrong.
    """
    try:
        data = read_inside(root, name, MOST_BYTES)
    except OSError as error:
        raise wrong(
            name, f"the snapshot can't be read: {error.strerror}", "Name a file, from the config's folder."
        ) from error
    return parse_catalogue(data, name, server)


def parse_catalogue(data: str | bytes, name: str, server: str | None = None) -> Catalogue:
    """The same of what the file holds. Raises `InputError` with all that is wrong with it."""
    try:
        value = read_json(data, once=True)
    except NoJsonError as error:
        raise wrong(name, f"the snapshot is not JSON: {error}", _REMEDY, line=error.line) from error
    return _read(value, name, server)


def _read(value: Any, file: str, server: str | None) -> Catalogue:
    body = _result(value, file)
    tools = body.get("tools")
    if not isinstance(tools, list):
        said = "it has no key `tools`" if tools is None else f"`tools` is {described(tools)}"
        raise wrong(file, f"this is not a list of tools: {said}", _REMEDY)
    if body.get("nextCursor"):
        raise wrong(
            file, "the list has further pages: `nextCursor` is set", "Put the tools of all pages into one list."
        )
    try:
        return make_catalogue(
            server or _own_name(body) or _stem(file),
            tools,
            _text(body, "instructions"),
            _text(body, "protocolVersion"),
        )
    except CatalogueError as error:
        place = Place(file=file)
        raise InputError(
            [Problem(place=place, field=where, message=what, remedy=_REMEDY) for where, what in error.mistakes]
        ) from error


def _result(value: Any, file: str) -> dict[str, Any]:
    """What has the key `tools`."""
    if isinstance(value, list):
        return {"tools": value}
    if not isinstance(value, dict):
        raise wrong(file, f"this is not a list of tools but {described(value)}", _REMEDY)
    if "error" in value and "jsonrpc" in value:
        raise wrong(file, "this is a server's refusal: it has the key `error`", _REMEDY)
    inner = value.get("result")
    return inner if isinstance(inner, dict) and "tools" not in value else value


def _own_name(body: Mapping[str, Any]) -> str | None:
    """How the snapshot calls the server: as ours do, or as an answer to `initialize` does."""
    info = body.get("serverInfo")
    name = body.get("server") or (info.get("name") if isinstance(info, dict) else None)
    return name if isinstance(name, str) and name.strip() else None


def _stem(file: str) -> str:
    name = file.rpartition("/")[2]
    return name.removesuffix(".json") or name


def _text(body: Mapping[str, Any], key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) and value else None


def _field(where: str, path: Sequence[str | int]) -> str:
    return where + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def _twice(tools: Sequence[Any]) -> Iterator[tuple[str, str]]:
    seen: dict[str, int] = {}
    for index, tool in enumerate(tools):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            yield (
                f"tools[{index}].name",
                f"the tool {name!r} occurs in the list twice: tools[{seen[name]}] has the name, too",
            )
        seen.setdefault(name, index)


def dump_catalogue(catalogue: Catalogue) -> str:
    """The text of a snapshot's file: the same for the same tools, with a line break at its end."""
    return json.dumps(catalogue.snapshot, indent=1, ensure_ascii=False) + "\n"


def canonical_text(catalogue: Catalogue) -> str:
    """The catalogue as canonical JSON: equal for equal catalogues."""
    return canonical(catalogue.snapshot)
