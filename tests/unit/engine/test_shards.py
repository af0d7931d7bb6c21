"""Which shard runs which case: found by each machine alone, the same on all, evenly by time."""

from __future__ import annotations

from math import fsum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.commands.shard_times import committed_history, durations_of, usual_times
from evalward.config import LoadedConfig
from evalward.config.load import load_config
from evalward.config.model import HistoryPlace
from evalward.decide.baseline import read_baseline
from evalward.decide.history_file import dump_entry
from evalward.engine.plan import Plan, make_plan
from evalward.engine.selection import Selection
from evalward.engine.shards import Durations, KnownTimes, Unit, UsualTimes, assigned, config_of_shard, sharded
from evalward.records.metric import Metric
from evalward.records.part import Part, Shard
from support.cases import task, write_suite
from support.histories import SUITE, TARGET, entry
from support.results import baseline, result, run
from support.showing import world_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "bash-tools"
NONE: Durations = {}


def planned(folder: Path, *cases: str, trials: int = 2, prompt: str = "Print it.") -> Plan:
    folder.mkdir(exist_ok=True)
    tasks = [task(id=case, prompt=prompt) for case in cases]
    return make_plan(write_suite(folder, tasks, targets=["oracle", "nop"], trials=trials), Selection())


def shares(
    plan: Plan, total: int, durations: Durations = NONE, usual: UsualTimes | None = None
) -> list[tuple[Plan, Part]]:
    times = KnownTimes(durations, usual or {})
    return [sharded(plan, Shard(number, total), times) for number in range(1, total + 1)]


def cases_of(plan: Plan) -> list[tuple[str, str]]:
    return [(run.target.id, case.id) for run in plan.runs for case in run.cases]


def unit(name: str, weight: float) -> Unit:
    return Unit(0, name, weight, name)


def test_the_longest_go_first__each_to_the_shard_that_has_least() -> None:
    units = [unit("a", 7), unit("b", 5), unit("c", 4), unit("d", 3), unit("e", 2)]
    assert assigned(units, 2) == [1, 2, 2, 1, 2]  # a | b c | then d to the first (7 < 9), e to the second (9 < 10)


def test_equal_ones_go_in_the_order_of_their_hashes__whatever_the_order_of_the_files() -> None:
    units = [unit(name, 1) for name in "dbca"]
    owners = dict(zip("dbca", assigned(units, 2), strict=True))
    assert owners == {"a": 1, "b": 2, "c": 1, "d": 2}


@given(st.lists(st.floats(0.001, 1e6), max_size=60), st.integers(1, 12))
def test_every_unit_has_one_shard__and_none_has_more_than_its_share_and_one_unit(
    weights: list[float], total: int
) -> None:
    units = [unit(f"{number:03}", weight) for number, weight in enumerate(weights)]
    owners = assigned(units, total)
    assert len(owners) == len(units)
    assert set(owners) <= set(range(1, total + 1))
    loads = dict.fromkeys(owners, 0.0)
    for each, owner in zip(units, owners, strict=True):
        loads[owner] += each.weight
    assert max(loads.values(), default=0) <= fsum(weights) / total + max(weights, default=0) + 1e-6


def test_all_shards_together_are_the_plan__with_every_run_in_each(tmp_path: Path) -> None:
    plan = planned(tmp_path, *"abcdefg")
    parts = shares(plan, 3)
    assert sorted(case for part, _ in parts for case in cases_of(part)) == sorted(cases_of(plan))
    assert {len(part.runs) for part, _ in parts} == {2}
    assert {part.plan for _, part in parts} == {parts[0][1].plan}
    assert [(part.index, part.total) for _, part in parts] == [(1, 3), (2, 3), (3, 3)]


def test_a_shard_is_no_selection(tmp_path: Path) -> None:
    plan = planned(tmp_path, *"abcdefg")
    assert all(run.whole <= len(run.cases) for part, _ in shares(plan, 3) for run in part.runs)


def test_more_shards_than_cases__leaves_some_without_any(tmp_path: Path) -> None:
    assert sorted(part.size for part, _ in shares(planned(tmp_path, "a", trials=3), 4)) == [0, 0, 3, 3]


def test_by_how_long_the_trials_took__a_new_case_counts_as_the_median(tmp_path: Path) -> None:
    plan = planned(tmp_path, *"abcd", trials=1)
    known = {("shell", "oracle"): {"a": 90.0, "b": 20.0, "c": 30.0}, ("shell", "nop"): {"a": 1.0}}
    first, second = (cases_of(part) for part, _ in shares(plan, 2, known))
    assert [case for target, case in first if target == "oracle"] == ["a"]
    assert [case for target, case in second if target == "oracle"] == ["b", "c", "d"]  # d: 30


def test_a_target_that_the_baseline_does_not_have__takes_what_it_took_in_the_history(tmp_path: Path) -> None:
    plan = planned(tmp_path, *"abcd", trials=1)
    known = {("shell", "oracle"): {"a": 1.0, "b": 1.0, "c": 1.0, "d": 3.0}}
    times = KnownTimes(known, {("shell", "nop"): 50.0, ("shell", "oracle"): 900.0})
    assert times.of(("shell", "oracle"), ["d", "new"]) == [3.0, 1.0]  # the baseline comes first
    assert times.of(("shell", "nop"), ["a"]) == [50.0]
    assert times.of(("other", "nop"), ["a"]) == [1.0]
    first, second = (cases_of(part) for part, _ in shares(plan, 2, known, {("shell", "nop"): 50.0}))
    assert [sum(target == "nop" for target, _ in part) for part in (first, second)] == [2, 2]
    assert {digest.plan for _, digest in shares(plan, 2, known)} != {
        digest.plan for _, digest in shares(plan, 2, known, {("shell", "nop"): 0.1})
    }


def test_without_a_baseline__the_history_alone_says_how_long_trials_take() -> None:
    times = KnownTimes(usual={("s", "slow"): 90.0, ("s", "fast"): 10.0})
    assert [times.of(("s", target), ["a"]) for target in ("slow", "fast", "new")] == [[90.0], [10.0], [50.0]]
    assert KnownTimes().of(("s", "t"), ["a"]) == [1.0]


def ms(name: str, value: float | None) -> dict[str, Metric]:
    return {name: Metric(value=value, unit="ms", better="lower", reason=None if value is not None else "unknown")}


def test_the_history_says_it_by_its_newest_whole_measurements__whatever_their_order() -> None:
    lines = [entry(day, metrics=ms("avg_duration_ms", float(day))) for day in range(1, 8)]
    lines.append(entry(9, metrics=ms("avg_duration_ms", 900.0), partial=True))
    lines.append(entry(8, metrics=ms("avg_duration_ms", None)))
    assert usual_times(lines) == usual_times(lines[::-1]) == {SUITE: {TARGET: 5.0}}  # of 3 to 7
    assert usual_times([]) == {}


def test_the_history_may_have_the_time_of_all_cases_only() -> None:
    whole = entry(1, cases=20, metrics=ms("total_duration_ms", 1000.0))
    assert usual_times([whole]) == {SUITE: {TARGET: 50.0}}
    assert usual_times([whole.model_copy(update={"cases": None})]) == {}
    assert usual_times([entry(1, metrics={})]) == {}


def test_a_history_on_a_branch_of_its_own__is_not_asked() -> None:
    def read(name: str) -> bytes | None:
        return (dump_entry(entry(1)) + "\n").encode() if name == "kept/history.jsonl" else None

    world = world_of(Path())
    assert len(committed_history(world, HistoryPlace(folder="kept"), read)) == 1
    assert committed_history(world, HistoryPlace(branch="data"), read) == []
    assert committed_history(world, None, read) == []


@pytest.mark.parametrize("other", ["a case more", "another prompt", "other times", "more shards"])
def test_another_plan__has_another_digest(tmp_path: Path, other: str) -> None:
    plan, times, total = planned(tmp_path, "a", "b", "c"), NONE, 2
    digest = sharded(plan, Shard(1, total), KnownTimes(times))[1].plan
    match other:
        case "a case more":
            plan = planned(tmp_path / "other", "a", "b", "c", "d")
        case "another prompt":
            plan = planned(tmp_path / "other", "a", "b", "c", prompt="Print another.")
        case "other times":
            times = {("shell", "oracle"): {"b": 9.0, "a": 1.0}}
        case _:
            total = 3
    assert sharded(plan, Shard(1, total), KnownTimes(times))[1].plan != digest


def test_what_no_shard_measures__is_named(tmp_path: Path) -> None:
    part, said = sharded(planned(tmp_path, "a"), Shard(1, 2), KnownTimes(), left=["shell", "elsewhere"])
    assert (list(part.runs), said.left) == ([], ["shell"])


def test_eight_shards_of_the_example__end_within_a_tenth_of_each_other() -> None:
    loaded: LoadedConfig = load_config(EXAMPLE / "evalward.yml")
    known = read_baseline((EXAMPLE / ".evalward" / "baseline.json").read_bytes(), "baseline.json")
    nested = durations_of(known)
    times = {(suite, target): cases for suite, runs in nested.items() for target, cases in runs.items()}
    plan = make_plan(loaded, Selection())
    loads = [
        fsum(times[run.suite.spec.name, run.target.id][case.id] for run in part.runs for case in run.cases)
        for part, _ in shares(plan, 8, times)
    ]
    assert max(loads) <= 1.1 * fsum(loads) / 8


def test_times_are_those_of_valid_trials__and_none_where_none_was_told() -> None:
    trials = [
        result("a", duration_ms=30),
        result("a", trial=2, duration_ms=50),
        result("b", duration_ms=0),
    ]
    assert durations_of(baseline(run(trials))) == {"bash-tools": {"replay:haiku": {"a": 40.0}}}
    assert durations_of(None) == {}


def test_budgets_and_requests_are_divided__and_the_confirm_stage_keeps_its_share(tmp_path: Path) -> None:
    loaded = write_suite(tmp_path, [task()], targets=["oracle"], trials=1)
    config = loaded.config.model_copy(update={"budget_usd": 8.0, "budget_tokens": 8000})
    shared = config_of_shard(config, 4, confirms=True)
    assert (shared.budget_usd, shared.budget_tokens) == (1.5, 1500)
    assert shared.providers.named("anthropic").concurrency == 2  # of 8
    assert config_of_shard(config, 100, confirms=False).providers.named("openai").concurrency == 1
    alone = config_of_shard(config, 4, confirms=False)
    assert (alone.budget_usd, alone.budget_tokens) == (2.0, 2000)


def test_no_budget_stays_none(tmp_path: Path) -> None:
    loaded = write_suite(tmp_path, [task()], targets=["oracle"], trials=1)
    shared = config_of_shard(loaded.config, 4, confirms=True)
    assert (shared.budget_usd, shared.budget_tokens) == (None, None)
