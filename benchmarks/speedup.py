"""What aggregating speedups costs: many benchmarks in many tasks."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from functools import partial

from benchmarks.measure import Row, Spent, middle, spent
from evalward.importers.fc_eval import FC_EVAL
from evalward.records.result import Result
from evalward.suites.speedup.details import BenchmarkSpeed
from evalward.suites.speedup.failure import merge
from evalward.suites.speedup.findings import interpret
from evalward.suites.speedup.metrics import measure
from evalward.suites.speedup.outcome import TaskId, make_result
from evalward.suites.speedup.payload import payload
from support.speedups import KEY, evidence

TASKS, BENCHMARKS, ROUNDS = 50, 2_000, 3


def aggregated() -> list[Row]:
    """From values per benchmark to metrics and findings, and the same from FC-Eval's file; against reading it."""
    tasks = _tasks()
    entries = [
        {
            "task_id": result.id,
            "is_resolved": True,
            "parser_extra_metrics": {"agent_metrics_by_agent": {KEY: payload(result)}},
        }
        for result in _judged(tasks)
    ]
    text = json.dumps({"results": entries}).encode()
    results = _judged(tasks)
    works: Mapping[str, Callable[[], object]] = {
        "judged and aggregated": lambda: _aggregate(_judged(tasks)),
        "aggregated": lambda: _aggregate(results),
        f"results.json of {len(text) / 1e6:.0f} MB imported": lambda: FC_EVAL(text, "results.json"),
    }
    read = middle([spent(lambda: json.loads(text)) for _ in range(ROUNDS)])
    took: dict[str, Spent] = {name: middle([spent(work) for _ in range(ROUNDS)]) for name, work in works.items()}
    aims = dict.fromkeys(works, "–") | dict.fromkeys(list(works)[:2], "< 2 s")
    return [
        Row(name, f"{each.wall:.2f} s", f"{read.wall:.2f} s", each.wall / read.wall, aims[name])
        for name, each in took.items()
    ]


def _tasks() -> list[list[BenchmarkSpeed]]:
    """Values that repeat with every run; a tenth of the benchmarks gave none."""
    chance = random.Random(20261121)
    draw = partial(chance.lognormvariate, 0.2, 0.3)
    names = [f"pkg.mod{n % 40}.Suite{n % 200}.time_f{n % 700}({n})" for n in range(BENCHMARKS)]
    return [
        [BenchmarkSpeed(name=name, agent=draw() if chance.random() > 0.1 else None, oracle=draw()) for name in names]
        for _ in range(TASKS)
    ]


def _judged(tasks: list[list[BenchmarkSpeed]]) -> list[Result]:
    made = [merge([evidence(KEY, benchmarks)])[KEY] for benchmarks in tasks]
    return [make_result(TaskId(f"task{n}", "c", "sha256:x"), each) for n, each in enumerate(made)]


def _aggregate(results: list[Result]) -> None:
    measurement = measure(results)
    assert measurement.metrics["num_benchmarks"].value == TASKS * BENCHMARKS
    interpret(results, measurement)
