"""`evalward import` and `evalward export`: other tools' files in and out."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from evalward import __version__
from evalward.commands.detecting import importer_of, times_in
from evalward.commands.emitting import write_text
from evalward.commands.files import read_bytes, read_committed, read_report
from evalward.commands.foreign import AUTO, UNDATED, ForeignOptions, foreign_report
from evalward.commands.pipeline import dump_report
from evalward.commands.world import World
from evalward.engine.store import Store
from evalward.importers import (
    Exported,
    Imported,
    SourceFile,
    batch_importer,
    exporter_named,
    knowing_importer,
    known_exporters,
    known_importers,
    read_files,
)
from evalward.opening import MIB, read_inside
from evalward.records.exits import EXIT_OK
from evalward.records.moments import latest
from evalward.records.problem import InputError, wrong
from evalward.records.reading import parse_record
from evalward.records.report import Report, Run, Tool
from evalward.records.result import Result, Trial
from evalward.records.words import near_or_known
from evalward.registry import FORMATS, has, installed
from evalward.render.numbers import plural
from evalward.suites.across import diagnose
from evalward.writing import Folder

CASES_FILE = "cases.jsonl"
MOST_BYTES = 256 * MIB  # of one file in a folder
TRIAL_HINT = "Keep the folder trials/ next to its report."


def import_files(world: World, form: str, files: Sequence[Path], output: Path, scores: Sequence[str] = ()) -> int:
    """Read files of a format as one report; their trials and cases are left beside it."""
    found = importer_of(files) if form == AUTO else None
    if found is None and (form == AUTO or has(FORMATS, form)):
        return _import_foreign(world, files, output, ForeignOptions(form, scores))
    form = found or form
    if form not in known_importers():
        raise _unknown(form, [*known_importers(), *installed(FORMATS), AUTO])
    if scores:
        raise wrong("--score", f"{form} says by itself what passes", "Leave --score out.")
    if found is not None:
        world.say(f"{', '.join(map(str, files))}: {_title(found)}")
    read = read_files(form, [source for file in files for source in _sources(form, file)])
    _refuse_twins(read)
    imported = [one for _, one in read]
    store = Store(Folder(output.parent, strict=False), world.redaction)
    made_at = latest(one.created_at for one in imported)
    runs = [_with_traces(run, one.trials, store) for one in imported for run in one.runs]
    report = Report(
        tool=Tool(version=__version__),
        created_at=made_at or world.now(),
        warnings=[*([] if made_at else [UNDATED]), *(warning for one in imported for warning in one.warnings)],
        findings=diagnose(runs),
        runs=runs,
    )
    write_text(output, dump_report(report), world.redaction)
    cases = {str(case["id"]): case for one in imported for case in one.cases}
    if cases:
        lines = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases.values())
        write_text(output.parent / CASES_FILE, lines, world.redaction)
    for warning in report.warnings:
        world.say(f"warning: {warning}")
    trials = sum(len(run.cases) for run in runs)
    world.show(
        f"{output}: {plural(len(runs), 'run')}, {plural(trials, 'trial')}"
        + (f"; cases in {CASES_FILE}" if cases else "")
    )
    return EXIT_OK


def _import_foreign(world: World, files: Sequence[Path], output: Path, options: ForeignOptions) -> int:
    """The same for results of another harness."""
    store = Store(Folder(output.parent, strict=False), world.redaction)
    report = foreign_report(world, files, options, store.keep)
    write_text(output, dump_report(report), world.redaction)
    for warning in report.warnings:
        world.say(f"warning: {warning}")
    trials = sum(len(run.cases) for run in report.runs)
    world.show(f"{output}: {plural(len(report.runs), 'run')}, {plural(trials, 'trial')}")
    return EXIT_OK


def _title(form: str) -> str:
    importer = knowing_importer(form)
    return importer.title if importer is not None else form


def _sources(form: str, path: Path) -> list[SourceFile]:
    """A file, or what a format reads of a folder, no link followed in it."""
    if not path.is_dir():
        return [SourceFile(read_bytes(path, "file", "Check its name."), str(path), path.stat().st_mtime)]
    batch = batch_importer(form)
    if batch is None:
        raise wrong(str(path), f"it is a folder, and {form} has single files", "Name the files.")
    try:
        changed = times_in(path)
        read = [_source(path, name, changed[name]) for name in batch.of_folder(sorted(changed))]
    except OSError as error:
        raise wrong(str(path), f"the folder can't be read: {error.strerror}", "Check its name.") from error
    if not read:
        raise wrong(str(path), f"no file of {form} is in it", "Name the folder of a run, or its files.")
    return read


def _source(folder: Path, name: str, changed: float) -> SourceFile:
    if name.endswith("/"):
        return SourceFile(b"", f"{folder / name}/", changed)
    return SourceFile(read_inside(folder, name, MOST_BYTES), str(folder / name), changed)


def _refuse_twins(imported: Sequence[tuple[str, Imported]]) -> None:
    """One report has one run per suite and target: two files of one model are two reports."""
    seen: dict[tuple[str, str], str] = {}
    for file, one in imported:
        for run in one.runs:
            key = (run.suite, run.target)
            if key in seen:
                message = f"{seen[key]} has results of {run.target} too"
                raise wrong(file, message, "Import each into a report of its own.")
            seen[key] = file


def _with_traces(run: Run, trials: Sequence[Trial], store: Store) -> Run:
    paths = {
        (t.result.id, t.result.trial): store.keep(t) for t in trials if (t.suite, t.target) == (run.suite, run.target)
    }

    def named(result: Result) -> Result:
        return result.model_copy(update={"trace": paths.get((result.id, result.trial))})

    return run.model_copy(update={"cases": [named(result) for result in run.cases]})


def export_file(
    world: World, form: str, report_file: Path, output: Path, *, target: str | None, suite: str | None = None
) -> int:
    """Write one run of a report in a format."""
    if form not in known_exporters():
        raise _unknown(form, known_exporters())
    report = read_report(report_file)
    run = _chosen(report, suite, target, report_file)
    trials = list(_trials(run, report_file.parent))
    made = exporter_named(form)(report, run, trials)
    exported = made if isinstance(made, Exported) else None
    write_text(output, exported.text if exported else str(made), world.redaction)
    world.show(f"{output}: {run.name}" + (f", {plural(exported.results, 'result')}" if exported else ""))
    return EXIT_OK


def _chosen(report: Report, suite: str | None, target: str | None, file: Path) -> Run:
    runs = [run for run in report.runs if target in {None, run.target} and suite in {None, run.suite}]
    if len(runs) == 1:
        return runs[0]
    targets = ", ".join(dict.fromkeys(run.target for run in report.runs))
    suites = ", ".join(dict.fromkeys(run.suite for run in report.runs))
    what = plural(len(runs), "run") if runs else "no run"
    raise wrong(str(file), f"{what} to export", f"Name one with --target ({targets}) and --suite ({suites}).")


def _trials(run: Run, folder: Path) -> Iterator[Trial]:
    for result in run.cases:
        if result.trace is None:
            continue
        path = folder / result.trace
        if ".." in path.parts or Path(result.trace).is_absolute():
            raise wrong(str(folder), f"the report names a trial outside its folder: {result.trace}", TRIAL_HINT)
        data = read_committed(path, "trial", TRIAL_HINT, folder)
        yield parse_record(data, str(path), Trial, "a trial", TRIAL_HINT)


def _unknown(form: str, known: Collection[str]) -> InputError:
    return wrong(f"format {form}", "there is no such format", near_or_known(form, known, "Formats"))
