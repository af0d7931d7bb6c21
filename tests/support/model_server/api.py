"""What the three protocols have in common: reading a request, refusing it, answering it."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from support.model_server.script import Answer

Protocol = Literal["messages", "chat", "responses"]

MODELS = (
    "claude-haiku-4-5",
    "claude-haiku-4-5-20251001",
    "claude-opus-4-6",
    "claude-sonnet-5",
    "gpt-4.1",
    "gpt-4o",
    "gpt-5",
    "gpt-5-mini",
    "gpt-5.2",
    "o3",
    "o4-mini",
)


@dataclass(frozen=True)
class HttpRequest:
    """One request as it came in; header names in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Asked:
    """What a valid request asks for. `turn` is the number of answers it already holds."""

    protocol: Protocol
    model: str
    prompt: str
    turn: int
    stream: bool = False
    include_usage: bool = False
    include_reasoning: bool = False
    count_only: int | None = None


@dataclass
class RejectedError(Exception):
    """An answer with an error status. `type`, `param` and `code` are the fields of the provider's error object."""

    status: int
    type: str
    message: str
    param: str | None = None
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    details: dict[str, object] | None = None


class Strict(BaseModel):
    """Part of a request: no unknown fields, no conversions."""

    model_config = ConfigDict(extra="forbid", strict=True)


Parsed = TypeVar("Parsed", bound=BaseModel)


class Api(ABC):
    """One protocol."""

    protocol: ClassVar[Protocol]
    path: ClassVar[str]
    request_id_header: ClassVar[str]

    @abstractmethod
    def authenticate(self, request: HttpRequest, key: str) -> None:
        """Raises `RejectedError` without the key and the headers that the service wants."""

    @abstractmethod
    def read(self, request: HttpRequest, body: dict[str, Any], models: frozenset[str]) -> Asked:
        """The request, checked as the service would. Raises `RejectedError`."""

    @abstractmethod
    def answer(self, asked: Asked, answer: Answer) -> dict[str, Any]:
        """The answer as one JSON object."""

    @abstractmethod
    def events(self, asked: Asked, answer: Answer) -> Iterator[bytes]:
        """The answer as server-sent events, the last of which completes it."""

    @abstractmethod
    def stream_error(self, asked: Asked, name: str) -> bytes:
        """An error in the middle of a stream: `stream_error`, `stream_error_nested` or `stream_failed`."""

    @abstractmethod
    def error_body(self, error: RejectedError, request_id: str) -> dict[str, Any]:
        """The error as the service's JSON."""

    @abstractmethod
    def failures(self, asked: Asked) -> dict[str, RejectedError]:
        """The service's errors for those faults that are no more than an error status, by the fault's name."""

    @abstractmethod
    def unreadable(self, why: str) -> RejectedError:
        """The error for a body that is not a JSON object."""


def bearer(request: HttpRequest) -> str:
    """The key of an `Authorization: Bearer` header, else nothing."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key if scheme.lower() == "bearer" else ""


def reasons(model: str) -> bool:
    """Whether this OpenAI model is of a reasoning family (GPT-5 and later, o), which takes other parameters."""
    return bool(re.match(r"gpt-[5-9]|o\d", model)) and "chat" not in model


def first_error(model: type[Parsed], value: object) -> Parsed | dict[str, Any]:
    """The model of `value`, or what is wrong with it first: pydantic's `type`, `loc`, `msg`, `input` and `ctx`."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        return dict(error.errors(include_url=False)[0])


def shown_models(models: frozenset[str], owner: str) -> list[dict[str, Any]]:
    """The models for GET /v1/models."""
    claude = owner == "anthropic"
    return [
        {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": owner}
        if not claude
        else {"id": name, "type": "model", "display_name": name, "created_at": "2025-10-01T00:00:00Z"}
        for name in sorted(models)
        if name.startswith("claude") == claude
    ]
