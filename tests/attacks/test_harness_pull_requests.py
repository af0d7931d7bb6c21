"""Pull requests that change another harness's command: the whole action, with real processes of real commands."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from evalward.action import run_action
from evalward.commands.world import World
from support.git_repo import pull_request_repo
from support.github_api import REPOSITORY, TOKEN, FakeGitHub
from support.github_events import FORK, pull_request, push
from support.runner_log import is_ours, live_commands

SUITE = """\
version: 1
suites:
  - name: bot
    kind: external
    format: junit
    target: bot
    results: out/*.xml
"""
RUN = "    run: sh evals/bot.sh\n    env: [BOT_KEY]\n"
BASE = f"{SUITE}{RUN}"
BOT = """\
mkdir -p out
echo '<testsuite name="t" tests="2"><testcase classname="t" name="one"/>' > out/r.xml
echo '<testcase classname="t" name="two"/></testsuite>' >> out/r.xml
env > env.txt
"""
EVIL = "echo ran > stolen\nenv >> stolen\n"
OTHER_KEY, BOT_KEY = "other-0123456789abcdef", "bot-0123456789abcdef"
KEYS = {"OTHER_KEY": OTHER_KEY, "BOT_KEY": BOT_KEY}


@dataclass(frozen=True)
class Seen:
    """What a run of the action left."""

    code: int
    log: str
    comment: str
    folder: Path

    @property
    def env(self) -> dict[str, str] | None:
        """The environment of the base's command, `None` where it was not run."""
        file = self.folder / "env.txt"
        return dict(line.split("=", 1) for line in file.read_text().splitlines()) if file.exists() else None

    @property
    def not_measured(self) -> dict[str, str | None]:
        report = json.loads((self.folder / "evalward-out" / "report.json").read_text())
        return {run["suite"]: run["not_measured"] for run in report["runs"]}

    def left(self) -> str:
        """Every file that it left for others."""
        files = [*(self.folder / "evalward-out").rglob("*"), *self.folder.parent.glob("*.txt")]
        return "".join(file.read_text("utf-8") for file in files if file.is_file())


Act = Callable[..., Seen]


@pytest.fixture
def act(tmp_path: Path) -> Iterator[Act]:
    """Run the action on a pull request, or on a push, that changes `head` on top of `base`."""
    with FakeGitHub() as api:

        def call(
            head: Mapping[str, str],
            base: Mapping[str, str] | None = None,
            *,
            fork: bool = False,
            pushed: bool = False,
            keys: Mapping[str, str] = KEYS,
            **env: str,
        ) -> Seen:
            standard = {"evalward.yml": BASE, "evals/bot.sh": BOT, "evil.sh": EVIL} if base is None else base
            repo = pull_request_repo(tmp_path / "workspace", standard, head)
            for file in repo.folder.iterdir():
                os.utime(file, (1_700_000_000, 1_700_000_000))  # checked out long ago
            for file in repo.folder.glob("forged/*"):
                os.utime(file, (1_700_000_000, 1_700_000_000))
            api.heads[7] = repo.head
            proposed = pull_request(head=repo.head, base=repo.base, head_repository=FORK if fork else REPOSITORY)
            event = push(repo.base, repo.merge) if pushed else proposed
            (tmp_path / "event.json").write_text(json.dumps(event))
            variables = {
                "PATH": os.environ["PATH"],
                "GITHUB_WORKSPACE": str(repo.folder),
                "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
                "GITHUB_EVENT_NAME": "push" if pushed else "pull_request",
                "GITHUB_REPOSITORY": REPOSITORY,
                "GITHUB_SHA": repo.merge,
                "GITHUB_API_URL": api.url,
                "GITHUB_RUN_ID": "1",
                "GITHUB_OUTPUT": str(tmp_path / "outputs.txt"),
                "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.txt"),
                "INPUT_GITHUB-TOKEN": TOKEN,
                **keys,
                **env,
            }
            log = StringIO()
            code = run_action(World(out=log, err=log, now=lambda: "2026-11-21T08:00:00Z", env=variables))
            bodies = api.bodies()
            return Seen(code, log.getvalue(), bodies[-1] if bodies else "", repo.folder)

        yield call


def test_the_bases_command_gets_its_key_and_no_other(act: Act) -> None:
    seen = act({"README.md": "new\n"})
    assert seen.code == 0, seen.log
    assert seen.env is not None
    assert seen.env["BOT_KEY"] == BOT_KEY
    assert not {"OTHER_KEY", "INPUT_GITHUB-TOKEN", "GITHUB_OUTPUT", "GITHUB_EVENT_PATH"} & seen.env.keys()
    assert TOKEN not in seen.env.values()
    assert seen.not_measured == {"bot": None}
    assert "bot: running `sh evals/bot.sh`" in seen.log
    for key in (BOT_KEY, OTHER_KEY):
        assert key not in seen.left()
        assert key not in seen.comment


@pytest.mark.parametrize(
    "change",
    [
        "    run: sh evil.sh\n    env: [OTHER_KEY]\n",
        "    run: sh evals/bot.sh\n    env: [BOT_KEY, OTHER_KEY]\n",
        "    run: sh evil.sh; sh evals/bot.sh\n    shell: true\n    env: [BOT_KEY]\n",
        "    rerun: sh evil.sh {dir}\n    env: [OTHER_KEY]\n",
        "",
    ],
)
def test_whatever_it_makes_of_the_command__the_bases_is_run(act: Act, change: str) -> None:
    seen = act({"evalward.yml": f"{SUITE}{change}"})
    assert seen.code == 0, seen.log
    assert not (seen.folder / "stolen").exists()
    assert seen.env is not None
    assert "OTHER_KEY" not in seen.env
    assert seen.not_measured == {"bot": None}
    assert "This pull request edits a harness's commands or the keys that they get." in seen.comment


def test_a_suite_of_another_name_runs_nothing__and_the_old_one_is_not_forgotten(act: Act) -> None:
    change = SUITE.replace("name: bot", "name: new") + "    run: sh evil.sh\n    env: [OTHER_KEY]\n"
    seen = act({"evalward.yml": BASE + change.split("suites:\n")[1]})
    assert not (seen.folder / "stolen").exists()
    assert seen.env is not None
    assert "OTHER_KEY" not in seen.env
    assert seen.not_measured["bot"] is None
    assert "which has no suite of this name yet; they run after the merge" in (seen.not_measured["new"] or "")
    assert "Review and merge them" in seen.comment
    assert "maintainer can run it with the key" not in seen.comment
    assert "they run after the merge" in seen.comment


def test_results_that_it_commits_are_not_those_of_the_run(act: Act) -> None:
    forged = {"forged/r.xml": '<testsuite name="t"><testcase classname="t" name="one"/></testsuite>'}
    seen = act({"evalward.yml": BASE.replace("out/*.xml", "forged/*.xml"), **forged})
    assert seen.env is not None
    assert (seen.code, seen.not_measured) == (3, {})
    assert "left nothing new in forged/" in seen.comment


@pytest.mark.parametrize("results", ["../*.xml", "/etc/*", "out/../../x.xml", "~/x"])
def test_results_stay_in_the_folder_of_the_configuration(act: Act, results: str) -> None:
    seen = act({"evalward.yml": BASE.replace("out/*.xml", results)})
    assert (seen.code, seen.env) == (2, None)


@pytest.mark.parametrize(
    "leave",
    [
        "mkdir out; ln -s {outside}/r.xml out/r.xml",
        "ln -s {outside} out",
        "mkdir out; ln -s /etc/passwd out/r.xml",
        "mkdir out; ln -s /proc/self/environ out/r.xml",
        "mkdir -p out/r.xml",
    ],
)
def test_links_that_it_leaves_lead_nowhere(act: Act, tmp_path: Path, leave: str) -> None:
    """What it names is read by whoever opens the checkout, and never through a link."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "r.xml").write_text('<testsuite name="t"><testcase classname="t" name="STOLEN"/></testsuite>')
    seen = act({"evals/bot.sh": leave.format(outside=outside)})
    assert seen.code in {2, 3}, seen.log
    assert "STOLEN" not in seen.left() + seen.log
    assert "root:" not in seen.left() + seen.log


def test_a_pipe_that_it_leaves_is_no_file(act: Act) -> None:
    seen = act({"evals/bot.sh": "mkdir out; mkfifo out/r.xml"})
    assert seen.code in {2, 3}, seen.log


def test_a_first_configuration_gets_no_key(act: Act) -> None:
    seen = act({"evalward.yml": BASE, "evals/bot.sh": EVIL}, {"README.md": "old\n"}, INPUT_BOOTSTRAP="true")
    assert not (seen.folder / "stolen").exists()
    assert "no configuration of the base names the keys" in (seen.not_measured["bot"] or "")


def test_after_the_merge_its_command_is_run(act: Act) -> None:
    change = SUITE.replace("name: bot", "name: new") + "    run: sh evals/bot.sh\n    env: [OTHER_KEY]\n"
    seen = act({"evalward.yml": change}, pushed=True)
    assert seen.env is not None
    assert seen.env["OTHER_KEY"] == OTHER_KEY
    assert seen.not_measured["new"] is None


def test_on_a_fork_there_is_no_key__and_that_is_said(act: Act) -> None:
    seen = act({"README.md": "new\n"}, fork=True, keys={})
    assert seen.env is None
    assert seen.not_measured == {"bot": "there is no key here (BOT_KEY is not set)"}


def test_elsewhere_a_missing_key_is_a_mistake(act: Act) -> None:
    seen = act({"README.md": "new\n"}, keys={})
    assert (seen.code, seen.env) == (2, None)
    assert "the command of bot needs a key, and BOT_KEY is not set" in seen.comment + seen.log


def test_what_it_prints_is_no_command_of_the_workflow__and_no_key(act: Act) -> None:
    seen = act(
        {"evals/bot.sh": "echo '::error::x'; echo \"::set-output name=x::$BOT_KEY\"; echo $BOT_KEY | base64; exit 3"}
    )
    lines = seen.log.splitlines()
    assert "  | ::error::x" in lines
    assert "  | ::set-output name=x::[redacted]" in lines
    assert [line for line in live_commands(seen.log) if not is_ours(line, TOKEN) and "::add-mask::" not in line] == []
    assert BOT_KEY not in "\n".join(line for line in lines if not line.startswith("::add-mask::"))
    assert BOT_KEY not in seen.comment + seen.left()
