"""What a reader of another harness's files gives: trials as the files tell them, before anybody decides on a score.

A reader is pure but for opening the files that it was handed. It cleans nothing: texts are as they stand in the file,
and `results.py` makes records of them, in one place. What a file doesn't tell is `None`: unknown, never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal, Protocol, cast

from evalward.records.parts import loaded
from evalward.records.problem import InputError, wrong
from evalward.records.result import CheckResult, Status
from evalward.records.trace import Trace, Usage
from evalward.registry import FORMATS, installed

HEAD_BYTES = 65_536
"""Of each file, what `recognises` gets."""
MOST_TRIALS = 50_000
"""Of all files together: of more, the report would be larger than any command reads."""


@dataclass(frozen=True)
class ForeignFile:
    """A file to read. `name` is its path for messages and for telling files of one folder apart, with `/`.

    `open` gives a seekable stream at its beginning, which the caller closes; `changed` is when the file was last
    written, in seconds since 1970, where that is known. `by_folder`: its folder was named, not the file itself, so that
    it may have nothing to do with the results.
    """

    name: str
    size: int
    open: Callable[[], BinaryIO]
    changed: float | None = None
    by_folder: bool = False

    def head(self) -> bytes:
        """Its first bytes."""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)


Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Score:
    """What one scorer, metric, evaluator or judge of the harness said of a trial.

    `value` is a number where it is one or stands for one (true, "C"); `passed` what the harness itself, or the value's
    nature, says: `None` where only a threshold could. `error`: it broke, so that both are unknown. `decides` is false
    for one that the harness leaves out of its own verdict (a flaky metric).
    """

    value: float | None = None
    passed: bool | None = None
    error: str | None = None
    decides: bool = True
    reason: str = ""


@dataclass(frozen=True)
class ForeignTrial:
    """One trial as the harness's files tell it.

    `case`: the case's id; whole numbers as text. `number`: which trial of its case, from 1; `None`: by the order of the
    file. `suite`: the harness's own grouping of runs that must not be mixed (task, dataset, prompt); "" where there is
    none. `target`: model or agent; "" where the file doesn't tell. `asked` is the input side alone, a JSON value: what
    the definition is a hash of, so never an answer, a time, a path of the machine or a random id.
    `status`: what the harness itself concludes, by `results-formats`; `None`: neither (only scores). `reason`: one
    word for tables, `message` the harness's own words. `trace` gives the conversation where the format has one; it may
    be read later, as long as the file can be opened, and not at all. `again`: how the harness's command names the case
    when it is to be tried again, where that isn't `case`.
    """

    case: str
    status: Status | None
    number: int | None = None
    suite: str = ""
    target: str = ""
    category: str = ""
    asked: Any = None
    reason: str | None = None
    message: str = ""
    scores: Mapping[str, Score] = field(default_factory=dict)
    checks: Sequence[CheckResult] = ()
    usage: Usage = field(default_factory=Usage)
    judge_usage: Usage | None = None
    duration_ms: int | None = None
    again: str = ""
    trace: Callable[[], Trace | None] | None = None


@dataclass(frozen=True)
class ForeignResults:
    """What files of one format hold, as one run of the harness.

    `trials` may be a stream, read once. `file` is the file, or the folder, that the run is in: runs in different ones
    that have the same trial are different runs. `planned`: how many trials there should be, where a file tells it;
    `made_at` in ISO 8601, UTC. `notes` are what a reader of the report has to know: what was cancelled, left out,
    invalidated. `subject` is what may change of what is evaluated, by name. `stopped`: why the run ended early, where
    it did: its results are then not whole.
    """

    trials: Iterable[ForeignTrial]
    version: str = ""
    planned: int | None = None
    made_at: str | None = None
    notes: Sequence[str] = ()
    subject: Mapping[str, str] = field(default_factory=dict)
    stopped: str | None = None
    file: str = ""


class Format(Protocol):
    """One format. An object of this shape stands in the registry under its name."""

    @property
    def title(self) -> str:
        """What was recognised, for messages: "a log of inspect (.eval)"."""
        ...

    def recognises(self, file: ForeignFile, head: bytes) -> bool:
        """Whether a file is of this format, by its content: `head` is its beginning. Never raises."""
        ...

    def belongs(self, name: str) -> bool:
        """Whether a file of a folder of results may be one to read, by its name alone."""
        ...

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """The runs in these files, in the order of the files. Files of one run come as one.

        Raises `InputError` with one sentence for what can't be read: broken, hostile, too large, without a case.
        """
        ...


def runs_in_folders(form: Format) -> bool:
    """Whether a run of this format is a folder of files, not a file: what it says in `of_folders`, if it does."""
    return bool(getattr(form, "of_folders", False))


def format_named(name: str) -> Format:
    """The format of this name. Raises `KeyError` when there is none."""
    return cast(Format, loaded(FORMATS, name))


def known_formats() -> Sequence[str]:
    """All names, ours first."""
    return list(installed(FORMATS))


def formats_of(file: ForeignFile) -> list[str]:
    """The names of the formats that know a file by its content."""
    head = file.head()
    return [name for name in known_formats() if format_named(name).recognises(file, head)]


def recognised(file: ForeignFile) -> str:
    """The name of the format that recognises a file. Raises `InputError` when none or several do."""
    return the_one(file, formats_of(file))


def the_one(file: ForeignFile, found: Sequence[str]) -> str:
    """Of the formats that know a file the only one. Raises `InputError` when there is none, or several are."""
    if len(found) == 1:
        return found[0]
    known = ", ".join(known_formats())
    if not found:
        raise wrong(file.name, "its content is of no format that is known", f"Formats: {known}. Name one.")
    raise wrong(file.name, f"its content fits several formats: {', '.join(found)}", "Name the format.")


def unreadable(file: ForeignFile, title: str, why: str) -> InputError:
    """A file that is of a format and can't be read."""
    return wrong(file.name, f"{title} can't be read: {why}", "Have the harness write it again.")


def too_many(file: str, most: int = MOST_TRIALS) -> InputError:
    """That there are more trials than a report holds."""
    remedy = "Split them into several files, and make a report, or a suite, of each."
    return wrong(file, f"there are more than {most:,} trials", remedy)
