"""The attempts to get out, behind walls that an ordinary user has built: by bubblewrap, by us, by Landlock."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalward.sandbox.launcher import bubblewrap
from evalward.sandbox.launcher.plan import SandboxPlan

pytestmark = pytest.mark.cold

TESTS = Path(__file__).resolve().parents[1]
SOMEBODY = 60997


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="evalward-ordinary-"))
    made.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(made, SOMEBODY, SOMEBODY)
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize(
    ("wall", "level", "left_open"),
    [("bubblewrap", "full", set()), ("namespaces", "full", set()), ("Landlock", "partial", {"path socket"})],
)
def test_no_attempt_gets_out(wall: str, level: str, left_open: set[str], folder: Path) -> None:
    interpreter = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if os.geteuid() != 0 or interpreter is None:
        pytest.skip("only root can become somebody else, with an interpreter that everybody can start")
    done = subprocess.run(
        [sys.executable, str(TESTS / "support" / "ordinary.py"), str(SOMEBODY), wall, interpreter, str(folder)],
        env={"PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)]), "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    if "skipped" in answer:
        pytest.skip(answer["skipped"])
    *got, last = answer["said"]
    assert (last, answer["stderr"]) == ("done", "")
    assert {line.removeprefix("GOT ") for line in got} - left_open == set()
    assert (answer["level"], answer["alive"], answer["new"]) == (level, True, False)
    assert answer["mine"] == ["x\n", 3, "x\n", True]
    assert answer["seen"] == "shown"
    assert answer["found"] == "nothing\n"
    assert (answer["covered"], answer["covers"]) == ([], True)
    assert answer["shell"] == "virtual\n"
    assert ("built by bubblewrap" in answer["how"]) == (wall == "bubblewrap")


def test_only_a_program_that_root_alone_can_change_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bwrap"
    program.write_text("")
    monkeypatch.setattr(bubblewrap, "PLACES", (str(tmp_path / "missing"), str(program)))
    found = {}
    for mode in (0o755, 0o775, 0o757, 0o4755, 0o2755):
        program.chmod(mode)
        found[mode] = bubblewrap.installed() is not None
    by_root = program.stat().st_uid == 0
    assert found == {0o755: by_root, 0o775: False, 0o757: False, 0o4755: False, 0o2755: False}


def test_bubblewrap_is_asked_for_every_namespace(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho --disable-userns\n")
    program.chmod(0o755)
    plan = SandboxPlan(
        str(tmp_path), [str(tmp_path)], str(tmp_path), namespaces=True, network=True, bubblewrap=str(program)
    )
    words = bubblewrap.words(plan, 3, 4, "/modules")
    for wanted in ("--unshare-all", "--new-session", "--die-with-parent", "--disable-userns", "--as-pid-1"):
        assert wanted in words
    assert "--share-net" not in words
    assert words[words.index("--") + 1 :][-3:] == ["3", "4", "/modules"]
