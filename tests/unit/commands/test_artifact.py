"""Reports that other workflow runs left: what is kept of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalward.commands.artifact import read_artifact, recomputed
from evalward.commands.pipeline import dump_report
from evalward.engine.store import trial_path
from evalward.records.guidance import GuidanceComparison
from evalward.records.problem import InputError
from evalward.records.report import Beside, MeasuredBase, Report
from evalward.redaction import Redaction
from evalward.suites.scenario.details import ScenarioDetails
from support.outcomes import measured, trials
from support.results import report, result, run


def test_fresh_trials__lose_their_paths_as_the_planned_ones_do(tmp_path: Path) -> None:
    now = measured({"a": "F", "b": "P"}, {"a": "FP"})
    (one,) = now.runs
    told = [case.model_copy(update={"trace": "/etc/passwd"}) for case in one.confirmation]
    sent = now.model_copy(update={"runs": [one.model_copy(update={"confirmation": told})]})
    (tmp_path / "report.json").write_text(dump_report(sent), "utf-8")
    anew = recomputed(read_artifact(tmp_path))
    found = anew.report
    assert (anew.mismatches, [case.trace for case in found.runs[0].confirmation]) == ([], [None, None])
    assert [case.status for case in found.runs[0].confirmation] == [case.status for case in told]
    unknown = sent.model_copy(update={"runs": [sent.runs[0].model_copy(update={"kind": "mine"})]})
    assert [case.trace for case in recomputed(unknown).report.runs[0].confirmation] == [None, None]


@pytest.mark.parametrize(
    "path",
    ["../trials/s/t/a.1.json", "/trials/s/t/a.1.json", "trials/s/t/a.2.json", "trials/s/t/b.1.json", "x" * 5_000],
)
def test_only_the_paths_that_a_run_of_ours_gives_are_kept(path: str) -> None:
    """The page looks for a trial there: a stranger doesn't choose where."""
    ours, files = "trials/s/t/a.1.json", "artifacts/s/t/a.1"

    def kept(trace: str, artifacts: str) -> tuple[str | None, str | None]:
        told = result("a", trace=trace, details=ScenarioDetails(artifacts=artifacts))
        found = recomputed(report(run([told], suite="s", target="t", kind="scenario"))).report
        (case,) = found.runs[0].cases
        return case.trace, case.details.files_kept

    assert kept(ours, files) == (ours, files)
    assert kept(path, path) == (None, None)


def test_the_bases_trials_keep_the_paths_of_their_own_folder() -> None:
    one = beside_of().runs[0]
    names = [trial_path(one.suite, one.target, "a", trial.trial) for trial in trials({"a": "PP"}, 3)]
    told = [
        trial.model_copy(update={"trace": f"beside/{name}"})
        for trial, name in zip(trials({"a": "PP"}, 3), names, strict=True)
    ]
    found = recomputed(beside_of(base=told), of_base=True).report
    assert found.runs[0].beside is not None
    assert [each.trace for each in found.runs[0].beside.base] == [f"beside/{name}" for name in names]


def test_redaction__reaches_fresh_trials_and_notes() -> None:
    key = "canary-0123456789"
    secret = result("a", "failed", trial=2, message=f"it said {key}")
    made = report(run([result("a", "failed")], confirmation=[secret], confirm_note=f"ended by {key}"))
    clean = Redaction({"MY_KEY": key}).record(made)
    assert key not in dump_report(clean)
    assert clean.runs[0].confirmation[0].message == "it said [redacted]"


def beside_of(**changes: Any) -> Report:
    """A report with trials of both sides, and the base's side of a suite."""
    now = measured({"a": "F", "b": "P"}, {"a": "F"})
    sides = {"base": trials({"a": "PP"}, 3, trace="/etc/passwd"), "head": trials({"a": "FF"}, 3, trace="x"), **changes}
    base = [each.model_copy(update={"confirmation": []}) for each in now.runs]
    runs = [now.runs[0].model_copy(update={"beside": Beside(commit="c" * 40, **sides)})]
    return now.model_copy(update={"runs": runs, "base": MeasuredBase(commit="c" * 40, runs=base)})


def test_both_sides__are_believed_of_a_run_with_keys__without_their_paths(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(dump_report(beside_of()), "utf-8")
    anew = recomputed(read_artifact(tmp_path), of_base=True)
    found = anew.report
    beside = found.runs[0].beside
    assert beside is not None
    assert [(each.status, each.trace) for each in beside.base] == [("passed", None)] * 2
    assert [(each.status, each.trace) for each in beside.head] == [("failed", None)] * 2
    assert (found.base is not None, list(anew.notes())) == (True, [])


def test_both_sides__are_left_out_of_a_strangers_run(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(dump_report(beside_of()), "utf-8")
    anew = recomputed(read_artifact(tmp_path))
    assert (anew.report.base, anew.report.runs[0].beside) == (None, None)
    assert list(anew.notes()) == ["What the report says of the base is left out: it had no key to measure that with."]


def test_other_guidance__is_left_out_and_no_lie() -> None:
    """A comparison of guidance can't be computed anew, and a report that has one can be accepted all the same."""
    other = GuidanceComparison(suite="s", target="t", not_measured="there is no key here")
    anew = recomputed(measured({"a": "F", "b": "P"}).model_copy(update={"guidance": [other]}), of_base=True)
    assert (anew.report.guidance, anew.mismatches) == ([], [])
    assert list(anew.notes()) == [
        "What the report says of other guidance is left out: the trials behind it are not in it."
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base": trials({"z": "P"}, 3)}, "a retrial of a case without a planned trial"),
        ({"base": trials({"a": "P"}, 1)}, "a retrial of a case without a planned trial"),
        ({"base": [*trials({"a": "P"}, 3), *trials({"a": "F"}, 3)]}, "two results of the same trial"),
        ({"head": trials({"a": "P"}, 2)}, "two results of the same trial"),
        ({"base": [result("a", trial=3, score=9.0, max_score=1.0)]}, "a score is not between 0 and its maximum"),
    ],
)
def test_both_sides__that_no_run_of_ours_leaves__are_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    (tmp_path / "report.json").write_text(dump_report(beside_of(**changes)), "utf-8")
    with pytest.raises(InputError, match=message):
        read_artifact(tmp_path)
