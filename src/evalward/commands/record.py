"""`--record DIR`: a recording to commit, one `.jsonl` file per suite and target, without secrets and home folders."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from evalward.engine.store import safe_name
from evalward.keeper.outputs import OutputFolder
from evalward.records.problem import unwritable, wrong
from evalward.records.report import Report, Run
from evalward.redaction import Redaction
from evalward.writing import Folder

REMEDY = "Choose another one with --record."


def open_recordings(path: Path, anchor: Path | None = None) -> Folder:
    """The folder for recordings, opened before anything is run, and paid for. Committed recordings may be in it.

    A relative path counts from `anchor`.

    Raises `InputError` when no recording could be written there, it is a link, or holds one in place of a recording.
    """
    folder = Folder(path, anchor)
    try:
        folder.handle()
        for entry in folder.entries():
            if entry.path.endswith(".jsonl") and "/" not in entry.path and (entry.strange or entry.is_folder):
                what = entry.strange or "a folder"
                raise wrong(str(path), f"can't hold a recording: {entry.path!r} in it is {what}", REMEDY)
    except OSError as error:
        raise wrong(str(path), f"can't hold a recording: {error.strerror}", REMEDY) from error
    return folder


def record(report: Report, output: OutputFolder, folder: Folder, redaction: Redaction) -> list[Path]:
    """Write one file for each run that has valid trials; their paths. Raises `InputError`."""
    return [
        _record_run(run, output, folder, redaction)
        for run in report.runs
        if any(r.trace and r.valid for r in run.cases)
    ]


def _record_run(run: Run, output: OutputFolder, folder: Folder, redaction: Redaction) -> Path:
    name = f"{safe_name(run.suite)}.{safe_name(run.target)}.jsonl"
    text = "".join(f"{line}\n" for line in _lines(run, output, redaction))
    try:
        folder.write(name, text.encode())
    except OSError as error:
        raise unwritable(str(folder.path / name), error, REMEDY) from error
    return folder.path / name


def _lines(run: Run, output: OutputFolder, redaction: Redaction) -> Iterable[str]:
    for result in sorted(run.cases, key=lambda result: (result.id, result.trial)):
        if result.trace is not None and result.valid:
            trial = json.loads(output.read(result.trace, "trial", "Run it again."))
            yield json.dumps(redaction.value(trial), ensure_ascii=False)
