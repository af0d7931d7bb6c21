"""Result files of other harnesses: how long they take to be read, and how much memory."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import EVALWARD, Row, Spent, watched
from support.foreign import promptfoo
from support.foreign.inspect import Logged, LoggedSample, assistant, tool, user, write_archive

TITLE = "Result files of other harnesses as reports, against a report of one result"
MOST_SECONDS, MOST_MB = 20.0, 500.0
LOG_MB, LOG_SAMPLES = 200, 3_000
ROWS = 50_000
TIMES = 4
"""How often a log says the same."""


def foreign() -> list[Row]:
    """`evalward import` of the largest files that are read, with the conversations in them."""
    with tempfile.TemporaryDirectory(prefix="evalward-bench-") as name:
        here = Path(name)
        return [*_inspect(here), *_promptfoo(here), *_checked(here)]


def _inspect(here: Path) -> Iterator[Row]:
    log, one = here / "many.eval", here / "one.eval"
    with log.open("wb") as stream:
        write_archive(stream, _members(LOG_SAMPLES, LOG_MB * 1_000_000))
    with one.open("wb") as stream:
        write_archive(stream, _members(1, 1_000))
    assert log.stat().st_size >= LOG_MB * 1_000_000
    yield from imported(f"inspect, {log.stat().st_size / 1e6:.0f} MB, {LOG_SAMPLES:,} samples", log, one, "inspect")


def _promptfoo(here: Path) -> Iterator[Row]:
    """Three trials of each test; the rows are written with blanks, as promptfoo writes them."""
    rows, one = here / "rows.json", here / "row.json"
    begun, ended = promptfoo.document([], counted=ROWS).split('"results": []')
    with rows.open("w") as stream:
        stream.write(begun + '"results": [')
        for number in range(ROWS):
            row = promptfoo.row(number, f"case-{number // 3}", variables={"question": f"Question {number // 3}"})
            stream.write(("," if number else "") + json.dumps(row, indent=2))
        stream.write("]" + ended)
    one.write_text(promptfoo.document([promptfoo.row()]))
    yield from imported(f"promptfoo, {rows.stat().st_size / 1e6:.0f} MB, {ROWS:,} rows", rows, one, "promptfoo")
    yield from compared(f"promptfoo, {ROWS:,} rows on either side", rows, one)


def _checked(here: Path) -> Iterator[Row]:
    """A check of rows of which a tenth fails, as before: nothing may grow with the square of the failures."""
    little, much = (_check(here / str(count), count) for count in (10, ROWS))
    what, ratio = f"{ROWS:,} rows, {ROWS // 10:,} failed: checked", much.peak_mb / little.peak_mb
    yield Row(what, f"{much.wall:.2f} s", f"{little.wall:.2f} s", much.wall / little.wall)
    yield Row(
        f"{what}, peak of memory", f"{much.peak_mb:.0f} MB", f"{little.peak_mb:.0f} MB", ratio, f"< {MOST_MB:.0f} MB"
    )


def _check(folder: Path, count: int) -> Spent:
    folder.mkdir()
    suite = {"name": "rows", "kind": "external", "results": "rows.jsonl", "format": "rows"}
    (folder / "evalward.yml").write_text(json.dumps({"version": 1, "suites": [suite]}))
    rows = ({"case": f"c{number}", "status": "passed" if number % 10 else "failed"} for number in range(count))
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    watched(EVALWARD, "run", cwd=folder)
    watched(EVALWARD, "baseline", "update", cwd=folder)
    return watched(EVALWARD, "check", cwd=folder)


def compared(what: str, path: Path, small: Path) -> Iterator[Row]:
    """Time and memory of comparing a file with itself, against those of a small one."""
    words = ("compare", "--format", "markdown", "--report")
    little = watched(EVALWARD, *words, small, "--baseline", small, cwd=path.parent)
    much = watched(EVALWARD, *words, path, "--baseline", path, cwd=path.parent)
    ratio = much.peak_mb / little.peak_mb
    yield Row(f"{what}: compared", f"{much.wall:.2f} s", f"{little.wall:.2f} s", much.wall / little.wall)
    yield Row(
        f"{what}: peak of memory", f"{much.peak_mb:.0f} MB", f"{little.peak_mb:.0f} MB", ratio, f"< {MOST_MB:.0f} MB"
    )


def imported(what: str, path: Path, small: Path, form: str) -> Iterator[Row]:
    """Time and memory of importing a file, against those of a small one."""
    output = path.with_suffix(".report.json")
    little = watched(EVALWARD, "import", form, small, "--output", output, cwd=path.parent)
    much = watched(EVALWARD, "import", form, path, "--output", output, cwd=path.parent)
    assert json.loads(output.read_bytes())["runs"][0]["metrics"]["pass_rate"]["value"] == 1.0
    seconds, peak = f"{much.wall:.2f} s", f"{much.peak_mb:.0f} MB"
    held = little.peak_mb
    yield Row(f"{what}: time", seconds, f"{little.wall:.2f} s", much.wall / little.wall, f"< {MOST_SECONDS:.0f} s")
    yield Row(f"{what}: peak of memory", peak, f"{held:.0f} MB", much.peak_mb / held, f"< {MOST_MB:.0f} MB")


def _members(samples: int, size: int) -> Iterator[tuple[str, Any]]:
    """The members of a log of so many bytes, the samples one by one."""
    numbers = random.Random(20)
    summaries = []
    for number in range(samples):
        sample = _sample(number, numbers, size // samples)
        summaries.append(sample.summary())
        yield f"{sample.member}.json", sample.document()
    run = Logged((), chosen=[row["id"] for row in summaries])
    yield "summaries.json", summaries
    yield "header.json", run.header()


def _sample(number: int, numbers: random.Random, size: int) -> LoggedSample:
    """A sample with four tool calls, and events of so many bytes when packed."""
    said = [numbers.randbytes(300).hex() for _ in range(8)]
    calls = [assistant(text, ("bash", {"cmd": f"grep -c {number} log.txt"})) for text in said[:4]]
    results = [tool(text) for text in said[4:]]
    messages = [user("Solve this."), *(each for pair in zip(calls, results, strict=True) for each in pair)]
    return LoggedSample(f"case-{number:05d}", messages=messages, noise=numbers.randbytes(size).hex() * TIMES)
