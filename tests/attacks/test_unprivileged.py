"""Whoever opens a stranger's files is no root; a launcher without keys makes the walls and changes owners."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from evalward.sandbox.base import SandboxError
from evalward.sandbox.launcher.owners import hand_over
from evalward.sandbox.launcher.plan import OWN_USERS, SandboxPlan
from evalward.sandbox.process import launching
from evalward.sandbox.process.client import LauncherClient, SandboxRefusedError
from evalward.sandbox.process.places import remove
from evalward.sandbox.process.users import take_user
from support.patience import PATIENCE_S

pytestmark = pytest.mark.cold

TESTS = Path(__file__).resolve().parents[1]
NOBODY = 60998


def test_an_ordinary_user_works_with_a_privileged_launcher() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can start such a launcher")
    done = subprocess.run(
        [sys.executable, str(TESTS / "support" / "unprivileged.py"), str(NOBODY)],
        env={"PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)]), "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert found["isolation"].startswith(("full isolation (own user", "partial isolation (own user"))
    assert found["stderr"] == ""
    assert found["id"] != [str(NOBODY)]
    assert found["closed"]  # without the launcher's help we could not look
    assert found["read"] == ["given", "mine\n", "mine\n", None, None]
    assert found["type"] == ["directory", "directory", None, "directory"]
    assert found["tmp"] == "tmp\n"
    assert found["copied"] == ["copy/deep/er/file", "copy/given.txt", "copy/locked/file"]
    assert found["after"] == ["mine", *found["id"]]
    assert found["gone"]


def test_what_is_handed_over_follows_no_link_and_takes_nobody_elses_files(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    (outside / "secret").chmod(0o600)
    folder = tmp_path / "folder"
    folder.mkdir()
    os.chown(folder, 61999, 61999)
    (folder / "file").write_text("x")
    (folder / "link").symlink_to(outside)
    (folder / "hard").hardlink_to(outside / "secret")
    os.mkfifo(folder / "pipe")
    for name in ("file", "link", "pipe"):
        os.chown(folder / name, 61999, 61999, follow_symlinks=False)
    (folder / "file").chmod(0)
    hand_over(str(folder), 61999, NOBODY)
    owners = {path.name: path.lstat().st_uid for path in folder.iterdir()}
    assert owners == {"file": NOBODY, "link": NOBODY, "pipe": NOBODY, "hard": 0}
    assert (folder / "file").stat().st_mode & 0o777 == 0o600
    assert (outside.stat().st_uid, (outside / "secret").stat().st_uid) == (0, 0)


def test_any_depth_is_handed_over() -> None:
    folder = Path(tempfile.mkdtemp(prefix="evalward-deep-"))
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d" * 20, 0o700, dir_fd=here)
        below = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("last", os.O_CREAT | os.O_WRONLY, 0o000, dir_fd=here))
    before = Path.cwd()
    hand_over(str(folder), os.geteuid(), os.geteuid())
    assert Path.cwd() == before
    assert os.stat("last", dir_fd=here).st_mode & 0o777 == 0o600
    os.close(here)
    assert remove(folder)


@pytest.mark.parametrize("user", [None, 0, 1000])
def test_who_asks_a_privileged_launcher_gets_no_other_user(user: int | None, tmp_path: Path) -> None:
    def start(control: socket.socket) -> subprocess.Popen[bytes]:
        return launching.start_here(control, NOBODY)

    way = patch.object(launching, "_CHOSEN", [launching.Launching(start, privileged=True)])
    with way, pytest.raises(SandboxRefusedError, match="user id of their own"):
        LauncherClient(SandboxPlan(str(tmp_path), [], str(tmp_path), user=user))


def test_who_asks_a_privileged_launcher_gets_only_his_own_files(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can start such a launcher")

    def start(control: socket.socket) -> subprocess.Popen[bytes]:
        return launching.start_here(control, NOBODY)

    secret = tmp_path / "ours" / "secret"
    secret.parent.mkdir()
    secret.write_text("x")
    user = take_user()
    assert user is not None
    plan = SandboxPlan(str(tmp_path), [str(secret.parent)], str(tmp_path), user=user.number, owner=0)
    with patch.object(launching, "_CHOSEN", [launching.Launching(start, privileged=True)]):
        client = LauncherClient(plan)
        try:
            for request in (client.give, client.take):
                with pytest.raises(SandboxError, match="not permitted"):
                    request()
            assert client.open(str(secret.parent), ["secret"]) is None
        finally:
            client.close()
            user.release()
    assert secret.stat().st_uid == secret.parent.stat().st_uid == 0


def asked_for(plan: SandboxPlan) -> list[dict[str, object]]:
    """What a privileged launcher answers to `NOBODY`: to the plan and, where it takes that, to taking all back."""
    ours, theirs = socket.socketpair()
    with ours:
        process = launching.start_here(theirs, NOBODY)
        theirs.close()
        answers = []
        with ours.makefile("rb") as lines:
            for request in (plan.dump(), b"T"):
                try:
                    ours.sendall(request)
                    answers.append(json.loads(lines.readline() or b"{}"))
                except OSError:
                    break
                if "ok" not in answers[-1]:
                    break
    process.wait(PATIENCE_S)
    return answers


@pytest.fixture
def own() -> Iterator[Path]:
    """A folder of `NOBODY`, with what a sandbox needs, beside one of somebody else."""
    if os.geteuid() != 0:
        pytest.skip("only root can start such a launcher")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
        Path(folder).chmod(0o755)
        yield made(Path(folder))


def made(place: Path) -> Path:
    (place / "closed" / "open").mkdir(parents=True)
    (place / "closed").chmod(0o700)
    own = place / "own"
    for folder in (own, own / "tmp", own / "root", own / "in"):
        folder.mkdir()
        os.chown(folder, NOBODY, NOBODY)
    plan = SandboxPlan(str(own / "root"), [str(own)], str(own / "tmp"), user=OWN_USERS[7], namespaces=True)
    if asked_for(plan) != [{"ok": True}, {"ok": True}]:
        pytest.skip("this machine has no namespaces")
    return own


def plan_of(own: Path, **more: object) -> SandboxPlan:
    return SandboxPlan(str(own / "root"), [str(own)], str(own / "tmp"), user=OWN_USERS[7], namespaces=True, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", ["placed", "readable", "replaced", "linked"])
def test_no_plan_mounts_what_its_owner_has_no_right_to(way: str, own: Path) -> None:
    """Root builds the sandbox: a folder of root's, mounted into one that is handed over, would change hands."""
    closed, inside = own.parent / "closed", str(own / "in")
    (own / "link").symlink_to(closed)
    plans: dict[str, dict[str, object]] = {
        "placed": {"placed": {inside: str(closed)}},
        "linked": {"placed": {inside: str(own / "link")}},
        "readable": {"readable": [str(closed / "open")]},
        "replaced": {"replaced": {inside: str(closed / "open")}},
    }
    (answer,) = asked_for(plan_of(own, **plans[way]))
    assert "error" in answer
    assert {path.stat().st_uid for path in (closed, closed / "open")} == {0}


def test_what_is_mounted_in_a_folder_is_not_handed_over(own: Path) -> None:
    script = (
        "import sys; from evalward.sandbox.launcher import kernel; from evalward.sandbox.launcher.owners import *\n"
        "kernel.unshare(kernel.CLONE_NEWNS); kernel.mount('none', '/', flags=kernel.MS_REC | kernel.MS_PRIVATE)\n"
        "kernel.mount(sys.argv[1], sys.argv[2], flags=kernel.MS_BIND)\n"
        "try:\n    hand_over(sys.argv[3], int(sys.argv[4]), 61007)\nexcept PermissionError:\n    print('refused')\n"
    )
    words = [str(own.parent / "closed"), str(own / "in"), str(own), str(NOBODY)]
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("refused\n", "")
    assert (own.parent / "closed").stat().st_uid == 0


@pytest.mark.parametrize("path", ["/tmp/out/made", "/x/../../..{own}/made"])
def test_no_plan_makes_files_outside_of_the_sandbox(path: str, own: Path) -> None:
    elsewhere = own.parent / "closed"
    (own / "tmp" / "out").symlink_to(elsewhere)
    (own / "file").touch()
    os.chown(own / "file", NOBODY, NOBODY)
    (answer,) = asked_for(plan_of(own, placed={path.format(own=own): str(own / "file")}))
    assert "error" in answer
    assert [one.name for one in elsewhere.iterdir()] == ["open"]
    assert not (own / "made").exists()
