"""What the two OpenAI protocols refuse in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from support.model_server.api import HttpRequest, RejectedError, bearer, reasons
from support.model_server.provider_errors import wrong_key
from support.model_server.structured import schema_problem

TAGGED = {"messages", "content", "input", "output"}  # lists of unions: pydantic puts the tag after the index
TYPES = {
    "string_type": "a string",
    "int_type": "an integer",
    "float_type": "a decimal",
    "bool_type": "a boolean",
    "list_type": "an array",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def invalid(message: str, param: str | None = None, code: str | None = None) -> RejectedError:
    """A 400 as the service writes it."""
    return RejectedError(400, "invalid_request_error", message, param, code)


def authenticate(request: HttpRequest, key: str) -> None:
    """Raises a 401 unless the bearer is the key."""
    given = bearer(request)
    if not given:
        raise RejectedError(
            401,
            "invalid_request_error",
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer "
            "auth (i.e. Authorization: Bearer YOUR_KEY).",
        )
    if given != key:
        raise wrong_key(given)


def from_pydantic(error: Mapping[str, Any]) -> RejectedError:
    """The service's words for what pydantic found."""
    param = _param(error["loc"])
    kind = error["type"]
    if kind == "missing":
        return invalid(f"Missing required parameter: '{param}'.", param, "missing_required_parameter")
    if kind == "extra_forbidden":
        return invalid(f"Unknown parameter: '{param}'.", param, "unknown_parameter")
    if kind in TYPES:
        given = _json_type(error["input"])
        return invalid(
            f"Invalid type for '{param}': expected {TYPES[kind]}, but got {given} instead.", param, "invalid_type"
        )
    if kind == "too_short":
        message = (
            f"Invalid '{param}': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        return invalid(message, param, "empty_array")
    return invalid(f"Invalid value: {error['input']!r}. {error['msg']}.", param, "invalid_value")


def _param(place: Sequence[str | int]) -> str:
    shown = ""
    for number, part in enumerate(place):
        if isinstance(part, int):
            shown += f"[{part}]"
        elif not (number > 1 and isinstance(place[number - 1], int) and place[number - 2] in TAGGED):
            shown += f".{part}" if shown else str(part)
    return shown


def _json_type(value: object) -> str:
    names = {
        str: "a string",
        bool: "a boolean",
        int: "an integer",
        float: "a decimal",
        list: "an array",
        dict: "an object",
    }
    return "null" if value is None else names.get(type(value), "something else")


def check_sampling(model: str, temperature: float | None, effort: str | None, *, responses: bool) -> None:
    """Reasoning models take no temperature but 1 unless they don't reason; the others take no effort."""
    if not reasons(model) and effort is not None:
        param = "reasoning.effort" if responses else "reasoning_effort"
        raise invalid(
            f"Unsupported parameter: '{param}' is not supported with this model.", param, "unsupported_parameter"
        )
    if not reasons(model) or temperature in (None, 1) or effort == "none":
        return
    if responses:
        raise invalid(
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "temperature",
            "unsupported_parameter",
        )
    raise invalid(
        f"Unsupported value: 'temperature' does not support {temperature} with this model. Only the default (1) value "
        "is supported.",
        "temperature",
        "unsupported_value",
    )


def check_format(name: str, schema: Mapping[str, Any], strict: bool | None, param: str) -> None:
    """A strict schema of the answer has to be closed throughout, with all properties required."""
    problem = schema_problem(schema) if strict else None
    if problem:
        message = f"Invalid schema for response_format '{name}': {problem}"
        raise invalid(message, param, "invalid_json_schema")


def check_schema(name: str, schema: Mapping[str, Any] | None, strict: bool | None, param: str) -> None:
    """A strict tool's schema has to be closed, with all properties required."""
    if not strict:
        return
    wanted = schema or {}
    problem = ""
    if wanted.get("additionalProperties") is not False:
        problem = "'additionalProperties' is required to be supplied and to be false."
    elif set(wanted.get("properties", {})) != set(wanted.get("required", [])):
        problem = "'required' is required to be supplied and to be an array including every key in properties."
    if problem:
        message = f"Invalid schema for function '{name}': In context=(), {problem}"
        raise invalid(message, param, "invalid_function_parameters")
