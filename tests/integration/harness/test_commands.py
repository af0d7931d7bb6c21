"""Commands of other harnesses, really run: what they get, how they end, and what of it is told."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from evalward.keeper.harness import LINES, last_lines
from evalward.keeper.overseen import OverseenProgram
from evalward.redaction import NOTHING, Redaction
from evalward.sandbox.launcher.overseer import ProgramOrder
from evalward.wire.messages import HarnessOrder
from support.harnesses import KEY, Bench, python
from support.patience import wait_until

SHOW = "import json, os, sys; json.dump([sys.argv[1:], dict(os.environ), os.getcwd()], open('seen.json', 'w'))"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def seen(bench: Bench) -> tuple[list[str], dict[str, str], str]:
    arguments, env, folder = json.loads((bench.folder / "seen.json").read_text())
    return arguments, env, folder


def test_it_gets_the_variables_that_are_named__and_those_that_hold_no_secret(bench: Bench) -> None:
    bench.env = {
        **{"A_KEY": KEY, "OTHER_KEY": KEY, "MY_DATABASE": KEY, "GITHUB_TOKEN": KEY, "INPUT_GITHUB-TOKEN": KEY},
        **{"GITHUB_ENV": "/file", "GITHUB_ACTIONS": "false", "RUNNER_TEMP": "/tmp", "CI": "true", "NO_COLOR": "1"},
    }
    done = bench.run(run=python(SHOW), env=["A_KEY"])
    assert (done.exit_code, done.refused, done.timed_out) == (0, None, False)
    _, env, folder = seen(bench)
    assert folder == str(bench.folder)
    env.pop("LC_CTYPE", None)  # Python's own
    assert env == {
        **{name: value for name, value in bench.harnesses(run="x").env.items() if name in {"PATH", "HOME", "LANG"}},
        **{"A_KEY": KEY, "GITHUB_ACTIONS": "false", "CI": "true", "NO_COLOR": "1"},
    }


def test_a_token_of_github_is_a_key_like_any_other(bench: Bench) -> None:
    bench.env = {"GITHUB_TOKEN": KEY}
    bench.run(run=python(SHOW), env=["GITHUB_TOKEN"])
    assert seen(bench)[1]["GITHUB_TOKEN"] == KEY


def test_the_words_are_those_of_the_configuration__with_what_was_asked_in_their_places(bench: Bench) -> None:
    rerun = python(SHOW, "--into={dir}/x", "--only", "{ids}", "-n{trials}")
    order = HarnessOrder(suite="s", again=True, ids=["a b", "$(c)"], trials=3, folder=str(bench.folder))
    assert bench.run(order=order, rerun=rerun).exit_code == 0
    assert seen(bench)[0] == [f"--into={bench.folder}/x", "--only", "a b,$(c)", "-n3"]


def test_run_gets_a_folder_of_its_own__and_no_ids(bench: Bench) -> None:
    order = HarnessOrder(suite="s", ids=["a"], trials=50, folder=str(bench.folder))
    bench.run(order=order, run=python(SHOW, "--into", "{dir}"))
    assert seen(bench)[0] == ["--into", str(bench.folder)]


@pytest.mark.parametrize(("asked", "given"), [(3, "3"), (0, "1"), (1_000_000, "100")])
def test_a_number_of_trials_is_one_that_a_suite_can_have(bench: Bench, asked: int, given: str) -> None:
    order = HarnessOrder(suite="s", again=True, ids=["a"], trials=asked, folder=str(bench.folder))
    bench.run(order=order, rerun=python(SHOW, "{ids}", "{trials}"))
    assert seen(bench)[0] == ["a", given]


def test_a_shell_is_there_where_the_suite_says_so(bench: Bench) -> None:
    text = 'echo one | tr a-z A-Z > "{dir}/two" && echo {ids} >> {dir}/two'
    order = HarnessOrder(suite="s", again=True, ids=["a", "b"], folder=str(bench.folder))
    assert bench.run(order=order, rerun=text, shell=True).exit_code == 0
    assert (bench.folder / "two").read_text() == "ONE\na,b\n"
    done = bench.run(run="echo a > b")
    assert (done.last, (bench.folder / "b").exists()) == ("a > b", False)


@pytest.mark.parametrize(
    ("order", "keys", "why"),
    [
        (HarnessOrder(suite="other"), {"run": "x"}, "no suite of this name has commands"),
        (HarnessOrder(suite="s", again=True), {"run": "x"}, "the suite has no rerun"),
        (HarnessOrder(suite="s"), {"rerun": "x {dir}"}, "the suite has no run"),
        (HarnessOrder(suite="s"), {"run": "x", "env": ["A_KEY"]}, "it needs a key, and A_KEY is not set"),
        (HarnessOrder(suite="s"), {"run": "/no/such/program"}, "it could not be started: No such file or directory"),
        (
            HarnessOrder(suite="s", again=True, ids=["-x"], folder="/tmp"),
            {"rerun": "x {ids} {dir}"},
            "the id '-x' begins with -, and would be taken for an option",
        ),
        (
            HarnessOrder(suite="s", again=True, ids=["x"], folder="/tmp; x"),
            {"rerun": "x {ids} {dir}"},
            "the path of its folder is relative, or has characters other than",
        ),
    ],
)
def test_what_is_not_started_says_why(bench: Bench, order: HarnessOrder, keys: dict[str, Any], why: str) -> None:
    bench.env = {"A_KEY": " "}
    done = bench.run(order=order, **keys)
    assert done.exit_code is None
    assert why in (done.refused or "")


def test_what_is_withheld_is_not_started(bench: Bench) -> None:
    bench.withheld = {"s": "they run after the merge"}
    done = bench.run(run=python(SHOW))
    assert done.refused == "they run after the merge"
    assert not (bench.folder / "seen.json").exists()


def test_it_is_told_in_two_lines__and_what_it_printed_is_for_who_reads_its_results(bench: Bench) -> None:
    bench.env = {"A_KEY": KEY}
    code = f"import sys; print('first'); print('key {KEY}\\x1b[31m', file=sys.stderr); sys.exit(3)"
    done = bench.run(run=python(code), env=["A_KEY"])
    assert done.exit_code == 3
    assert sorted(done.last.splitlines()) == ["first", "key [redacted] [31m"]
    first, second = bench.said
    assert first.startswith("s: running `")
    assert second.startswith("s: exit code 3 after ")
    bench.said.clear()
    bench.run(run="echo fine")
    assert len(bench.said) == 2
    assert bench.said[0] == "s: running `echo fine`\n"


def test_only_the_end_of_what_it_printed_is_kept__in_whole_lines(bench: Bench) -> None:
    done = bench.run(run=python("for n in range(30000): print('line', n)"))
    assert done.last.splitlines() == [f"line {n}" for n in range(30_000 - LINES, 30_000)]


def test_a_key_at_the_edge_of_what_is_kept_is_whole_or_not_there() -> None:
    redaction = Redaction({"A_KEY": KEY})
    half = f"{KEY[10:]}\n".encode()
    assert last_lines(half + b"b\n", redaction, cut=True) == "b"
    assert KEY[-4:] not in last_lines((KEY * 4000).encode(), redaction)
    assert last_lines(b"", NOTHING) == ""


def test_it_is_asked_to_end_before_it_is_ended(tmp_path: Path) -> None:
    code = (
        "import signal, sys, time\n"
        "def end(*_):\n print('saved'); sys.exit(4)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "open('ready', 'w').close()\n"
        "time.sleep(1000)"
    )
    program = OverseenProgram(ProgramOrder(python(code), {}, str(tmp_path), None))
    wait_until((tmp_path / "ready").exists)
    program._ask_to_end()
    end = program.waited(1000)
    assert (end.exit_code, end.said) == (4, b"saved\n")


def test_at_its_time_limit_it_is_ended(bench: Bench) -> None:
    done = bench.run(run=["sleep", "1000"], run_timeout_s=0.3)
    assert (done.timed_out, done.exit_code) == (True, -15)
    assert "s: ended at its time limit after " in bench.said[1]


def test_one_that_does_not_want_to_end_is_ended(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); open('ready', 'w').close(); time.sleep(1000)"
    program = OverseenProgram(ProgramOrder(python(code), {}, str(tmp_path), None))
    wait_until((tmp_path / "ready").exists)
    program._ask_to_end()
    assert program.waited(1000).exit_code == -9


def test_one_that_prints_without_end_ends_at_its_time_limit(bench: Bench) -> None:
    done = bench.run(run="yes", run_timeout_s=0.3)
    assert (done.timed_out, done.exit_code) == (True, -15)
    assert set(done.last.splitlines()) <= {"y"}


def test_one_command_at_a_time(bench: Bench) -> None:
    code = "import os, time; os.mkdir('alone'); time.sleep(0.2); os.rmdir('alone')"
    harnesses = bench.harnesses(run=python(code))
    codes: list[int | None] = []
    threads = [
        threading.Thread(target=lambda: codes.append(harnesses.run(HarnessOrder(suite="s"), None).exit_code))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0, 0, 0]


def test_the_end_of_all_ends_what_runs__and_nothing_more_is_started(bench: Bench) -> None:
    harnesses = bench.harnesses(run=python("import time; open('ready', 'w').close(); time.sleep(100)"))
    found: list[int | None] = []
    thread = threading.Thread(target=lambda: found.append(harnesses.run(HarnessOrder(suite="s"), None).exit_code))
    thread.start()
    wait_until((bench.folder / "ready").exists)
    harnesses.end()
    thread.join()
    assert found == [-9]
    again = harnesses.run(HarnessOrder(suite="s"), None)
    assert again.refused == "the run has ended"
