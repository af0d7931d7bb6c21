"""The whole action in process, on real repositories: what the code under judgement can't talk the gate into."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from evalward.action import run_action
from evalward.commands.baseline import update
from evalward.commands.run import RunOptions, run
from evalward.commands.world import World
from evalward.git import GitTree
from support.echo_cases import CONFIG, NAMES, cases
from support.git_repo import PullRequestRepo, pull_request_repo, write_files
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.html_pages import HtmlPage, faults
from support.model_server import KEY, ModelServer, oracle_like
from support.showing import shown


def world(env: Mapping[str, str] | None = None) -> World:
    return World(out=StringIO(), err=StringIO(), now=lambda: "2026-11-21T08:00:00Z", env=env or {})


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("baseline")
    write_files(folder, {"evalward.yml": CONFIG, "evals/a.jsonl": cases()})
    assert run(world(), RunOptions(folder / "evalward.yml", folder / "out")) == 0
    path = folder / "baseline.json"
    assert update(world(), folder / "out" / "report.json", path) == 0
    return path.read_text("utf-8")


@pytest.fixture
def api() -> Iterator[FakeGitHub]:
    with FakeGitHub() as server:
        yield server


@dataclass(frozen=True)
class Seen:
    """What a run of the action left."""

    code: int
    log: str
    outputs: str
    comment: str


Act = Callable[..., Seen]


@pytest.fixture
def act(tmp_path: Path, api: FakeGitHub, baseline: str) -> Act:
    """Run the action on a pull request that changes `head` on top of `base`."""

    def call(head: Mapping[str, str], base: Mapping[str, str] | None = None, *, fork: bool = False, **env: str) -> Seen:
        standard = {"evalward.yml": CONFIG, "evals/a.jsonl": cases(), ".evalward/baseline.json": baseline}
        repo = pull_request_repo(tmp_path / "workspace", {**standard, **(base or {})}, head)
        api.heads[7] = repo.head
        event = tmp_path / "event.json"
        event.write_text(json.dumps(payload(repo, fork=fork)), "utf-8")
        outputs, summary = tmp_path / "outputs", tmp_path / "summary"
        variables = {
            "PATH": os.environ["PATH"],
            "GITHUB_WORKSPACE": str(repo.folder),
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_SHA": repo.merge,
            "GITHUB_API_URL": api.url,
            "GITHUB_RUN_ID": "1",
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
            "INPUT_GITHUB-TOKEN": TOKEN,
            **env,
        }
        here = world(variables)
        code = run_action(here)
        assert isinstance(here.out, StringIO)
        bodies = api.bodies()
        return Seen(code, here.out.getvalue(), outputs.read_text("utf-8"), bodies[0] if bodies else "")

    return call


def payload(repo: PullRequestRepo, *, fork: bool) -> dict[str, Any]:
    head = {"sha": repo.head, "ref": "topic", "repo": {"full_name": "stranger/fork" if fork else REPOSITORY}}
    base = {"sha": repo.fork_point, "ref": "main", "repo": {"full_name": REPOSITORY}}
    return {"action": "synchronize", "pull_request": {"number": 7, "head": head, "base": base}}


def test_a_harmless_change_passes(act: Act) -> None:
    seen = act({"README.md": "new\n"})
    assert (seen.code, "### ✅ Evalward: passed" in seen.comment) == (0, True)


def test_a_lowered_floor_and_a_rewritten_baseline_do_not_count(act: Act, baseline: str) -> None:
    lenient = CONFIG.replace("max_drop: 0.1}", "max_drop: 1.0}\n  - {metric: overall_rate, max_drop: 1.0}")
    accepted = baseline.replace('"status": "passed"', '"status": "failed"')
    seen = act({"evals/a.jsonl": cases("one"), "evalward.yml": lenient, ".evalward/baseline.json": accepted})
    assert seen.code == 1
    assert "edits its policy and its baseline" in seen.comment
    assert "the verdict would be: pass" in seen.comment


def test_a_renamed_suite_blocks(act: Act) -> None:
    base = {"evalward.yml": CONFIG.replace("policy:", "policy:\n  - {metric: overall_rate, suite: tools, floor: 0.5}")}
    seen = act({"evalward.yml": CONFIG.replace("name: tools", "name: others")}, base)
    assert seen.code == 1
    assert "is in the baseline and was not run" in seen.comment


RENAMED = CONFIG.replace("{name: tools,", "{name: others, replaces: tools,")
RULED = {"evalward.yml": CONFIG.replace("policy:", "policy:\n  - {metric: overall_rate, suite: tools, floor: 0.95}")}


def test_a_suite_that_says_whose_place_it_takes_is_compared_by_the_rules_of_that_one(act: Act) -> None:
    seen = act({"evalward.yml": RENAMED, "evals/a.jsonl": cases().replace('"id": "five"', '"id": "fifth"')}, RULED)
    assert seen.code == 0
    assert "#### Suite `tools` → `others`, with `oracle`" in seen.comment
    assert "Renamed, with an equal definition: `five` → `fifth`" in seen.comment


def test_a_new_name_is_no_way_out_of_a_regression_or_a_floor(act: Act) -> None:
    seen = act({"evalward.yml": RENAMED, "evals/a.jsonl": cases("one")}, RULED)
    assert seen.code == 1
    assert "overall_rate is" in seen.comment
    assert "pass_rate fell 20.0 pp" in seen.comment


def test_a_suite_that_is_still_there_is_not_replaced_by_another(act: Act) -> None:
    both = CONFIG.replace(
        "policy:", "  - {name: others, replaces: tools, kind: bash, cases: b.jsonl, targets: [oracle]}\npolicy:"
    )
    seen = act({"evalward.yml": both, "b.jsonl": cases(), "evals/a.jsonl": cases("one")}, RULED)
    assert seen.code == 2
    assert "nothing can take its place" in seen.log


def test_errors_do_not_become_a_pass_by_a_limit_of_the_heads(act: Act) -> None:
    generous = CONFIG + "limits: {max_error_rate: 1.0, min_valid: 0.0}\nwaive: [{id: tools, reason: because}]\n"
    seen = act({"evals/a.jsonl": "".join(cases().splitlines(keepends=True)[:1]), "evalward.yml": generous})
    assert seen.code == 1
    assert "missing" in seen.comment


NO_BASE = {"evalward.yml": "", "other.txt": "x"}


def test_a_base_without_a_config_judges_nothing(act: Act) -> None:
    seen = act({"evalward.yml": CONFIG}, NO_BASE)
    assert (seen.code, "inconclusive\n" in seen.outputs) == (1, True)
    assert "bootstrap: true" in seen.comment


def test_a_base_without_a_config_is_an_unprotected_first_run_where_the_workflow_says_so(act: Act) -> None:
    seen = act({"evalward.yml": CONFIG}, NO_BASE, INPUT_BOOTSTRAP="true")
    assert seen.code == 0
    assert "own policy" in seen.comment


def test_a_broken_base_says_so_and_its_repair_needs_the_workflows_word(act: Act) -> None:
    seen = act({"evalward.yml": CONFIG}, {"evalward.yml": "version: 7\n"})
    assert seen.code == 1
    assert "base's own files are wrong" in seen.comment


def test_a_broken_base_does_not_block_its_repair_where_the_workflow_says_so(act: Act) -> None:
    seen = act({"evalward.yml": CONFIG}, {"evalward.yml": "version: 7\n"}, INPUT_BOOTSTRAP="true")
    assert seen.code == 0
    assert "base's own files are wrong" in seen.comment


def test_a_broken_head_is_exit_2_with_annotation_and_comment(act: Act) -> None:
    seen = act({"evalward.yml": CONFIG.replace("pass_rate", "pas_rate")})
    assert seen.code == 2
    assert "::error file=" in seen.log
    assert "pas_rate" in seen.comment
    assert "exit-code<<" in seen.outputs


LIVE = CONFIG.replace("[oracle]", "[oracle, openai/gpt-5]")


def unmasked(log: str) -> str:
    """The log without the commands that hide secrets, which the runner never shows."""
    return "".join(line for line in log.splitlines(keepends=True) if not line.startswith("::add-mask::"))


def provider(url: str) -> str:
    return f"providers: {{openai: {{base_url: '{url}', key_env: MODEL_KEY}}}}\n"


def test_keys_go_only_where_the_base_says(act: Act) -> None:
    script = oracle_like({f"Print {name}.": [f"echo {name}"] for name in NAMES})
    with ModelServer(script) as ours, ModelServer(script) as theirs:
        base = {"evalward.yml": LIVE + provider(ours.openai_url)}
        seen = act({"evalward.yml": LIVE + provider(theirs.openai_url)}, base, MODEL_KEY=KEY)
        assert len(ours.requests) == 2 * len(NAMES)
        assert theirs.requests == []
    assert "edits providers or budgets" in seen.comment
    assert KEY not in seen.comment + unmasked(seen.log) + seen.outputs


def test_a_head_that_nothing_judges_yet_can_not_send_keys_anywhere(act: Act) -> None:
    with ModelServer(oracle_like({})) as theirs:
        seen = act({"evalward.yml": LIVE + provider(theirs.openai_url)}, {"evalward.yml": ""}, MODEL_KEY=KEY)
        assert theirs.requests == []
    assert "was not measured" in seen.comment


JUDGED = """\
version: 1
baseline: none.json
suites:
  - {name: tools, kind: bash, cases: judged.jsonl, targets: [oracle]}
policy:
  - {metric: pass_rate, floor: 1.0}
judge: {model: "recorded:judge.jsonl"}
"""


def judged(score: float) -> dict[str, str]:
    """A case that only a judge can decide, and a recorded judge who gives it this score."""
    task = {"id": "one", "category": "c", "prompt": "Do it.", "solution": "true"}
    task["expectations"] = [{"check": "llm_judge:Is it done?"}]  # type: ignore[assignment]
    said = {"scores": {"answer": score}, "weighted_score": score, "confidence": 1, "issues": [], "highlights": []}
    answers = json.dumps({"id": "one", "answers": [said]})
    return {"evalward.yml": JUDGED, "judged.jsonl": json.dumps(task), "judge.jsonl": answers}


def test_a_pull_request_can_not_choose_who_judges_it(act: Act) -> None:
    kind = judged(1.0)["judge.jsonl"]
    head = {"kind.jsonl": kind, "judge.jsonl": kind, "evalward.yml": JUDGED.replace("judge.jsonl", "kind.jsonl")}
    seen = act(head, judged(0.0))
    assert seen.code == 1
    assert "This pull request edits the judge" in seen.comment
    assert "pass_rate" in seen.comment


def test_what_the_bases_judge_passes_a_pull_request_can_not_fail(act: Act) -> None:
    seen = act(judged(0.0), judged(1.0))
    assert (seen.code, "edits the judge" in seen.comment) == (0, False)


def test_a_forks_pull_request_without_keys_is_said_to_be_unmeasured(act: Act) -> None:
    seen = act({"README.md": "new\n"}, {"evalward.yml": LIVE}, fork=True)
    assert seen.code == 0
    assert "### ❔ Evalward: inconclusive" in seen.comment
    assert "there is no key here" in seen.comment


def test_our_own_pull_request_without_the_key_is_told_which_one(act: Act) -> None:
    seen = act({"README.md": "new\n"}, {"evalward.yml": LIVE})
    assert seen.code == 2
    assert "OPENAI_API_KEY is not set" in seen.comment


def test_broken_cases_are_annotated_at_their_lines_behind_the_headline(act: Act) -> None:
    seen = act({"evals/a.jsonl": cases("two", "three")})
    errors = [line for line in seen.log.splitlines() if line.startswith("::error ")]
    assert errors[0].startswith("::error title=Evalward%3A fail::")
    assert [line.split(",title")[0] for line in errors[1:]] == [
        "::error file=evals/a.jsonl,line=3",
        "::error file=evals/a.jsonl,line=2",
    ]


def test_the_comments_commands_show_what_broke_once_the_artifact_is_fetched(act: Act, tmp_path: Path) -> None:
    seen = act({"evals/a.jsonl": cases("two", "three")})
    download = f"gh run download 1 --repo {REPOSITORY} --name evalward --dir evalward-out"
    assert seen.comment.count(download) == 1
    assert set(re.findall("→ `evalward (show [^`]*)`", seen.comment)) == {"show two", "show three"}
    fetched = tmp_path / "workspace" / "evalward-out"  # where the command above puts it
    text = shown(fetched.parent, "evalward-out/report.json", case="two")
    assert text.startswith("✗ failed: two, trial 1 · tools × oracle\n")
    assert "$ echo wrong\n  wrong\n" in text


def test_annotations_count_from_the_workspace(act: Act, baseline: str) -> None:
    base = {
        "pkg/ci/evalward.yml": CONFIG,
        "pkg/ci/evals/a.jsonl": cases(),
        "pkg/ci/.evalward/baseline.json": baseline,
    }
    inputs = {"INPUT_WORKING-DIRECTORY": "pkg", "INPUT_CONFIG": "ci/evalward.yml"}
    seen = act({"pkg/ci/evals/a.jsonl": cases("two")}, base, **inputs)
    assert "::error file=pkg/ci/evals/a.jsonl,line=2,title=" in seen.log


def test_files_for_other_tools_are_left(act: Act, tmp_path: Path) -> None:
    act({"evals/a.jsonl": cases("two")})
    out = tmp_path / "workspace" / "evalward-out"
    root = ET.parse(out / "junit.xml").getroot()
    assert [suite.get("name") for suite in root] == ["tools × oracle", "policy"]
    assert root[0].get("failures") == "1"
    assert root[1].get("failures") != "0"
    assert json.loads((out / "badge.json").read_text("utf-8"))["message"] == "failing"
    page = HtmlPage((out / "report.html").read_text("utf-8"))
    assert list(faults(page, "https://github.com/", allowed={"script", "form"})) == []
    assert page.values("data-status").count("failed") == 1


def test_files_for_other_tools_say_it_when_nothing_was_judged(act: Act, tmp_path: Path) -> None:
    act({"evalward.yml": CONFIG.replace("pass_rate", "pas_rate")})
    out = tmp_path / "workspace" / "evalward-out"
    assert ET.parse(out / "junit.xml").getroot().get("errors") == "1"
    assert json.loads((out / "badge.json").read_text("utf-8"))["message"] == "not judged"


def test_a_commit_status_is_posted_where_it_is_wanted(act: Act, api: FakeGitHub) -> None:
    act({"evals/a.jsonl": cases("two")}, INPUT_STATUS="evalward")
    [(sha, status)] = api.statuses
    assert sha == api.heads[7]
    assert (status["state"], status["context"]) == ("failure", "evalward")
    assert status["target_url"].endswith("/actions/runs/1")


def test_a_commit_status_is_posted_for_a_wrong_input_too(act: Act, api: FakeGitHub) -> None:
    act({"evalward.yml": "version: 7\n"}, INPUT_STATUS="evalward")
    assert [status["state"] for _, status in api.statuses] == ["error"]


def test_a_commit_status_that_can_not_be_posted_fails_nothing(act: Act, api: FakeGitHub) -> None:
    api.can_write = False
    seen = act({"README.md": "new\n"}, INPUT_STATUS="evalward")
    assert seen.code == 0
    assert "needs the permission `statuses: write`" in seen.log


def test_no_commit_status_unless_it_is_wanted(act: Act, api: FakeGitHub) -> None:
    act({"README.md": "new\n"})
    assert api.statuses == []


def test_what_judges_the_change_is_shown_first(act: Act, baseline: str) -> None:
    lenient = CONFIG.replace("max_drop: 0.1}", "max_drop: 1.0}")
    accepted = baseline.replace('"status": "passed"', '"status": "failed"')
    seen = act({"evals/a.jsonl": cases("one"), "evalward.yml": lenient, ".evalward/baseline.json": accepted})
    _, _, _, heading, _, first, *lines = seen.comment.splitlines()
    assert (heading[:4], first) == ("### ", "> [!IMPORTANT]")
    block = lines[: lines.index("")]
    assert "with its own the verdict would be" in block[0]
    assert block[2:] == [
        "> - policy: pass_rate: max_drop 0.1 → max_drop 1",
        "> - baseline: tools × oracle: 5 of 5 trials passed → 0 of 5 trials passed",
        "> - changed `.evalward/baseline.json`",
        "> - changed `evals/a.jsonl`",
        "> - changed `evalward.yml`",
    ]


def test_protected_files_are_the_bases_and_the_heads(act: Act) -> None:
    base = {"evalward.yml": CONFIG + "protect: [prompts/**]\n", "prompts/a/b.md": "x", "docs/x.md": "x"}
    seen = act({"evalward.yml": CONFIG, "prompts/a/b.md": "y", "docs/x.md": "y"}, base)
    assert "changed `prompts/a/b.md`" in seen.comment
    assert "docs/x.md" not in seen.comment


def test_protected_files_of_a_shallow_clone_come_from_the_api(
    act: Act, api: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GitTree, "changed", lambda tree, base: None)
    api.pull_files = [
        {"filename": "evals/new.jsonl", "status": "renamed", "previous_filename": "evals/old.jsonl"},
        {"filename": "README.md", "status": "modified"},
    ]
    seen = act({"README.md": "new\n"})
    assert "> - removed `evals/old.jsonl`\n> - added `evals/new.jsonl`" in seen.comment
    assert "README.md" not in seen.comment


def test_protected_files_that_nobody_can_list_are_said_to_be_unknown(
    act: Act, api: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GitTree, "changed", lambda tree, base: None)
    api.fail("GET", "/files", 404)
    seen = act({"README.md": "new\n"})
    assert seen.code == 0
    assert "could not be determined" in seen.comment


def test_a_harmless_change_has_nothing_to_show_first(act: Act) -> None:
    assert "[!IMPORTANT]" not in act({"README.md": "new\n"}).comment
