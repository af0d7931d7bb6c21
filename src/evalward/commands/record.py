"""`--record DIR`: a recording to commit, one `.jsonl` file per suite and target, without secrets and home folders."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from evalward.commands.files import read_committed, write_text
from evalward.commands.secrets import Redaction
from evalward.engine.store import safe_name
from evalward.records.problem import wrong
from evalward.records.report import Report, Run


def refuse_folder(folder: Path) -> None:
    """Raises `InputError` when no recording could be written there: before anything is run, and paid for."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise wrong(
            str(folder), f"can't hold a recording: {error.strerror}", "Choose another one with --record."
        ) from error


def record(report: Report, output: Path, folder: Path, env: Mapping[str, str]) -> list[Path]:
    """Write one file for each run that has valid trials; their paths."""
    redaction = Redaction(env)
    return [
        _record_run(run, output, folder, redaction)
        for run in report.runs
        if any(r.trace and r.valid for r in run.cases)
    ]


def _record_run(run: Run, output: Path, folder: Path, redaction: Redaction) -> Path:
    path = folder / f"{safe_name(run.suite)}.{safe_name(run.target)}.jsonl"
    lines = _lines(run, output, redaction)
    write_text(path, "".join(f"{line}\n" for line in lines))
    return path


def _lines(run: Run, output: Path, redaction: Redaction) -> Iterable[str]:
    for result in sorted(run.cases, key=lambda result: (result.id, result.trial)):
        if result.trace is not None and result.valid:
            trial = json.loads(read_committed(output / result.trace, "trial", "Run it again.", output))
            yield json.dumps(redaction.value(trial), ensure_ascii=False)
