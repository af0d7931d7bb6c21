"""`evalward guidance`: is my AGENTS.md any good? Variants, another commit's guidance, or reports side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from evalward.commands.files import emit, read_report, write_text
from evalward.commands.guidance_base import commit_guidance
from evalward.commands.guidance_runs import Comparing, Version, compare_versions
from evalward.commands.pipeline import prepare, refuse_missing_keys, refuse_output, run_apart
from evalward.commands.world import World
from evalward.config import LoadedConfig, load_config
from evalward.decide.guidance import Column, compare_guidance
from evalward.engine.plan import Plan, PlannedRun, Selection
from evalward.git import GitTree
from evalward.records.guidance import GuidanceComparison
from evalward.records.problem import wrong
from evalward.records.report import Report
from evalward.records.verdict import EXIT_OK, EXIT_UNJUDGED
from evalward.render.guidance import guidance_json, guidance_markdown, guidance_text
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.guidance import READING
from evalward.suites.scenario.variants import Guidance, load_variant

JSON_FILE, MARKDOWN_FILE = "guidance.json", "guidance.md"
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
    """Run the scenarios with each guidance. Exit code 0, for it informs; 3 when nothing could be compared."""
    loaded = load_config(options.config)
    plan = prepare(loaded, options.selection, world.env)
    refuse_missing_keys(loaded, plan)
    comparing = _against(loaded, options) if options.against is not None else _variants(plan)
    refuse_output(options.output)
    found = compare_versions(plan, comparing, run_apart(loaded, options.output, world, resume=options.resume))
    if not found:
        raise wrong(loaded.file, "there is nothing to compare", _nothing(options.against))
    write_text(options.output / JSON_FILE, guidance_json(found))
    write_text(options.output / MARKDOWN_FILE, guidance_markdown(found))
    show(world, found, options.format)
    world.say(f"Written: {options.output / JSON_FILE}, {options.output / MARKDOWN_FILE}")
    return EXIT_OK if any(one.not_measured is None for one in found) else EXIT_UNJUDGED


def _nothing(against: str | None) -> str:
    if against is not None:
        return f"The guidance of {against} is the same, for every scenario that both have."
    return "Give a scenario `variants:`, or say with --against which commit's guidance to compare with."


def _variants(plan: Plan) -> Comparing:
    """Every variant that a scenario names, in the order in which they are written."""
    cases = [case for run in plan.runs for case in run.cases if isinstance(case, ScenarioCase)]
    names = dict.fromkeys(name for case in cases for name in case.scenario.variants)

    def version(name: str) -> Version:
        def chosen(run: PlannedRun, case: ScenarioCase) -> Guidance | None:  # noqa: ARG001 - the same for all targets
            return load_variant(case, name)

        return Version(name, chosen)

    return Comparing([version(name) for name in names], why="The fixture's own guidance, and its variants.")


def _against(loaded: LoadedConfig, options: GuidanceOptions) -> Comparing:
    """The guidance of a commit, and that of the files here."""
    tree = GitTree(loaded.root)
    revision = options.against or ""
    sha, prefix = tree.resolve(revision), tree.prefix()
    if sha is None or prefix is None:
        raise wrong("--against", f"there is no commit {revision!r} here", "Name a branch, a tag or a commit.")
    other = commit_guidance(tree, sha, prefix, loaded.root, name=revision)
    why = f"The guidance of `{revision}` ({sha[:7]}), and that of the files here."
    return Comparing([Version(revision, other.guidance)], why=why, reversed=True)


def compare_reports(world: World, files: Sequence[Path], form: Format, output: Path | None) -> int:
    """Reports of the same scenarios with other guidance, side by side: the first is the reference. Exit code 0."""
    reports = [read_report(file) for file in files]
    names = _names(files)
    keys = dict.fromkeys((run.suite, run.target) for run in reports[0].runs if run.kind == "scenario")
    found = [_of_reports(key, reports, names) for key in keys]
    if not found:
        raise wrong(str(files[0]), "the report has no run of scenarios", "Compare others with `evalward report A B`.")
    show(world, found, form, output)
    return EXIT_OK


def _of_reports(key: tuple[str, str], reports: Sequence[Report], names: Sequence[str]) -> GuidanceComparison:
    suite, target = key
    found = [
        (name, run)
        for name, report in zip(names, reports, strict=True)
        for run in report.runs
        if (run.suite, run.target, run.kind) == (suite, target, "scenario")
    ]
    if len(found) < len(reports):
        return GuidanceComparison(suite=suite, target=target, not_measured="not every report has this run")
    columns = [Column(name, run.cases, {"guidance": run.subject.parts.get("guidance", "")}) for name, run in found]
    random = any(run.random for _, run in found)
    return compare_guidance(suite, target, columns, READING, random=random, why="One report each.")


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
        world.say(guidance_text(found, colour=world.colour(world.err), width=world.width))
    elif form == "terminal":
        emit(world, guidance_text(found, colour=False, width=world.width), output)
    else:
        emit(world, guidance_json(found) if form == "json" else guidance_markdown(found), output)
