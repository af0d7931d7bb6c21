"""Whole verdicts over a grid: what chance does to them, what they see, and what a provider's bad day does.

`python -m benchmarks.grid [N] [TABLE …] [--json FILE]` simulates N checks per row by the product's own code, on as many
processes as there are processors. Seeds are fixed: equal N gives equal numbers. "5 × 1" is trials of each case in the
baseline × planned ones now.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random

from msgspec import structs
from tabulate import tabulate

from evalward.decide.statistics.intervals import paired_rate_difference
from evalward.decide.statistics.stratified import CaseTrials
from evalward.records.policy import Confirm, Rule
from evalward.records.verdict import Outcome
from support.simulated import ONE_RULE, TOKENS, Nature, World, simulate

CHECKS = 100  # per row: the error of a share of 5 % is then 2 points
CASES = 37
Rows = Mapping[str, World]

OFF = Confirm(base="off")
DEFAULTS = tuple(Rule(metric=name, max_drop=0.05) for name in ("pass_rate", "overall_rate", "tool_call_success_rate"))
DEAR = Rule(metric="total_input_tokens", max_rise=0.1 * TOKENS * CASES)
ONLY_TOKENS = (DEAR, *(Rule(metric=rule.metric, goal=0.0) for rule in DEFAULTS))


def _world(sides: tuple[int, int], noise: str | float = "beta", **more: object) -> World:
    world = World(cases=CASES, baseline_trials=sides[0], trials=sides[1], noise=noise, rules=ONE_RULE)
    return structs.replace(world, **more)  # type: ignore[arg-type]


def _named(sides: tuple[int, int]) -> str:
    return f"{sides[0]} × {sides[1]}"


EVERY, USUAL = ((1, 1), (5, 1), (1, 5), (5, 5)), ((1, 1), (5, 1))


def unchanged() -> Rows:
    """Nothing changed, one rule on the pass rate."""
    noises: Sequence[str | float] = ("beta", "docs", 0.5, 0.95)
    return {f"{noise}, {_named(sides)}": _world(sides, noise) for noise in noises for sides in EVERY}


def power() -> Rows:
    """Cases that broke, and drops over all cases."""
    changes = {f"{number} broken": {"broken": number} for number in (1, 2, 3, 5)}
    drops = {f"all −{100 * lower:.0f} points": {"lower": lower} for lower in (0.05, 0.1, 0.2)}
    return {
        f"{name}, {_named(sides)}": _world(sides, **change)
        for name, change in {**changes, **drops}.items()
        for sides in (*USUAL, (5, 5))
    }


def bad_days() -> Rows:
    """Nothing changed but the session, or the provider; with the base measured again, and without."""
    days = {f"shocks of {shock}": {"shock": shock} for shock in (0.2, 0.4)}
    drifts = {f"drift of {drift}": {"drift": drift} for drift in (-0.3, -0.6, -1.0)}
    found = {f"{name}, 5 × 1": _world((5, 1), **day) for name, day in {**days, **drifts}.items()}
    found |= {f"{name}, base off": structs.replace(world, confirm=OFF) for name, world in found.items()}
    return found | {"drift of -0.6 and 2 broken, 5 × 1": _world((5, 1), drift=-0.6, broken=2)}


def many_rules() -> Rows:
    """Nothing changed, with the rules that a bash suite brings, and partial scores; several suites × targets."""
    plain = Nature(tokens=0.3, partial=True)
    found = {f"default rules, {_named(sides)}": _world(sides, rules=DEFAULTS, nature=plain) for sides in EVERY[:3]}
    found |= {
        f"default rules, {_named(sides)}, base off": structs.replace(w, confirm=OFF)
        for sides in USUAL
        for w in [_world(sides, rules=DEFAULTS, nature=plain)]
    }
    found |= {
        f"default rules and calls that go astray, {_named(sides)}": _world(
            sides, rules=DEFAULTS, nature=structs.replace(plain, astray=0.15)
        )
        for sides in ((5, 1), (1, 5))
    }
    found["default rules, 5 × 1, 6 runs"] = _world((5, 1), rules=DEFAULTS, nature=plain, runs=6)
    found["pass rate only, 5 × 1, 6 runs"] = _world((5, 1), runs=6)
    return found


def tokens() -> Rows:
    """A rule on tokens (10 % more), where they vary within a case; unequal numbers of trials."""
    found = {}
    for spread in (0.3, 0.5, 0.8):
        for sides in ((5, 1), (1, 5)):
            natural = Nature(tokens=spread)
            found[f"sd {spread}, {_named(sides)}"] = _world(sides, rules=ONLY_TOKENS, nature=natural)
            more = structs.replace(natural, more=1.3)
            found[f"sd {spread}, {_named(sides)}, 30 % more"] = _world(sides, rules=ONLY_TOKENS, nature=more)
    return found


def errors() -> Rows:
    """What breaks by erring, and fresh trials that time out."""
    return {
        "5 of 100 break by erring": structs.replace(_world((5, 1), "docs"), cases=100, broken=5, by_error=True),
        "3 broken": _world((5, 1), broken=3),
        "3 broken, a fresh trial times out": _world((5, 1), broken=3, astray=1),
        "3 broken, all of one case time out": _world((5, 1), broken=3, astray=4),
        "3 broken, all of one case time out, base off": _world((5, 1), broken=3, astray=4, confirm=OFF),
    }


TABLES = {each.__name__: each for each in (unchanged, power, bad_days, many_rules, tokens, errors)}


@dataclass(frozen=True)
class Cell:
    """What became of the checks of one row: shares of all, 0 to 1; `trials` per case and run on the average."""

    table: str
    row: str
    checks: int
    failed: float
    inconclusive: float
    unjudged: float
    trials: float
    beside: float
    drifted: float


@dataclass(frozen=True)
class _Came:
    outcome: Outcome
    trials: int
    beside: bool
    drifted: bool


def _one(world: World, seed: int) -> _Came:
    decided = simulate(world, seed)
    sides = [run.beside for run in decided.judgement.comparison.runs if run.beside]
    return _Came(decided.verdict.outcome, decided.trials, bool(sides), any(side.drifted for side in sides))


def measured(table: str, row: str, world: World, checks: int, pool: ProcessPoolExecutor) -> Cell:
    """One row."""
    came = list(pool.map(partial(_one, world), range(checks), chunksize=max(1, checks // 20)))
    outcomes = Counter(each.outcome for each in came)
    shares = [outcomes[name] / checks for name in (Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.ERROR)]
    trials = sum(each.trials for each in came) / checks / world.cases / world.runs
    beside = sum(each.beside for each in came) / checks
    return Cell(table, row, checks, *shares, trials, beside, sum(each.drifted for each in came) / checks)


def coverage(checks: int) -> list[tuple[str, float]]:
    """How often the 95 % interval of the difference holds the true one, 0: nothing changed."""
    found = []
    for cases in (10, 37, 100):
        for rate in (0.95, 0.99, None):
            for sides in ((5, 1), (1, 5), (10, 1), (5, 5)):
                name = f"{cases} cases at {'beta' if rate is None else rate}, {_named(sides)}"
                found.append((name, _covered(Random(name), cases, rate, sides, checks)))
    return found


def _covered(dice: Random, cases: int, rate: float | None, sides: tuple[int, int], checks: int) -> float:
    def passed(chance: float, trials: int) -> int:
        return sum(dice.random() < chance for _ in range(trials))

    hits = 0
    for _ in range(checks):
        chances = [dice.betavariate(0.56, 0.14) if rate is None else rate for _ in range(cases)]
        drawn = [CaseTrials(passed(p, sides[0]), sides[0], passed(p, sides[1]), sides[1]) for p in chances]
        interval = paired_rate_difference(drawn)
        hits += interval is not None and interval.low <= 0 <= interval.high
    return hits / checks


HEADS = ("", "fail", "inconclusive", "not judged", "trials per case", "base measured", "drift told")


def _shown(cell: Cell) -> list[str]:
    shares = (cell.failed, cell.inconclusive, cell.unjudged)
    return [
        cell.row,
        *(f"{each:.1%}" for each in shares),
        f"{cell.trials:.2f}",
        f"{cell.beside:.0%}",
        f"{cell.drifted:.0%}",
    ]


def main() -> None:
    """Print the tables, or write the numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grid", description=__doc__)
    parser.add_argument("checks", nargs="?", type=int, default=CHECKS, metavar="N", help=f"checks per row ({CHECKS})")
    known = [*TABLES, "coverage"]
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"any of: {', '.join(known)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there")
    given = parser.parse_args()
    wanted = given.tables or known
    cells: list[Cell] = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name in (name for name in TABLES if name in wanted):
            rows = [measured(name, row, world, given.checks, pool) for row, world in TABLES[name]().items()]
            print(f"\n{TABLES[name].__doc__}\n")
            print(tabulate([_shown(cell) for cell in rows], headers=HEADS, tablefmt="github"), flush=True)
            cells += rows
    if "coverage" in wanted:
        print("\nThe 95 % interval of the difference holds the truth in\n")
        print(tabulate([(name, f"{share:.1%}") for name, share in coverage(20 * given.checks)], tablefmt="github"))
    if given.json:
        lines = ",\n".join(" " + json.dumps(asdict(cell)) for cell in cells)
        given.json.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
