"""Result files of other harnesses, named by a person: as reports, and as baselines to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path

from evalward import __version__
from evalward.commands.pipeline import kinds_of
from evalward.commands.world import World
from evalward.decide.baseline import update_baseline
from evalward.decide.pooling import NamedReport
from evalward.engine.gathering import run_record
from evalward.records.baseline import Baseline
from evalward.records.problem import InputError, wrong
from evalward.records.report import Report, Tool
from evalward.records.texts import MOST_IN_REPORT, bounded_texts
from evalward.suites.across import diagnose
from evalward.suites.external.choice import Bounds, ScoreChoice
from evalward.suites.external.formats.base import ForeignFile, format_named, formats_of
from evalward.suites.external.formats.find import file_named, read_files
from evalward.suites.external.kind import EXTERNAL
from evalward.suites.external.results import KeepTrial, Reading, read_results

AUTO = "auto"
"""Stands for the format that the content of the files tells."""
UNDATED = "the files have no date of their results, so the date is that of the import"


@dataclass(frozen=True)
class ForeignOptions:
    """How files are read: `form` is a format's name or `auto`; `scores` are NAME or NAME=LEAST."""

    form: str = AUTO
    scores: Sequence[str] = ()


def is_foreign(path: Path) -> bool:
    """Whether some format knows the file, or one in the folder, by its content."""
    try:
        return any(formats_of(file) for file in _files(path))
    except InputError:
        return False


def foreign_report(
    world: World, paths: Sequence[Path], options: ForeignOptions, keep: KeepTrial | None = None
) -> Report:
    """The results in files or folders as a report; says what was recognised. Raises `InputError`."""
    files = [file for path in paths for file in _files(path)]
    place = ", ".join(str(path) for path in paths)
    form, found = read_files(files, None if options.form == AUTO else options.form, place)
    how = Reading(form, choice_of(options.scores), keep=keep, pool=len(paths) > 1)  # several that are named are meant
    read = read_results(found, how, place)
    runs = [run_record(EXTERNAL, run.suite, run.gathered) for run in read.runs]
    notes = [*([] if read.made_at else [UNDATED]), *read.notes, *([read.stopped] if read.stopped else [])]
    texts = {name: text for run in read.runs for name, text in run.texts.items()}
    world.say(f"{place}: {format_named(form).title}")
    return Report(
        tool=Tool(version=__version__),
        created_at=read.made_at or world.now(),
        warnings=notes,
        findings=diagnose(runs),
        runs=runs,
        texts=bounded_texts(texts.items(), MOST_IN_REPORT),
    )


def foreign_baseline(world: World, path: Path, options: ForeignOptions) -> Baseline:
    """The results in a file as a baseline. Raises `InputError`."""
    report = _with_valid_trials(foreign_report(world, [path], options))
    return update_baseline([NamedReport(report, str(path))], None, kinds_of(report)).baseline


def _with_valid_trials(report: Report) -> Report:
    """Without what broke or wasn't run: nobody commits this baseline, it stands for what was measured."""
    runs = [run.model_copy(update={"cases": [one for one in run.cases if one.valid]}) for run in report.runs]
    return report.model_copy(update={"runs": [r.model_copy(update={"planned": len(r.cases)}) for r in runs if r.cases]})


def choice_of(scores: Sequence[str]) -> ScoreChoice:
    """What `--score` says: one scorer's name, or bounds. Raises `InputError`."""
    if not scores:
        return ScoreChoice()
    if len(scores) == 1 and "=" not in scores[0]:
        return ScoreChoice(scores[0])
    return ScoreChoice(bounds=dict(map(_bounds, scores)))


def _bounds(text: str) -> tuple[str, Bounds]:
    name, _, least = text.rpartition("=")
    try:
        bound = float(least)
    except ValueError:
        bound = nan
    if not name or not isfinite(bound):
        raise wrong(f"--score {text}", "it has no bound", "Write NAME=LEAST, such as helpfulness=0.7.")
    return name, Bounds(least=bound)


def _files(path: Path) -> list[ForeignFile]:
    try:
        found = file_named(path.parent, path.name) if path.name else file_named(path, ".")
    except OSError as error:
        raise wrong(str(path), f"it can't be read: {error.strerror}", "Check its name.") from error
    if not found:
        raise wrong(str(path), "there is no such file, and no folder with result files", "Check its name.")
    return found
