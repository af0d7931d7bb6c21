"""How long a provider's answer may be, unpacked: it is read by the process that holds the keys."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from evalward.targets.models.reading import MalformedError

if TYPE_CHECKING:
    from httpx2 import AsyncByteStream, Response

ANSWER_LIMIT = 32_000_000  # bytes; a stream of 100,000 tokens has about 20 MB
PIECE = 65_536  # bytes that are unpacked at once
UNCOMPRESSED = {"accept-encoding": "identity"}
"""What a client asks for. Some servers pack their answers nevertheless."""
_PACKED = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


def bounded_to(most: int | None = None) -> Callable[[Response], Awaitable[None]]:
    """A hook of the HTTP library's client: reading more than `most` bytes of an answer, or than an answer may
    have, raises `MalformedError`.

    The library unpacks as much as a packed piece holds, which can be a thousand times its size: here it is done
    piece by piece.
    """

    async def bounded(response: Response) -> None:
        packing = response.headers.pop("content-encoding", "").strip().lower()
        response.stream = _bounded_stream()(response.stream, packing, most or ANSWER_LIMIT)

    return bounded


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
        for piece in (received,) if unpacker is None else _unpacked(unpacker, received):
            length += len(piece)
            if length > most:
                raise MalformedError(f"the answer is longer than {most:,} bytes")
            yield piece
    if unpacker is not None and not unpacker.eof:
        raise MalformedError("the answer's packing breaks off")


def _unpacked(unpacker: zlib._Decompress, received: bytes) -> Iterator[bytes]:
    try:
        while received:
            if piece := unpacker.decompress(received, PIECE):
                yield piece
            received = unpacker.unconsumed_tail
    except zlib.error:
        raise MalformedError("the answer can't be unpacked") from None
