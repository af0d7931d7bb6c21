"""What a shard left, as one archive, and back into a folder: the report, the trials, what they kept; within bounds."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from evalward.writing import Folder

REPORT = "report.json"  # as in records.report, which loads more than a worker needs
KEPT = (REPORT, "trials/", "artifacts/")
MOST_BYTES = 1 << 30  # of a part, unpacked
MOST_FILES = 100_000
MOST_FILE = 256 << 20


class PackingError(Exception):
    """A part is too large, or no archive that a bundle made."""


def packed(folder: Path) -> bytes:
    """The archive of a shard's output folder. Raises `PackingError`, `OSError`."""
    source, room, count = Folder(folder), MOST_BYTES, 0
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for entry in source.entries():
            if entry.is_folder or entry.strange or not _kept(entry.path):
                continue
            data = source.read(entry.path, MOST_FILE)
            room, count = room - len(data), count + 1
            _refuse_more(room, count)
            archive.writestr(zipfile.ZipInfo(entry.path), data, zipfile.ZIP_DEFLATED, 1)
    return buffer.getvalue()


def unpacked(data: bytes, folder: Path) -> None:
    """Write the files of an archive to a new folder. Raises `PackingError`, `OSError`."""
    target, room = Folder(folder), MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for count, member in enumerate(archive.infolist(), 1):
                _refuse_more(room - member.file_size, count)
                content = _content(archive, member, room)
                room -= len(content)
                _refuse_more(room, count)
                target.create(member.filename, content)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, RuntimeError, ValueError) as error:
        raise PackingError(f"what the bundle gave back can't be unpacked: {error}") from error


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, room: int) -> bytes:
    """A member that a shard may leave. Raises `ValueError` for another one."""
    if not _kept(member.filename):
        raise ValueError(f"{member.filename[:100]!r} is nothing that a shard leaves")
    with archive.open(member) as file:
        return file.read(min(room, MOST_FILE) + 1)


def _kept(name: str) -> bool:
    return name == REPORT or (name.startswith(KEPT[1:]) and not name.endswith("/"))


def _refuse_more(room: int, count: int) -> None:
    if room < 0 or count > MOST_FILES:
        raise PackingError("the part of the bundle is too large: more bundles have smaller ones, see --shards")
