"""The action as users get it: the image, in a workspace that is somebody else's, against a GitHub that runs here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalward.github.comment import parse_marker
from evalward.github.runner_files import OUTPUT_NAMES
from support.comments import without_tries
from support.container import OWNER, TOOLS_VARIABLE, Container
from support.git_repo import commit, git, init, shallow_clone, write_files
from support.github_api import HEAD, REPOSITORY, FakeGitHub
from support.github_events import ZERO, merge_group, push
from support.scenes import CONFIG, Scene, cases, protected, pull_event, scene

pytestmark = [
    pytest.mark.container,
    # Without an engine there is nothing to test; `make container-test` sets the variable.
    pytest.mark.skipif(TOOLS_VARIABLE not in os.environ, reason=f"{TOOLS_VARIABLE} names no container tools"),
]

# Nothing but the runner's mounts and /tmp can be written; podman would put more folders into memory by itself.
READ_ONLY = ("--read-only", "--read-only-tmpfs=false", "--tmpfs=/tmp")


def test_pass__posts_and_tells_all(good: Scene) -> None:
    run = good.run()

    assert run.rc == 0, run.log
    assert tuple(run.outputs) == OUTPUT_NAMES
    assert (run.outputs["verdict"], run.outputs["exit-code"]) == ("pass", "0")
    assert (run.outputs["pass-rate"], run.outputs["regressions"], run.outputs["csr"]) == ("1.0", "0", "")
    [body] = good.api.bodies()
    marker = parse_marker(body)
    assert marker is not None
    assert marker.head == good.repo.head
    kept = (good.repo.folder / run.outputs["comment-file"]).read_text("utf-8")
    assert kept == without_tries(body) != body
    assert (good.repo.folder / run.outputs["report-json"]).exists()
    assert run.outputs["comment-url"].endswith("#issuecomment-1001")
    assert "tools" in run.summary


def test_pass__a_second_run_updates_the_comment(good: Scene) -> None:
    first, second = good.run(run_id=1), good.run(run_id=2)

    assert first.outputs["comment-url"] == second.outputs["comment-url"]
    [body] = good.api.bodies()
    marker = parse_marker(body)
    assert marker is not None
    assert marker.run == 2


def test_fail__the_base_judges_and_the_comment_is_posted(bad: Scene) -> None:
    run = bad.run()

    assert (run.rc, run.outputs["verdict"], run.outputs["exit-code"]) == (1, "fail", "1"), run.log
    [body] = bad.api.bodies()
    assert "one" in body
    assert run.outputs["regressions"] != "0"


def test_link__leads_from_the_comment_to_the_uploaded_page(bad: Scene) -> None:
    """The next step of the same run; it has no key and needs no file."""
    checked = bad.run(run_id=5)
    url = f"https://github.com/{REPOSITORY}/actions/runs/5/artifacts/3001"

    run = bad.run({"mode": "link", "report-url": url}, run_id=5)

    [body] = bad.api.bodies()
    assert (checked.rc, run.rc, run.outputs["verdict"]) == (1, 0, ""), run.log
    assert (f"[Report]({url})" in body, body.count(f"{url}#case-")) == (True, 5)
    assert url in run.summary


def test_root_file_system__may_be_read_only(bad: Scene) -> None:
    run = bad.run(options=READ_ONLY)

    assert (run.rc, run.outputs["verdict"], len(bad.api.bodies())) == (1, "fail", 1), run.log
    assert (bad.repo.folder / run.outputs["report-json"]).exists()


def test_fail_on_never__tells_but_does_not_block(bad: Scene) -> None:
    run = bad.run({"fail-on": "never"})

    assert (run.rc, run.outputs["verdict"]) == (0, "fail"), run.log


@pytest.mark.skipif(os.geteuid() != 0, reason="the workspace belongs to another user only if root can give it away")
def test_files__nothing_is_left_as_roots(good: Scene) -> None:
    good.run()

    owners = {path.lstat().st_uid for path in good.repo.folder.rglob("*")}
    assert owners == {OWNER}


def test_comment__a_read_only_token_does_not_decide(bad: Scene) -> None:
    bad.api.can_write = False

    run = bad.run(fork=True)

    assert (run.rc, run.outputs["comment-url"]) == (1, ""), run.log
    assert (bad.repo.folder / run.outputs["comment-file"]).exists()
    assert "evalward publish" in run.log


def test_comment__of_an_older_head_is_not_written(good: Scene) -> None:
    good.api.comments[7].clear()
    run = good.container.run_action(
        good.repo.folder, pull_event(good.repo), api_url=good.api.url, sha=good.repo.merge
    )  # the server's head is still `HEAD`, another commit

    assert good.repo.head != HEAD
    assert (run.rc, good.api.bodies()) == (0, [])


def test_shallow_clone__reads_the_base_through_the_api(bad: Scene, tmp_path: Path, baseline: bytes) -> None:
    (tmp_path / "runner").mkdir()
    clone = shallow_clone(bad.repo, tmp_path / "runner" / "workspace")
    bad.api.add_file(bad.repo.base, "evalward.yml", CONFIG.encode())
    bad.api.add_file(bad.repo.base, ".evalward/baseline.json", baseline)

    assert bad.run(workspace=clone).rc == 1


def test_unreadable_base__could_not_be_judged(good: Scene, tmp_path: Path) -> None:
    (tmp_path / "runner").mkdir()
    clone = shallow_clone(good.repo, tmp_path / "runner" / "workspace")

    run = good.run(workspace=clone)

    assert (run.rc, run.outputs["verdict"], run.outputs["exit-code"]) == (3, "error", "3"), run.log
    assert "fetch-depth" in run.log


def test_first_run__without_a_config_in_the_base_says_so(container: Container, api: FakeGitHub, tmp_path: Path) -> None:
    head = {"evalward.yml": CONFIG, "evals/a.jsonl": cases()}
    first = scene(container, api, tmp_path, {"README.md": "old\n"}, head)

    assert first.run(run_id=1).rc == 1
    run = first.run({"bootstrap": "true"}, run_id=2)
    assert run.rc == 0, run.log
    assert "unprotected" in api.bodies()[0].lower()


@pytest.mark.parametrize("options", [(), READ_ONLY], ids=["writable", "read-only"])
def test_an_mcp_server__is_started_and_called(
    options: tuple[str, ...], container: Container, api: FakeGitHub, tmp_path: Path
) -> None:
    """The SDK is in the image; the server is a program of the pull request, in a place of its own."""
    example = Path(__file__).parents[2] / "examples" / "mcp"
    names = ("server.py", "tools.json", "run-cases/changes.yaml")
    files = {name: (example / name).read_bytes() for name in names}
    config = (example / "run.yml").read_bytes()
    pull = scene(container, api, tmp_path, {"evalward.yml": config, **files}, {"README.md": "new\n"})

    run = pull.run(options=options)

    assert (run.rc, run.outputs["verdict"], run.outputs["pass-rate"]) == (0, "pass", "1.0"), run.log
    assert "cancel_order" in api.bodies()[0]


def test_wrong_config__is_told_with_its_place(good: Scene, tmp_path: Path) -> None:
    write_files(good.repo.folder, {"evalward.yml": CONFIG.replace("suites:", "suits:")})

    run = good.run()

    assert (run.rc, run.outputs["exit-code"]) == (2, "2"), run.log
    assert "evalward.yml" in run.log
    assert "Traceback" not in run.log


def test_head__is_opened_by_a_user_without_rights(good: Scene) -> None:
    """Root could read this file; whoever opens what a pull request brings is not root, and says what it can't open."""
    (good.repo.folder / "evals" / "a.jsonl").chmod(0o600)

    run = good.run()

    assert run.rc == 2, run.log
    assert "evals/a.jsonl" in run.log
    assert "Permission denied" in run.log


def test_wrong_inputs__are_told_at_once(good: Scene) -> None:
    run = good.run({"fail-on": "regresion", "trials": "many"})

    assert run.rc == 2, run.log
    assert "input fail-on" in run.log
    assert "input trials" in run.log
    assert "Traceback" not in run.log


def test_closed__nothing_to_do(good: Scene) -> None:
    run = good.run(action="closed")

    assert (run.rc, good.api.bodies()) == (0, [])
    assert run.outputs["verdict"] == ""


def test_pull_request_target__is_refused(good: Scene) -> None:
    run = good.run(event_name="pull_request_target")

    assert (run.rc, good.api.requests) == (2, [])
    assert "on: pull_request" in run.log


def test_push__is_compared_and_not_commented(
    container: Container, api: FakeGitHub, tmp_path: Path, baseline: bytes
) -> None:
    folder = init(tmp_path / "workspace")
    before = commit(folder, protected(baseline))
    after = commit(folder, {"evals/a.jsonl": cases("one", "two", "three", "four", "five")})

    run = container.run_action(folder, push(before, after), api_url=api.url, sha=after, event_name="push")

    assert (run.rc, api.requests) == (1, []), run.log
    assert git(folder, "status", "--porcelain", "--untracked-files=no") == ""


def test_first_push__has_nothing_to_compare_with(
    container: Container, api: FakeGitHub, tmp_path: Path, baseline: bytes
) -> None:
    folder = init(tmp_path / "workspace")
    after = commit(folder, protected(baseline))

    run = container.run_action(folder, push(ZERO, after), api_url=api.url, sha=after, event_name="push")

    assert (run.rc, run.outputs["verdict"], api.requests) == (0, "pass", []), run.log


def test_merge_group__is_compared_with_its_base(
    container: Container, api: FakeGitHub, tmp_path: Path, baseline: bytes
) -> None:
    folder = init(tmp_path / "workspace")
    before = commit(folder, protected(baseline))
    lenient = CONFIG.replace("max_drop: 0.1", "max_drop: 1.0")
    head = commit(folder, {"evals/a.jsonl": cases("one", "two", "three", "four", "five"), "evalward.yml": lenient})

    run = container.run_action(folder, merge_group(before, head), api_url=api.url, sha=head, event_name="merge_group")

    assert (run.rc, run.outputs["verdict"], api.requests) == (1, "fail", []), run.log
