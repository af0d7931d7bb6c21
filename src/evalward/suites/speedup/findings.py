"""What the numbers of one run show, and what they hide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log
from statistics import median

from evalward.records.metric import Measurement
from evalward.records.report import Finding
from evalward.records.result import Result
from evalward.render.numbers import format_factor, format_number, plural
from evalward.suites.speedup.details import INCREDIBLE, LEVELS, BenchmarkSpeed, SpeedupDetails
from evalward.suites.speedup.log import REPEATED
from evalward.suites.speedup.payload import details_of

SHOWN_CASES = 20
SHOWN_BENCHMARKS = 3
NO_EFFECT = 0.01  # a change of less than a hundredth claims nothing that noise could hide
MAD_TO_SIGMA = 1.4826  # of a normal distribution
MIN_SAMPLES = 3


def interpret(results: Sequence[Result], measurement: Measurement) -> list[Finding]:
    """The findings of one run, the worst first."""
    valid = [(result, details_of(result)) for result in results if result.valid]
    return [
        *_fallbacks(valid),
        *_oracle_failed(valid),
        *_dropped(valid),
        *_forged(valid),
        *_incredible(valid),
        *_repeated_blocks(valid),
        *_noisy(valid),
        *_rewarded_spending(measurement),
        *_level_groups(valid),
    ]


Pairs = Sequence[tuple[Result, SpeedupDetails]]


def _ids(found: Iterable[Result]) -> list[str]:
    return list(dict.fromkeys(result.id for result in found))[:SHOWN_CASES]


def _fallbacks(valid: Pairs) -> Iterator[Finding]:
    found = [(result, each) for result, each in valid if each.fallback_to_baseline and each.role == "agent"]
    if found:
        tests = sum(each.pytest_failed for _, each in found)
        snapshots = sum(each.snapshot_failed for _, each in found)
        unmeasured = sum(not each.benchmarks for _, each in found)
        left_out = f"; {unmeasured} without any benchmark: speedup 1.0, advantage 0.0" if unmeasured else ""
        count = "counts" if len(found) == 1 else "count"
        yield Finding(
            id="fallback",
            level="warning",
            message=f"{plural(len(found), 'task')} failed and {count} as unchanged: speedup 1.0",
            evidence=f"tests failed in {tests}, snapshots in {snapshots}{left_out}",
            advice="Look at what the change broke: a faster wrong answer doesn't count.",
            cases=_ids(result for result, _ in found),
        )


def _oracle_failed(valid: Pairs) -> Iterator[Finding]:
    own = [result for result, each in valid if each.role == "oracle" and each.fallback_to_baseline]
    if own:
        yield Finding(
            id="oracle_fallback",
            level="warning",
            message=f"The oracle itself failed {plural(len(own), 'task')} and fell back to the baseline",
            evidence="its advantage is 1 − oracle/nop there",
            advice="Fix the reference patch or the tests: every target is measured against them.",
            cases=_ids(own),
        )
    failing = [result for result, each in valid if each.role == "agent" and each.oracle_failed]
    if failing:
        yield Finding(
            id="oracle_failed",
            level="warning",
            message=f"The oracle fails tests or snapshots of {plural(len(failing), 'task')}",
            evidence="an agent may fail as many tests there; the advantage is held against a patch that isn't sound",
            advice="Fix the reference patch or the tests.",
            cases=_ids(failing),
        )


def _dropped(valid: Pairs) -> Iterator[Finding]:
    found = [(result, _lost(each)) for result, each in valid if _lost(each)]
    if found:
        lost = sum(len(names) for _, names in found)
        everything = sum(each.num_benchmarks for _, each in valid)
        shown = [name[:80] for _, names in found for name in names[:SHOWN_BENCHMARKS]][:SHOWN_BENCHMARKS]
        yield Finding(
            id="dropped_benchmarks",
            level="warning",
            message=f"No valid speedup of {lost} of {everything} benchmarks: left out of every mean",
            evidence=", ".join(shown),
            threshold="all valid",
            advice="A change that stops a slow benchmark looks faster: gate on valid_benchmark_share.",
            cases=_ids(result for result, _ in found),
        )


def _lost(details: SpeedupDetails) -> list[str]:
    return [each.name for each in details.benchmarks if not each.valid or each.resurrected]


def _forged(valid: Pairs) -> Iterator[Finding]:
    found = [(result, each) for result, each in valid if each.times_forged]
    if found:
        notes = [note.removeprefix("TIMES: ") for _, each in found for note in each.notes if note.startswith("TIMES: ")]
        yield Finding(
            id="forged_times",
            level="warning",
            message=f"The times of {plural(len(found), 'task')} can't be true, and the change counts as none",
            evidence="; ".join(dict.fromkeys(notes[:SHOWN_BENCHMARKS])),
            advice="Read the change: it targets the measurement.",
            cases=_ids(result for result, _ in found),
        )


def _incredible(valid: Pairs) -> Iterator[Finding]:
    """What is measured runs in the measuring process: code that means to can tell any time."""
    pairs = ((result, each) for result, details in valid if details.role == "agent" for each in details.benchmarks)
    found = [(r, b) for r, b in pairs if b.incredible]
    if found:
        yield Finding(
            id="incredible_speedup",
            level="warning",
            message=f"{plural(len(found), 'benchmark')} can hardly be as fast as measured",
            evidence=", ".join(
                f"{b.name[:80]} {format_factor(b.agent)}, oracle {format_factor(b.oracle)}"
                for _, b in found[:SHOWN_BENCHMARKS]
            ),
            threshold=f"{INCREDIBLE} times the oracle's speedup",
            advice="Read the change: the code under test can fake or cache what is measured. If it is sound, name "
            "incredible_benchmarks in the policy with a ceiling that lets it through.",
            cases=_ids(result for result, _ in found),
        )


def _repeated_blocks(valid: Pairs) -> Iterator[Finding]:
    """A log whose tests print blocks of their own: nobody can tell which are the run's."""
    found = [result for result, details in valid if any(REPEATED in note for note in details.notes)]
    if found:
        yield Finding(
            id="repeated_blocks",
            level="warning",
            message=f"{plural(len(found), 'log reports', 'logs report')} a result more than once; the first one counts",
            evidence="a test that prints such a block before the run does decides its result",
            advice="Read the log: one run writes each block once.",
            cases=_ids(found),
        )


def noise(benchmark: BenchmarkSpeed) -> float | None:
    """How far the agent's speedup varies by chance, as a share of it; `None` without enough samples.

    The relative spread (median absolute deviation, as a standard deviation) of nop's and the agent's samples, together.
    """
    if benchmark.samples is None:
        return None
    spreads = [_spread(benchmark.samples.nop), _spread(benchmark.samples.agent)]
    known = [spread for spread in spreads if spread is not None]
    return sum(spread**2 for spread in known) ** 0.5 if len(known) == len(spreads) else None


def _spread(samples: Sequence[float]) -> float | None:
    if len(samples) < MIN_SAMPLES or not (middle := median(samples)) > 0:
        return None
    return MAD_TO_SIGMA * median(abs(sample - middle) for sample in samples) / middle


def is_noisy(benchmark: BenchmarkSpeed) -> bool:
    """The noise is as large as the effect. A benchmark that hardly changed claims none."""
    spread = noise(benchmark)
    if spread is None or benchmark.agent is None or benchmark.agent <= 0:
        return False
    effect = abs(log(benchmark.agent))
    return effect > NO_EFFECT and spread >= effect


def _noisy(valid: Pairs) -> Iterator[Finding]:
    found = [(result, each.name) for result, details in valid for each in details.benchmarks if is_noisy(each)]
    if found:
        yield Finding(
            id="noise_above_effect",
            level="warning",
            message=plural(
                len(found),
                "benchmark varies by chance as much as it changed",
                "benchmarks vary by chance as much as they changed",
            ),
            evidence=", ".join(name[:80] for _, name in found[:SHOWN_BENCHMARKS]),
            advice="More rounds, a quieter machine, or a longer benchmark.",
            cases=_ids(result for result, _ in found),
        )


def _rewarded_spending(measurement: Measurement) -> Iterator[Finding]:
    advantage = measurement.metrics["agent_advantage"].value
    weighted = measurement.metrics["cost_weighted_advantage"].value
    if advantage is not None and advantage < 0 and weighted is not None:
        yield Finding(
            id="negative_cost_weighting",
            level="warning",
            message="The advantage is negative, so a more expensive run gets a better cost_weighted_advantage",
            evidence=f"agent_advantage {format_number(advantage, 'speedup', [0.0])}, "
            f"cost_weighted_advantage {format_number(weighted, 'score')}",
            threshold="agent_advantage ≥ 0",
            advice="Don't compare or gate by cost_weighted_advantage here.",
        )


def _level_groups(valid: Pairs) -> Iterator[Finding]:
    """Groups weigh equally, whatever their size: levels can differ in size and sign."""
    groups = level_groups(details for _, details in valid)
    if groups and len(set(groups)) > 1:
        counts = ", ".join(f"{word} {number}" for word, number in zip(LEVELS, groups, strict=True))
        yield Finding(
            id="level_groups",
            level="info",
            message="The levels are means over different numbers of groups, each of equal weight",
            evidence=counts,
            advice="A group of one benchmark counts like one of hundreds.",
        )


def level_groups(details: Iterable[SpeedupDetails]) -> list[int]:
    """The number of groups at each level, over all tasks; empty when no task has any."""
    counted = [[level.groups for level in each.levels] for each in details if each.levels]
    return [sum(groups) for groups in zip(*counted, strict=True)]
