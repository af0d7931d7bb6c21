"""Folders of other harnesses' results on disk: which files are found there, and which of them are one run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from evalward.records.problem import InputError
from evalward.suites.external.formats.find import files_at, read_files
from support.foreign import harbor, mira


@pytest.fixture(name="results")
def the_results(tmp_path: Path) -> Path:
    """Two jobs of harbor and two runs of mira."""
    jobs = [harbor.job_folder({"a__1": {"task": "a"}, "b__2": {"task": "b"}}, f"jobs/{name}") for name in ("x", "y")]
    runs = [mira.run_folder([mira.case(), mira.skipped()], f"mira/{name}") for name in ("1", "2")]
    for files in (*jobs, *runs):
        _write(tmp_path, files)
    _write(tmp_path, {"jobs/x/a__1/agent/trajectory.json": harbor.trajectory()})
    return tmp_path


def _write(folder: Path, files: Mapping[str, object]) -> None:
    for name, value in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.parametrize(
    ("pattern", "form", "trials"),
    [
        ("jobs/x", "harbor", [2]),
        ("jobs", "harbor", [2, 2]),
        ("jobs/*", "harbor", [2, 2]),
        ("jobs/*/*/result.json", "harbor", [2, 2]),
        ("jobs/y/**/result.json", "harbor", [2]),
        ("jobs/x/b__2/result.json", "harbor", [1]),
        ("mira/1", "mira", [2]),
        ("mira/*", "mira", [2, 2]),
        ("mir?/", "mira", [2, 2]),
        ("mira/*/report.json", "mira", [2, 2]),
        ("mira/2/cases/*/result.json", "mira", [2]),
    ],
)
def test_which_files_are_one_run(results: Path, pattern: str, form: str, trials: list[int]) -> None:
    found, runs = read_files(files_at(results, [pattern]), None, pattern)
    assert (found, [len(list(run.trials)) for run in runs]) == (form, trials)


@pytest.mark.parametrize("form", [None, "harbor"])
def test_what_lies_beside_the_results_of_a_folder_is_passed_over(results: Path, form: str | None) -> None:
    beside = ("jobs/x/a__1/verifier/reward.json", "jobs/notes.json", "jobs/x/a__1/agent/log.xml")
    _write(results, {name: {"reward": 1} for name in beside})
    found, runs = read_files(files_at(results, ["jobs"]), form, "jobs")
    assert (found, [len(list(run.trials)) for run in runs]) == ("harbor", [2, 2])
    for name in beside[:2]:
        with pytest.raises(InputError):
            read_files(files_at(results, [name]), form, name)


@pytest.mark.parametrize("form", [None, "harbor"])
def test_a_cut_result_in_a_folder_is_not_passed_over(results: Path, form: str | None) -> None:
    (results / "jobs/x/a__1/result.json").write_text('{"id": "62', encoding="utf-8")
    with pytest.raises(InputError, match=r"jobs/x/a__1/result\.json: "):
        read_files(files_at(results, ["jobs/x"]), form, "jobs/x")


def test_a_folder_without_any_result(results: Path) -> None:
    _write(results, {"empty/notes.json": {"reward": 1}})
    for form, message in ((None, "of no format that is known"), ("harbor", "with the name of a result of harbor")):
        with pytest.raises(InputError, match=message):
            read_files(files_at(results, ["empty"]), form, "empty")


def test_a_pattern_that_leaves_the_trials_out(results: Path) -> None:
    with pytest.raises(InputError, match=r"jobs/x/result\.json: it only counts .* Name the job's folder, jobs/x,"):
        read_files(files_at(results, ["jobs/*/result.json"]), None, "jobs/*/result.json")


def test_a_conversation_is_read_from_the_disk(results: Path) -> None:
    _, (run,) = read_files(files_at(results, ["jobs/x"]), None, "jobs/x")
    by_case = {trial.case: trial.trace for trial in run.trials}
    trace = by_case["a"]() if by_case["a"] is not None else None
    assert trace is not None
    assert trace.messages[-1].text == "Three lines."
    assert by_case["b"] is None
