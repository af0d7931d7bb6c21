"""What `--changed-since` asks for, as `check` and `run` hand it on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from evalward.records.baseline import Baseline


class SinceRequest(Struct, frozen=True):
    """What is asked for. `baseline` judges and lies at `path`, from where we were called; `ours` are folders of
    results: what lies in them is no change. `trials`: so many were asked for.
    """

    revision: str
    baseline: Baseline | None
    path: Path
    ours: Sequence[Path] = ()
    trials: int | None = None
