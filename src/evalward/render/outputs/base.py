"""What every output format has in common, and the way to one. A format is one file here and one line in the registry.

Others' come by an entry point of the group `evalward.outputs`, whose object is an `OutputFormat`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar

from msgspec import Struct, field

from evalward.records.base import Record, json_text
from evalward.records.comparison import Comparison
from evalward.records.parts import loaded
from evalward.records.problem import InputError, wrong
from evalward.records.release import ReleaseReport
from evalward.records.report import Finding, Report
from evalward.records.verdict import Judgement
from evalward.registry import OUTPUTS, installed
from evalward.render.context import NO_CLOSING, Closing, PageContext
from evalward.render.kept import Sources
from evalward.render.kinds import ShownKinds

COMMENT_FILE = "comment.md"
JUDGEMENT_FILE = "judgement.json"
JUNIT_FILE = "junit.xml"
BADGE_FILE = "badge.json"
HTML_FILE = "report.html"
RELEASE_FILE, RELEASE_MARKDOWN, RELEASE_HTML = "release-report.json", "release-report.md", "release-report.html"

Media = Literal["judgement", "reports", "release"]
"""What can be written: a judgement, one or several reports, both judgements of a release."""

T = TypeVar("T")


class Display(Struct, frozen=True):
    """What a text for people is shown on: its width in columns, whether it has colours, how much is wanted.

    `accepting`: a judgement says how to accept what failed. `grouped`: the log of a GitHub job, whose groups fold.
    `quiet`: one line, however long.
    """

    colour: bool = False
    width: int = 100
    verbose: bool = False
    accepting: bool = False
    ending: Closing = NO_CLOSING
    grouped: bool = False
    quiet: bool = False


class ShownJudgement(Struct, frozen=True):
    """A judgement, where it comes from, and what its reader can do next. `sources`: what a page shows beyond it."""

    judgement: Judgement
    context: PageContext = field(default_factory=PageContext)
    display: Display = field(default_factory=Display)
    sources: Sources = field(default_factory=Sources)
    media: ClassVar[Media] = "judgement"


class ShownReports(Struct, frozen=True):
    """One report or several; `findings` are those over all their runs.

    `alone` gives the cases of a report in the form of a comparison, for a format that shows cases only. `kinds` are
    those of the runs, by name: what a kind shows of its own is missing where it isn't among them. `sources` are the
    reports', in their order, or none.
    """

    reports: Sequence[Report]
    alone: Callable[[Report], Comparison]
    findings: Sequence[Finding] | None = None
    kinds: ShownKinds = field(default_factory=dict)
    display: Display = field(default_factory=Display)
    sources: Sequence[Sources] = ()
    media: ClassVar[Media] = "reports"


class ShownRelease(Struct, frozen=True):
    """What a release check found; `context` is that of both judgements.

    `sources` are what the judgement against the branch rests on, `sources_of_tag` the one against the last release.
    """

    found: ReleaseReport
    context: PageContext = field(default_factory=PageContext)
    sources: Sources = field(default_factory=Sources)
    sources_of_tag: Sources = field(default_factory=Sources)
    media: ClassVar[Media] = "release"


Shown = ShownJudgement | ShownReports | ShownRelease


class Writer(Struct, Generic[T], frozen=True):
    """Makes the text. `file` is its name in the output folder, where it is a file of it; `several`: of reports, it
    shows more than one together. `record`: the text is this record's, which is written without being made a text.
    """

    write: Callable[[T], str]
    file: str | None = None
    several: bool = True
    record: Callable[[T], Record] | None = None

    @classmethod
    def of_record(cls, record: Callable[[T], Record], file: str) -> Writer[T]:
        """Makes the JSON of a record."""
        return cls(lambda shown: json_text(record(shown)), file, record=record)


class OutputFormat(Struct, frozen=True):
    """A format by its name on the command line, with a writer for each thing that it can show."""

    name: str
    judgement: Writer[ShownJudgement] | None = None
    reports: Writer[ShownReports] | None = None
    release: Writer[ShownRelease] | None = None

    @property
    def media(self) -> tuple[Media, ...]:
        """What it can show."""
        every: tuple[Media, ...] = ("judgement", "reports", "release")
        return tuple(media for media in every if getattr(self, media) is not None)


def format_named(name: str) -> OutputFormat:
    """The format of this name. Raises `InputError` where there is none."""
    try:
        found = loaded(OUTPUTS, name)
    except KeyError:
        known = ", ".join(installed(OUTPUTS))
        raise wrong(f"format {name}", "there is no such output format", f"Formats: {known}.") from None
    if not isinstance(found, OutputFormat):
        what = f"what is installed under this name is a {type(found).__name__}"
        raise wrong(f"format {name}", what, f"The entry point of {OUTPUTS} has to name an OutputFormat.")
    return found


def formats_of(media: Media) -> list[str]:
    """The names of the formats that can show this; each is loaded, and one that can't be shows nothing."""
    return [name for name in installed(OUTPUTS) if media in _shown_by(name)]


def _shown_by(name: str) -> tuple[Media, ...]:
    try:
        return format_named(name).media
    except InputError:
        return ()


def writer_of(name: str, shown: Shown) -> Writer[Any]:
    """The writer of a format for this. Raises `InputError` for a format that can't show it, or not all of it."""
    writer: Writer[Any] | None = getattr(format_named(name), shown.media)
    if writer is None:
        known = ", ".join(formats_of(shown.media))
        raise wrong(f"--format {name}", f"it shows no {shown.media.rstrip('s')}", f"Formats that do: {known}.")
    if isinstance(shown, ShownReports) and len(shown.reports) > 1 and not writer.several:
        raise wrong(f"--format {name}", "it takes one report", "Use markdown, terminal or json for several.")
    return writer


def text_of(name: str, shown: Shown) -> str:
    """The text in a format. Raises `InputError` for a format that can't show it."""
    text: str = writer_of(name, shown).write(shown)
    return text
