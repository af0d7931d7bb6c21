"""`evalward guidance`: is my AGENTS.md any good? Variants, another commit's guidance, or reports side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from evalward.commands.emitting import emit
from evalward.commands.ending import files_line
from evalward.commands.files import read_report
from evalward.commands.measuring import chosen_of, load, runner_of, services_of
from evalward.commands.pipeline import kinds_of
from evalward.commands.world import World
from evalward.decide.guidance import GuidanceReading, GuidanceResults, compare_guidance, differing_parts
from evalward.engine.selection import Selection
from evalward.keeper.outputs import GUIDANCE
from evalward.records.exits import EXIT_OK, EXIT_UNJUDGED
from evalward.records.guidance import GuidanceComparison
from evalward.records.problem import wrong
from evalward.records.report import Report, Run
from evalward.render.guidance import guidance_json, guidance_markdown, guidance_text
from evalward.wire.messages import GuidanceOrder

JSON_FILE, MARKDOWN_FILE = "guidance.json", "guidance.md"
GUIDANCE_PART = "guidance"
"""The part of a subject that has the guidance which cases bring."""
Format = Literal["terminal", "markdown", "json"]


@dataclass(frozen=True)
class GuidanceOptions:
    """What `guidance` was asked for. `against` is a commit whose guidance is the reference."""

    config: Path
    output: Path
    selection: Selection = field(default_factory=Selection)
    against: str | None = None
    resume: bool = False
    format: Format = "terminal"


def guidance(world: World, options: GuidanceOptions) -> int:
    """Run the scenarios with each guidance. Exit code 0, for it informs; 3 when it was interrupted, or nothing could be
    compared.
    """
    with runner_of(world) as runner:
        loaded, _ = load(runner, str(options.config))
        world = world.hiding(loaded.config.key_names)
        clear = None if options.resume else (JSON_FILE, MARKDOWN_FILE, GUIDANCE)
        services = services_of(world, loaded, options.output, clear=clear)
        order = GuidanceOrder(chosen=chosen_of(options.selection), against=options.against, resume=options.resume)
        compared = runner.compare_guidance(order, services.handlers())
    found = compared.found
    services.output.write(JSON_FILE, guidance_json(found))
    services.output.write(MARKDOWN_FILE, guidance_markdown(found))
    show(world, found, options.format)
    tell = world.show if options.format == "terminal" else world.say  # what a program reads ends with its text
    tell(files_line(options.output, [JSON_FILE, MARKDOWN_FILE]))
    if compared.interrupted is not None:
        world.say(f"{compared.interrupted}: not everything was run; `--resume` keeps what is done")
        return EXIT_UNJUDGED
    return EXIT_OK if any(one.not_measured is None for one in found) else EXIT_UNJUDGED


def compare_reports(world: World, files: Sequence[Path], form: Format, output: Path | None) -> int:
    """Reports of the same scenarios with other guidance, side by side: the first is the reference. Exit code 0."""
    reports = [read_report(world.cwd / file) for file in files]
    names = _names(files)
    readings = {name: kind.guidance_reading() for name, kind in kinds_of(reports[0]).items()}
    runs = {(run.suite, run.target): run for run in reports[0].runs}
    found = [_of_reports(run, reports, names, reading) for run in runs.values() if (reading := readings.get(run.kind))]
    if not found:
        raise wrong(str(files[0]), "the report has no run of scenarios", "Compare others with `evalward report A B`.")
    show(world, found, form, output)
    return EXIT_OK


def _of_reports(
    first: Run, reports: Sequence[Report], names: Sequence[str], reading: GuidanceReading
) -> GuidanceComparison:
    suite, target = first.suite, first.target
    found = [
        (name, run)
        for name, report in zip(names, reports, strict=True)
        for run in report.runs
        if (run.suite, run.target, run.kind) == (suite, target, first.kind)
    ]
    if len(found) < len(reports):
        return GuidanceComparison(suite=suite, target=target, not_measured="not every report has this run")
    subjects = [run.subject.parts for _, run in found]
    brought = any(GUIDANCE_PART in parts for parts in subjects)
    shown = [GUIDANCE_PART] if brought else differing_parts(subjects)
    columns = [
        GuidanceResults(name, run.cases, {part: run.subject.parts.get(part, "") for part in shown})
        for name, run in found
    ]
    random = any(run.random for _, run in found)
    return compare_guidance(suite, target, columns, reading, random=random, why="One report each.")


def _names(files: Sequence[Path]) -> list[str]:
    """What tells the files apart: their names, else their folders', else their paths."""
    for name in (lambda file: file.stem, lambda file: file.parent.name, str):
        names = [name(file) for file in files]
        if len(set(names)) == len(names) and all(names):
            return names
    raise wrong(str(files[0]), "the same report is named twice", "Compare it with another one.")


def show(world: World, found: Sequence[GuidanceComparison], form: Format, output: Path | None = None) -> None:
    """The comparisons as machine output, or for people."""
    if form == "terminal" and output is None:
        world.show(guidance_text(found, colour=world.colour(world.out), width=world.width))
    elif form == "terminal":
        emit(world, guidance_text(found, colour=False, width=world.width), output)
    else:
        emit(world, guidance_json(found) if form == "json" else guidance_markdown(found), output)
