"""What lies beside a report may be a stranger's: nothing outside is opened, and nothing breaks who looks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evalward.commands import kept
from evalward.commands.kept import KeptFolder
from evalward.commands.kept_output import kept_base, kept_output
from evalward.keeper.outputs import OutputFolder
from evalward.records.result import Trial
from evalward.records.sections import FileText
from evalward.records.trace import Trace
from evalward.redaction import REDACTED, Redaction
from evalward.render.kept import Kept
from evalward.writing import Folder
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


Way = Callable[[Path], Kept]


@pytest.fixture(params=["by its path", "by its descriptor"])
def way(request: pytest.FixtureRequest) -> Way:
    """How a folder is looked into: a user's by its path, the keeper's own by its descriptor."""
    ways: dict[str, Way] = {
        "by its path": KeptFolder,
        "by its descriptor": lambda path: kept_output(OutputFolder(Folder(path))),
    }
    return ways[request.param]


def stored() -> Trial:
    return Trial(suite="s", kind="bash", target="t", subject="x", result=result("a"), trace=Trace())


def test_a_trial_and_its_files_are_read(folder: Path, way: Way) -> None:
    found = way(folder)
    assert found.trial("trials/a.1.json") == stored()
    assert found.files("artifacts/a.1") == [
        FileText(name="fixture/a.txt", text="left"),
        FileText(name="z.md", text="last"),
    ]


@pytest.mark.parametrize("path", ["../secret.json", "/etc/passwd", "trials/../../secret.json", "", ".", "\0", "trials"])
def test_paths_that_lead_elsewhere_are_not_there(folder: Path, way: Way, path: str) -> None:
    assert way(folder).trial(path) is None
    assert way(folder).trial(str(folder.parent / "secret.json")) is None


@pytest.mark.parametrize("path", ["../secret", "..", "/etc", "nothing", "trials/a.1.json", "\udcff"])
def test_folders_elsewhere_have_no_files(folder: Path, way: Way, path: str) -> None:
    assert way(folder).files(path) == []


def test_links_are_not_followed(folder: Path, way: Way) -> None:
    (folder / "trials/link.json").symlink_to("../../secret.json")
    (folder / "linked").symlink_to("../secret")
    (folder / "artifacts/a.1/link.txt").symlink_to("../../../secret/key.txt")
    (folder / "artifacts/a.1/more").symlink_to("../../../secret")

    assert way(folder).trial("trials/link.json") is None
    assert way(folder).files("linked") == []
    assert [file.name for file in way(folder).files("artifacts/a.1")] == ["fixture/a.txt", "z.md"]


def test_pipes_are_not_waited_for(folder: Path, way: Way) -> None:
    os.mkfifo(folder / "trials/pipe.json")
    os.mkfifo(folder / "artifacts/a.1/pipe")
    assert way(folder).trial("trials/pipe.json") is None
    assert [file.name for file in way(folder).files("artifacts/a.1")] == ["fixture/a.txt", "z.md"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"schema": "evalward.trial/9"}', "[" * 100_000, '{"schema": "evalward.trial/1"}']
)
def test_what_is_no_trial_is_not_there(folder: Path, way: Way, text: str) -> None:
    (folder / "trials/a.1.json").write_text(text)
    assert way(folder).trial("trials/a.1.json") is None


def test_a_trial_with_fields_of_the_wrong_form_is_not_there(folder: Path, way: Way) -> None:
    data = json.loads(stored().model_dump_json(by_alias=True))
    for change in ({"trace": {"messages": [{"role": "evil"}]}}, {"result": None}, {"suite": 7}):
        (folder / "trials/a.1.json").write_text(json.dumps({**data, **change}))
        assert way(folder).trial("trials/a.1.json") is None


def test_a_trial_that_is_too_large_is_not_there(folder: Path, way: Way) -> None:
    with (folder / "trials/a.1.json").open("r+b") as file:
        file.truncate((64 << 20) + 1)
    assert way(folder).trial("trials/a.1.json") is None


def test_files_are_cut_and_binaries_named(folder: Path, way: Way) -> None:
    most = kept.MOST_OF_A_FILE
    (folder / "artifacts/a.1/z.md").write_text("a" * (most - 1) + "é" * 10)  # the cut goes through a character
    (folder / "artifacts/a.1/binary").write_bytes(b"\0\1")
    (folder / "artifacts/a.1/latin").write_bytes("é".encode("latin-1"))

    found = {file.name: file for file in way(folder).files("artifacts/a.1")}

    assert found["z.md"].text == "a" * (most - 1)
    assert found["z.md"].cut == 19
    assert [found[name].text for name in ("binary", "latin")] == [None, None]


def test_no_more_files_are_read_than_anybody_looks_at(folder: Path, way: Way) -> None:
    for number in range(kept.MOST_FILES + 50):
        (folder / f"artifacts/a.1/{number:04}.txt").write_text(str(number))
    assert len(way(folder).files("artifacts/a.1")) == kept.MOST_FILES


def test_an_open_folder_stays_the_one_that_was_opened(folder: Path) -> None:
    output = OutputFolder(Folder(folder))
    output.folder.handle()
    folder.rename(folder.parent / "moved")
    folder.symlink_to(folder.parent / "secret")

    assert kept_output(output).trial("trials/a.1.json") == stored()


def test_files_of_the_base_count_from_a_folder_of_their_own(folder: Path) -> None:
    (folder / "beside/artifacts/a.1").mkdir(parents=True)
    (folder / "beside/artifacts/a.1/was.txt").write_text("before")

    found = kept_base(OutputFolder(Folder(folder)))

    assert found.files("artifacts/a.1") == [FileText(name="was.txt", text="before")]
    assert found.files("artifacts/b.1") == []
    assert not (folder / "beside/artifacts/b.1").exists()


WRITTEN = [
    lambda text: text,
    lambda text: text.replace("hunter2-é/x", "hunter2-\\u00e9/x"),
    lambda text: text.replace("hunter2-é/x", "hunter2-é\\/x"),
    lambda text: text.replace("hunter2", "\\u0068unter2"),
]


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("where", ["message", "category"])
def test_no_secret_comes_out_of_our_own_folder_however_its_file_spells_it(
    folder: Path, where: str, written: Callable[[str], str]
) -> None:
    """A run in which the value was not known left it there, or a program that writes JSON in its own way."""
    secret = "hunter2-é/x"
    told = stored().result.model_copy(update={where: f"it says {secret}."})
    text = stored().model_copy(update={"result": told}).model_dump_json(by_alias=True)
    (folder / "trials/a.1.json").write_text(written(text))
    (folder / "artifacts/a.1/z.md").write_text(secret)
    redaction = Redaction({"THE_KEY": secret})

    for kept_here in (kept_output, kept_base):
        output = OutputFolder(Folder(folder))
        found = kept_here(output, redaction).trial("trials/a.1.json")
        assert found is not None
        assert getattr(found.result, where) == f"it says {REDACTED}."
    assert [file.text for file in kept_output(output, redaction).files("artifacts/a.1")] == ["left", REDACTED]


def test_whether_a_secret_is_in_a_text_is_known_only_where_its_escapes_are_ours() -> None:
    redaction = Redaction({"THE_KEY": 'hunter2"tab\t'})
    assert redaction.absent(b'{"a": "b\\n"}')
    for data in (b'"hunter2\\"tab\\t"', b'"\\u0061"', b'"\\/"'):
        assert not redaction.absent(data)
