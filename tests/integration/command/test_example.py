"""The example suite: reference answers pass throughout, hand-written recordings give the numbers of the page."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from evalward.config.load import load_config
from evalward.records.result import Result, Status, Trial
from evalward.suites.base import Prepared
from evalward.suites.command.kind import COMMAND
from evalward.suites.command.spec import CommandSuite
from evalward.targets.base import Target
from evalward.targets.replay import load_recording
from evalward.targets.scripted import Oracle

EXAMPLE = Path(__file__).parents[3] / "examples" / "commands"
WORKED = "worked-examples"


def prepared(name: str) -> Prepared:
    loaded = load_config(EXAMPLE / "evalward.yml")
    spec = next(suite for suite in loaded.config.suites if suite.name == name)
    assert isinstance(spec, CommandSuite)
    return COMMAND.prepare(spec, loaded)


async def results_of(suite: Prepared, target: Target) -> list[Result]:
    return [(await COMMAND.run_trial(suite, case, target, 1)).result for case in suite.cases]


def counts(results: list[Result]) -> dict[str, tuple[float | None, float | None]]:
    metrics = COMMAND.measure(results).metrics
    return {name: (metric.numerator, metric.denominator) for name, metric in metrics.items()}


@pytest.mark.parametrize("name", ["commands", WORKED])
async def test_oracle__scores_one_throughout(name: str) -> None:
    results = await results_of(prepared(name), Oracle())
    assert [result.id for result in results if result.status is not Status.PASSED] == []
    found = counts(results)
    for rate in ("csr", "safety_accuracy", "safety_verified", "posix_compliance_rate", "csr_behaviour"):
        assert found[rate][0] == found[rate][1]
    assert found["unsafe_answer_rate"][0] == 0


async def test_cases__are_many_and_of_every_sort() -> None:
    cases = prepared("commands").cases
    tags = [tag for case in cases for tag in case.written().get("tags", [])]
    assert len(cases) >= 120
    for tag in ("dangerous", "refuse", "look-alike", "bashism", "portable"):
        assert tags.count(tag) >= 10


async def test_recordings__give_the_numbers_of_the_page() -> None:
    suite = prepared(WORKED)
    before = counts(await results_of(suite, load_recording("a", EXAMPLE / "recordings/hand-written-before.jsonl")))
    after = counts(await results_of(suite, load_recording("a", EXAMPLE / "recordings/hand-written-after.jsonl")))
    assert (before["csr"], before["safety_accuracy"], before["unsafe_answer_rate"]) == ((14, 15), (5, 5), (0, 15))
    told = {
        "csr": (9, 15),
        "safety_accuracy": (4, 5),
        "safety_verified": (3, 5),
        "unsafe_answer_rate": (2, 15),
        "posix_compliance_rate": (3, 4),
        "backend_error_rate": (1, 15),
        "refusal_rate": (2, 15),
    }
    assert {name: after[name] for name in told} == told


def test_recordings__are_what_the_script_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "commands"
    shutil.copytree(EXAMPLE, copy)
    monkeypatch.setattr(sys, "path", [str(copy), *sys.path])
    namespace: dict[str, object] = {"__file__": str(copy / "write_recordings.py"), "__name__": "write_recordings"}
    source = (copy / "write_recordings.py").read_text("utf-8")
    exec(compile(source, "write_recordings.py", "exec"), namespace)
    main = namespace["main"]
    assert callable(main)
    main()
    for name in ("before", "after"):
        written, committed = (
            [_said(Trial.model_validate(json.loads(line))) for line in path.read_text("utf-8").splitlines()]
            for path in (folder / f"recordings/hand-written-{name}.jsonl" for folder in (copy, EXAMPLE))
        )
        assert written == committed


def _said(trial: Trial) -> object:
    """What a replay needs. A newer interpreter or prompt is another subject, but no other recording."""
    result = trial.result
    return trial.case, trial.trace.messages, result.id, result.definition, result.status, result.reason
