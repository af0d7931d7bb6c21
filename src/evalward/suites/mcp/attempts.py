"""A call as a model tried it: read, held against the tool's input schema, not yet executed. Pure."""

from __future__ import annotations

from typing import Any

from evalward.records.base import MAX_NESTING, fitting
from evalward.suites.mcp.catalogue import CatalogueTool
from evalward.suites.mcp.details import AttemptedCall, written_arguments
from evalward.suites.mcp.validity import ArgumentSchemas, invented_arguments

NO_OBJECT = "the arguments are not a JSON object"
NO_SUCH_TOOL = "no server declares a tool of this name"


def attempted(word: str, given: Any, found: tuple[CatalogueTool, ArgumentSchemas] | None) -> AttemptedCall:
    """A call as a model tried it, before anything is executed.

    `word` is the name that the model used and `given` what it sent as arguments; `found` is the tool that the name
    stands for with the schemas of its server's catalogue, `None` where no server declares it. Whatever a model sends,
    nothing is raised.
    """
    arguments = given if isinstance(given, dict) and _can_be_held(given) else None
    raw = None if arguments is not None else _raw(given)
    if found is None:
        return AttemptedCall(tool=word, arguments=arguments, raw=raw, known=False, why=NO_SUCH_TOOL)
    tool, schemas = found
    server = schemas.catalogue.server
    if arguments is None:
        return AttemptedCall(server=server, tool=tool.name, raw=raw, valid=False, why=NO_OBJECT)
    verdict = schemas.check(tool.name, arguments)
    return AttemptedCall(
        server=server,
        tool=tool.name,
        arguments=arguments,
        valid=verdict.valid,
        why=verdict.why,
        invented=invented_arguments(tool, arguments),
    )


def _can_be_held(given: dict[Any, Any]) -> bool:
    try:
        fitting(given)
    except (ValueError, RecursionError):
        return False
    return True


def _raw(given: Any) -> str:
    try:
        return given if isinstance(given, str) else written_arguments(given)
    except (TypeError, ValueError, RecursionError):
        return f"(arguments of more than {MAX_NESTING} levels, or of too many parts)"
