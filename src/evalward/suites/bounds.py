"""How large a case may be, whatever its kind: far beyond what anybody writes, and small enough for every step after.

A case is asked, kept with each of its trials and shown. What its file may have is bounded elsewhere, by bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from evalward.records.base import fitting

LONGEST_TEXT = 1_000_000
"""Characters of a prompt or another text that is asked or compared: more tokens than any model reads at once."""
LONGEST_NAME = 1_000
"""Characters of an id, a category or a tag: it is shown in tables, and is a part of files' names."""
MOST_ENTRIES = 1_000
"""Checks, files, or entries of any other list of one case."""
LONGEST_FILE_NAME, LONGEST_PATH = 255, 4_096
"""Bytes that file systems take: of one name, and of a whole path."""
MOST_ARGUMENTS = 10_000
"""Values in the arguments of one call."""

CaseText = Annotated[str, Field(max_length=LONGEST_TEXT)]
CaseName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Tags = Annotated[list[Annotated[str, Field(max_length=LONGEST_NAME)]], Field(max_length=MOST_ENTRIES)]


def refuse_long(path: str) -> None:
    """Raises `ValueError` for a path that no file system takes."""
    if len(_bytes(path)) > LONGEST_PATH:
        raise ValueError(f"the path {path[:40]!r}… has more than {LONGEST_PATH:,} bytes. Make it shorter")
    if any(len(_bytes(name)) > LONGEST_FILE_NAME for name in path.split("/")):
        raise ValueError(f"a name in the path {path[:40]!r}… has more than {LONGEST_FILE_NAME} bytes. Make it shorter")


def refuse_long_paths(paths: Iterable[str]) -> None:
    """The same for several."""
    for path in paths:
        refuse_long(path)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _bounded(arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        fitting(arguments, MOST_ARGUMENTS)
    except ValueError:
        raise ValueError(f"it has more than {MOST_ARGUMENTS:,} values, or is nested too deeply") from None
    return arguments


Arguments = Annotated[dict[str, Any], AfterValidator(_bounded)]
"""The arguments of a call."""
