"""How far times varied is told with every run that has samples."""

from __future__ import annotations

import pytest

from evalward.suites.speedup.measure.evidence import speeds
from evalward.suites.speedup.measure.rounds import SideSamples
from evalward.suites.speedup.measure.spread import spread_findings
from support.speedups import details, trial_of
from support.speedups import speeds as ratios


def test_the_spread_is_told() -> None:
    nop = SideSamples({"m.steady": [1.0] * 7, "m.wild": [0.8, 0.9, 1.0, 1.1, 1.2]})
    agent = SideSamples({"m.steady": [0.5] * 7, "m.wild": [0.5] * 5})
    [finding] = spread_findings([trial_of("t", details(speeds(nop, agent, agent)))])
    assert (finding.id, finding.level) == ("timing_spread", "info")
    assert finding.message == "Speedups vary by chance by 7.4 % in the median benchmark"
    assert finding.evidence == "widest: m.wild 14.8 % of 5 samples, m.steady 0.0 % of 7 samples"


@pytest.mark.parametrize("samples", [[], [1.0], [1.0, 2.0]])
def test_without_samples_nothing_is_told(samples: list[float]) -> None:
    few = SideSamples({"m.a": samples} if samples else {})
    assert not list(spread_findings([trial_of("t", details(speeds(few, few, few) or ratios(("m.a", 1, 1))))]))
