from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evalward.github.event import EventPlan, plan_event, read_payload
from evalward.records.problem import InputError

REPOSITORY = "octo-org/octo-repo"
HEAD, BASE, MERGE, ZERO = "a" * 40, "b" * 40, "c" * 40, "0" * 40


def env(name: str, *, sha: str = HEAD, ref: str = "refs/heads/main", actor: str = "octocat") -> dict[str, str]:
    return {
        "GITHUB_EVENT_NAME": name,
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_SHA": sha,
        "GITHUB_REF": ref,
        "GITHUB_ACTOR": actor,
    }


def pull_payload(action: str = "synchronize", head_repo: str | None = REPOSITORY) -> dict[str, Any]:
    repo = None if head_repo is None else {"full_name": head_repo, "private": False}
    return {
        "action": action,
        "number": 7,
        "pull_request": {
            "number": 7,
            "title": "evil ::error::",
            "head": {"sha": HEAD, "ref": "topic", "repo": repo},
            "base": {"sha": BASE, "ref": "main", "repo": {"full_name": REPOSITORY}},
        },
    }


@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened", "labeled", "ready_for_review"])
def test_plan__pull_request(action: str) -> None:
    plan = plan_event(env("pull_request", sha=MERGE, ref="refs/pull/7/merge"), pull_payload(action))

    assert plan == EventPlan(
        event="pull_request",
        repository=REPOSITORY,
        event_sha=MERGE,
        head_sha=HEAD,
        head_ref="topic",
        base_sha=BASE,
        base_ref="main",
        branch="main",
        pull_number=7,
        comment=True,
        merge_commit=True,
    )


def test_plan__pull_request_closed_is_nothing_to_do() -> None:
    plan = plan_event(env("pull_request", sha=MERGE), pull_payload("closed"))

    assert (plan.run_head, plan.nothing_to_do, plan.comment) == (False, True, False)
    assert plan.reason_not is not None
    assert "closed" in plan.reason_not


@pytest.mark.parametrize(
    ("head_repo", "fork"),
    [(REPOSITORY, False), ("Octo-Org/Octo-Repo", False), ("stranger/octo-repo", True), (None, True)],
)
def test_plan__fork(head_repo: str | None, fork: bool) -> None:
    plan = plan_event(env("pull_request", sha=MERGE), pull_payload(head_repo=head_repo))

    assert plan.fork is fork
    assert plan.comment


def test_plan__dependabot() -> None:
    plan = plan_event(env("pull_request", sha=MERGE, actor="dependabot[bot]"), pull_payload())

    assert plan.dependabot


def test_plan__pull_request_target_is_refused_not_idle() -> None:
    plan = plan_event(env("pull_request_target", sha=BASE), pull_payload())

    assert (plan.run_head, plan.nothing_to_do, plan.comment) == (False, False, False)
    assert plan.reason_not is not None
    assert "on: pull_request" in plan.reason_not
    assert not plan.merge_commit


def test_plan__push() -> None:
    payload = {"before": BASE, "after": HEAD, "ref": "refs/heads/release/1", "deleted": False}
    plan = plan_event(env("push", ref="refs/heads/release/1"), payload)

    assert (plan.event, plan.base_sha, plan.head_sha, plan.branch) == ("push", BASE, HEAD, "release/1")
    assert plan.run_head
    assert not plan.comment


def test_plan__push_of_a_new_branch_has_no_base() -> None:
    plan = plan_event(env("push"), {"before": ZERO, "after": HEAD, "ref": "refs/heads/new"})

    assert plan.base_sha is None
    assert plan.run_head


def test_plan__push_of_a_tag_has_no_branch() -> None:
    plan = plan_event(env("push"), {"before": ZERO, "after": HEAD, "ref": "refs/tags/v1"})

    assert plan.branch is None


@pytest.mark.parametrize("deletion", [{"after": ZERO}, {"after": HEAD, "deleted": True}])
def test_plan__push_that_deletes_is_nothing_to_do(deletion: dict[str, Any]) -> None:
    plan = plan_event(env("push"), {"before": BASE, "ref": "refs/heads/old", **deletion})

    assert (plan.run_head, plan.nothing_to_do) == (False, True)


def test_plan__merge_group() -> None:
    group = {
        "head_sha": HEAD,
        "head_ref": f"refs/heads/gh-readonly-queue/main/pr-7-{BASE}",
        "base_sha": BASE,
        "base_ref": "refs/heads/main",
    }
    plan = plan_event(env("merge_group"), {"action": "checks_requested", "merge_group": group})

    assert (plan.base_sha, plan.base_ref, plan.branch) == (BASE, "main", "main")
    assert (plan.run_head, plan.comment, plan.pull_number) == (True, False, None)
    assert plan_event(env("merge_group"), {"action": "destroyed", "merge_group": group}).nothing_to_do


@pytest.mark.parametrize("name", ["workflow_dispatch", "schedule"])
@pytest.mark.parametrize(("ref", "branch"), [("refs/heads/dev", "dev"), ("refs/tags/v1", None)])
def test_plan__without_base(name: str, ref: str, branch: str | None) -> None:
    plan = plan_event(env(name, ref=ref), {"schedule": "0 3 * * *"})

    assert (plan.event, plan.base_sha, plan.branch, plan.run_head) == (name, None, branch, True)


@pytest.mark.parametrize(
    ("target", "branch"), [("main", "main"), ("refs/heads/main", "main"), (BASE, None), ("", None)]
)
def test_plan__release(target: str, branch: str | None) -> None:
    payload = {"action": "published", "release": {"tag_name": "v1", "target_commitish": target}}
    plan = plan_event(env("release", ref="refs/tags/v1"), payload)

    assert (plan.branch, plan.head_ref, plan.base_sha, plan.run_head) == (branch, "refs/tags/v1", None, True)


@pytest.mark.parametrize(
    ("name", "word"), [("workflow_run", "evalward publish"), ("issue_comment", "default branch"), ("watch", "served")]
)
def test_plan__other_events_explain_themselves(name: str, word: str) -> None:
    plan = plan_event(env(name), {})

    assert (plan.event, plan.run_head, plan.nothing_to_do) == ("other", False, False)
    assert plan.reason_not is not None
    assert word in plan.reason_not
    assert repr(name) in plan.reason_not


@pytest.mark.parametrize(
    ("name", "payload", "field"),
    [
        ("pull_request", {}, "action"),
        ("pull_request", {"action": "opened", "pull_request": None}, "pull_request"),
        (
            "pull_request",
            {"action": "opened", "pull_request": {"number": 0, "head": {}, "base": {}}},
            "pull_request.number",
        ),
        ("push", {"before": "--upload-pack=x", "after": HEAD, "ref": "r"}, "before"),
        ("push", {"before": BASE + "\n", "after": HEAD, "ref": "r"}, "before"),
        ("merge_group", {"action": "checks_requested"}, "merge_group"),
        ("release", {"action": "published"}, "release"),
    ],
)
def test_plan__malformed_payload(name: str, payload: Mapping[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        plan_event(env(name), payload)

    assert field in {problem.field for problem in caught.value.problems}
    assert str(caught.value.problems[0].place) == f"event {name}"


@pytest.mark.parametrize("missing", ["GITHUB_EVENT_NAME", "GITHUB_REPOSITORY", "GITHUB_SHA"])
def test_plan__outside_of_actions(missing: str) -> None:
    without = {name: value for name, value in env("push").items() if name != missing}

    with pytest.raises(InputError, match=missing):
        plan_event(without, {})


def test_read_payload(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(pull_payload()))

    assert read_payload(path) == pull_payload()


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_read_payload__no_object(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "event.json"
    path.write_bytes(content)

    with pytest.raises(InputError, match="event payload"):
        read_payload(path)


def test_read_payload__no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read"):
        read_payload(tmp_path / "none.json")
