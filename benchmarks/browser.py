"""The page of very many trials: making it, opening it in Chromium, filtering its cases, opening a trial."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import Row, ms, spent
from support.browser.chromium import NoBrowserError, Visit, chromium, visit
from support.browser.made_up import large_page

TITLE = "The page of very many trials in Chromium (`make browser-test` installs what it needs)"
TRIALS = (100, 1_000, 10_000)
ROUNDS = 3

_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd / 1000"
_FILTERED = """() => new Promise((done) => {
  const text = document.querySelector("#filter input[name=text]"), count = document.querySelector("#matching");
  const before = performance.now();
  new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => done((performance.now() - before) / 1000))))
    .observe(count, {childList: true});
  text.value = "case_00007";
  text.dispatchEvent(new Event("input", {bubbles: true}));
})"""
_OPENED = """() => new Promise((done) => {
  const trial = document.querySelector("details.trial"), before = performance.now();
  trial.open = true;
  requestAnimationFrame(() => setTimeout(() => done((performance.now() - before) / 1000)));
})"""


@dataclass(frozen=True)
class Times:
    """Seconds: until the load event, from the last letter to the filtered table, from a click to the trial."""

    loaded: float
    filtered: float
    opened: float


def browser() -> list[Row]:
    """Each size against the smallest one; where there is no browser, one row that says so."""
    try:
        return _rows()
    except NoBrowserError as error:
        return [Row(f"not measured: {error}", "–", "–", math.nan)]


def _rows() -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name, chromium() as program:
        file = Path(name) / "report.html"
        small: Times | None = None
        for trials in TRIALS:
            made = spent(lambda trials=trials: file.write_text(large_page(trials), "utf-8")).cpu  # type: ignore[misc]
            times = _measured(program, file)
            small = small or times
            what = f"{trials:,} trials, {file.stat().st_size / 1e6:.1f} MB, made in {made:.1f} s"
            rows += [
                Row(
                    f"{what}: {figure}",
                    ms(of(times)),
                    f"{ms(of(small))} ({TRIALS[0]} trials)",
                    of(times) / of(small),
                    AIMS.get((figure, trials), "–"),
                )
                for figure, of in FIGURES.items()
            ]
    return rows


FIGURES: dict[str, Callable[[Times], float]] = {
    "load event": lambda each: each.loaded,
    "search, the pause of 120 ms included": lambda each: each.filtered,
    "a trial opens": lambda each: each.opened,
}


AIMS = {("load event", 1_000): "< 2 s"}


def _measured(browser: Any, file: Path) -> Times:
    rounds = [_once(browser, file) for _ in range(ROUNDS)]
    return Times(*(median(of(each) for each in rounds) for of in FIGURES.values()))


def _once(browser: Any, file: Path) -> Times:
    with visit(browser, file) as found:
        return Times(_seconds(found, _LOADED), _seconds(found, _FILTERED), _seconds(found, _OPENED))


def _seconds(found: Visit, script: str) -> float:
    return float(found.ask(script))
