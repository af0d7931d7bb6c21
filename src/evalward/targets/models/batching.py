"""A provider's batch API in our words: requests go in together, their answers come out together, hours later."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from evalward.records.json_values import has_more_values
from evalward.targets.base import Reply, Request
from evalward.targets.models import limits
from evalward.targets.models.faults import Fault
from evalward.targets.models.reading import Json, MalformedError
from evalward.targets.models.settings import LiveSettings, Secret

RESULTS_LIMIT = 1 << 30  # bytes of all answers of a batch
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


@dataclass(frozen=True)
class BatchLine:
    """One request of a batch. `custom_id` tells its answer from the others'; `body` is what would be sent live."""

    custom_id: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class BatchState:
    """A batch as the provider sees it. `fault`: why it was refused as a whole; `files`: where its answers are."""

    id: str
    ended: bool
    fault: Fault | None = None
    files: Sequence[str] = ()


@dataclass(frozen=True)
class BatchOutcome:
    """What became of one request: an answer, a fault, or neither where it expired or was cancelled."""

    custom_id: str
    answer: Json | None = None
    fault: Fault | None = None


@dataclass(frozen=True)
class BatchedMessages:
    """How a protocol writes one request and reads one answer: in a batch as it does live."""

    request_of: Callable[[Request], Mapping[str, Any]]
    reply_of: Callable[[Json, int], Reply]


class ClosingClient(Protocol):
    """A client that is closed at the end."""

    async def close(self) -> None:
        """Close its connections."""
        ...


class BatchApi(Protocol):
    """One provider's batches over one SDK client. Methods raise what the SDK raises, and `MalformedError`."""

    def body_of(self, request: Request) -> Mapping[str, Any]:
        """The request's body."""
        ...

    def reply_of(self, answer: Json, turn: int) -> Reply:
        """The answer as a reply, without cost. Raises `MalformedError`, `ProviderError`."""
        ...

    async def send(self, lines: Sequence[BatchLine]) -> BatchState:
        """Make a batch of these requests."""
        ...

    async def look(self, batch: str) -> BatchState:
        """How far it is."""
        ...

    async def cancel(self, batch: str) -> BatchState:
        """Have the provider stop; what is answered already can still be read when it has ended."""
        ...

    def outcomes(self, batch: BatchState) -> AsyncGenerator[BatchOutcome]:
        """What became of each request of a batch that has ended, in any order."""
        ...

    async def close(self) -> None:
        """Close the client's connections."""
        ...


class SdkBatches:
    """What batches over an SDK's client have in common: how single requests are written and read, and its end."""

    def __init__(self, client: ClosingClient, messages: BatchedMessages) -> None:
        self._sdk, self._messages = client, messages

    def body_of(self, request: Request) -> Mapping[str, Any]:
        """The request's body."""
        return self._messages.request_of(request)

    def reply_of(self, answer: Json, turn: int) -> Reply:
        """The answer as a reply."""
        return self._messages.reply_of(answer, turn)

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()


class MakeBatchApi(Protocol):
    """Makes the batch API of a target; here its SDK is imported."""

    def __call__(self, settings: LiveSettings, key: Secret) -> BatchApi:
        """An API with a client of its own."""
        ...


def checked_id(given: object) -> str:
    """An id that can stand in an address and in a file's name. Raises `MalformedError`."""
    if not isinstance(given, str) or _ID.fullmatch(given) is None:
        raise MalformedError("the batch, or a file of it, has no id that can be used")
    return given


async def json_lines(pieces: AsyncIterable[bytes]) -> AsyncIterator[dict[str, Any]]:
    """The objects of a file with one on each line. What is none is left out: whoever waits for it gets no answer.

    Raises `MalformedError` for a line longer than an answer may be.
    """
    begun = bytearray()
    async for piece in pieces:
        begun += piece
        if b"\n" in piece:
            *lines, rest = begun.split(b"\n")
            begun = bytearray(rest)
            for line in lines:
                found = _object(line)
                if found is not None:
                    yield found
        if len(begun) > limits.ANSWER_LIMIT:
            raise MalformedError(f"a line of the batch's answers is longer than {limits.ANSWER_LIMIT:,} bytes")
    found = _object(begun)
    if found is not None:
        yield found


def _object(line: bytes | bytearray) -> dict[str, Any] | None:
    if has_more_values(bytes(line), limits.MOST_VALUES):
        raise MalformedError(f"a line of the batch's answers has more than {limits.MOST_VALUES:,} values")
    try:
        value = json.loads(line.decode()) if line.strip() else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
