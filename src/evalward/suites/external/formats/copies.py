"""Files with the same content: one result that lies there twice is one result."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from evalward.suites.external.formats.base import ForeignFile

_BLOCK = 1 << 20  # bytes


def fingerprint(file: ForeignFile) -> str:
    """The SHA-256 of a file's content, in hexadecimal. Raises `OSError`."""
    sha = hashlib.sha256()
    with file.open() as stream:
        while block := stream.read(_BLOCK):
            sha.update(block)
    return sha.hexdigest()


def without_copies(files: Sequence[ForeignFile]) -> tuple[list[ForeignFile], list[str]]:
    """The files, of those with the same content the first alone; and what to say of the others. Raises `OSError`."""
    sizes = Counter(file.size for file in files)
    first: dict[str, ForeignFile] = {}
    kept, notes = list[ForeignFile](), list[str]()
    for file in files:
        same = first.setdefault(fingerprint(file), file) if sizes[file.size] > 1 else file
        if same is file:
            kept.append(file)
        else:
            notes.append(f"{file.name} has the same content as {same.name}: its results count once")
    return kept, notes
