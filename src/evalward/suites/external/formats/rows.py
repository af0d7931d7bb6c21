"""Our own format for harnesses that have none of the others: JSON lines, an object for each trial.

    {"case": "greet", "status": "passed"}
    {"case": "greet", "trial": 2, "target": "openai/gpt-5", "status": "failed", "message": "it said goodbye",
     "scores": {"politeness": 0.5}, "input_tokens": 120, "output_tokens": 9, "cost_usd": 0.0004, "duration_ms": 850,
     "category": "manners", "asked": {"prompt": "Say hello.", "expects": "hello"}}

(each on one line). Only `case`, and a `status` or `scores`, must be there; `row.py` says what each key means, and the
JSON Schema `external-row` says it to programs. Reading is strict, for a mistake in a harness of one's own must not turn
a gate green: an unknown key, a number in quotes, NaN, a trial told twice, or one case that asks two things is refused,
with its line. Empty lines are passed over. A file whose last lines were never written looks whole: write it under
another name, and rename it when it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from evalward.records.base import digest
from evalward.records.json_text import NoJsonError, read_json
from evalward.records.problem import InputError, Place, wrong
from evalward.records.result import Status
from evalward.records.trace import Usage
from evalward.suites.external.formats.base import (
    MOST_TRIALS,
    ForeignFile,
    ForeignResults,
    ForeignTrial,
    Score,
    too_many,
)
from evalward.suites.external.formats.row import ExternalRow
from evalward.suites.external.formats.values import MIB, outline
from evalward.suites.lines import explained

TITLE = "rows (JSON lines, an object for each trial)"
MOST_LINE = 16 * MIB
MOST_LINE_VALUES = 90_000
_KEYS = frozenset(ExternalRow.model_fields)
_ENDINGS = frozenset({"status", "scores"})
_ONE_LINE = "Write one JSON object per line."


class Rows:
    """The format."""

    title = TITLE

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - the protocol's
        """By its first object: a case, an ending, and no key that a row hasn't."""
        if not head.removeprefix(_BOM).lstrip().startswith(b"{"):
            return False
        keys = {key.partition(".")[0] for key in outline(head)}
        return keys <= _KEYS and "case" in keys and not keys.isdisjoint(_ENDINGS)

    def belongs(self, name: str) -> bool:
        """By its ending."""
        return name.lower().endswith(".jsonl")

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """Each file one run. Raises `InputError` when its trials are gone through."""
        return [ForeignResults(_trials(file), file=file.name) for file in files]


FORMAT = Rows()
_BOM = b"\xef\xbb\xbf"


def _trials(file: ForeignFile) -> Iterator[ForeignTrial]:
    told: dict[tuple[str, str, int], int] = {}
    asked: dict[tuple[str, str], tuple[str, int]] = {}
    if _has_more_lines(file, MOST_TRIALS):
        raise too_many(file.name, MOST_TRIALS)
    number = 0
    for number, row in _rows(file):
        if row.trial is not None:
            first = told.setdefault((row.target, row.case, row.trial), number)
            if first != number:
                raise wrong(
                    file.name, f"line {first:,} has trial {row.trial} of this case already", "Count on.", line=number
                )
        definition = digest(row.asked)
        before, first = asked.setdefault((row.target, row.case), (definition, number))
        if before != definition:
            message = f"line {first:,} has a different case under the same name"
            raise wrong(file.name, message, "Give every case a name of its own.", line=number, field="asked")
        yield _trial(row)
    if not number:
        raise wrong(file.name, "there is no row in it", "Let the harness run at least one case.")


def _has_more_lines(file: ForeignFile, most: int) -> bool:
    """Whether more than `most` lines have something on them: found out in a hundredth of the time of reading them."""
    count = 0
    with file.open() as stream:
        while count <= most and (line := stream.readline(MOST_LINE + 1)):
            count += not line.isspace()
    return count > most


def _rows(file: ForeignFile) -> Iterator[tuple[int, ExternalRow]]:
    """The rows with their lines' numbers, from 1."""
    with file.open() as stream:
        number = 0
        while line := stream.readline(MOST_LINE + 1):
            number += 1
            if len(line) > MOST_LINE:
                raise wrong(file.name, f"the line is longer than {MOST_LINE // MIB} MiB", _ONE_LINE, line=number)
            content = line.removeprefix(_BOM) if number == 1 else line
            if content.strip():
                yield number, _row(content, Place(file=file.name, line=number))


def _row(line: bytes, place: Place) -> ExternalRow:
    try:
        value: Any = read_json(line, once=True, most_values=MOST_LINE_VALUES)
    except NoJsonError as error:
        raise wrong(place.file, f"not a JSON object: {error}", _ONE_LINE, line=place.line) from None
    if not isinstance(value, dict):
        raise wrong(place.file, "not a JSON object", _ONE_LINE, line=place.line)
    try:
        return ExternalRow.model_validate(value, strict=True)
    except ValidationError as error:
        raise InputError(explained(place, one, ExternalRow) for one in error.errors()) from None


def _trial(row: ExternalRow) -> ForeignTrial:
    status = None if row.status is None else Status(row.status)
    return ForeignTrial(
        case=row.case,
        status=status,
        number=row.trial,
        target=row.target,
        category=row.category,
        asked=row.asked,
        reason=None if status in {None, Status.PASSED} else row.status,
        message=row.message,
        scores={name: _score(value) for name, value in row.scores.items()},
        usage=Usage(input_tokens=row.input_tokens, output_tokens=row.output_tokens, cost_usd=row.cost_usd),
        duration_ms=row.duration_ms,
    )


def _score(value: float) -> Score:
    """A truth value says what passes; of a number only the suite's bounds do."""
    return Score(value=float(value), passed=value if isinstance(value, bool) else None)
