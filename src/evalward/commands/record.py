"""`--record DIR`: a recording to commit, one `.jsonl` file per suite and target, without secrets and home folders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evalward.commands.files import read_bytes, write_text
from evalward.engine.store import safe_name
from evalward.records.problem import wrong
from evalward.records.report import Report, Run

SECRET_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
LEAST_SECRET = 8  # characters: a shorter value would blank out ordinary words
# Forms in which keys are known to come, whoever wrote them into an answer.
SECRET_FORMS = re.compile(
    r"\b(?:sk-(?:ant-|proj-)?[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}|xox[abpr]-[\w-]{10,})"
    r"|(?<=Bearer )[\w.~+/-]{16,}=*"
)
REDACTED = "[redacted]"


class Redaction:
    """What must not leave this machine: values of secret-looking variables, keys by their form, the home folder."""

    def __init__(self, env: Mapping[str, str]) -> None:
        values = {v for k, v in env.items() if SECRET_NAMES.search(k.upper()) and len(v) >= LEAST_SECRET}
        self._values = sorted(values, key=len, reverse=True)  # a secret that contains another one goes first
        home = env.get("HOME", "").rstrip("/")
        self._home = home if home.count("/") >= 1 and home != "/home/eval" else ""  # that one is the virtual shell's

    def text(self, text: str) -> str:
        """The text without them."""
        for value in self._values:
            text = text.replace(value, REDACTED)
        text = SECRET_FORMS.sub(REDACTED, text)
        return re.sub(rf"{re.escape(self._home)}(?![\w.-])", "~", text) if self._home else text

    def value(self, value: Any) -> Any:
        """The JSON value without them, keys of objects included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(item) for key, item in value.items()}
        return [self.value(item) for item in value] if isinstance(value, list) else value


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
            trial = json.loads(read_bytes(output / result.trace, "trial", "Run it again."))
            yield json.dumps(redaction.value(trial), ensure_ascii=False)
