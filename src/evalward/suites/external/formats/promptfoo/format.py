"""The format `promptfoo`: what `-o x.json` and `-o x.jsonl` write. Its JUnit XML is of the format `junit`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalward.records.base import digest
from evalward.records.moments import latest
from evalward.records.problem import InputError, wrong
from evalward.render.numbers import plural
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial, unreadable
from evalward.suites.external.formats.document import Document, Lines
from evalward.suites.external.formats.promptfoo.survey import TITLE, RowSurvey, arm_of
from evalward.suites.external.formats.promptfoo.trial import trial_of
from evalward.suites.external.formats.values import count, mapping, outline, rows, text

_ROWS = ("results", "results")
_WITHOUT = (("config", "tests"), ("config", "scenarios"), ("config", "defaultTest"), ("vars",))
_VERSION = 3
_FIRST_KEYS = frozenset({"evalId", "results"})
_OF_A_ROW = frozenset({"gradingResult", "latencyMs", "namedScores"})
_DOCUMENT = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{\s*\"(?:evalId|results)\"")
_COUNTS = ("successes", "failures", "errors")
_COUNTS_OF_ARM = ("testPassCount", "testFailCount", "testErrorCount")


class Promptfoo:
    """The format `promptfoo`."""

    title = TITLE

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - the signature of every format
        """By the keys of the document, or of the first line."""
        keys = outline(head)
        return keys >= _FIRST_KEYS or keys >= _OF_A_ROW

    def belongs(self, name: str) -> bool:
        """JSON and JSON lines."""
        return name.lower().endswith((".json", ".jsonl"))

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """Each file is a run."""
        opened: list[_Rows] = []
        for file in files:
            rows_of_file = _rows(file)
            for other in opened:
                if rows_of_file.survey.ids & other.survey.ids - {""}:
                    raise _same(file, other.file)
            opened.append(rows_of_file)
        return [results for one in opened for results in _results(one)]


FORMAT = Promptfoo()


@dataclass(frozen=True)
class _Rows:
    """A file that was gone through once. `head` is what stands around the rows; JSON lines have none."""

    file: ForeignFile
    head: Mapping[str, Any]
    survey: RowSurvey
    items: Callable[[], Iterator[Any]]

    def trials(self, arm: int | None = None) -> Iterator[ForeignTrial]:
        """The trials, or those of one prompt with one provider."""
        for row in self.items():
            if isinstance(row, dict) and (arm is None or arm_of(row).place == arm):
                yield trial_of(row, self.survey)


def _rows(file: ForeignFile) -> _Rows:
    survey = RowSurvey(file)
    if _DOCUMENT.match(file.head()):
        document = Document(file, TITLE, _ROWS, without=_WITHOUT, look=survey.add)
        head, items = document.head, document.items
        _refuse_version(file, mapping(head.get("results")).get("version"))
        if not document.has_items:
            raise unreadable(file, TITLE, "it has no list results.results")
    else:
        lines = Lines(file, TITLE)
        head, items = {}, lines.items
        for row in items():
            survey.add(row)
    survey.finish()
    if survey.rows == survey.empty:
        remedy = "Give the configuration at least one test, and look whether a filter leaves one."
        raise wrong(file.name, f"{TITLE} have no test in them", remedy)
    return _Rows(file, head, survey, items)


def _refuse_version(file: ForeignFile, version: Any) -> None:
    if version != _VERSION:
        told = f"version {version}" if isinstance(version, int | str) else "no version given"
        message = f"{TITLE} are of {told[:60]}, and only version {_VERSION} is known"
        raise wrong(file.name, message, "Write them by a promptfoo of today.")


def _same(file: ForeignFile, other: ForeignFile) -> InputError:
    message = f"it holds results that {other.name} has, too"
    return wrong(file.name, message, "Name one file of each run: the .json or the .jsonl.")


def _results(found: _Rows) -> Iterator[ForeignResults]:
    """One run, or one for each prompt and provider where rows are missing: how many is told for each alone."""
    head, survey = found.head, found.survey
    told = mapping(head.get("results"))
    metadata = mapping(head.get("metadata"))
    planned = _sum(told.get("stats"), _COUNTS)
    missing = max(0, (planned or 0) - survey.rows)
    arms: Sequence[int | None] = survey.arms if missing and len(survey.arms) > 1 else [None]
    for arm in arms:
        yield ForeignResults(
            trials=found.trials(arm),
            file=found.file.name,
            version=text(metadata.get("promptfooVersion")),
            planned=planned if arm is None else _planned_of(told, arm),
            made_at=latest([told.get("timestamp"), metadata.get("evaluationCreatedAt")]),
            notes=_notes(found, missing),
            subject=_subject(head),
        )


def _sum(told: Any, keys: Sequence[str]) -> int | None:
    counts = [count(mapping(told).get(key)) for key in keys]
    known = [one for one in counts if one is not None]
    return sum(known) if len(known) == len(keys) else None


def _planned_of(told: Mapping[str, Any], arm: int) -> int | None:
    prompts = rows(told.get("prompts"))
    return _sum(prompts[arm].get("metrics"), _COUNTS_OF_ARM) if arm < len(prompts) else None


def _notes(found: _Rows, missing: int) -> list[str]:
    survey, name = found.survey, found.file.name
    repeat = count(mapping(found.head.get("runtimeOptions")).get("repeat"))
    notes = []
    if missing:
        left_out = f"promptfoo counts {plural(missing, 'result')} that the file doesn't have"
        notes.append(f"{name}: {left_out}: it leaves out those with a score of NaN; its .jsonl has them.")
    if survey.cached:
        answers = f"{plural(survey.cached, 'answer')} came from promptfoo's cache"
        notes.append(f"{name}: {answers}: they measure nothing new, and cost nothing. Run it with --no-cache.")
    if survey.unchecked:
        notes.append(f"{name}: {plural(survey.unchecked, 'result')} of tests without an assertion, which always pass.")
    if repeat is not None and survey.most_trials > repeat:
        notes.append(f"{name}: tests that are equal are read as trials of one case.")
    return notes


def _subject(head: Mapping[str, Any]) -> dict[str, str]:
    """What is tested and may change: the prompts, and how the providers are set."""
    prompts = [text(prompt.get("raw")) for prompt in rows(mapping(head.get("results")).get("prompts"))]
    providers = mapping(head.get("config")).get("providers")
    found = {"prompts": list(dict.fromkeys(prompts)), "providers": providers}
    return {name: digest(value) for name, value in found.items() if value}
