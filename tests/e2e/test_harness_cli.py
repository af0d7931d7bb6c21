"""`evalward run` with another harness's command: the whole command, from its start to whatever ends it."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from support import warm
from support.live_runs import ended
from support.patience import wait_until
from support.processes import is_running

KEY = "bot-0123456789abcdef"
RESULTS = """
<testsuite name="t" tests="2"><testcase classname="t" name="one"/>
<testcase classname="t" name="two"><failure>no</failure></testcase></testsuite>
"""
WRITE = f"""
import os, pathlib, sys
folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
(folder / "r.xml").write_text({RESULTS!r})
print("key", os.environ["BOT_KEY"])
"""
WAIT = """
import os, pathlib, time
if os.fork() == 0:
    os.setsid()
pathlib.Path(f"{os.getpid()}.pid").touch()
time.sleep(1000)
"""


def write(folder: Path, code: str, *words: str, **keys: object) -> None:
    (folder / "bot.py").write_text(code)
    run = [sys.executable, "bot.py", *words]
    suite = {"name": "bot", "kind": "external", "format": "junit", "target": "bot", "results": "out/*.xml", "run": run}
    (folder / "evalward.yml").write_text(json.dumps({"version": 1, "suites": [{**suite, **keys}]}))


def start(folder: Path, *words: str) -> warm.Command:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "COLUMNS": "160", "BOT_KEY": KEY}
    return warm.start_evalward(*words, cwd=folder, env=env)


@pytest.mark.parametrize(("words", "results"), [(("out",), "out/*.xml"), (("{dir}",), "{dir}/*.xml")])
def test_it_is_run_and_its_results_are_read(tmp_path: Path, words: tuple[str, ...], results: str) -> None:
    write(tmp_path, WRITE, *words, results=results, env=["BOT_KEY"])
    done = ended(start(tmp_path, "run"))
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "evalward-out" / "report.json").read_text())
    (run,) = report["runs"]
    assert (run["target"], run["metrics"]["pass_rate"]["value"]) == ("bot", 0.5)
    assert "bot: running `" in done.err
    assert "bot: exit code 0 after " in done.err
    assert KEY not in done.err + done.out


def test_its_exit_code_is_told__and_its_results_count(tmp_path: Path) -> None:
    write(tmp_path, WRITE + "sys.exit(5)", "out", env=["BOT_KEY"])
    done = ended(start(tmp_path, "run"))
    assert "bot: exit code 5 after " in done.err
    assert "  | key" not in done.err
    assert done.code == 0


def test_what_it_printed_is_told_where_it_left_nothing__without_its_key(tmp_path: Path) -> None:
    write(tmp_path, "import os; print('key', os.environ['BOT_KEY'])", env=["BOT_KEY"])
    done = ended(start(tmp_path, "run"))
    assert done.code == 3
    assert "  | key [redacted]" in done.err
    assert "the harness ended with exit code 0 and left nothing in out/*.xml: key [redacted]" in " ".join(
        done.out.split()
    )
    assert KEY not in done.err + done.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    write(tmp_path, WAIT)
    process = start(tmp_path, "run")
    wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
    left = [int(file.stem) for file in tmp_path.glob("*.pid")]
    process.send_signal(number)
    done = ended(process)
    assert done.code in {3, 130}, done.err
    wait_until(lambda: not any(is_running(pid) for pid in left))
