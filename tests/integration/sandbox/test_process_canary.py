"""A secret of ours is found by no command, by any means: for root and for an ordinary user, behind every wall."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.canary import VARIABLE

pytestmark = pytest.mark.cold

NOBODY = "60999"
TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder() -> Iterator[Path]:
    """What lies around: in a place that every user can reach, as on a runner."""
    place = Path(tempfile.mkdtemp(prefix="evalward-canary-")).resolve()
    secret = new_secret()
    for name in ("home/.netrc", "runner/set_env", "checkout/.git/config"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"token {secret}\n")
    (place / "checkout" / "code.txt").write_text("code\n")
    yield place
    shutil.rmtree(place)


def new_secret() -> str:
    """One for each run: what another one's processes show is no finding."""
    return f"canary-{secrets.token_hex(8)}"


@contextmanager
def another_run(user: str) -> Iterator[None]:
    """A process of the same user with a secret of its own, and without walls as yet."""
    number = int(user)
    other = subprocess.Popen(
        ["/bin/sleep", "300"], env={VARIABLE: new_secret()}, user=number, group=number, extra_groups=[]
    )
    try:
        yield
    finally:
        other.kill()
        other.wait()


def run(user: str, wall: str, folder: Path) -> dict[str, Any]:
    """The program of `support.canary` with the secret in its environment and in an open file."""
    secret = (folder / "home" / ".netrc").read_text().split()[1]
    for path in (folder, *folder.rglob("*")):
        if user != "-":
            os.chown(path, int(user), int(user))
        path.chmod(0o755)  # readable for everybody: no accident of modes shall save us
    interpreter = sys.executable if user == "-" else shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if interpreter is None:
        pytest.skip("no interpreter that every user can start")
    with (folder / "home" / ".netrc").open("rb") as held, socket.socket(socket.AF_UNIX) as docker:
        docker.bind(str(folder / "docker.sock"))
        docker.listen()
        (folder / "docker.sock").chmod(0o660)
        done = subprocess.run(
            [sys.executable, str(TESTS / "support" / "canary.py"), user, wall, interpreter, str(folder)],
            env={
                VARIABLE: secret,
                "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)]),
                "PATH": os.defpath,
                "HOME": str(folder / "home"),
            },
            pass_fds=[held.fileno()],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    if "skipped" in answer:
        pytest.skip(answer["skipped"])
    return answer


@pytest.mark.parametrize("wall", ["own user, namespaces", "own user, Landlock", "namespaces", "bubblewrap"])
@pytest.mark.parametrize("user", ["-", NOBODY], ids=["as we are", "as an ordinary user"])
def test_no_command_finds_our_secret(user: str, wall: str, folder: Path) -> None:
    if user != "-" and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    answer = run(user, wall, folder)
    assert (answer["found"].split(), answer["stderr"], answer["own"]) == (["looked"], "", "code\n")


@pytest.mark.parametrize("user", ["-", NOBODY], ids=["as we are", "as an ordinary user"])
def test_landlock_alone_keeps_memory_and_files_but_no_socket_and_says_so(user: str, folder: Path) -> None:
    if user != "-" and os.geteuid() != 0:
        pytest.skip("only root can become another user")
    answer = run(user, "Landlock", folder)
    assert answer["found"].replace("FOUND docker\n", "").split() == ["looked"]
    assert (answer["own"], answer["level"]) == ("code\n", "partial")


def test_without_any_wall_our_memory_is_hidden_still_but_files_are_open(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    with another_run(NOBODY):
        answer = run(NOBODY, "nothing", folder)
    found = [line for line in answer["found"].splitlines() if line.startswith("FOUND")]
    assert found  # the thief can find something: the other tests are no accident
    assert all(line.startswith(("FOUND file", "FOUND docker")) for line in found)
    assert answer["level"] == "none"
