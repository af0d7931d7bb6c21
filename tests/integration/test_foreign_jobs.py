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
        ("jobs/*/*/result.json", "harbor", [2, 2]),
        ("jobs/y/**/result.json", "harbor", [2]),
        ("jobs/x/b__2/result.json", "harbor", [1]),
        ("mira/1", "mira", [2]),
        ("mira/*/report.json", "mira", [2, 2]),
        ("mira/2/cases/*/result.json", "mira", [2]),
    ],
)
def test_which_files_are_one_run(results: Path, pattern: str, form: str, trials: list[int]) -> None:
    found, runs = read_files(files_at(results, [pattern]), None, pattern)
    assert (found, [len(list(run.trials)) for run in runs]) == (form, trials)


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
