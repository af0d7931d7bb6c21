"""Fresh trials that a harness makes: what counts, what is missing, and what is no result of the rerun."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import utime
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from evalward.config import LoadedConfig
from evalward.config.load import parse_config
from evalward.records.result import Trial
from evalward.suites.external.kind import EXTERNAL
from evalward.suites.external.spec import ExternalSuite
from evalward.suites.gathering import Gathered, GatheredAgain, HarnessEnd, HarnessStart, NothingGatheredError

NOW = 1_800_000_000.0
WELL = HarnessEnd(exit_code=0, timed_out=False, seconds=1.0, began=NOW, last="")


def rows(path: Path, *lines: tuple[str, str], changed: float = NOW + 1) -> None:
    """A result file: case and status."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps({"case": case, "status": status, "asked": case}) + "\n" for case, status in lines)
    path.write_text(text, "utf-8")
    utime(path, (changed, changed))


@dataclass
class Harness:
    """Writes what it is told to when it is started, and ends as it is told to."""

    folder: Path
    first: list[tuple[str, str]] = field(default_factory=list)
    again: list[tuple[str, str]] = field(default_factory=list)
    end: HarnessEnd = WELL
    rerun_end: HarnessEnd = WELL
    changed: float = NOW + 1
    said: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def keep(self, trial: Trial) -> str:
        return f"trials/{trial.result.id}.json"

    def say(self, line: str) -> None:
        self.said.append(line)

    def now(self) -> str:
        return "2026-11-22T12:00:00Z"

    @contextmanager
    def run(self, spec: Any) -> Iterator[HarnessStart]:
        self.changed += 1
        if self.texts:
            self._write(self.folder / "logs" / "now.xml")
        elif self.first:
            rows(self.folder / "logs" / "now.jsonl", *self.first, changed=self.changed)
        yield HarnessStart(self.folder, self.end)

    def rerun(self, spec: Any, wanted: Mapping[str, int]) -> tuple[Iterator[HarnessStart], Mapping[str, str]]:
        return self._started(), {}

    def _write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.texts.pop(0), "utf-8")
        utime(path, (self.changed, self.changed))

    def _started(self) -> Iterator[HarnessStart]:
        fresh = self.folder / "fresh"
        if self.texts:
            self._write(fresh / "again.xml")
        elif self.again:
            rows(fresh / "again.jsonl", *self.again, changed=self.changed)
        fresh.mkdir(exist_ok=True)
        yield HarnessStart(fresh, self.rerun_end)


@dataclass(frozen=True)
class Bench:
    """A suite whose harness is a double."""

    loaded: LoadedConfig
    by: Harness

    @property
    def spec(self) -> ExternalSuite:
        (suite,) = self.loaded.config.suites
        assert isinstance(suite, ExternalSuite)
        return suite

    def gather(self) -> Gathered:
        return EXTERNAL.gather(self.spec, self.loaded, self.by)

    def gather_again(self, wanted: Mapping[str, int]) -> GatheredAgain:
        runs = self.gather().runs
        found = EXTERNAL.gather_again(self.spec, self.loaded, self.by, runs, {runs[0].target: wanted})
        return found[runs[0].target]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    suite = {"name": "bot", "kind": "external", "run": "eval", "rerun": "eval {ids} {dir}", "results": "logs/*.jsonl"}
    config = json.dumps({"version": 1, "suites": [suite]})
    return Bench(
        parse_config(config, "evalward.yml", tmp_path), Harness(tmp_path, first=[("a", "failed"), ("b", "passed")])
    )


def ended(found: GatheredAgain) -> list[tuple[str, int, str]]:
    return [(one.id, one.trial, one.status) for one in found.results]


def test_fresh_trials__are_numbered_on(bench: Bench) -> None:
    bench.by.again = [("a", "passed"), ("a", "failed")]
    found = bench.gather_again({"a": 2})
    assert ended(found) == [("a", 2, "passed"), ("a", 3, "failed")]
    assert found.note is None


def test_trials_that_did_not_come__are_errors_and_acquit_nothing(bench: Bench) -> None:
    bench.by.again = [("a", "passed")]
    found = bench.gather_again({"a": 3})
    assert ended(found) == [("a", 2, "passed"), ("a", 3, "error"), ("a", 4, "error")]
    assert found.note == "2 trials of the rerun are missing"


def test_more_trials_than_were_asked_for__all_count(bench: Bench) -> None:
    bench.by.again = [("a", "passed"), ("a", "passed"), *[("a", "failed")] * 3]
    assert [status for _, _, status in ended(bench.gather_again({"a": 2}))] == ["passed", "passed", *["failed"] * 3]


def test_other_cases__are_no_part_of_it(bench: Bench) -> None:
    bench.by.again = [("b", "passed"), ("a", "failed")]
    assert ended(bench.gather_again({"a": 1})) == [("a", 2, "failed")]


@pytest.mark.parametrize(
    "end", [structs.replace(WELL, exit_code=-9), structs.replace(WELL, exit_code=None, timed_out=True, seconds=60.0)]
)
def test_a_rerun_that_was_ended__says_nothing(bench: Bench, end: HarnessEnd) -> None:
    bench.by.again, bench.by.rerun_end = [("a", "passed")], end
    found = bench.gather_again({"a": 1})
    assert ended(found) == [("a", 2, "error")]
    assert "the harness was ended" in (found.note or "")


def test_files_from_before_the_rerun__are_none_of_it(bench: Bench) -> None:
    bench.by.again, bench.by.changed = [("a", "passed")], NOW - 60
    found = bench.gather_again({"a": 1})
    assert ended(found) == [("a", 2, "error")]
    assert "again.jsonl is older than the rerun" in (found.note or "")


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (structs.replace(WELL, exit_code=-9), "the harness was ended by signal 9"),
        (
            structs.replace(WELL, exit_code=None, timed_out=True, seconds=60.0),
            "the harness was ended at its time limit of 60 s",
        ),
        (structs.replace(WELL, exit_code=100), None),
    ],
)
def test_a_run_that_was_ended__is_not_whole(bench: Bench, end: HarnessEnd, why: str | None) -> None:
    bench.by.end = end
    assert bench.gather().stopped == why


def test_older_files__are_left_out_and_said(bench: Bench) -> None:
    rows(bench.by.folder / "logs" / "old.jsonl", ("z", "passed"), changed=NOW - 60)
    found = bench.gather()
    assert [one.id for one in found.runs[0].results] == ["a", "b"]
    assert "bot: 1 result file older than this run left out" in bench.by.said


def test_a_run_that_leaves_nothing__gives_no_results(bench: Bench) -> None:
    bench.by.first, bench.by.end = [], structs.replace(WELL, exit_code=9, last="one\nno route")
    with pytest.raises(NothingGatheredError, match=r"ended with exit code 9 and left nothing in logs/.*: no route"):
        bench.gather()
    assert bench.by.said == ["  | one", "  | no route"]


def test_the_runs_own_file__is_no_fresh_try(bench: Bench) -> None:
    bench.by.again = bench.by.first
    found = bench.gather_again({"a": 1})
    assert ended(found) == [("a", 2, "error")]
    assert found.note == "the rerun handed in the run's own results, logs/now.jsonl; 1 trial of the rerun is missing"


JUNIT = (
    '<testsuites><testsuite name="pytest" tests="1" failures="1" timestamp="2026-11-22T03:59:{second}.5+00:00">'
    '<testcase classname="bot" name="a" time="{time}"><failure message="AssertionError: no">x</failure></testcase>'
    "{more}</testsuite></testsuites>"
)


@pytest.mark.parametrize(
    ("second", "time", "status"), [("04", "1.25", "error"), ("09", "1.25", "failed"), ("04", "1.5", "failed")]
)
def test_the_same_trials_of_the_same_moment__are_the_runs_own(
    bench: Bench, second: str, time: str, status: str
) -> None:
    """Without a result of another case, so that the files differ."""
    other = '<testcase classname="bot" name="b" time="2"/>'
    spec = bench.spec.model_copy(update={"results": ["logs/*.xml"]})
    bench.by.texts = [
        JUNIT.format(second="04", time="1.25", more=other),
        JUNIT.format(second=second, time=time, more=""),
    ]
    runs = EXTERNAL.gather(spec, bench.loaded, bench.by).runs
    found = EXTERNAL.gather_again(spec, bench.loaded, bench.by, runs, {"junit": {"bot::a": 1}})["junit"]
    assert ended(found) == [("bot::a", 2, status)]
    assert ("handed in the run's own results" in (found.note or "")) == (status == "error")


def test_a_changed_mark__is_part_of_what_is_evaluated(bench: Bench) -> None:
    plain = bench.gather().runs[0].subject
    judged = replace(
        bench.loaded,
        config=bench.loaded.config.model_copy(
            update={"suites": [bench.spec.model_copy(update={"lower_is_better": ["tox"]})]}
        ),
    )
    assert "score" not in plain
    assert "score" in Bench(judged, bench.by).gather().runs[0].subject


def test_trials_that_the_command_can_not_be_asked_for__are_said(bench: Bench) -> None:
    bench.gather()
    spec = bench.spec.model_copy(update={"trials": 5})
    assert not any("{trials}" in line for line in bench.by.said)
    EXTERNAL.gather(spec, bench.loaded, bench.by)
    assert "bot: its run has no {trials}, so the harness isn't asked for 5 of each case" in bench.by.said
