"""What else lies on a machine and is nobody's business: a runner's credentials, a session's keys."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalward.sandbox.launcher.plan import SYSTEM
from evalward.sandbox.process import WorkspaceSettings, runners
from evalward.sandbox.process.probe import Layers
from support.sandboxes import bash, opened, use, walls_named

pytestmark = pytest.mark.cold

CONFIG, TEMPORARY = "_work/project/project/.git/config", "_work/_temp/event.json"
ANSWER, TOOL = "_work/project/project/evals/answer.txt", "_work/_tool/Python/python"
FILES = (".runner", ".credentials", "_diag/log", "run.sh", CONFIG, TEMPORARY, ANSWER, TOOL)
SESSION = """
import ctypes, os
from evalward.sandbox.launcher import kernel
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
ask = lambda: libc.syscall(ctypes.c_long(number), ctypes.c_long(0), ctypes.c_long(-3), ctypes.c_long(1))
before = ask()
try:
    kernel.new_session_keyring()
    print("same" if before == ask() else "new")
except OSError as error:
    print("none", error)
"""


@pytest.fixture(params=["own user, namespaces", "own user, Landlock", "namespaces", "Landlock"])
def walls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Layers:
    layers = walls_named(request.param)
    use(monkeypatch, layers)
    return layers


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runner beside the installed programs, so deep that only this test finds it: others run on this machine, too."""
    top = Path(f"/opt/evalward-test-{os.getpid()}")
    folder = top / "for" / "us" / "runner"
    monkeypatch.setattr(runners, "PLACES", (folder.parent,))
    try:
        (folder / "_diag").mkdir(parents=True)
    except OSError:
        pytest.skip("only root installs programs")
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("secret")
        (folder / name).chmod(0o644)
    runners.marks.cache_clear()
    yield folder
    runners.marks.cache_clear()
    shutil.rmtree(top)


async def test_a_runners_credentials_cannot_be_read(walls: Layers, runner: Path) -> None:
    async with opened() as place:
        done = await bash(place, f"cd {runner}; cat run.sh; cat .runner .credentials _diag/log 2>/dev/null; true")
    assert done.stdout == "secret"


async def test_of_where_a_runner_works_only_its_tools_can_be_read(walls: Layers, runner: Path) -> None:
    """A checkout has the token that it was made with, and the answers."""
    async with opened() as place:
        done = await bash(
            place, f"cd {runner}; cat {CONFIG} {TEMPORARY} {ANSWER} 2>/dev/null; echo tool: $(cat {TOOL})"
        )
        assert done.stdout == "tool: secret\n"
        assert (await bash(place, f"touch {runner}/_work/new {runner}/_work/_tool/new")).exit_code != 0


async def test_a_runner_can_work_elsewhere(walls: Layers, runner: Path) -> None:
    (runner / "_work").rename(runner / "other")
    (runner / ".runner").write_text('\ufeff{"workFolder": "other"}', "utf-8")
    async with opened() as place:
        done = await bash(place, f"cd {runner}; cat {CONFIG.replace('_work', 'other')}; true")
        assert done.stdout == ""


async def test_a_tool_that_has_gone_since_it_was_seen_breaks_nothing(walls: Layers, runner: Path) -> None:
    shown = WorkspaceSettings(readable=(runner / "_work" / "_tool" / "gone", Path("/usr/gone"), runner / "run.sh"))
    async with opened(settings=shown) as place:
        assert (await bash(place, f"cat {runner}/run.sh; ls /usr/gone 2>/dev/null")).stdout == "secret"


def test_runners_are_found_beside_whatever_else_lies_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("here", "deep/there", "too/deep/there", "elsewhere/linked"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / ".runner").touch()
    (tmp_path / "opt").mkdir()
    for name in ("here", "deep", "too"):
        (tmp_path / name).rename(tmp_path / "opt" / name)
    (tmp_path / "opt" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "opt" / "circle").symlink_to("circle")
    (tmp_path / "opt" / "file").touch()
    monkeypatch.setattr(runners, "PLACES", (tmp_path / "opt", tmp_path / "missing"))
    found = {mark.relative_to(tmp_path / "opt").as_posix() for mark in runners.marks.__wrapped__()}
    assert found == {"here/.runner", "deep/there/.runner", "link/linked/.runner"}


def test_runners_are_looked_for_where_programs_are_installed() -> None:
    assert set(map(str, runners.PLACES)) <= set(SYSTEM) | {"/usr/local"}


async def test_a_runner_that_only_its_user_can_look_at_breaks_nothing(walls: Layers, runner: Path) -> None:
    runner.chmod(0o700)
    async with opened() as place:
        assert (await bash(place, "echo here")).stdout == "here\n"


async def test_our_own_checkout_is_no_installed_program(
    walls: Layers, runner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But what is to be shown of it is shown."""
    (runner / ".runner").unlink()
    checkout = runner / "_work/project/project"
    monkeypatch.chdir(checkout / "evals")
    async with opened() as place:
        done = await bash(place, f"cat {runner}/{ANSWER} {runner}/{CONFIG}; cat {runner}/{TOOL}")
        assert done.stdout == "secret"
    async with opened(settings=WorkspaceSettings(readable=(checkout,))) as place:
        done = await bash(place, f"cat {runner}/{ANSWER}; cat {runner}/{CONFIG}; touch {checkout}/new")
        assert (done.stdout, done.exit_code) == ("secret", 1)


def test_every_command_has_a_session_keyring_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SESSION],
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    if done.stdout.startswith("none"):
        pytest.skip("this kernel, or the container around us, has no keyrings")
    assert done.stdout == "new\n"
