"""Forks of a process that has loaded everything are as other processes are: the tests that start so many rely on it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.warm import AVAILABLE, EVALWARD, OF_A_COMMAND, WarmProcess, evalward, places
from support.warm_server import Order

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="processes start cold where there is no Linux")
SAY = """
import os, socket, sys
with socket.socket(fileno=int(sys.argv[1])) as line:
    names = sorted(name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}"))
    said = [sys.argv, dict(os.environ), os.getcwd(), os.getsid(0) == os.getpid(), names, sys.flags.isolated]
    line.sendall(repr(said).encode())
"""


def start(
    program: str, *arguments: str, descriptors: dict[int, int] | None = None, cwd: Path = Path("/")
) -> WarmProcess:
    with Path(os.devnull).open("r+b") as null:
        given = {0: null.fileno(), 1: null.fileno(), 2: null.fileno(), **(descriptors or {})}
        order = Order(program, arguments, {"A": "b"}, str(cwd), list(given), True, places=places(*OF_A_COMMAND))
        return WarmProcess("starter", order, list(given.values()))


def test_it_has_what_was_ordered_and_nothing_else(tmp_path: Path) -> None:
    """With many others at work: whatever number a descriptor has, it is the one that was meant."""

    def one(number: int) -> str:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                process = start(SAY, str(number), descriptors={number: theirs.fileno()}, cwd=tmp_path)
            said = ours.makefile().read()
            assert process.wait(60) == 0
        return said

    numbers = [3 + index % 20 for index in range(60)]
    with ThreadPoolExecutor(8) as pool:
        for number, said in zip(numbers, pool.map(one, numbers), strict=True):
            names = sorted(map(str, (0, 1, 2, number)))
            assert said == repr([["-c", str(number)], {"A": "b"}, str(tmp_path), True, names, 1])


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("raise SystemExit('words')", 1),
        ("1 / 0", 1),
        ("raise KeyboardInterrupt", -signal.SIGINT),
        ("import os; os._exit(7)", 7),
    ],
)
def test_it_ends_as_others_end(program: str, code: int) -> None:
    assert start(program).wait(60) == code


def test_it_can_be_waited_for_and_ended() -> None:
    process = start("import time; time.sleep(600)")
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.kill()
    assert process.wait(60) == process.poll() == -signal.SIGKILL


@pytest.mark.parametrize("words", [("--version",), ("validate", "nothing.yml"), ("check", "--nonsense")])
def test_a_command_says_the_same(words: tuple[str, ...], tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "COLUMNS": "100"}
    real = [str(EVALWARD), *words]
    cold = subprocess.run(real, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    warm = evalward(*words, cwd=tmp_path, env=env)
    assert (warm.returncode, warm.stdout, warm.stderr) == (cold.returncode, cold.stdout, cold.stderr)


@pytest.mark.parametrize("sent", [b"", b"\x00", (100).to_bytes(8, "big"), (100).to_bytes(8, "big") + b"{"])
def test_whoever_is_killed_while_ordering_takes_no_other_process_with_it(sent: bytes) -> None:
    place = places("starter")["starter"]
    with socket.socket(socket.AF_UNIX) as gone, Path(os.devnull).open("rb") as null:
        gone.connect(place)
        if sent:
            socket.send_fds(gone, [sent], [null.fileno()])
    assert start("raise SystemExit(3)").wait(60) == 3


AT_THE_END = """
import sys
sys.path.insert(0, sys.argv[1])
from evalward.sandbox import virtual
from support import warm
import evalward.sandbox.process.launching
warm.use()
virtual._WORKERS.start()
"""


def test_what_was_started_last_ends_before_those_that_have_forked_it() -> None:
    """Whatever is loaded first: what is registered with `atexit` later is called earlier."""
    words = [sys.executable, "-c", AT_THE_END, str(Path(__file__).parents[1])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == ""
