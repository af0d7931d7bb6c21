"""How often each rule is wrong: the same simulated checks, judged by Evalward and by what people write first.

`python -m benchmarks.simulation [N] [--json FILE]` simulates N checks per row, and writes the numbers that the figure
of `docs/how-evalward-decides.md` is made of. Seeds are fixed: equal N gives equal numbers.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random

from msgspec import structs

from benchmarks.measure import Row, table
from evalward.decide.staleness import FEW_TRIALS
from evalward.decide.statistics.intervals import wilson
from evalward.decide.statistics.stratified import CaseTrials, stratified_worse
from evalward.records.verdict import Outcome
from support.simulated import ONE_RULE, World, rates, simulate

CASES, BROKEN = 37, (0, 3, 5)
BASELINES = (1, 5, 10)
DEFAULT, SIMPLE = 60, 2000  # checks per row: Evalward's own decisions take some 60 ms, the simple rules nothing
EVALWARD = "Evalward"
TITLE = "Simulated checks: how many fail (baseline × planned trials of each case)"
AIMS: Mapping[int, str] = {0: "≤ 5 % fail", 3: "≥ 95 % fail", 5: "≥ 95 % fail"}


@dataclass(frozen=True)
class Figure:
    """What became of the checks of one rule. Shares of all checks, 0 to 1; `trials` are the mean of what was run."""

    rule: str
    baseline_trials: int
    trials_now: int
    broken: int
    checks: int
    failed: float
    inconclusive: float
    trials: float


Counts = Sequence[CaseTrials]
Says = Callable[[Counts], bool]


def any_flip(cases: Counts) -> bool:
    """A case that passed in most of its trials now fails in most."""
    return any(2 * c.passed_before > c.trials_before and 2 * c.passed_now <= c.trials_now for c in cases)


def fell(cases: Counts) -> bool:
    """The pass rate is more than 5 points lower."""
    before, now = _passes(cases)
    return before[0] / before[1] - now[0] / now[1] > 0.05


def disjoint(cases: Counts) -> bool:
    """The 95 % intervals (Wilson) of the two pass rates don't overlap."""
    before, now = (wilson(*side) for side in _passes(cases))
    return before is not None and now is not None and now.high < before.low


def exact(cases: Counts) -> bool:
    """The exact stratified test, on the planned trials alone."""
    return stratified_worse(cases) <= 0.05


def _passes(cases: Counts) -> tuple[tuple[int, int], tuple[int, int]]:
    """How many trials passed, of how many: before, and now."""
    before = sum(c.passed_before for c in cases), sum(c.trials_before for c in cases)
    return before, (sum(c.passed_now for c in cases), sum(c.trials_now for c in cases))


RULES: Mapping[str, Says] = {
    "any case flips": any_flip,
    "rate falls over 5 points": fell,
    "intervals don't overlap": disjoint,
    "exact test": exact,
}
ONE_A_SIDE, FIVE_A_SIDE = (1, 1), (5, 5)
SIMULATED: Sequence[tuple[str, tuple[int, int]]] = (
    ("any case flips", ONE_A_SIDE),
    ("rate falls over 5 points", ONE_A_SIDE),
    ("intervals don't overlap", ONE_A_SIDE),
    ("exact test", ONE_A_SIDE),
    ("exact test", FIVE_A_SIDE),
)


def simulated(checks: int = DEFAULT, simple: int = SIMPLE) -> list[Figure]:
    """The figures of all rules: the simple ones, then Evalward's own verdict, by size of the baseline."""
    found = [_simple(rule, sides, broken, simple) for rule, sides in SIMULATED for broken in BROKEN]
    world = World(cases=CASES, rules=ONE_RULE)
    worlds = [structs.replace(world, broken=broken, baseline_trials=each) for each in BASELINES for broken in BROKEN]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return found + [_own(world, checks, pool) for world in worlds]


def _simple(rule: str, sides: tuple[int, int], broken: int, checks: int) -> Figure:
    chance = Random(f"{rule} {sides} {broken}")
    before, now = rates(CASES), rates(CASES, broken)

    def passed(rate: float, trials: int) -> int:
        return sum(chance.random() < rate for _ in range(trials))

    def drawn() -> list[CaseTrials]:
        pairs = zip(before, now, strict=True)
        return [CaseTrials(passed(b, sides[0]), sides[0], passed(n, sides[1]), sides[1]) for b, n in pairs]

    failed = sum(RULES[rule](drawn()) for _ in range(checks))
    return Figure(rule, *sides, broken, checks, failed / checks, 0.0, float(CASES * sides[1]))


def _own(world: World, checks: int, pool: ProcessPoolExecutor) -> Figure:
    told = list(pool.map(partial(_decided, world), range(checks), chunksize=max(1, checks // 20)))
    outcomes = Counter(outcome for outcome, _ in told)
    shares = (outcomes[name] / checks for name in (Outcome.FAIL, Outcome.INCONCLUSIVE))
    trials = sum(trials for _, trials in told) / checks
    return Figure(EVALWARD, world.baseline_trials, world.trials, world.broken, checks, *shares, trials)


def _decided(world: World, seed: int) -> tuple[Outcome, int]:
    decided = simulate(world, seed)
    return decided.verdict.outcome, decided.trials


def simulation() -> list[Row]:
    """The table of the benchmark."""
    return [_row(figure) for figure in simulated()]


def _row(figure: Figure) -> Row:
    state = f"{figure.broken} of {CASES} broken" if figure.broken else "nothing changed"
    sides = f"{figure.baseline_trials} × {figure.trials_now}"
    own = figure.rule == EVALWARD and figure.baseline_trials >= FEW_TRIALS
    said = f"{figure.failed:.1%} fail" + (f", {figure.inconclusive:.1%} open" if figure.rule == EVALWARD else "")
    return Row(
        f"{figure.rule} ({sides}): {state}",
        said,
        f"{figure.trials:.0f} trials for {CASES} cases",
        figure.trials / CASES,
        AIMS[figure.broken] if own else "–",
    )


def main() -> None:
    """Print the table, or write the numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulation", description=__doc__)
    parser.add_argument("checks", nargs="?", type=int, default=DEFAULT, metavar="N", help=f"checks per row ({DEFAULT})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    given = parser.parse_args()
    found = simulated(given.checks)
    print(table(TITLE, [_row(figure) for figure in found]))
    if given.json:
        lines = ",\n".join(" " + json.dumps(asdict(figure)) for figure in found)
        given.json.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
