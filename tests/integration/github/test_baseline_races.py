"""Two runs that measured different things and write the same baseline at once: both land."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evalward.commands.baseline_ci import UpdateMessage, UpdateMode, UpdateRequest, update_baseline
from evalward.decide.baseline import read_baseline
from evalward.github.client import GitHub
from evalward.github.repository import RepositoryWriter
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy, Rule
from evalward.records.report import Provenance, Report
from evalward.records.result import Result
from support.git_repo import git
from support.github_api import REPOSITORY, TOKEN
from support.github_repo import RepositoryGitHub, server_repository
from support.patience import PATIENCE_S
from support.results import report, result, run

PATH = "base.json"
NAMES = "abcdefghij"


@pytest.fixture
def api(tmp_path: Path) -> Iterator[RepositoryGitHub]:
    server_repository(tmp_path, {"README.md": "x\n"})
    with RepositoryGitHub(tmp_path / "server.git") as server:
        yield server


def measured(broken: str, at: str, *, random: bool = True, seconds: int = 1) -> Report:
    """Three trials of each case; one of those of `broken` failed."""
    results: list[Result] = [
        result(
            name,
            "failed" if name in broken and number == 1 else "passed",
            trial=number,
            duration_ms=100 * seconds + number,  # no two trials take equally long
        )
        for name in NAMES
        for number in (1, 2, 3)
    ]
    made = run(results, target="anthropic/m", random=random, trials=3)
    return report(made, created_at=at, provenance=Provenance(commit=f"{seconds:040x}"))


def pooled(one: Report) -> UpdateRequest:
    return UpdateRequest(one, Policy(rules=[Rule(metric="pass_rate", max_drop=0.1)]), "main", PATH, mode="pool")


def written(api: RepositoryGitHub) -> Baseline:
    return read_baseline(api.text(PATH), PATH)


def both_at_once(api: RepositoryGitHub, updates: list[UpdateRequest]) -> list[UpdateMessage]:
    """Each in a thread with a client of its own; all have read the branch before any of them writes."""
    told: list[UpdateMessage] = []
    start = threading.Barrier(len(updates))

    def act(update: UpdateRequest) -> None:
        with GitHub(TOKEN, api.url, sleep=lambda _: None) as client:
            repository = RepositoryWriter(client, REPOSITORY)
            create, first = repository.create_commit, [True]

            def meeting(*args: object) -> object:
                if first.pop() if first else False:
                    start.wait(PATIENCE_S)
                return create(*args)  # type: ignore[arg-type]

            repository.create_commit = meeting  # type: ignore[method-assign, assignment]
            told.append(update_baseline(repository, update))

    threads = [threading.Thread(target=act, args=(update,)) for update in updates]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def test_pool__two_runs_racing_by_push_are_both_in_the_baseline(api: RepositoryGitHub) -> None:
    reports = [measured("a", "2026-11-21T08:00:00Z"), measured("bc", "2026-11-21T08:01:00Z", seconds=2)]
    told = both_at_once(api, [pooled(one) for one in reports])

    assert len(told) == 2
    assert sum("after 1 conflict" in one.line for one in told) == 1
    found = written(api)
    assert len(set(found.provenance.reports)) == 2
    counts = {
        case.id: (len(case.trials), sum(trial.status == "failed" for trial in case.trials))
        for case in found.runs[0].cases
    }
    assert counts == {**dict.fromkeys(NAMES, (6, 0)), "a": (6, 1), "b": (6, 1), "c": (6, 1)}
    assert git(api.repo, "rev-list", "--count", "main") == "3"
    assert found.provenance.created_at == "2026-11-21T08:01:00Z"


def test_pool__the_same_report_by_two_runs_counts_once(api: RepositoryGitHub) -> None:
    one = measured("a", "2026-11-21T08:00:00Z")
    told = both_at_once(api, [pooled(one), pooled(one)])
    assert sorted("no change" in each.line for each in told) == [False, True]
    assert {len(case.trials) for case in written(api).runs[0].cases} == {3}


def test_replace__of_two_runs_racing_the_later_measurement_stays(api: RepositoryGitHub) -> None:
    reports = [measured("a", "2026-11-21T08:00:00Z"), measured("b", "2026-11-21T08:01:00Z")]
    both_at_once(api, [UpdateRequest(one, Policy(), "main", PATH, mode="replace") for one in reports])
    failed = [case.id for case in written(api).runs[0].cases if any(t.status == "failed" for t in case.trials)]
    assert failed == ["b"]


def test_pool__an_older_report_makes_the_baseline_no_older(api: RepositoryGitHub) -> None:
    with GitHub(TOKEN, api.url) as client:
        repository = RepositoryWriter(client, REPOSITORY)
        update_baseline(repository, pooled(measured("a", "2026-11-21T09:00:00Z", seconds=9)))
        update_baseline(repository, pooled(measured("b", "2026-11-21T08:00:00Z", seconds=8)))
        source = written(api).provenance
        assert (source.created_at, source.commit, len(source.reports)) == ("2026-11-21T09:00:00Z", f"{9:040x}", 2)
        late = UpdateRequest(measured("c", "2026-11-21T08:30:00Z"), Policy(), "main", PATH, mode="replace")
        replaced = update_baseline(repository, late)
    assert "no change" in replaced.line
    assert "The baseline is newer than this report" in replaced.line


# --- a doubt --------------------------------------------------------------------------------------------------------


def once(broken: str, at: str, *, system: str = "s1", seconds: int = 1) -> Report:
    """One trial of each case, in which those of `broken` failed: two of ten are no proof, and more than allowed."""
    results = [result(name, "failed" if name in broken else "passed", duration_ms=100 * seconds) for name in NAMES]
    made = run(results, target="anthropic/m", random=True, parts={"system": system})
    return report(made, created_at=at, provenance=Provenance(commit=f"{seconds:040x}"))


def updated(api: RepositoryGitHub, one: Report, mode: UpdateMode) -> UpdateMessage:
    with GitHub(TOKEN, api.url) as client:
        return update_baseline(RepositoryWriter(client, REPOSITORY), replace(pooled(one), mode=mode))


@pytest.mark.parametrize("mode", ["pool", "replace"])
def test_doubt__its_trials_stand_beside_the_old_ones(api: RepositoryGitHub, mode: UpdateMode) -> None:
    updated(api, once("", "2026-11-21T08:00:00Z"), mode)
    told = updated(api, once("ab", "2026-11-21T09:00:00Z", seconds=2), mode)
    counts = {case.id: [trial.status.value for trial in case.trials] for case in written(api).runs[0].cases}
    assert counts["a"] == ["passed", "failed"]
    assert counts["c"] == ["passed", "passed"]
    assert ("pooled, not replaced: it looks worse, and chance can't be excluded" in told.line) is (mode == "replace")


@pytest.mark.parametrize("mode", ["pool", "replace"])
def test_doubt__nothing_that_can_not_be_pooled_takes_the_place_of_what_was_there(
    api: RepositoryGitHub, mode: UpdateMode
) -> None:
    """A changed prompt, and a drop in doubt: the next run is held against the old prompt's measurement, too."""
    updated(api, once("", "2026-11-21T08:00:00Z"), mode)
    before = api.text(PATH)
    told = updated(api, once("ab", "2026-11-21T09:00:00Z", system="s2", seconds=2), mode)
    assert api.text(PATH) == before
    assert "stays as it was: it looks worse, and chance can't be excluded" in told.line
    assert "its subject changed (system)" in told.line
    assert "stays as it was" in told.markdown

    updated(api, once("", "2026-11-21T10:00:00Z", system="s2", seconds=3), mode)
    assert written(api).runs[0].subject.parts["system"] == "s2"


def test_doubt__a_pull_request_says_it_and_who_merges_decides(api: RepositoryGitHub) -> None:
    updated(api, once("", "2026-11-21T08:00:00Z"), "pool")
    proposal = replace(pooled(once("ab", "2026-11-21T09:00:00Z", system="s2", seconds=2)), to="pull-request")
    with GitHub(TOKEN, api.url) as client:
        told = update_baseline(RepositoryWriter(client, REPOSITORY), proposal)
    assert "opened" in told.line
    assert "**In doubt:** it looks worse" in api.stored[max(api.stored)].body


def test_pool__an_older_report_brings_no_old_case_back(api: RepositoryGitHub) -> None:
    updated(api, once("", "2026-11-21T09:00:00Z"), "pool")
    before = api.text(PATH)
    old = once("", "2026-11-21T08:00:00Z", seconds=2)
    results = [one.model_copy(update={"definition": "sha256:earlier"}) for one in old.runs[0].cases]
    old = old.model_copy(update={"runs": [old.runs[0].model_copy(update={"cases": results})]})
    told = updated(api, old, "pool")
    assert api.text(PATH) == before
    assert "the baseline was measured later" in told.line
