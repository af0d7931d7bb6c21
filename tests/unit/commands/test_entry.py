"""What happens before anything is loaded: which commands get a runner at once, and how one ends that nobody uses."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evalward import entry
from evalward.cli import build_parser
from evalward.edge import SOURCE
from evalward.entry import EVENTS, MEASURING, runner_folder
from evalward.github.event import _PLANNERS
from evalward.keeper import process

LOADED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import evalward.entry
first = sorted(sys.modules)
import evalward.keeper.process
second = sorted(sys.modules)
import evalward.cli, evalward.commands.check, evalward.keeper.services, evalward.suites.bash.kind
print(json.dumps([first, second, sorted(sys.modules)]))
"""


ENDED = """
import gc, sys
sys.path.insert(0, sys.argv.pop(1))
import evalward.entry
evalward.cli = sys.modules["evalward.cli"] = type(sys)("evalward.cli")
evalward.cli.main = lambda: __import__("evalward.records.base") and sys.exit(2)
try:
    evalward.entry.main()
except SystemExit as ended:
    print(ended.code, gc.get_freeze_count() > len(gc.get_objects()))
"""


PLUGIN = "[pydantic]\nintruder = intruder:plugin\n"
FIRST_RECORD = """
import sys
sys.path.insert(0, sys.argv[1])
sys.path.insert(0, sys.argv[2])
sys.argv[1:] = ["--version"]
import evalward.entry
evalward.cli = type(sys)("evalward.cli")  # all that begins a command line but the command line itself
sys.modules["evalward.cli"] = evalward.cli
evalward.cli.main = lambda: __import__("evalward.records.base")
evalward.entry.main()
print("intruder" in sys.modules)
"""


def test_a_command_that_ends__does_not_search_its_modules_for_garbage() -> None:
    words = [sys.executable, "-c", ENDED, SOURCE, "--version"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "2 True\n"


def test_no_process_of_ours__loads_code_that_a_plugin_of_pydantic_brings(tmp_path: Path) -> None:
    information = tmp_path / "intruder-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: intruder\nVersion: 1\n", "utf-8")
    (information / "entry_points.txt").write_text(PLUGIN, "utf-8")
    (tmp_path / "intruder.py").write_text("plugin = None\n", "utf-8")

    words = [sys.executable, "-I", "-c", FIRST_RECORD, SOURCE, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


@pytest.fixture(scope="module")
def loaded() -> list[set[str]]:
    """The modules of a process at its first instruction, when it can start a runner, and when it can check."""
    words = [sys.executable, "-I", "-c", LOADED, SOURCE]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return [set(each) for each in json.loads(done.stdout)]


def test_the_first_instruction__loads_no_parser_of_arguments(loaded: list[set[str]]) -> None:
    assert not loaded[0] & {"argparse", "pathlib", "subprocess", "pydantic"}


def test_a_runner_starts__before_records_are_loaded(loaded: list[set[str]]) -> None:
    assert not loaded[1] & {"argparse", "pydantic", "asyncio"}


def test_who_holds_keys__loads_no_reader_of_the_heads_files(loaded: list[set[str]]) -> None:
    readers = {"yaml", "evalward.config.load", "evalward.suites.judge.who", "evalward.suites.bash.trial"}
    assert not loaded[2] & readers


def test_who_asks_no_model__loads_no_client(loaded: list[set[str]]) -> None:
    assert not loaded[2] & {"anthropic", "openai", "evalward.keeper.proxy", "evalward.targets.models.common"}


@pytest.mark.parametrize("command", MEASURING)
def test_a_command_that_measures__needs_keys(command: str) -> None:
    assert build_parser().parse_args([command]).keys is True
    assert runner_folder([command, "--target", "oracle"], {}) == str(Path.cwd())


@pytest.mark.parametrize(
    "words", [[], ["--help"], ["check", "--help"], ["run", "-h"], ["validate"], ["report", "check"], ["action"]]
)
def test_no_runner__where_none_is_needed(words: list[str]) -> None:
    assert runner_folder(words, {}) is None


@pytest.mark.parametrize("event", EVENTS)
def test_the_action__has_one_in_the_workspace(event: str) -> None:
    assert event in _PLANNERS
    assert runner_folder(["action"], {"GITHUB_WORKSPACE": "/github/workspace", "GITHUB_EVENT_NAME": event}) == (
        "/github/workspace"
    )


@pytest.mark.parametrize(
    "env",
    [
        {"GITHUB_EVENT_NAME": "pull_request_target"},
        {"GITHUB_EVENT_NAME": "issue_comment"},
        {"GITHUB_EVENT_NAME": "workflow_run", "INPUT_PUBLISH": "out"},
        {"GITHUB_EVENT_NAME": "pull_request", "INPUT_PUBLISH": "out"},
        {"GITHUB_EVENT_NAME": "pull_request", "INPUT_MODE": "link"},
        {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_WORKSPACE": ""},
    ],
)
def test_the_action__has_none_where_it_may_not_measure(env: dict[str, str]) -> None:
    assert runner_folder(["action"], {"GITHUB_WORKSPACE": "/github/workspace", **env}) is None


def test_an_unused_runner__is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PROGRAM", "import signal; signal.pause()")
    process.start_early({}, tmp_path)
    process.start_early({}, tmp_path)  # one is enough
    ((_, runner),) = process._EARLY

    process.end_unused()

    assert runner._process.returncode == -signal.SIGKILL
    assert not process._EARLY


def test_an_unused_runner__ends_before_our_interpreter_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python 3.12 on no process can be forked at its end, as it is for what else a runner's user may have left."""
    ended: list[None] = []
    monkeypatch.setattr(process, "end_unused", lambda: ended.append(None))
    monkeypatch.setattr(entry, "begin", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["evalward", "--no-such-option"])
    with pytest.raises(SystemExit):
        entry.main()
    assert ended == [None]
