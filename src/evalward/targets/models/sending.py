"""A question over an SDK's client: its body is written once, and its answer left as it came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from pydantic_core import to_json

from evalward.targets.models.events import objects_of, received
from evalward.targets.models.reading import Json, body_of, unpacking


class Client(Protocol):
    """What both SDKs' clients do for a path that they may not know: key, headers, time limit, and their errors."""

    @property
    def post(self) -> Callable[..., Any]:
        """Sends a body."""
        ...


async def answered(
    client: Client,
    path: str,
    body: Mapping[str, Any],
    fold: Callable[[Iterable[Json]], Json],
    *,
    streamed: type | None = None,
    headers: Mapping[str, Any] | None = None,
) -> Json:
    """One attempt: the answer, whole or folded from its stream's events. `streamed` is the SDK's class of a stream.

    Raises what the SDK raises, and `MalformedError`. `headers` are sent beside the client's own.

    Nothing of it is made a typed record, and a stream's events are read by us. Of a body, the SDK looks at every value
    by its declared type, which takes it longer than all that we do for a request; of an answer, it tries each item as
    each of its types, which took 1.6 GB for an answer of 40 kB.
    """
    content = to_json({**body, "stream": streamed is not None})
    options = {"headers": headers} if headers else {}
    if streamed is None:
        from httpx2 import Response  # noqa: PLC0415 - loaded with the SDK, by whoever asks

        whole = await client.post(path, cast_to=Response, content=content, options=options)
        with unpacking():
            return body_of(whole)
    stream = await client.post(path, cast_to=object, content=content, options=options, stream=True, stream_cls=streamed)
    async with stream as answer:
        events = await received(answer.response.aiter_bytes())
    with unpacking():
        return fold(objects_of(events))
