"""`evalward history append|show`: keep what was measured, line by line, and say what it adds up to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalward.commands.emitting import emit, write_text
from evalward.commands.files import read_baseline_file, read_bytes, read_committed, read_report
from evalward.commands.world import World
from evalward.decide.anchor import with_levels
from evalward.decide.history import summarize
from evalward.decide.history_file import (
    HISTORY_FILE,
    History,
    HistoryLimits,
    append_to_text,
    entries_of,
    read_history,
)
from evalward.git import MAX_FILE_BYTES
from evalward.github.data_branch import DataBranch
from evalward.github.errors import GitHubError
from evalward.records.exits import EXIT_OK
from evalward.records.history import HistoryEntry, HistorySummary, RunHistory
from evalward.records.patterns import chosen
from evalward.records.problem import InputError, wrong
from evalward.records.reading import parse_record
from evalward.records.verdict import Judgement
from evalward.render.history import history_markdown, history_text
from evalward.render.numbers import plural
from evalward.render.outputs.base import JUDGEMENT_FILE

Format = Literal["terminal", "markdown", "json"]
JUDGEMENT_HINT = "Make one with `evalward compare --format json`."
APPEND_HINT = "Make it with `evalward history append`."


@dataclass(frozen=True)
class Where:
    """Where `history.jsonl` is: in a folder, or at the top of a branch that is not checked out."""

    folder: Path
    branch: str | None = None
    root: Path | None = None  # below it, nothing on the way to the folder is a link

    def __str__(self) -> str:
        return f"{HISTORY_FILE} of the branch {self.branch}" if self.branch else str(self.folder / HISTORY_FILE)


@dataclass(frozen=True)
class ShowOptions:
    """What `history show` was asked for. The three selections are patterns; none: everything.

    `anchor` is a release's baseline: its level is drawn instead of that of the oldest measurements.
    """

    where: Where
    suites: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    baseline: Path | None = None
    anchor: Path | None = None
    format: Format = "terminal"
    output: Path | None = None


def append(world: World, where: Where, report_file: Path, judgement_file: Path | None, ref: str | None) -> int:
    """Add a line for each run of the report. The same report is added once, however often this is called."""
    report = read_report(report_file)
    judgement = _read_judgement(world, judgement_file, report_file) if judgement_file else None
    branch = ref or world.env.get("GITHUB_REF_NAME") or None
    new = entries_of(report, judgement, branch)
    if not new:
        raise wrong(str(report_file), "the report has no case", "Append a report of a run that measured something.")
    before, after = _store(world, where, new, f"evalward: {plural(len(new), 'run')} of {world.now()}")
    for warning in before.warnings:
        world.say(f"warning: {warning}")
    added = [entry for entry in after.entries if entry.report == new[0].report]
    if any(entry.report == new[0].report for entry in before.entries):
        world.show(f"{where}: has this report already")
        return EXIT_OK
    dropped = len(before.entries) + len(added) - len(after.entries)
    more = f", the {dropped} oldest dropped" if dropped else ""
    world.show(f"{where}: {len(added)} added, {len(after.entries)} in all{more}")
    return EXIT_OK


def _store(world: World, where: Where, new: list[HistoryEntry], message: str) -> tuple[History, History]:
    """Append and write; the history before and after."""
    texts = [""]

    def changed(old: bytes | None) -> bytes:
        text = _decoded(old)
        texts[:] = [text, append_to_text(text, new, HistoryLimits())]
        return texts[-1].encode()

    if where.branch is None:
        path = where.folder / HISTORY_FILE
        now = changed(_folder_bytes(path, None)).decode()
        if now != texts[0]:
            write_text(path, now, world.redaction)
    else:
        try:
            _branch(world, where.branch).change(HISTORY_FILE, changed, message, world.now())
        except GitHubError as error:
            raise _input_error(where, error) from error
    return read_history(texts[0]), read_history(texts[-1])


def show(world: World, options: ShowOptions) -> int:
    """What the history says about the chosen runs, always exit code 0."""
    data = stored(world, options.where)
    if data is None:
        raise wrong(str(options.where), "there is no history", APPEND_HINT)
    history = read_history(_decoded(data))
    for warning in history.warnings:
        world.say(f"warning: {warning}")
    baseline = read_baseline_file(options.baseline) if options.baseline else None
    summary = _selected(_with_anchor_level(summarize(history, baseline), history, options.anchor), options)
    emit(world, _text(world, summary, options), options.output)
    return EXIT_OK


def _with_anchor_level(summary: HistorySummary, history: History, anchor: Path | None) -> HistorySummary:
    """With the anchor's level in each trend."""
    baseline = read_baseline_file(anchor) if anchor else None
    label = str(anchor) if anchor else ""
    runs = [
        run.model_copy(update={"trends": with_levels(run.trends, history.entries, label, baseline)})
        for run in summary.runs
    ]
    return summary.model_copy(update={"runs": runs})


def _text(world: World, summary: HistorySummary, options: ShowOptions) -> str:
    if options.format == "json":
        return summary.model_dump_json(by_alias=True, indent=1) + "\n"
    if options.format == "markdown":
        return history_markdown(summary)
    to_file = options.output is not None
    colour = not to_file and world.colour(world.out)
    return history_text(summary, colour=colour, width=world.width, ascii=not to_file and world.only_ascii)


def _selected(summary: HistorySummary, options: ShowOptions) -> HistorySummary:
    runs = [
        _with_metrics(run, options)
        for run in summary.runs
        if chosen(run.suite, options.suites) and chosen(run.target, options.targets)
    ]
    if summary.runs and not runs:
        known = ", ".join(run.name for run in summary.runs)
        raise wrong(str(options.where), "no run is chosen", f"Known: {known}.")
    metrics = dict.fromkeys(trend.metric for run in summary.runs for trend in run.trends)
    if metrics and not any(chosen(metric, options.metrics) for metric in metrics):
        raise wrong(str(options.where), "no metric is chosen", f"Known: {', '.join(metrics)}.")
    return summary.model_copy(update={"runs": runs})


def _with_metrics(run: RunHistory, options: ShowOptions) -> RunHistory:
    return run.model_copy(update={"trends": [trend for trend in run.trends if chosen(trend.metric, options.metrics)]})


def _read_judgement(world: World, named: Path, report: Path) -> Judgement:
    """The judgement in a file or folder. Raises `InputError`; where it is missing, with where it lies instead."""
    path = named / JUDGEMENT_FILE if (world.cwd / named).is_dir() else named
    usual = report.parent / JUDGEMENT_FILE
    there = (world.cwd / usual).is_file()
    hint = f"It is {usual}, next to the report." if there else JUDGEMENT_HINT
    data = read_bytes(path, "judgement", hint)
    return parse_record(data, str(path), Judgement, "a judgement", JUDGEMENT_HINT)


def stored(world: World, where: Where) -> bytes | None:
    """The file's bytes, `None` where there is none. Raises `InputError`."""
    if where.branch is None:
        return _folder_bytes(where.folder / HISTORY_FILE, where.root)
    try:
        return _branch(world, where.branch).read(HISTORY_FILE)
    except GitHubError as error:
        raise _input_error(where, error) from error


def _folder_bytes(path: Path, root: Path | None) -> bytes | None:
    """The file's bytes, `None` where there is none; as large as one of a branch may be."""
    if not os.path.lexists(path):
        return None
    data = read_committed(path, "history", APPEND_HINT, root)
    if len(data) > MAX_FILE_BYTES:
        message = f"has {len(data):,} bytes; at most {MAX_FILE_BYTES:,} are read"
        raise wrong(str(path), message, "Keep its newest lines.")
    return data


def _decoded(data: bytes | None) -> str:
    """The text; bytes that are no UTF-8 make their line unreadable, and nothing else."""
    return (data or b"").decode("utf-8", "replace")


def _branch(world: World, name: str) -> DataBranch:
    path = world.env.get("PATH")
    return DataBranch(world.cwd, name, search_path=path) if path else DataBranch(world.cwd, name)


def _input_error(where: Where, error: GitHubError) -> InputError:
    return wrong(str(where), error.message.rstrip("."), error.advice)
