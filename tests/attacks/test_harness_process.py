"""Another harness's process: what it could learn of whoever started it, and what it could leave behind."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalward.keeper.overseen import OverseenProgram
from evalward.sandbox.launcher.overseer import ProgramOrder
from evalward.wire.messages import HarnessOrder
from support.harnesses import ENV, KEY, Bench, python
from support.patience import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process can be hidden or adopted")

CANARY = f"sk-canary-{secrets.token_hex(12)}"  # others look for theirs at the same time
USER = 60_977  # and those behind it: outside of those that workspaces take
LOOK = """
for process in /proc/[0-9]*; do
    if tr '\\0' '\\n' < $process/environ 2>/dev/null | grep -q "$1"; then echo "read $process/environ"; fi
done 2>/dev/null
for process in $2 $PPID; do
    for name in maps environ mem; do
        if head -c 1 /proc/$process/$name >/dev/null 2>&1; then echo "read $name"; fi
    done
done
n=0; while [ $n -lt 200 ]; do if [ -e /proc/$$/fd/$n ]; then echo "fd $n"; fi; n=$((n+1)); done
grep -E '^(CapEff|NoNewPrivs)' /proc/$$/status
echo "uid $(id -u)"
echo "cwd $(pwd)"
env | sed 's/^/env /'
"""
KEEPER = r"""
import json, os, sys
from evalward.edge import hide, taken_environment
env = taken_environment()
hide()
from support.harnesses import Bench
from pathlib import Path
from evalward.wire.messages import HarnessOrder
folder, user = Path(sys.argv[1]), int(sys.argv[2]) or None
leak = open(__file__ if "__file__" in globals() else "/etc/hostname")
os.set_inheritable(leak.fileno(), True)
bench = Bench(folder, {name: env[name] for name in ("SECRET_KEY", "A_KEY")})
words = ["sh", "-c", "exec > found.txt\n" + sys.argv[3], "sh", env["SECRET_KEY"], str(os.getpid())]
done = bench.run(user, HarnessOrder(suite="s", home="/tmp"), run=words, env=["A_KEY"])
print(done.model_dump_json())
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that any user may work in."""
    with tempfile.TemporaryDirectory(prefix="harness-", dir="/tmp") as name:
        Path(name).chmod(0o777)
        yield Path(name)


def found_by(place: Path, user: int | None) -> list[str]:
    """What a harness sees whose keeper is a process of its own, with keys in its environment."""
    keeper = subprocess.run(
        [sys.executable, "-c", KEEPER, str(place), str(user or 0), LOOK],
        env={**ENV, "SECRET_KEY": CANARY, "A_KEY": KEY, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert keeper.returncode == 0, keeper.stderr
    done = json.loads(keeper.stdout)
    assert done["exit_code"] == 0, done
    return (place / "found.txt").read_text().splitlines()


def test_looking_does_find_what_is_not_hidden() -> None:
    open_one = subprocess.Popen(["sleep", "1000"], env={**ENV, "SECRET_KEY": CANARY})
    try:
        words = ["sh", "-c", LOOK, "sh", CANARY, str(open_one.pid)]
        found = subprocess.run(words, env=ENV, capture_output=True, text=True, check=True).stdout.splitlines()
    finally:
        open_one.kill()
        open_one.wait()
    assert {f"read /proc/{open_one.pid}/environ", "read maps", "read environ"} <= set(found)


def assert_knows_nothing(found: list[str]) -> None:
    assert [line for line in found if line.startswith("read")] == []
    assert [line for line in found if line.startswith("fd")] == ["fd 0", "fd 1", "fd 2"]
    assert "CapEff: 0000000000000000" in [" ".join(line.split()) for line in found]
    assert "NoNewPrivs: 1" in [" ".join(line.split()) for line in found]
    assert f"env A_KEY={KEY}" in found
    assert [line for line in found if "SECRET" in line or CANARY in line] == []


def test_it_reads_nothing_of_its_keepers(place: Path) -> None:
    """As our own user; as root it is so in name only."""
    found = found_by(place, None)
    assert_knows_nothing(found)
    assert f"uid {os.getuid()}" in found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make it another user")
def test_as_another_user_it_reads_nothing_either__and_has_a_home_of_its_own(place: Path) -> None:
    found = found_by(place, USER)
    assert_knows_nothing(found)
    assert {f"uid {USER}", "env HOME=/tmp", f"cwd {place}"} <= set(found)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is nobody else")
def test_in_a_workflow_nothing_is_run_as_root(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"GITHUB_ACTIONS": "true"})
    done = bench.run(run="touch made")
    assert "no command is run as root" in (done.refused or "")
    assert not (tmp_path / "made").exists()


SPAWN = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        with open("left.part", "w") as file:
            file.write(str(os.getpid()))
        os.rename("left.part", "left")
        time.sleep(1000)
    os._exit(0)
while not os.path.exists("left"):
    time.sleep(0.01)
if len(sys.argv) > 1:
    time.sleep(1000)
"""


def is_gone(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True
    return "State:\tZ" in status


def test_what_left_its_session_is_gone_at_its_end(tmp_path: Path) -> None:
    assert Bench(tmp_path).run(run=python(SPAWN)).exit_code == 0
    assert is_gone(int((tmp_path / "left").read_text()))


def test_and_at_its_time_limit(tmp_path: Path) -> None:
    program = OverseenProgram(ProgramOrder(python(SPAWN, "stay"), ENV, str(tmp_path), None))
    wait_until((tmp_path / "left").exists)
    program._ask_to_end()
    program.waited(1000)
    assert is_gone(int((tmp_path / "left").read_text()))


def test_and_when_whoever_started_it_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from support.harnesses import Bench; "
        "Bench(Path(sys.argv[1])).run(run=[sys.executable, '-c', sys.argv[2], 'stay'])"
    )
    env = {**ENV, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    keeper = subprocess.Popen([sys.executable, "-c", code, str(tmp_path), SPAWN], env=env)
    try:
        wait_until((tmp_path / "left").exists)
    finally:
        keeper.kill()
        keeper.wait()
    left = int((tmp_path / "left").read_text())
    wait_until(lambda: is_gone(left))


def test_a_harness_that_ends_its_overseer_ends_with_it(tmp_path: Path) -> None:
    """Whoever waits for it goes on, and takes it for no success."""
    code = "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(1000)"
    done = Bench(tmp_path).run(run=python(code))
    assert done.exit_code is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make it another user")
def test_another_user_can_not_end_it(place: Path) -> None:
    done = Bench(place).run(USER + 1, HarnessOrder(suite="s", home="/tmp"), run="kill -9 $PPID; echo $?", shell=True)
    assert (done.exit_code, done.last.splitlines()[-1]) == (0, "1")


@pytest.mark.parametrize("home", ["", "relative", "/x\0y", "/no/such"])
def test_whatever_the_runner_says_is_its_home__nothing_breaks(place: Path, home: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only another user has a home of the runner's")
    done = Bench(place).run(USER + 2, HarnessOrder(suite="s", home=home), run="true")
    assert (done.exit_code == 0) is ("\0" not in home)


def test_signals_of_a_terminal_are_not_for_it(tmp_path: Path) -> None:
    """It is in no group of ours: Ctrl-C comes to us, and we end it. What we do then stays as it was."""
    before = signal.getsignal(signal.SIGINT)  # not Python's own where a shell started us in the background
    done = Bench(tmp_path).run(
        run=python("import os; print(os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid())")
    )
    assert done.last == "True True"
    assert signal.getsignal(signal.SIGINT) is before
