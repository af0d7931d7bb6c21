"""What the code gave while it was benchmarked: a change that works only when nobody takes the time is caught by it.

The benchmark's command runs once more, with our recorder in its Python. Its times don't count; what functions gave
there is compared as snapshots are, argument by argument. The recorder also sees whether Python's clocks were exchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from evalward.sandbox.base import FileTooLargeError
from evalward.sandbox.process import Workspace
from evalward.suites.speedup.measure.snapshots import same
from evalward.suites.speedup.task import AutoSnapshots, SpeedupTask
from evalward.suites.speedup.values import number, parse

_HERE = Path(__file__).parent
FOLDER = "evalward-recorder"
SHOWN = 3
RTOL, ATOL = 1e-5, 1e-8
_CHANGED = re.compile(rb"^\+\+\+ b/(.+?\.py)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Recorded:
    """Values by function and arguments; names of exchanged clocks; seconds until the code was there."""

    calls: Mapping[str, Any] = field(default_factory=dict)
    turned: Sequence[str] = ()
    first: float | None = None


def modules_of(task: SpeedupTask, oracle: bytes) -> dict[str, list[str]]:
    """The functions to look at, by module: those of `auto`, else all of the modules that the human patch changes."""
    found: dict[str, list[str]] = {}
    if task.auto is not None:
        for name in task.auto.functions:
            module, _, attribute = name.partition(":")
            found.setdefault(module, []).append(attribute)
        return found
    for path in _CHANGED.findall(oracle):
        parts = PurePosixPath(path.decode("utf-8", "replace")).with_suffix("").parts
        names = [".".join(parts[start:]) for start in range(len(parts))]
        found |= {name.removesuffix(".__init__"): [] for name in names}
    return found


def recorder_files(modules: Mapping[str, Sequence[str]]) -> dict[str, bytes]:
    """What a workspace gets beside the code."""
    asked = json.dumps({"modules": {name: list(functions) for name, functions in modules.items()}})
    content = {
        "sitecustomize.py": (_HERE / "record_script.py").read_bytes(),
        "evalward_capture.py": (_HERE / "capture_script.py").read_bytes(),
        "asked.json": asked.encode(),
    }
    return {f"/tmp/{FOLDER}/{name}": data for name, data in content.items()}  # noqa: S108 - the workspace's own


def recorder_env(workspace: Workspace) -> dict[str, str]:
    """What lets Python take it up."""
    return {"PYTHONPATH": str(workspace.tmp / FOLDER)}


def read_recorded(workspace: Workspace) -> Recorded | None:
    """What was recorded; `None` where nothing was, or nothing that can be read."""
    try:
        content = workspace.read_file(str(workspace.tmp / FOLDER / "found.jsonl"))
    except FileTooLargeError:
        return None
    calls: dict[str, Any] = {}
    turned: set[str] = set()
    first: list[float] = []
    for line in (content or b"").splitlines():
        record = _record(line)
        if record is None:
            return None
        calls |= record["calls"]
        turned |= {str(name)[:40] for name in record["turned"]}
        first += [value for value in [number(record.get("first"))] if value is not None]
    return Recorded(calls, sorted(turned), min(first, default=None)) if content else None


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        value = parse(line)
    except ValueError:
        return None
    whole = isinstance(value, dict) and isinstance(value.get("calls"), dict) and isinstance(value.get("turned"), list)
    return value if whole and all(isinstance(each, dict) for each in value["calls"].values()) else None


def differing(
    untouched: Sequence[Recorded | None], human: Recorded | None, change: Recorded | None, auto: AutoSnapshots | None
) -> list[str]:
    """The functions that gave something else in the change's benchmark, or nothing at all.

    Only what the untouched code gave twice alike, and the human patch too, says anything.
    """
    first, second = (*untouched, None, None)[:2]
    if first is None or second is None or human is None:
        return []
    rtol, atol = (auto.rtol, auto.atol) if auto else (RTOL, ATOL)

    def agree(one: Any, two: Any) -> bool:
        return isinstance(two, dict) and "value" in two and same(one["value"], two["value"], rtol, atol)

    before = {
        name: value
        for name, value in first.calls.items()
        if "value" in value and agree(value, second.calls.get(name)) and agree(value, human.calls.get(name))
    }
    now: Mapping[str, Any] = {} if change is None else change.calls
    return _functions(name for name, value in before.items() if not agree(value, now.get(name)))


def _functions(names: Iterable[str]) -> list[str]:
    return sorted({name.partition("#")[0] for name in names})
