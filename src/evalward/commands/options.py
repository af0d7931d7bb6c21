"""What commands were asked for: the options that more than the command itself needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from evalward.engine.selection import Selection
from evalward.records.policy import FailOn


class CheckOptions(Struct, frozen=True):
    """What `check` was asked for.

    `baseline` overrides the config's; `failed`: only what failed last time; `base` is a commit to measure beside the
    files here, where that is needed, in place of the one that the baseline is of. `parts` are the output folders of
    shards that have measured the plan. `plan`: run nothing, and show in this format what would be run. `batch`: send
    requests in batches.
    `versioned`: the files belong to the repository around them, which is asked for commits. `verbose`: print the
    tables of runs that are fine, too. `changed_since`: what nothing has touched since this commit isn't measured.
    """

    config: Path
    output: Path
    selection: Selection = field(default_factory=Selection)
    baseline: Path | None = None
    profile: str | None = None
    fail_on: FailOn | None = None
    resume: bool = False
    failed: bool = False
    base: str | None = None
    parts: Sequence[Path] = ()
    plan: str | None = None
    batch: bool = False
    versioned: bool = True
    verbose: bool = False
    changed_since: str | None = None


class CompareOptions(Struct, frozen=True):
    """What `compare` was asked for. Without `config` the kinds' own rules decide; without `baseline` the config's.

    `scores` decide in foreign results. `verbose`: show the tables of runs that are fine, too.
    """

    report: Path
    baseline: Path | None = None
    config: Path | None = None
    profile: str | None = None
    fail_on: FailOn | None = None
    format: str = "terminal"
    output: Path | None = None
    scores: Sequence[str] = ()
    verbose: bool = False
