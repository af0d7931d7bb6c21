"""How every command ends: what was measured or decided, written in the formats of the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from msgspec import structs

from evalward.commands.emitting import emit
from evalward.commands.faults import internal_error
from evalward.commands.kept import sources_in
from evalward.commands.kept_clean import WithoutSecrets
from evalward.commands.kept_output import kept_base, kept_output
from evalward.commands.pipeline import Criteria, kinds_of
from evalward.commands.world import World
from evalward.keeper.outputs import OutputFolder
from evalward.records.base import json_data
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy
from evalward.records.problem import InputError, wrong
from evalward.records.report import Finding, Report
from evalward.redaction import NOTHING, Redaction
from evalward.render.context import NO_CLOSING, Closing
from evalward.render.kept import Sources
from evalward.render.outputs import Display, Shown, ShownReports, text_of, writer_of

JUDGEMENT_FORMATS = ("json", "markdown", "junit", "badge")
"""What a check leaves in its output folder."""
RELEASE_FORMATS = ("json", "markdown")
PAGE = "html"
"""What each of them leaves, too, if it can be made: see `write_page`."""


def write_outputs(
    shown: Shown, folder: OutputFolder, formats: Sequence[str], clean: Callable[[str], str] = str
) -> list[str]:
    """Write the files of these formats to the output folder; their names.

    The folder hides the values of secrets; `clean` takes more away from what is no record. Raises `InputError` where
    the folder can't be written, or a format has no file in it.
    """
    written = []
    for form in formats:
        writer = writer_of(form, shown)
        if writer.file is None:
            raise wrong(f"format {form}", "check writes no file in this format", "Write it with --output.")
        if writer.record is not None:
            folder.write_json(writer.file, json_data(writer.record(shown)))
        else:
            folder.write(writer.file, clean(writer.write(shown)))
        written.append(writer.file)
    return written


def write_page(shown: Shown, folder: OutputFolder, warn: Callable[[str], None]) -> list[str]:
    """Write the page of what is shown to the output folder; its file's name, none where that isn't possible.

    People look at it, and no verdict hangs on it: whatever goes wrong is a warning.
    """
    try:
        return write_outputs(shown, folder, [PAGE])
    except InputError as error:
        warn(f"The page was not written: {error.problems[0]}")
    except Exception as error:
        warn(f"The page was not written. {internal_error(error, folder.redaction)}")
    return []


def sources_of(
    report: Report,
    baseline: Baseline | None,
    output: OutputFolder | Path | None = None,
    redaction: Redaction = NOTHING,
) -> Sources:
    """What a page shows beyond a judgement or a report: `output` is the folder with the trials, open, or
    by its path; what is in `redaction` stands in none of it.
    """
    clean = redaction.record(report)
    if isinstance(output, OutputFolder):
        kept, before = kept_output(output, redaction), kept_base(output, redaction)
        return Sources(clean, baseline, kept, before, kinds_of(report))
    if output is None:
        return Sources(clean, baseline, kinds=kinds_of(report))
    found = sources_in(output, clean, baseline)
    return structs.replace(
        found,
        kept=WithoutSecrets(found.kept, redaction),
        kept_before=WithoutSecrets(found.kept_before, redaction),
    )


def emit_as(world: World, form: str, shown: Shown, output: Path | None) -> None:
    """One format: to the file if one was named, else to standard output. Raises `InputError`."""
    emit(world, text_of(form, shown), output)


def shown_reports(
    reports: Sequence[Report],
    findings: Sequence[Finding] | None = None,
    display: Display | None = None,
    sources: Sequence[Sources] = (),
) -> ShownReports:
    """Reports without a baseline. `sources` are theirs, in their order."""
    judging = Criteria(None, Policy())
    return ShownReports(
        reports,
        lambda report: judging.compared(report).comparison,
        findings,
        kinds_of(*reports),
        display or Display(),
        sources,
    )


def display_of(
    world: World,
    stream: TextIO | None,
    *,
    verbose: bool = False,
    accepting: bool = False,
    ending: Closing = NO_CLOSING,
) -> Display:
    """What a stream shows; a file (`None`) has no colours, and is whole."""
    if stream is None:
        return Display(False, world.width, verbose, accepting, ending)
    grouped = world.env.get("GITHUB_ACTIONS") == "true"
    return Display(world.colour(stream), world.width, verbose, accepting, ending, grouped, world.quiet)


def files_line(folder: Path, names: Sequence[str]) -> str:
    """Which files lie where, in a sentence; empty where there are none. The page for people comes first."""
    if not names:
        return ""
    ordered = sorted(names, key=lambda name: not name.endswith(".html"))
    return f"Written to {folder}: {', '.join(ordered)}"
