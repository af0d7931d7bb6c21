"""Reports that other workflow runs left: what is kept of them."""

from __future__ import annotations

from pathlib import Path

from evalward.commands.artifact import measured_anew, read_artifact
from evalward.commands.pipeline import dump_report
from evalward.redaction import Redaction
from support.outcomes import measured
from support.results import report, result, run


def test_fresh_trials__lose_their_paths_as_the_planned_ones_do(tmp_path: Path) -> None:
    now = measured({"a": "F", "b": "P"}, {"a": "FP"})
    (one,) = now.runs
    told = [case.model_copy(update={"trace": "/etc/passwd"}) for case in one.confirmation]
    sent = now.model_copy(update={"runs": [one.model_copy(update={"confirmation": told})]})
    (tmp_path / "report.json").write_text(dump_report(sent), "utf-8")
    found, lies = measured_anew(read_artifact(tmp_path))
    assert (lies, [case.trace for case in found.runs[0].confirmation]) == ([], [None, None])
    assert [case.status for case in found.runs[0].confirmation] == [case.status for case in told]
    unknown = sent.model_copy(update={"runs": [sent.runs[0].model_copy(update={"kind": "mine"})]})
    assert [case.trace for case in measured_anew(unknown)[0].runs[0].confirmation] == [None, None]


def test_redaction__reaches_fresh_trials_and_notes() -> None:
    key = "canary-0123456789"
    secret = result("a", "failed", trial=2, message=f"it said {key}")
    made = report(run([result("a", "failed")], confirmation=[secret], confirm_note=f"ended by {key}"))
    clean = Redaction({"MY_KEY": key}).record(made)
    assert key not in dump_report(clean)
    assert clean.runs[0].confirmation[0].message == "it said [redacted]"
