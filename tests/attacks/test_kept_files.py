"""What lies beside a report may be a stranger's: nothing outside is opened, and nothing breaks who looks."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evalward.commands import kept
from evalward.commands.kept import KeptFolder
from evalward.records.result import Trial
from evalward.records.sections import FileText
from evalward.records.trace import Trace
from support.results import result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An output folder with a trial and some artifacts; outside of it lies a secret of the same form."""
    root = tmp_path / "out"
    (root / "trials").mkdir(parents=True)
    (root / "artifacts/a.1/fixture").mkdir(parents=True)
    text = stored().model_dump_json(by_alias=True)
    (root / "trials/a.1.json").write_text(text)
    (tmp_path / "secret.json").write_text(text)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key.txt").write_text("hunter2")
    (root / "artifacts/a.1/z.md").write_text("last")
    (root / "artifacts/a.1/fixture/a.txt").write_text("left")
    return root


def stored() -> Trial:
    return Trial(suite="s", kind="bash", target="t", subject="x", result=result("a"), trace=Trace())


def test_a_trial_and_its_files_are_read(folder: Path) -> None:
    found = KeptFolder(folder)
    assert found.trial("trials/a.1.json") == stored()
    assert found.files("artifacts/a.1") == [
        FileText(name="fixture/a.txt", text="left"),
        FileText(name="z.md", text="last"),
    ]


@pytest.mark.parametrize("path", ["../secret.json", "/etc/passwd", "trials/../../secret.json", "", ".", "\0", "trials"])
def test_paths_that_lead_elsewhere_are_not_there(folder: Path, path: str) -> None:
    assert KeptFolder(folder).trial(path) is None
    assert KeptFolder(folder).trial(str(folder.parent / "secret.json")) is None


@pytest.mark.parametrize("path", ["../secret", "..", "/etc", "nothing", "trials/a.1.json", "\udcff"])
def test_folders_elsewhere_have_no_files(folder: Path, path: str) -> None:
    assert KeptFolder(folder).files(path) == []


def test_links_are_not_followed(folder: Path) -> None:
    (folder / "trials/link.json").symlink_to("../../secret.json")
    (folder / "linked").symlink_to("../secret")
    (folder / "artifacts/a.1/link.txt").symlink_to("../../../secret/key.txt")
    (folder / "artifacts/a.1/more").symlink_to("../../../secret")

    assert KeptFolder(folder).trial("trials/link.json") is None
    assert KeptFolder(folder).files("linked") == []
    assert [file.name for file in KeptFolder(folder).files("artifacts/a.1")] == ["fixture/a.txt", "z.md"]


def test_pipes_are_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "trials/pipe.json")
    os.mkfifo(folder / "artifacts/a.1/pipe")
    assert KeptFolder(folder).trial("trials/pipe.json") is None
    assert [file.name for file in KeptFolder(folder).files("artifacts/a.1")] == ["fixture/a.txt", "z.md"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"schema": "evalward.trial/9"}', "[" * 100_000, '{"schema": "evalward.trial/1"}']
)
def test_what_is_no_trial_is_not_there(folder: Path, text: str) -> None:
    (folder / "trials/a.1.json").write_text(text)
    assert KeptFolder(folder).trial("trials/a.1.json") is None


def test_a_trial_with_fields_of_the_wrong_form_is_not_there(folder: Path) -> None:
    data = json.loads(stored().model_dump_json(by_alias=True))
    for change in ({"trace": {"messages": [{"role": "evil"}]}}, {"result": None}, {"suite": 7}):
        (folder / "trials/a.1.json").write_text(json.dumps({**data, **change}))
        assert KeptFolder(folder).trial("trials/a.1.json") is None


def test_a_trial_that_is_too_large_is_not_there(folder: Path) -> None:
    with (folder / "trials/a.1.json").open("r+b") as file:
        file.truncate((64 << 20) + 1)
    assert KeptFolder(folder).trial("trials/a.1.json") is None


def test_files_are_cut_and_binaries_named(folder: Path) -> None:
    most = kept.MOST_OF_A_FILE
    (folder / "artifacts/a.1/z.md").write_text("a" * (most - 1) + "é" * 10)  # the cut goes through a character
    (folder / "artifacts/a.1/binary").write_bytes(b"\0\1")
    (folder / "artifacts/a.1/latin").write_bytes("é".encode("latin-1"))

    found = {file.name: file for file in KeptFolder(folder).files("artifacts/a.1")}

    assert found["z.md"].text == "a" * (most - 1)
    assert found["z.md"].cut == 19
    assert [found[name].text for name in ("binary", "latin")] == [None, None]


def test_no_more_files_are_read_than_anybody_looks_at(folder: Path) -> None:
    for number in range(kept.MOST_FILES + 50):
        (folder / f"artifacts/a.1/{number:04}.txt").write_text(str(number))
    assert len(KeptFolder(folder).files("artifacts/a.1")) == kept.MOST_FILES
