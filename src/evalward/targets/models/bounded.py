"""How long a provider's answer may be, unpacked: it is read by the process that holds the keys."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from evalward.targets.models import limits
from evalward.targets.models.reading import MalformedError, refuse_many

if TYPE_CHECKING:
    from httpx2 import AsyncByteStream, Response

PIECE = 65_536  # bytes that are unpacked at once
UNCOMPRESSED = {"accept-encoding": "identity"}
"""What a client asks for. Some servers pack their answers nevertheless."""
_PACKED = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


def bounded_to(most: int | None = None) -> Callable[[Response], Awaitable[None]]:
    """A hook of the HTTP library's client: reading more than `most` bytes of an answer, or than an answer may
    have, raises `MalformedError`.

    The library unpacks as much as a packed piece holds, which can be a thousand times its size: here it is done
    piece by piece. It also decodes by whatever codec an answer names, and some of Python's make no text: all of them
    are read as UTF-8.
    """

    async def bounded(response: Response) -> None:
        packing = response.headers.pop("content-encoding", "").strip().lower()
        response.stream = _bounded_stream()(response.stream, packing, most or _limit_of(response))
        response.encoding = "utf-8"

    return bounded


async def refuse_many_of_failure(response: Response) -> None:
    """A hook for the clients of SDKs, which make objects of all JSON that comes with a status of failure.

    Raises `MalformedError` for one of too many values.
    """
    if not response.is_success:
        refuse_many(await response.aread())


def _limit_of(response: Response) -> int:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return limits.STREAM_LIMIT if response.is_success and kind == "text/event-stream" else limits.ANSWER_LIMIT


@cache
def _bounded_stream() -> Callable[[Any, str, int], AsyncByteStream]:
    from httpx2 import AsyncByteStream  # noqa: PLC0415 - costs only who asks

    class Bounded(AsyncByteStream):
        def __init__(self, stream: Any, packing: str, most: int) -> None:
            self._stream, self._packing, self._most = stream, packing, most

        def __aiter__(self) -> AsyncIterator[bytes]:
            return _within_limit(self._stream, self._packing, self._most)

        async def aclose(self) -> None:
            await self._stream.aclose()

    return Bounded


async def _within_limit(stream: AsyncIterable[bytes], packing: str, most: int) -> AsyncIterator[bytes]:
    if packing not in {"", "identity", *_PACKED}:
        raise MalformedError(f"the answer is encoded as {packing[:20]!r}, which was not requested")
    unpacker = zlib.decompressobj(_PACKED[packing]) if packing in _PACKED else None
    length = 0
    async for received in stream:
        if unpacker is not None and unpacker.eof:  # what follows is passed over, but not without end
            length = _longer(length, received, most)
            continue
        for piece in (received,) if unpacker is None else _unpacked(unpacker, received):
            length = _longer(length, piece, most)
            yield piece
    if unpacker is not None and not unpacker.eof:
        raise MalformedError("the answer's packing breaks off")


def _longer(length: int, piece: bytes, most: int) -> int:
    if length + len(piece) > most:
        raise MalformedError(f"the answer is longer than {most:,} bytes")
    return length + len(piece)


def _unpacked(unpacker: zlib._Decompress, received: bytes) -> Iterator[bytes]:
    try:
        while received and not unpacker.eof:
            if piece := unpacker.decompress(received, PIECE):
                yield piece
            received = unpacker.unconsumed_tail
    except zlib.error:
        raise MalformedError("the answer can't be unpacked") from None
