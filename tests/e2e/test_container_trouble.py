"""The image when things go wrong: GitHub's faults, busy pull requests, older runs, hostile models, forks."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from evalward.github.comment import Marker
from support.container import TOOLS_VARIABLE, Container, tell
from support.git_repo import commit, init, write_files
from support.github_api import HEAD, TOKEN, FakeGitHub, Pull
from support.github_events import BASE, FORK, workflow_run
from support.hostile import SNIPPETS
from support.markdown import rendered, tags
from support.runner_log import is_ours, live_commands
from support.scenes import CONFIG, Scene, cases, protected, scene
from support.warm import EVALWARD

pytestmark = [
    pytest.mark.container,
    pytest.mark.skipif(TOOLS_VARIABLE not in os.environ, reason=f"{TOOLS_VARIABLE} names no container tools"),
]

COMMENTS = "/issues/7/comments$"
REPLAYED = CONFIG.replace("[oracle]", "['replay:kept']") + "recordings: {kept: recorded.jsonl}\n"


# --- GitHub's faults: the verdict stays, the text is in the file ------------------------------------------------------


@pytest.mark.parametrize(("status", "name", "code"), [(403, "bad", 1), (404, "good", 0), (422, "good", 0)])
def test_comment__that_is_refused_does_not_decide(
    status: int, name: str, code: int, request: pytest.FixtureRequest
) -> None:
    one: Scene = request.getfixturevalue(name)
    one.api.fail("POST", COMMENTS, status, times=99, message="Refused")

    run = one.run()

    assert (run.rc, run.outputs["comment-url"], one.api.bodies()) == (code, "", []), run.log
    assert f"GitHub answered {status}" in run.log
    assert (one.repo.folder / run.outputs["comment-file"]).read_text("utf-8").startswith("<!-- evalward:v1")


def test_rate_limit__is_waited_for(good: Scene) -> None:
    good.api.fail("GET", COMMENTS, 429, headers={"Retry-After": "1"})

    assert good.run().rc == 0
    assert len(good.api.bodies()) == 1


def test_bad_gateway__after_the_comment_was_written_makes_no_second(good: Scene) -> None:
    good.api.fail("POST", COMMENTS, 502, after=True)

    assert good.run().rc == 0
    assert len(good.api.bodies()) == 1


# --- busy pull requests -----------------------------------------------------------------------------------------------


def test_comment__is_found_among_150(good: Scene) -> None:
    for number in range(75):
        good.api.add_comment(f"talk {number}", "octocat")
    ours = good.api.add_comment(f"{Marker('evalward', HEAD, 1, 1).format()}\nold")
    for number in range(75):
        good.api.add_comment(f"more talk {number}", "octocat")

    run = good.run(run_id=2)

    assert run.outputs["comment-url"].endswith(f"-{ours}"), run.log
    assert len(good.api.bodies()) == 151


def test_newer_run__is_not_overwritten(good: Scene) -> None:
    newer = f"{Marker('evalward', good.repo.head, 9, 1).format()}\nnewer"
    good.api.add_comment(newer)

    run = good.run(run_id=8)

    assert (run.rc, good.api.bodies()) == (0, [newer])
    assert "newer run" in run.log


# --- hostile models ---------------------------------------------------------------------------------------------------

EVIL = "\n".join([*SNIPPETS[:-1], "::set-env name=EVIL::x", "  ::add-path::/evil", "y ##[set-output name=EVIL]x", ""])


@pytest.fixture(scope="session")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | bytes]:
    """A base that is judged by a replay of the oracle's answers."""
    folder = tmp_path_factory.mktemp("replayed")
    write_files(folder, {"evalward.yml": CONFIG, "evals/a.jsonl": cases()})
    subprocess.run([EVALWARD, "run", "--record", "kept"], cwd=folder, check=True, capture_output=True)
    [recording] = (folder / "kept").iterdir()
    write_files(folder, {"evalward.yml": REPLAYED, "recorded.jsonl": recording.read_bytes()})
    for command in (["run"], ["baseline", "update"]):
        subprocess.run([EVALWARD, *command], cwd=folder, check=True, capture_output=True)
    names = ("evalward.yml", "evals/a.jsonl", "recorded.jsonl", ".evalward/baseline.json")
    return {name: (folder / name).read_bytes() for name in names}


def hostile(line: str) -> str:
    """The recorded trial, with a third of a megabyte of evil in what the model says and types."""
    trial = json.loads(line)
    clean = EVIL.encode("utf-8", "replace").decode()
    much = clean * (350_000 // len(clean))
    for message in trial["trace"]["messages"]:
        for part in message["content"] if message["role"] == "assistant" else []:
            if part["type"] == "text":
                part["text"] = much
            if part["type"] == "tool_use":
                part["input"]["commands"] = f"cat <<'END_OF_EVIL'\n{much}\nEND_OF_EVIL\n{clean}"
    return json.dumps(trial) + "\n"


def test_hostile_output__stays_text_and_fits(
    container: Container, api: FakeGitHub, tmp_path: Path, replayed: dict[str, str | bytes]
) -> None:
    kept = replayed["recorded.jsonl"]
    assert isinstance(kept, bytes)
    evil = "".join(hostile(line) for line in kept.decode().splitlines())
    assert len(evil) > 2_000_000

    run = scene(container, api, tmp_path, replayed, {"recorded.jsonl": evil}).run()

    assert (run.rc, run.outputs["verdict"]) == (1, "fail"), run.log[-3000:]
    [body] = api.bodies()
    assert len(body) <= 65_000
    assert len(run.summary.encode()) <= 1_000_000
    for text in (body, run.summary):
        page = rendered(text)
        assert tags(page, ["script", "img"]) == []
        links = [element for element in page.elements if element.startswith("a ")]
        assert [link for link in links if "href=https://github.com/octo-org/" not in link] == []
        assert page.links() == []
    assert [command for command in live_commands(run.log) if not is_ours(command, TOKEN)] == []
    assert set(run.outputs.values()).isdisjoint({"x", "EVIL"})


# --- forks ------------------------------------------------------------------------------------------------------------


def test_publish__judges_what_the_fork_measured(bad: Scene, baseline: bytes, tmp_path: Path) -> None:
    bad.api.can_write = False
    first = bad.run(fork=True)
    bad.api.can_write = True
    report = (bad.repo.folder / first.outputs["report-json"]).read_bytes()
    bad.api.pulls = [Pull(7, bad.repo.head, "topic", FORK, BASE)]
    for name, content in protected(baseline).items():
        bad.api.add_file(BASE, name, content if isinstance(content, bytes) else content.encode())
    (tmp_path / "trusted").mkdir()
    folder = init(tmp_path / "trusted" / "workspace")
    sha = commit(folder, {"first/report.json": report})

    run = bad.container.run_action(
        folder,
        workflow_run(head_sha=bad.repo.head),
        {"publish": "first"},
        api_url=bad.api.url,
        sha=sha,
        event_name="workflow_run",
        run_id=50,
    )

    assert (first.rc, first.outputs["comment-url"]) == (1, "")
    assert (run.rc, run.outputs["verdict"], run.outputs["exit-code"]) == (0, "fail", "0"), run.log
    [body] = bad.api.bodies()
    assert "results are not verified" in body


# --- how long it takes ------------------------------------------------------------------------------------------------


def test_start_to_exit__takes_so_long(
    container: Container,
    api: FakeGitHub,
    tmp_path: Path,
    replayed: dict[str, str | bytes],
    pytestconfig: pytest.Config,
) -> None:
    """The figure is for whoever reads it: how long a run takes decides nothing."""
    one = scene(container, api, tmp_path, replayed, {"README.md": "new\n"})
    seconds = []
    for run_id in range(1, 4):
        start = time.monotonic()
        run = one.run(run_id=run_id)
        seconds.append(time.monotonic() - start)
        assert (run.rc, run.outputs["verdict"]) == (0, "pass"), run.log
    tell(pytestconfig, f"start to exit on a replay: {', '.join(f'{one:.2f}' for one in seconds)} s")
