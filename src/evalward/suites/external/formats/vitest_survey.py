"""What has to be known of a whole report before any of its tests is read as a trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evalward.render.numbers import plural
from evalward.suites.external.formats.vitest_document import SEPARATOR, VitestDocument, VitestFile, titles_of
from evalward.suites.external.formats.vitest_trial import (
    LEFT_OUT,
    Circumstances,
    model_of,
    plain,
    was_retried,
)

NOT_RUN = "pending"
"""In vitest: `--bail`, or whoever stopped the run, left it out. In jest: skipped."""


MOST_PLACES = 16
"""Files that are remembered of one test's titles."""


class _Group(NamedTuple):
    """A test file's outermost suite, "" for the tests outside of all."""

    place: int
    title: str


@dataclass
class Survey:
    """A report as a whole.

    `tests` counts all, `ran` those that passed or failed. `labels` are short names of its test files.
    """

    jest: bool = False
    interrupted: bool = False
    files: Sequence[VitestFile] = ()
    labels: Sequence[str] = ()
    tests: int = 0
    ran: int = 0
    retried: int = 0
    pending: int = 0
    _models: set[str] = field(default_factory=set)
    _statuses: Counter[tuple[_Group, str]] = field(default_factory=Counter)
    _tests_of: Counter[int] = field(default_factory=Counter)
    _failed: Counter[int] = field(default_factory=Counter)
    _places: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def see(self, place: int, row: Mapping[str, Any]) -> None:
        """Take note of a test."""
        titles, status = titles_of(row), str(row.get("status"))
        self.tests += 1
        self.ran += status not in LEFT_OUT
        self.retried += was_retried(row)
        self.pending += status == NOT_RUN
        if (model := model_of(row)) and len(self._models) < 2:
            self._models.add(model)
        self._tests_of[place] += 1
        self._failed[place] += status == "failed"
        self._statuses[_Group(place, _outermost(titles)), status] += 1
        case = SEPARATOR.join(titles)
        places = self._places.get(case, ())
        if place not in places[-1:] and len(places) < MOST_PLACES:
            self._places[case] = (*places, place)

    def whole(self, document: VitestDocument) -> Survey:
        """The survey when all tests were seen."""
        self.jest, self.files = document.jest, document.files
        self.interrupted = document.head.get("wasInterrupted") is True
        self.labels = _labels([file.name for file in document.files])
        return self

    @property
    def target(self) -> str:
        """The model of a test that names none."""
        return next(iter(self._models)) if len(self._models) == 1 else ""

    @property
    def unloaded(self) -> list[tuple[str, str]]:
        """The files that couldn't be loaded, each with why."""
        return [
            (self.labels[place], plain(file.message))
            for place, file in enumerate(self.files)
            if file.status == "failed" and not self._tests_of[place]
        ]

    @property
    def left_out_files(self) -> int:
        """Files that failed in nothing and have no test: `--bail` ended the run before them."""
        return sum(file.status != "failed" and not self._tests_of[place] for place, file in enumerate(self.files))

    @property
    def stopped(self) -> str | None:
        """Why the run isn't whole, where it isn't."""
        if self.interrupted:
            return "the run was interrupted"
        if self.pending and not self.jest:
            return f"the run ended early (--bail): {plural(self.pending, 'test')} didn't run"
        return None

    @property
    def notes(self) -> list[str]:
        """What a reader of the report has to know."""
        notes = [f"{label} couldn't be loaded: its tests are missing" for label, _ in self.unloaded]
        broken = [label for place, label in enumerate(self.labels) if self._hook_broke(place)]
        notes += [f"a hook of {label} failed: the tests that it left out are errors" for label in broken]
        if self.left_out_files:
            notes.append(f"{plural(self.left_out_files, 'file')} of the report without a test")
        if self.retried:
            notes.append(f"{plural(self.retried, 'test')} passed or failed after retries: the last attempt counts")
        return notes

    def circumstances(self, place: int, row: Mapping[str, Any]) -> Circumstances:
        """What a test of the file at `place` can't know by itself."""
        titles = titles_of(row)
        group = _Group(place, _outermost(titles))
        return Circumstances(
            file=self.labels[place],
            apart=len({self.labels[other] for other in self._places[SEPARATOR.join(titles)]}) > 1,
            target=self.target,
            jest=self.jest,
            hook=self._why_left_out(group) if row.get("status") == "skipped" else None,
        )

    def _hook_broke(self, place: int) -> bool:
        """Whether a file failed, though none of its tests did. Jest says of the tests themselves that they failed."""
        file = self.files[place]
        if self.jest or file.status != "failed" or not self._tests_of[place]:
            return False
        return bool(file.message) or not self._failed[place]

    def _why_left_out(self, group: _Group) -> str | None:
        """Why tests were skipped that nobody skipped: the hook of their file, or of their suite, broke."""
        if not self._hook_broke(group.place):
            return None
        message = plain(self.files[group.place].message)
        if message:
            return message
        ran = any(self._statuses[group, status] for status in ("passed", "failed"))
        return None if ran else "a hook of its suite failed"


def survey_of(document: VitestDocument) -> Survey:
    """Go through a report once, to its end. Raises `InputError`."""
    survey = Survey()
    for place, row in document.rows():
        survey.see(place, row)
    return survey.whole(document)


def _outermost(titles: Sequence[str]) -> str:
    return titles[0] if len(titles) > 1 else ""


def _labels(names: Sequence[str]) -> list[str]:
    """Short names of files: the last part, or all that differs where the last parts don't."""
    parts = [name.replace("\\", "/").split("/") for name in names]
    last = [each[-1] for each in parts]
    if len(set(last)) == len(last):
        return last
    common = 0
    while all(len(each) > common + 1 and each[common] == parts[0][common] for each in parts):
        common += 1
    return ["/".join(each[common:]) for each in parts]
