"""Zip archives of other harnesses, read a member at a time: deflate and Zstandard, nothing ever unpacked to disk.

The names of the members are keys and never paths. What the directory says of a member (its sizes, its checksum) is what
has to come out of it: the first byte too many ends the reading.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from evalward.suites.external.formats.base import ForeignFile, unreadable
from evalward.suites.external.formats.unpacking import CHUNK, ENCRYPTED, ArchiveError, unpacked

MOST_DIRECTORY = 16 << 20
"""Bytes of the list of members, which is read at once."""
MOST_MEMBERS = 150_000
MOST_RATIO = 200
"""Of the bytes of all members to those of the archive: logs that repeat themselves have 5 to 50."""
SMALL = 256 << 20
"""Bytes of all members that are allowed whatever their ratio."""
MOST_READ = 8 << 30
"""Bytes that are unpacked before a reading ends: what a reader wants of a log is far less."""
_ENCRYPTION = 0x1  # the flag
_LOCAL = struct.Struct("<4s22xHH")


@dataclass(frozen=True)
class Member:
    """Where a member lies and what its directory says of it. Sizes in bytes."""

    offset: int
    packed: int
    size: int
    crc: int
    method: int


class Archive:
    """The members of a zip archive, by name. Of several with one name the last, as zip's readers have it.

    `repeated` are the names that stand in it more than once. Names are cut at a NUL, by whoever writes and reads zip.
    """

    def __init__(self, file: ForeignFile, title: str) -> None:
        """Read the directory. Raises `InputError`."""
        self._file, self._title = file, title
        with file.open() as stream:
            try:
                listed = _directory(stream)
                _refuse_bombs(listed, file.size)
            except ArchiveError as error:
                raise unreadable(file, title, str(error)) from None
        self.members: Mapping[str, Member] = MappingProxyType({info.filename: _member(info) for info in listed})
        self.repeated = frozenset(_repeated(info.filename for info in listed))

    @contextmanager
    def reading(self) -> Iterator[Callable[[str], BinaryIO]]:
        """A function that opens a member, as long as this lasts. Raises `InputError` for whatever is broken."""
        with self._file.open() as stream:
            budget = _Budget(MOST_READ)
            try:
                yield lambda name: io.BufferedReader(_Unpacked(stream, self.members[name], budget), CHUNK)
            except ArchiveError as error:
                raise unreadable(self._file, self._title, str(error)) from None


class _InBounds(io.RawIOBase):
    """A stream for whoever reads as many bytes at once as an archive says."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size if 0 <= size <= MOST_DIRECTORY else MOST_DIRECTORY + 1)
        if len(data) > MOST_DIRECTORY:
            raise ArchiveError(f"its list of members is larger than {MOST_DIRECTORY >> 20} MiB")
        return data


def _directory(stream: BinaryIO) -> list[ZipInfo]:
    try:
        with ZipFile(_InBounds(stream)) as archive:
            listed = archive.infolist()
    except (BadZipFile, NotImplementedError, ValueError, OSError, struct.error, LookupError):
        raise ArchiveError("it is not a complete zip archive") from None
    if len(listed) > MOST_MEMBERS:
        raise ArchiveError(f"it has more than {MOST_MEMBERS:,} members")
    return listed


def _refuse_bombs(listed: list[ZipInfo], size: int) -> None:
    """More than fits into the archive, since members share their bytes, or more than logs can be shrunk."""
    if sum(info.compress_size for info in listed) > size:
        raise ArchiveError("its members overlap")
    total = sum(info.file_size for info in listed)
    if total > max(SMALL, MOST_RATIO * size):
        raise ArchiveError(f"it would unpack to {total >> 20:,} MiB, more than {MOST_RATIO} times its size")


def _member(info: ZipInfo) -> Member:
    method = ENCRYPTED if info.flag_bits & _ENCRYPTION else info.compress_type
    return Member(info.header_offset, info.compress_size, info.file_size, info.CRC, method)


def _repeated(names: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield name
        seen.add(name)


@dataclass
class _Budget:
    """What may still be unpacked."""

    left: int

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise ArchiveError(f"more than {MOST_READ >> 30} GiB had to be unpacked")


class _Unpacked(io.RawIOBase):
    """The bytes of a member, which are as many as the directory says, or an error."""

    def __init__(self, stream: BinaryIO, member: Member, budget: _Budget) -> None:
        self._member, self._left, self._crc, self._budget = member, member.size, 0, budget
        self._pieces, self._piece = unpacked(member.method, _packed(stream, member)), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # as `BufferedReader` calls it
        self._piece = self._piece or self._next()
        data, self._piece = self._piece[: len(buffer)], self._piece[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def _next(self) -> bytes:
        piece = next(self._pieces, b"")
        self._left -= len(piece)
        self._budget.spend(len(piece))
        if self._left < 0 or (self._left and not piece):
            raise ArchiveError("a member has another size than the archive says")
        self._crc = zlib.crc32(piece, self._crc)
        if not piece and self._crc != self._member.crc:
            raise ArchiveError("a member has another checksum than the archive says")
        return piece


def _packed(stream: BinaryIO, member: Member) -> Iterator[bytes]:
    """The bytes of a member as they lie in the archive, a few at a time; others may read from the stream meanwhile."""
    stream.seek(member.offset)
    header = stream.read(_LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(b"PK\3\4"):
        raise ArchiveError("a member isn't where the archive says")
    _, name, extra = _LOCAL.unpack(header)
    at = member.offset + _LOCAL.size + name + extra
    end = at + member.packed
    while at < end:
        stream.seek(at)
        piece = stream.read(min(CHUNK, end - at))
        if not piece:
            raise ArchiveError("it is cut off")
        at += len(piece)
        yield piece
