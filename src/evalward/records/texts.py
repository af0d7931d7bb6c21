"""What hashes stand for: prompts by the part of a subject, cases by their definition. Kept once each, within bounds.

A text is named by its hash, so a change can be shown as text. Whoever wrote a record may claim anything: what is told
of a prompt is held against the hash wherever that can be done, and what fails is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator

from evalward.records.base import clean_text, digest

LONGEST_TEXT = 20_000  # characters, the mark of a cut included
MOST_IN_REPORT, MOST_IN_BASELINE = 4_000_000, 1_000_000  # bytes of all texts, as they are written
_LONGEST_KEY = 200

SYSTEM, TOOL_PROMPT, GUIDANCE = "system", "tool_description", "guidance"
"""Parts of a subject that are texts which a model reads."""
_VERIFIABLE = (SYSTEM, TOOL_PROMPT)

_SCHEMA_HEAD = "\n\nInput schema:\n"
_CUT = re.compile(r"\n\[(\d{1,15}) more characters\]\Z")
_ROOM = len("\n[123456789012345 more characters]")
_LONGEST_WORD = 2_000  # characters
_HIDDEN = "[redacted]"  # as `evalward.redaction` writes it, which lies above


class _Defined(Protocol):
    @property
    def definition(self) -> str: ...


class _Subject(Protocol):
    @property
    def parts(self) -> dict[str, str]: ...


class TextUser(Protocol):
    """A run of a report or a baseline: its hashes name texts."""

    @property
    def subject(self) -> _Subject:
        """What was under evaluation."""
        ...

    @property
    def cases(self) -> Sequence[_Defined]:
        """What was asked."""
        ...


def tool_text(description: str, schema: Mapping[str, Any]) -> str:
    """A tool as people read it. Its hash, that of both, can still be found: see `stands_for`."""
    return f"{description}{_SCHEMA_HEAD}{json.dumps(schema, indent=2, ensure_ascii=False)}\n"


def is_cut(text: str) -> bool:
    """Whether the end of a text was left out."""
    return _CUT.search(text[-_ROOM:]) is not None


def is_altered(text: str) -> bool:
    """Whether a text is not all that there was: its end was left out, or a secret in it hidden."""
    return is_cut(text) or _HIDDEN in text


def stands_for(key: str, text: str) -> bool | None:
    """Whether this is the prompt, or the tool, of a hash; `None` where that can't be known: it was altered."""
    if key in {digest(text), _tool_digest(text)}:
        return True
    return None if is_altered(text) else False


def _tool_digest(text: str) -> str | None:
    description, head, schema = text.rpartition(_SCHEMA_HEAD)
    if not head:
        return None
    try:
        return digest([description, json.loads(schema)])
    except (ValueError, RecursionError):
        return None


def cut_text(text: str) -> str:
    """The text, of which at most `LONGEST_TEXT` characters are kept; what was cut, also before, is counted."""
    text = clean_text(text)
    if len(text) <= LONGEST_TEXT:
        return text
    earlier = _CUT.search(text[-_ROOM:])
    whole = text[: -len(earlier.group())] if earlier else text
    kept = whole[: LONGEST_TEXT - _ROOM]
    kept = kept[: len(kept) - _last_word(kept)]
    return f"{kept}\n[{len(whole) - len(kept) + (int(earlier[1]) if earlier else 0)} more characters]"


def _last_word(text: str) -> int:
    """The length of the word that a cut would halve: half a secret would not be found, and so not redacted."""
    end = text[-_LONGEST_WORD:]
    return next((at for at, char in enumerate(reversed(end)) if char.isspace()), 0)


def bounded_texts(texts: Iterable[tuple[str, str]], most: int) -> dict[str, str]:
    """Texts by their keys, each cut, until they come to `most` bytes: from the first that doesn't fit, none is kept.

    Of two of one key the first is kept.
    """
    kept: dict[str, str] = {}
    left = most
    for key, text in texts:
        if key in kept or len(key) > _LONGEST_KEY:
            continue
        short = cut_text(text)
        left -= len(json.dumps([key, short], ensure_ascii=False).encode("utf-8", "replace"))
        if left < 0:
            break
        kept[key] = short
    return kept


def texts_of(runs: Sequence[TextUser], sources: Sequence[Mapping[str, str]], most: int) -> dict[str, str]:
    """The texts that the runs' hashes name: prompts first, then cases, in the order of the runs.

    The first of `sources` that has one is believed, and of a prompt only a text that is not known to be another.
    """
    return bounded_texts(_named(runs, sources), most)


def _named(runs: Sequence[TextUser], sources: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    if not any(sources):
        return
    parts = [part for run in runs for part in sorted(run.subject.parts.items())]
    prompts = {key for name, key in parts if name in _VERIFIABLE}
    keys = dict.fromkeys([*(key for _, key in parts), *(case.definition for run in runs for case in run.cases)])
    for key in keys:
        found = (source[key] for source in sources if key in source)
        yield from ((key, text) for text in found if key not in prompts or stands_for(key, text) is not False)


def _bounded(texts: dict[str, str]) -> dict[str, str]:
    return bounded_texts(texts.items(), MOST_IN_REPORT) if texts else texts


Texts = Annotated[dict[str, str], AfterValidator(_bounded)]
"""Texts by their hash, as they are read from anywhere: bounded, whatever was written."""
