"""Every request that changes a repository, and every answer of the server that we test with: as GitHub says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalward.github.client import GitHub
from evalward.github.commits import commit_file, only_baseline_pushed
from evalward.github.pulls import BRANCH, Proposal, propose
from evalward.github.repository import RepositoryWriter
from support.github_api import HEAD, REPOSITORY
from support.github_repo import RepositoryGitHub, StoredPull, StoredRun, server_repository, zipped
from support.needs import missing
from support.npm import UnavailableError
from support.openapi import Api, description

PATH = ".evalward/baseline.json"


@pytest.fixture(scope="module")
def openapi() -> Api:
    try:
        return Api(description())
    except UnavailableError as reason:
        missing("npm", f"GitHub's OpenAPI description: {reason}")


@pytest.fixture
def api(tmp_path: Path) -> Iterator[RepositoryGitHub]:
    server_repository(tmp_path, {"README.md": "x\n"})
    with RepositoryGitHub(tmp_path / "server.git") as server:
        yield server


def commit(repository: RepositoryWriter, api: RepositoryGitHub) -> None:
    before = api.tip()
    done = commit_file(repository, "main", PATH, lambda _: "x\n", "Update\n\nbody")
    assert done.sha is not None
    assert only_baseline_pushed(repository, before, done.sha, PATH)


def pull_request(repository: RepositoryWriter, api: RepositoryGitHub) -> None:
    for text in ("one\n", "two\n", "old\n"):
        api.write("main", {PATH: b"old\n"}, "x")
        propose(
            repository,
            Proposal("main", BRANCH, PATH, lambda _, t=text: t, "m\n\nEvalward-Baseline: x", "t", lambda a, b: "body"),  # type: ignore[misc]
        )
    assert api.stored[8].state == "closed"


def people(repository: RepositoryWriter, api: RepositoryGitHub) -> None:
    api.people = {"mona": "maintain", "github-actions[bot]": "none"}
    assert [repository.may_write(name) for name in ("mona", "github-actions[bot]", "nobody")] == [True, False, False]


def answers(repository: RepositoryWriter, api: RepositoryGitHub) -> None:
    api.stored[7] = StoredPull(7, "main", "main")
    assert repository.pull(7).head.sha == api.tip()
    repository.react(1001, "-1")


def runs(repository: RepositoryWriter, api: RepositoryGitHub) -> None:
    api.runs[5] = StoredRun(HEAD, artifacts={"other": b"", "my artifact": zipped({"report.json": b"{}"})})
    assert repository.workflow_run(5).head_sha == HEAD
    [found] = repository.artifacts(5, "my artifact")
    assert repository.download(found).startswith(b"PK")


def data_branch(repository: RepositoryWriter, api: RepositoryGitHub) -> None:
    repository.create_branch("evalward-data", repository.create_root("history.jsonl", "{}\n", "Keep"))
    assert api.text("history.jsonl", "evalward-data") == "{}\n"


CALLS = [commit, data_branch, pull_request, people, answers, runs]


@pytest.mark.parametrize("call", CALLS)
def test_repository__requests_and_answers_are_as_described(
    call: Callable[[RepositoryWriter, RepositoryGitHub], None], openapi: Api, client: GitHub, api: RepositoryGitHub
) -> None:
    call(RepositoryWriter(client, REPOSITORY), api)

    rest = [
        (request, answer) for request, answer in api.exchanges if not request.path.startswith(("/graphql", "/blob/"))
    ]
    assert rest
    for request, answer in rest:
        assert openapi.request_mistakes(request) == []
        assert openapi.answer_mistakes(request, answer) == []


def test_calls__cover_the_repository(client: GitHub, api: RepositoryGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new call has to come into `CALLS`."""
    names = [name for name, value in vars(RepositoryWriter).items() if not name.startswith("_") and callable(value)]
    called: set[str] = set()

    def counted(name: str) -> Callable[..., object]:
        original = getattr(RepositoryWriter, name)

        def call(self: RepositoryWriter, *args: object, **more: object) -> object:
            called.add(name)
            return original(self, *args, **more)

        return call

    for name in names:
        monkeypatch.setattr(RepositoryWriter, name, counted(name))
    for call in CALLS:
        call(RepositoryWriter(client, REPOSITORY), api)
    assert called == set(names)
