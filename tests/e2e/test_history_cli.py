"""`evalward history` as people use it: a report goes in, trends and flaky cases come out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from evalward.commands.pipeline import dump_report
from support import warm
from support.git_repo import commit, git, init
from support.histories import TARGET, days
from support.html_pages import HtmlPage, faults

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with the reports of three days, in which a case came and went."""
    init(tmp_path)
    commit(tmp_path, {"README.md": "hello\n"})
    for day, report in enumerate(days({"shaky": "+-+", "fine": "+++", "lost": "+--"}), 1):
        (tmp_path / f"r{day}.json").write_text(dump_report(report), "utf-8")
    return tmp_path


@pytest.fixture
def evalward(repo: Path) -> Call:
    def call(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(repo), "COLUMNS": "120", **env}
        return warm.evalward(*words, cwd=repo, env=environment)

    return call


@pytest.mark.parametrize(
    "place", [["--folder", "data"], ["--branch", "evalward-data"], []], ids=["folder", "branch", "default"]
)
def test_history__append_and_show(evalward: Call, place: list[str]) -> None:
    for day in (1, 2, 3, 3):
        done = evalward("history", "append", "--report", f"r{day}.json", *place, GITHUB_REF_NAME="main")
        assert (done.returncode, done.stderr) == (0, "")
    assert "has this report already" in done.stdout
    shown = evalward("history", "show", *place, "--metric", "pass_rate")
    assert shown.returncode == 0
    assert f"tools × {TARGET} (3 runs, 2026-01-01 to 2026-01-03)" in shown.stdout
    assert "█▁▄" in shown.stdout
    assert "~ shaky: passes 66.7 % (2 of 3 trials in 3 runs), since 2026-01-02 (0000000) or earlier" in shown.stdout
    assert "✗ lost: fails since 2026-01-02 (0000000), 2 runs; passed last 2026-01-01" in shown.stdout
    assert "fine" not in shown.stdout


def test_history__ascii_where_the_terminal_knows_no_more(evalward: Call) -> None:
    for day in (1, 2, 3):
        evalward("history", "append", "--report", f"r{day}.json")
    shown = evalward("history", "show", "--metric", "pass_rate", LC_ALL="C")
    assert "#_-" in shown.stdout
    assert "█" not in shown.stdout


def test_history__machine_formats(evalward: Call, repo: Path) -> None:
    evalward("history", "append", "--report", "r1.json", "--ref", "main")
    summary = json.loads(evalward("history", "show", "--format", "json").stdout)
    assert summary["schema"] == "evalward.history-summary/1"
    assert summary["runs"][0]["trends"][0]["points"][0]["at"] == "2026-01-01T08:00:00Z"
    evalward("history", "show", "--format", "markdown", "--output", "h.md")
    assert "```mermaid" in (repo / "h.md").read_text("utf-8")
    assert json.loads((repo / ".evalward" / "history.jsonl").read_text("utf-8"))["ref"] == "main"


def test_history__a_broken_line_is_told_and_passed_over(evalward: Call, repo: Path) -> None:
    evalward("history", "append", "--report", "r1.json")
    path = repo / ".evalward" / "history.jsonl"
    path.write_bytes(b"<<<<<<< HEAD\n\xff\xfe\n" + path.read_bytes())
    shown = evalward("history", "show")
    assert shown.returncode == 0
    assert "warning: history.jsonl: 2 lines are not readable and passed over" in shown.stderr
    assert "1 run" in shown.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["show"], "there is no history"),
        (["show", "--branch", "nothing"], "there is no history"),
        (["show", "--branch", "a b"], "is not a name that a branch can have"),
        (["append", "--report", "r1.json", "--branch", "main"], "is checked out"),
        (["append", "--report", "none.json"], "there is no such report"),
        (["append", "--report", "r1.json", "--judgement", "r1.json"], "this is not a judgement"),
    ],
)
def test_history__mistakes(evalward: Call, repo: Path, words: list[str], says: str) -> None:
    git(repo, "checkout", "--quiet", "-B", "main")
    done = evalward("history", *words)
    assert done.returncode == 2
    assert says in done.stderr


def test_history__unknown_names_are_told_with_the_known(evalward: Call) -> None:
    evalward("history", "append", "--report", "r1.json")
    done = evalward("history", "show", "--suite", "nothing")
    assert (done.returncode, f"Known: tools × {TARGET}." in done.stderr) == (2, True)
    done = evalward("history", "show", "--metric", "nothing")
    assert (done.returncode, "Known: overall_rate, pass_rate," in done.stderr) == (2, True)


def test_history__draws_a_releases_level(evalward: Call) -> None:
    assert evalward("baseline", "update", "--report", "r1.json", "--baseline", "v1.json").returncode == 0
    for day in (1, 2, 3):
        evalward("history", "append", "--report", f"r{day}.json")
    shown = evalward("history", "show", "--metric", "pass_rate", "--anchor", "v1.json", "--format", "markdown").stdout
    assert "| 100.0 % (v1.json) |" in shown
    assert "anchor v1.json at 100" in shown
    assert "line [100, 100, 100]" in shown


# --- the page ---------------------------------------------------------------------------------------------------------

CONFIG = """\
version: 1
suites: [{name: tools, kind: bash, cases: "cases/*.jsonl", targets: [anthropic/m]}]
policy: [{metric: pass_rate, floor: 0.9}]
"""


def pages(repo: Path, folder: str = "site") -> HtmlPage:
    found = HtmlPage((repo / folder / "index.html").read_text("utf-8"))
    assert list(faults(found, "https://")) == []
    return found


def drawn(found: HtmlPage) -> str:
    return " ".join(each.text for each in found.all("title"))


def appended(evalward: Call, *place: str) -> None:
    for day in (1, 2, 3):
        evalward("history", "append", "--report", f"r{day}.json", *place, "--ref", "main")


def test_page__without_a_configuration(evalward: Call, repo: Path) -> None:
    appended(evalward)
    done = evalward("history", "page", "--output", "site")
    assert (done.returncode, done.stderr) == (0, "")
    assert "site/index.html: 3 runs, 0.0" in done.stdout
    found = pages(repo)
    assert "pass_rate in 3 runs: 100.0 % (2026-01-01 (0000000)), last 66.7 %" in drawn(found)
    assert "Protected metrics" in found.all("main")[0].text  # the kind's own rules
    assert [link for link in found.links() if not link.startswith("#")] == []


def test_page__takes_limits_and_place_from_the_configuration(evalward: Call, repo: Path) -> None:
    appended(evalward, "--branch", "evalward-data")
    (repo / "evalward.yml").write_text(CONFIG + "history: {branch: evalward-data}\n", "utf-8")
    assert evalward("history", "page", "--output", "site").returncode == 0
    assert "floor 90 %" in drawn(pages(repo))
    (repo / "evalward.yml").write_text(CONFIG + "history: {folder: data}\n", "utf-8")
    done = evalward("history", "page", "--output", "site")
    assert (done.returncode, "data/history.jsonl: there is no history" in done.stderr) == (2, True)
    assert evalward("history", "page", "--output", "other", "--branch", "evalward-data").returncode == 0
    assert (repo / "other" / "index.html").read_bytes() == (repo / "site" / "index.html").read_bytes()


def test_page__links_lead_to_the_repository(evalward: Call, repo: Path) -> None:
    appended(evalward)
    evalward(
        "history", "page", "--output", "site", GITHUB_SERVER_URL="https://ghe.example", GITHUB_REPOSITORY="acme/tools"
    )
    commit_page = "https://ghe.example/acme/tools/commit/" + "0" * 39
    assert f"{commit_page}3" in pages(repo).links()
    evalward("history", "page", "--output", "site", "--repository", "https://github.com/acme/tools")
    assert any(link.startswith("https://github.com/acme/tools/commit/") for link in pages(repo).links())


def test_page__draws_the_releases_that_were_tagged(evalward: Call, repo: Path) -> None:
    appended(evalward)
    when = {"GIT_COMMITTER_DATE": "2026-01-02T09:00:00+02:00"}
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "tag", "-a", "-m", "x", "v1.4"],
        cwd=repo, check=True, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **when},
    )  # fmt: skip
    git(repo, "tag", "no-version")
    evalward("history", "page", "--output", "site")
    assert "release v1.4" in drawn(pages(repo))
    assert "no-version" not in drawn(pages(repo))


def test_page__of_a_part(evalward: Call, repo: Path) -> None:
    appended(evalward)
    evalward("history", "append", "--report", "r1.json", "--ref", "other", "--folder", "data")
    assert evalward("history", "page", "--output", "site", "--target", "anthropic/*").returncode == 0
    done = evalward("history", "page", "--output", "site", "--target", "openai/*")
    assert (done.returncode, f"Known: tools × {TARGET}." in done.stderr) == (2, True)
    done = evalward("history", "page", "--output", "site", "--ref", "release/*")
    assert (done.returncode, "no run is chosen" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "there is no history"),
        (["--repository", "javascript:alert(1)"], "is not a repository's address"),
        (["--config", "none.yml"], "there is no such file"),
        (["--profile", "release"], "a profile is part of a configuration"),
        (["--branch", "nothing"], "there is no history"),
    ],
)
def test_page__mistakes(evalward: Call, repo: Path, words: list[str], says: str) -> None:
    done = evalward("history", "page", "--output", "site", *words)
    assert (done.returncode, says in done.stderr) == (2, True)
    assert not (repo / "site").exists()


def test_page__is_written_through_no_link(evalward: Call, repo: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    appended(evalward)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (repo / "site").symlink_to(elsewhere)
    assert evalward("history", "page", "--output", "site").returncode == 2
    assert list(elsewhere.iterdir()) == []
