"""Recordings to commit: everything that happened, without what is nobody's business."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.commands.record import record
from evalward.engine.store import Store
from evalward.keeper.outputs import OutputFolder
from evalward.records.problem import InputError, NoRoomError
from evalward.records.report import Report
from evalward.records.result import Trial
from evalward.records.trace import Message, Text, Trace
from evalward.redaction import REDACTED, Redaction
from evalward.targets.replay import load_recording
from evalward.writing import Folder
from support.results import report, result, run

SECRET = "hunter2-hunter2"
FORMS = {
    "openai": "sk-proj-abcdefghij0123456789",
    "anthropic": "sk-ant-api03-abcdefghij0123456789",
    "old openai": "sk-abcdefghij0123456789",
    "github": "ghp_abcdefghijklmnopqrst0123456789",
    "github app": "ghs_abcdefghijklmnopqrst0123456789",
    "github fine-grained": "github_pat_11ABCDEFG0abcdefghij_0123456789",
    "aws": "AKIAABCDEFGHIJKLMNOP",
    "slack": "xoxb-1234567890-abcdef",
}


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "GITHUB_TOKEN", "my_secret", "DB_PASSWORD", "PASSWD", "AWS_CREDENTIALS", "GCP_CREDENTIAL"],
)
def test_values_of_secret_looking_variables_go(name: str) -> None:
    assert Redaction({name: SECRET}).text(f"a {SECRET}, b") == f"a {REDACTED}, b"


@pytest.mark.parametrize("env", [{"EDITOR": SECRET}, {"KEYBOARD": SECRET}, {"API_KEY": "short"}, {"API_KEY": ""}])
def test_other_variables_and_short_values_stay(env: dict[str, str]) -> None:
    text = f"a short {SECRET}"
    assert Redaction(env).text(text) == text


def test_a_secret_in_a_secret_goes_with_it() -> None:
    redaction = Redaction({"A_KEY": "inner-secret", "B_KEY": "outer-inner-secret-outer"})
    assert redaction.text("outer-inner-secret-outer inner-secret") == f"{REDACTED} {REDACTED}"


@pytest.mark.parametrize("form", FORMS)
def test_keys_go_by_their_form(form: str) -> None:
    assert Redaction({}).text(f"key={FORMS[form]};") == f"key={REDACTED};"


def test_a_bearers_token_goes() -> None:
    assert Redaction({}).text("Authorization: Bearer abcdef.0123456789/xyz==") == f"Authorization: Bearer {REDACTED}"


@pytest.mark.parametrize(
    "text",
    ["task-list", "risk-free-investment-plan", "sk-short", "ghp_", "the bearer of news", "disk-usage-report-2024"],
)
def test_ordinary_words_stay(text: str) -> None:
    assert Redaction({}).text(text) == text


@pytest.mark.parametrize(
    ("home", "text", "left"),
    [
        ("/home/ann", "cd /home/ann/repo && ls /home/ann", "cd ~/repo && ls ~"),
        ("/home/ann/", "/home/ann/x", "~/x"),
        ("/home/ann", "/home/anna /home/ann.old /home/ann-2", "/home/anna /home/ann.old /home/ann-2"),
        ("/home/eval", "/home/eval/file", "/home/eval/file"),  # the virtual shell's own
        ("/", "/tmp", "/tmp"),
        ("", "/tmp", "/tmp"),
    ],
)
def test_the_home_folder_is_nobodys_business(home: str, text: str, left: str) -> None:
    assert Redaction({"HOME": home}).text(text) == left


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just(f"<{SECRET}>"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.just(SECRET), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(json_values)
def test_it_is_in_no_corner_of_a_value(value: Any) -> None:
    clean = Redaction({"A_KEY": SECRET}).value(value)
    assert SECRET not in json.dumps(clean)
    if SECRET not in json.dumps(value):
        assert clean == value


# --- files ----------------------------------------------------------------------------------------------------------


def kept(folder: Path, target: str, *cases: tuple[str, str]) -> Report:
    """A report with trial files, each with a secret in its answer."""
    store, results = Store(folder), []
    for name, status in cases:
        one = result(name, status)
        said = Message(role="assistant", content=[Text(text=f"{name} {SECRET} grün")])
        trial = Trial(suite="s", kind="bash", target=target, subject="x", result=one, trace=Trace(messages=[said]))
        results.append(one.model_copy(update={"trace": store.keep(trial)}))
    return report(run(results, suite="s", target=target))


def output(folder: Path) -> OutputFolder:
    return OutputFolder(Folder(folder))


def test_a_recording_holds_the_valid_trials_in_order_and_can_be_read(tmp_path: Path) -> None:
    made = kept(tmp_path / "out", "openai/m", ("b", "failed"), ("a", "passed"), ("c", "error"))
    (path,) = record(made, output(tmp_path / "out"), Folder(tmp_path / "rec"), Redaction({"A_KEY": SECRET}))
    text = path.read_text("utf-8")
    assert (path.parent, path.suffix) == (tmp_path / "rec", ".jsonl")
    assert [json.loads(line)["result"]["id"] for line in text.splitlines()] == ["a", "b"]
    assert SECRET not in text
    assert f"a {REDACTED} grün" in text
    assert load_recording("it", path).id == "replay:it"


def test_each_target_has_its_file_and_one_without_a_valid_trial_none(tmp_path: Path) -> None:
    runs = [
        *kept(tmp_path, "openai/m", ("a", "passed")).runs,
        *kept(tmp_path, "openai/n", ("a", "error")).runs,
        *kept(tmp_path, "anthropic/m", ("a", "passed")).runs,
    ]
    paths = record(report(*runs), output(tmp_path), Folder(tmp_path / "rec"), Redaction({}))
    assert [path.name.split(".")[1].rpartition("-")[0] for path in paths] == ["openai-m", "anthropic-m"]


def test_the_same_run_gives_the_same_file(tmp_path: Path) -> None:
    made = kept(tmp_path, "openai/m", ("a", "passed"), ("b", "passed"))
    (path,) = record(made, output(tmp_path), Folder(tmp_path / "rec"), Redaction({}))
    first = path.read_bytes()
    record(made, output(tmp_path), Folder(tmp_path / "rec"), Redaction({}))
    assert path.read_bytes() == first


def test_a_trial_that_has_gone_is_told(tmp_path: Path) -> None:
    made = kept(tmp_path, "openai/m", ("a", "passed"))
    (tmp_path / str(made.runs[0].cases[0].trace)).unlink()
    with pytest.raises(InputError, match="there is no such trial"):
        record(made, output(tmp_path), Folder(tmp_path / "rec"), Redaction({}))


def test_a_full_disk_is_no_mistake_of_the_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, folder = kept(tmp_path, "openai/m", ("a", "passed")), Folder(tmp_path / "rec")

    def full(name: str, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(folder, "write", full)
    with pytest.raises(NoRoomError, match="No space left on device"):
        record(made, output(tmp_path), folder, Redaction({}))
