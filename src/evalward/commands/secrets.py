"""What must not leave this machine: found by variable, by form, and hidden wherever we write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from evalward.config.providers import PROVIDERS, Providers
from evalward.engine.store import write_atomic
from evalward.records.base import Record

SECRET_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
LEAST_SECRET = 8  # characters: a shorter value would blank out ordinary words
# Forms in which keys are known to come, whoever wrote them into an answer.
SECRET_FORMS = re.compile(
    r"\b(?:sk-(?:ant-|proj-)?[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}|xox[abpr]-[\w-]{10,})"
    r"|(?<=Bearer )[\w.~+/-]{16,}=*"
)
REDACTED = "[redacted]"

R = TypeVar("R", bound=Record)


class Redaction:
    """What must not leave this machine: values of secret-looking variables, keys by their form, the home folder.

    `names` are variables that hold a secret whatever they are called.
    """

    def __init__(self, env: Mapping[str, str], names: Iterable[str] = ()) -> None:
        known = set(names)
        values = {
            v for k, v in env.items() if (k in known or SECRET_NAMES.search(k.upper())) and len(v) >= LEAST_SECRET
        }
        self.values = sorted(values, key=len, reverse=True)  # a secret that contains another one goes first
        home = env.get("HOME", "").rstrip("/")
        self._home = home if home.count("/") >= 1 and home != "/home/eval" else ""  # that one is the virtual shell's

    def text(self, text: str) -> str:
        """The text without them."""
        text = SECRET_FORMS.sub(REDACTED, self.known(text))
        return re.sub(rf"{re.escape(self._home)}(?![\w.-])", "~", text) if self._home else text

    def known(self, text: str) -> str:
        """The text without the values of variables; what only looks like a key stays."""
        for value in self.values:
            text = text.replace(value, REDACTED)
        return text

    def value(self, value: Any) -> Any:
        """The JSON value without them, keys of objects included."""
        return _mapped(value, self.text)

    def record(self, record: R) -> R:
        """The record without the values of variables."""
        data = record.model_dump(mode="json", by_alias=True)
        clean = _mapped(data, self.known)
        return record if clean == data else type(record).model_validate(clean)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): _mapped(item, change) for key, item in value.items()}
    return [_mapped(item, change) for item in value] if isinstance(value, list) else value


def redaction_of(env: Mapping[str, str], *configured: Providers) -> Redaction:
    """The redaction of an environment, with the variables that the configuration names for keys."""
    names = {name for providers in configured for each in PROVIDERS if (name := providers.named(each).key_env)}
    return Redaction(env, names)


def redact_files(output: Path, redaction: Redaction) -> list[Path]:
    """Takes the values of variables out of report, trials and artifacts in an output folder; the files that held one.

    A model may have been told a key by whoever wrote its prompt, and a server may send it back.
    """
    files = [output / "report.json", *sorted((output / "trials").rglob("*.json"))]
    kept = [path for path in files if path.is_file() and not path.is_symlink() and _redacted(path, redaction)]
    left = [path for path in sorted((output / "artifacts").rglob("*")) if path.is_file() and not path.is_symlink()]
    return [*kept, *(path for path in left if _redacted_bytes(path, redaction))]


def _redacted_bytes(path: Path, redaction: Redaction) -> bool:
    """Any file, whatever is in it: an agent may have written what it was told anywhere."""
    try:
        data = path.read_bytes()
    except OSError:  # nothing that we can read is nothing that we publish
        path.unlink(missing_ok=True)
        return True
    clean = data
    for value in redaction.values:
        clean = clean.replace(value.encode(), REDACTED.encode())
    if clean == data:
        return False
    path.write_bytes(clean)
    return True


def _redacted(path: Path, redaction: Redaction) -> bool:
    try:
        data = json.loads(path.read_text("utf-8"))
    except ValueError:  # nothing that a run of ours has left
        return False
    clean = _mapped(data, redaction.known)
    if clean == data:
        return False
    write_atomic(path, json.dumps(clean, indent=1, ensure_ascii=False) + "\n")
    return True
