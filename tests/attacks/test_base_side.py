"""The base beside the head: what either side could do to the other, or to us."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from evalward.commands.commit_files import FilesOfCommit
from evalward.config.model import Config
from evalward.engine.store import TrialKey
from evalward.git import GitTree
from evalward.keeper.outputs import OutputFolder
from evalward.keeper.services import Services
from evalward.records.base import Record
from evalward.records.problem import InputError
from evalward.records.result import Trial
from evalward.records.trace import Trace
from evalward.wire import messages as m
from evalward.wire import reading
from evalward.wire.peer import Incoming
from support.git_repo import commit, git, head_of, init
from support.results import result

CONFIG = Config.model_validate(
    {"version": 1, "suites": [{"name": "s", "kind": "bash", "cases": ["c.jsonl"], "targets": ["nop"]}]}
)


@pytest.fixture
def services(tmp_path: Path) -> Services:
    """A keeper's services, whose output folder is `out`."""
    return Services(CONFIG, {}, lambda: OutputFolder.open(tmp_path / "out"), lambda _: None, lambda: "")


def asked(services: Services, name: str, order: Record) -> bytes:
    """What the keeper answers when the runner asks for that."""

    async def answer() -> bytes:
        return await services.handlers()[name](Incoming(name, m.written(order), [], None))

    return asyncio.run(answer())


def trial(status: str) -> Trial:
    return Trial(
        suite="s", kind="bash", target="t", subject="sha256:0", result=result("a", status, trial=4), trace=Trace()
    )


def test_trial_of_the_base__is_never_found_as_the_heads(services: Services, tmp_path: Path) -> None:
    """Same suite, target, case, subject and number: a resumed run takes each from its own folder."""
    kept = asked(services, "keep", m.KeptTrial(trial=trial("passed"), apart=m.OF_BASE)).decode()
    assert kept == "beside/trials/s/t/a.4.json"
    assert (tmp_path / "out" / kept).is_file()
    wish = m.Wished(
        suite="s", target="t", case="a", definition=trial("passed").result.definition, subject="sha256:0", trial=4
    )
    assert reading.read(m.FoundTrial, asked(services, "find", wish)).result is None
    found = reading.read(m.FoundTrial, asked(services, "find", wish.model_copy(update={"apart": m.OF_BASE}))).result
    assert found is not None
    assert found.trace == kept
    wanted = TrialKey("s", "t", "a", wish.definition, wish.subject, 4)
    assert services.output.store.find(wanted).result is None


@pytest.mark.parametrize("apart", ["/base/../trials", "../..", "/etc", "base", "beside", "/base/", "\0", "a/b"])
def test_whatever_a_folder_is_called__it_is_below_that_of_guidance(
    services: Services, tmp_path: Path, apart: str
) -> None:
    kept = asked(services, "keep", m.KeptTrial(trial=trial("passed"), apart=apart)).decode()
    assert kept.startswith("guidance/")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["guidance"]


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a/../../../secret", "..", "x\ny", "x\0y"])
def test_files_of_the_base__are_the_commits_alone(tmp_path: Path, path: str) -> None:
    folder = init(tmp_path / "repo")
    sha = commit(folder, {"evalward.yml": "x", "a/b": "y"})
    (tmp_path / "secret").write_text("secret")
    (folder / "uncommitted").write_text("secret")
    files = FilesOfCommit.at(GitTree(folder, search_path=os.environ["PATH"]), sha, "")
    for work in (files.read, files.listed):
        with pytest.raises(InputError, match="not a path inside the repository"):
            work(path)
    assert (files.read("uncommitted"), files.listed("uncommitted")) == (None, [])
    assert [each.path for each in files.listed(".") or ()] == ["a/b", "evalward.yml"]


def test_links_of_the_base__are_told_as_links__and_those_out_of_the_repository_not_read(tmp_path: Path) -> None:
    folder = init(tmp_path / "repo")
    (folder / "out").symlink_to("/etc/passwd")
    (folder / "in").symlink_to("a/b")
    sha = commit(folder, {"a/b": "y"})
    files = FilesOfCommit.at(GitTree(folder, search_path=os.environ["PATH"]), sha, "")
    assert {each.path: each.link for each in files.listed(".") or ()} == {
        "a/b": None,
        "in": "a/b",
        "out": "/etc/passwd",
    }
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{sha},sub")
    git(folder, "commit", "--quiet", "--message", "a submodule")
    there = FilesOfCommit.at(files.tree, head_of(folder), "")
    assert {each.path: each.link for each in there.listed(".") or ()}["sub"] == ""
    with pytest.raises(InputError, match="symbolic link out of the repository"):
        files.read("out")
