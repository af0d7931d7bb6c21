"""Packed bytes unpacked piece by piece, so that no more is ever in memory than a piece, whatever they hold."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

CHUNK = 1 << 16
"""Bytes of a piece, packed and unpacked."""
ENCRYPTED = -1
"""Instead of a method, for a member that is encrypted."""


class ArchiveError(Exception):
    """An archive, or a member of one, that can't be read: its words say why."""


def unpacked(method: int, packed: Iterable[bytes]) -> Iterator[bytes]:
    """What packed pieces hold, in pieces of at most `CHUNK` bytes. `method` is zip's number.

    Raises `ArchiveError`: broken bytes, or a method that isn't known.
    """
    unpack = _METHODS.get(method)
    if unpack is None:
        why = "encrypted" if method == ENCRYPTED else f"packed by the method {method}"
        raise ArchiveError(f"a member is {why}")
    yield from filter(None, unpack(packed))


def _stored(packed: Iterable[bytes]) -> Iterator[bytes]:
    yield from packed


def _inflated(packed: Iterable[bytes]) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        for piece in packed:
            yield inflater.decompress(piece, CHUNK)
            while inflater.unconsumed_tail:
                yield inflater.decompress(inflater.unconsumed_tail, CHUNK)
        yield inflater.flush()
    except zlib.error:
        raise ArchiveError("a member's bytes are damaged") from None


def _decompressed(packed: Iterable[bytes]) -> Iterator[bytes]:
    """Zstandard: one frame after the other."""
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor, ZstdError  # noqa: PLC0415 - few archives need it
    else:
        from backports.zstd import ZstdDecompressor, ZstdError  # noqa: PLC0415
    frame = ZstdDecompressor()
    try:
        for piece in packed:
            rest = piece
            while rest or not (frame.needs_input or frame.eof):
                frame = ZstdDecompressor() if frame.eof else frame
                yield frame.decompress(rest, CHUNK)
                rest = frame.unused_data if frame.eof else b""
    except ZstdError:
        raise ArchiveError("a member's bytes are damaged") from None


_METHODS: Mapping[int, Callable[[Iterable[bytes]], Iterator[bytes]]] = MappingProxyType(
    {0: _stored, 8: _inflated, 93: _decompressed}
)
