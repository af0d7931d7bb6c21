"""The messages of a sample in an archive: in its document, or in the chunks that one was cut into.

Long texts may stand apart as attachments, with `attachment://KEY` in their place: the document's key is a hash, a
chunk's a number. What else a sample has, its events above all, is gone past.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, BinaryIO

from evalward.records.json_stream import JsonStream
from evalward.records.json_text import NoJsonError
from evalward.suites.external.formats.values import mapping, rows

SHELL = "/sample.json"
"""How the member's name ends that says what chunks a sample was cut into."""
MOST_VALUES = 500_000
"""Values of all messages of a sample, and of all its attachments."""
_ATTACHED = "attachment://"
_STEP = 1 << 14  # bytes that are read at once

Opened = Callable[[str], BinaryIO]


def messages_of(opened: Opened, names: Collection[str], name: str) -> list[Mapping[str, Any]]:
    """The messages of the sample that is the member `name`. Raises `NoJsonError`, also for more than can be held."""
    if not name.endswith(SHELL):
        return _in_document(JsonStream(opened(name), _STEP))
    folder = name.removesuffix(SHELL.removeprefix("/"))
    refs = field(JsonStream(opened(name), _STEP), "message_refs")
    pool = _sequence(opened, names, f"{folder}messages/")
    chosen = [each for begin, end in _ranges(refs) for each in pool[begin:end]]
    if not _has_attachments(chosen):
        return rows(chosen)
    attached = _sequence(opened, names, f"{folder}attachments/")
    return rows(_resolved(chosen, {str(number): each for number, each in enumerate(attached)}))


def messages_in(sample: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages of a sample's document that has been read."""
    return rows(_resolved(sample.get("messages"), mapping(sample.get("attachments"))))


def field(stream: JsonStream, wanted: str) -> Any:
    """The value of one key of the object that is next; `None` where it has none."""
    for key in stream.members():
        if key == wanted:
            return stream.value(MOST_VALUES)
        stream.skip()
    return None


def _in_document(stream: JsonStream) -> list[Mapping[str, Any]]:
    found: Any = []
    for key in stream.members():
        if key == "messages":
            found = stream.value(MOST_VALUES)
            if not _has_attachments(found):
                break
        elif key == "attachments":
            return rows(_resolved(found, mapping(stream.value(MOST_VALUES))))
        else:
            stream.skip()
    return rows(found)


def _sequence(opened: Opened, names: Collection[str], folder: str) -> list[Any]:
    """The items of a sample's chunks: each is named by the number of its first item."""
    found: list[Any] = []
    left = MOST_VALUES
    while (name := f"{folder}{len(found)}.json") in names:
        part, values = JsonStream(opened(name), _STEP).counted(left)
        left -= values
        if not isinstance(part, list) or not part:
            raise NoJsonError("a chunk of it has no items")
        found += part
    return found


def _ranges(refs: Any) -> Iterator[tuple[int, int]]:
    for each in refs if isinstance(refs, list) else []:
        if isinstance(each, list) and len(each) == 2 and all(type(end) is int and end >= 0 for end in each):
            yield each[0], each[1]


def _has_attachments(value: Any) -> bool:
    if isinstance(value, str):
        return value.startswith(_ATTACHED)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(_has_attachments, inner))


def _resolved(value: Any, attached: Mapping[str, Any]) -> Any:
    """The value with texts in place of what stands for them; what isn't there stays as it is."""
    if isinstance(value, str) and value.startswith(_ATTACHED):
        return attached.get(value.removeprefix(_ATTACHED), value)
    if isinstance(value, dict):
        return {key: _resolved(each, attached) for key, each in value.items()}
    return [_resolved(each, attached) for each in value] if isinstance(value, list) else value
