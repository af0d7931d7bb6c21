"""What judging takes, by the number of cases: a random target with five trials a side, and results from elsewhere."""

from __future__ import annotations

import gc
import random
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measure import EVALWARD, Row, spent, watched
from evalward.commands.pipeline import decide_report, dump_report
from evalward.decide.baseline import dump_baseline
from evalward.edge import FEWER_COLLECTIONS
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy
from evalward.records.report import Report
from support.results import baseline, report, result, run

CASES = (1250, 2500, 5000, 10_000)
TRIALS = 5
IMPORTED = (2000, 20_000)
TARGET = "openai/gpt-5"


def judged() -> list[Row]:
    """Processor time of `decide_report` by the kind's own rules."""
    rows: list[Row] = []
    last = 0.0
    gc.set_threshold(FEWER_COLLECTIONS)  # as our process does it at its start
    for cases in CASES:
        now, before = sides(cases, TRIALS)
        took = spent(partial(decide_report, now, before, Policy())).cpu
        aim = "< 2 s" if cases == 5000 else "–"
        half = f"{last:.2f} s ({cases // 2:,})" if last else "–"
        rows.append(Row(f"{cases:,} cases × (5 + 5)", f"{took:.2f} s", half, took / last if last else 1.0, aim))
        last = took
    return rows


def imported_once() -> list[Row]:
    """`evalward compare` in a process of its own: read, judged, and rendered as a comment."""
    took = {}
    with tempfile.TemporaryDirectory(prefix="evalward-bench-") as folder:
        for cases in IMPORTED:
            here = Path(folder) / str(cases)
            here.mkdir()
            now, before = sides(cases, 1)
            (here / "now.json").write_text(dump_report(now), "utf-8")
            (here / "baseline.json").write_text(dump_baseline(before), "utf-8")
            files = ("--report", "now.json", "--baseline", "baseline.json", "--format", "markdown")
            command = (EVALWARD, "compare", *files, "--output", "comment.md")
            took[cases] = watched(*command, cwd=here, codes=(0, 1))
    few, many = (took[cases] for cases in IMPORTED)
    against = f"{IMPORTED[0]:,} trials"
    return [
        Row("time", f"{many.wall:.2f} s", f"{few.wall:.2f} s ({against})", many.wall / few.wall, "< 3 s"),
        Row(
            "peak of memory",
            f"{many.peak_mb:.0f} MB",
            f"{few.peak_mb:.0f} MB ({against})",
            many.peak_mb / few.peak_mb,
            "< 300 MB",
        ),
    ]


def sides(cases: int, trials: int) -> tuple[Report, Baseline]:
    """A report and a baseline of so many cases that pass with a chance of their own, some points rarer now."""
    dice = random.Random(cases)
    chances = [min(1.0, dice.uniform(0.5, 1.3)) for _ in range(cases)]
    before, now = (_report(dice, [chance * part for chance in chances], trials) for part in (1.0, 0.97))
    return now, baseline(*before.runs)


def _report(dice: random.Random, chances: list[float], trials: int) -> Report:
    results = [
        result(
            f"case{number:05d}",
            "passed" if dice.random() < chance else "failed",
            most=float(1 + number % 3),
            calls=(dice.randint(1, 4), 4),
            trial=trial,
            category=f"c{number % 7}",
            tokens=(dice.randint(100, 5000), dice.randint(10, 500)),
            cost=dice.uniform(0.001, 0.1),
            duration_ms=dice.randint(100, 20_000),
        )
        for number, chance in enumerate(chances)
        for trial in range(1, trials + 1)
    ]
    return report(run(results, target=TARGET, random=True))
