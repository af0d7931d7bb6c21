"""Reading what a provider sent: plain JSON, of which nothing is taken for granted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from evalward.records.base import fitting, why_of
from evalward.records.json_text import NoJsonError, refuse_depth
from evalward.records.json_values import has_more_values
from evalward.targets.models import limits

if TYPE_CHECKING:
    from httpx2 import Response

T = TypeVar("T")
Json = Mapping[str, Any]
MOST_LEVELS = 900  # of one answer, whatever this Python reads; each part of it is held to less when it is kept
MOST_TOKENS = 10**12  # of one answer: who tells more tells nothing


class MalformedError(Exception):
    """What came back is no answer: not JSON, of another form, or not complete."""


class ProviderError(Exception):
    """An error that came inside an answer with a good status. `body` is the provider's error object."""

    def __init__(self, body: Any) -> None:
        self.body = body
        super().__init__("the provider reports an error")


class UnreadableAnswerError(Exception):
    """An answer of the right form with something in it that breaks our reading: the model's doing, who wrote it."""


@contextmanager
def unpacking() -> Iterator[None]:
    """Around whatever makes an answer of what was sent. Raises `MalformedError` for what isn't known to go wrong there.

    No word of the model is looked at yet: that something is of another type than it should be is the provider's doing.
    """
    try:
        yield
    except (MalformedError, ProviderError):
        raise
    except Exception as error:
        raise MalformedError(f"the answer can't be read: {why_of(error)}") from error


@contextmanager
def reading() -> Iterator[None]:
    """Around whatever makes our records of an answer that has its form: what is left are the model's own words.

    Raises `UnreadableAnswerError` for what isn't known to go wrong there.
    """
    try:
        yield
    except (MalformedError, ProviderError):
        raise
    except Exception as error:
        raise UnreadableAnswerError(f"the answer can't be read: {why_of(error)}") from error


def kept(value: Any) -> Any:
    """A part of an answer as a record can hold it; nothing where it can hold none of it."""
    try:
        return fitting(value)
    except ValueError:
        return None


def body_of(response: Response) -> dict[str, Any]:
    """An answer as plain JSON, whatever it calls itself. Raises `MalformedError` unless it is an object.

    Read here and not by the SDK, whose typed record of it would only be taken apart again.
    """
    if len(response.content) > limits.ANSWER_LIMIT:  # it called itself a stream
        raise MalformedError(f"the answer is longer than {limits.ANSWER_LIMIT:,} bytes")
    return object_of(response.content)


def object_of(content: bytes, what: str = "the answer", errors: str = "strict") -> dict[str, Any]:
    """The object of a JSON text. Raises `MalformedError` where it is none, or has more in it than an answer may have.

    `what` it is, in words; `errors` as for `bytes.decode`.
    """
    try:
        text = content.decode("utf-8-sig", errors)
        refuse_many(content, what)
        value = json.loads(text)
        refuse_depth(value, MOST_LEVELS)
    except (RecursionError, NoJsonError):
        raise MalformedError(f"{what} is nested too deeply") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        value = content.decode("utf-8", "replace")
    except ValueError:  # Python converts no more than some thousand digits
        raise MalformedError("a number in the answer has too many digits") from None
    if not isinstance(value, dict):
        raise MalformedError(f"{what} is not a JSON object but {_described(value)}")
    return value


def refuse_many(content: bytes, what: str = "the answer") -> None:
    """Raises `MalformedError` for a JSON text of more values than an answer may have."""
    if has_more_values(content, limits.MOST_VALUES):
        raise MalformedError(f"{what} has more than {limits.MOST_VALUES:,} values")


def _described(answer: object) -> str:
    if isinstance(answer, str):
        return f"the text {answer.strip()[:100]!r}" if answer.strip() else "empty"
    return f"a {type(answer).__name__}"


def need(data: Json, name: str, kind: type[T]) -> T:
    """The value of a field; raises `MalformedError` when it is missing or of another kind."""
    value = data.get(name)
    if not isinstance(value, kind):
        raise MalformedError(f"the answer's field {name!r} is {'missing' if value is None else 'of another kind'}")
    return value


def need_objects(data: Json, name: str) -> list[dict[str, Any]]:
    """The objects of a list; raises `MalformedError` when it is none, or holds something else."""
    values = need(data, name, list)
    if not all(isinstance(value, dict) for value in values):
        raise MalformedError(f"the answer's field {name!r} holds something else than objects")
    return values


def maybe(data: Json, name: str, kind: type[T]) -> T | None:
    """The value of a field, `None` when it is missing or of another kind."""
    value = data.get(name)
    return value if isinstance(value, kind) else None


def tokens(data: Json | None, *path: str) -> int | None:
    """A number of tokens at a path of fields; `None` when nobody told."""
    value: Any = data
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
    return value if known else None


def without(total: int | None, *parts: int | None) -> int | None:
    """What remains of a total that includes the parts."""
    return None if total is None else max(0, total - sum(part or 0 for part in parts))


def arguments_to_send(given: Any) -> dict[str, Any]:
    """Arguments as they go back to the model: unusable ones as an object too, which every provider accepts."""
    if isinstance(given, dict):
        return given
    return {} if given is None else {"unusable": given if isinstance(given, str) else json.dumps(given)}


def unique_ids(ids: Sequence[str], turn: int) -> list[str]:
    """The ids of a turn's tool uses, with our own where a server gave none or one of them twice."""
    seen: set[str] = set()
    result = []
    for number, given in enumerate(ids, 1):
        result.append(given if given and given not in seen else f"call_{turn}_{number}")
        seen.add(result[-1])
    return result
