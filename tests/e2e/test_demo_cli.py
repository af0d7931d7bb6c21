"""`evalward demo` as it is started: in an empty folder, from what a wheel holds, without a key or anybody's files."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from evalward.commands.demo_folder import example_files
from evalward.edge import PROGRAM
from support import warm
from support.git_repo import git
from support.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
REPORTS = {"report.json", "report.html", "comment.md", "judgement.json", "junit.xml", "badge.json"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder / "dist"), versions=["standard"])
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def demo(cwd: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return warm.evalward("demo", *words, cwd=cwd, env={"PATH": os.environ["PATH"], "COLUMNS": "80", **env})


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.cold
def test_from_a_wheel(wheel: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "-c", PROGRAM, str(wheel), "demo"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "COLUMNS": "80"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert "✗ Evalward: failed — bash-tools × replay:agent: tool_call_success_rate fell" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["evalward-demo"]
    folder = tmp_path / "evalward-demo"
    assert {name for name in names(folder) if not name.startswith("evalward-out/")} == example_files().keys()
    assert names(folder / "evalward-out") >= REPORTS


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="what is tracked is a commit's, and this is no repository")
def test_the_wheel_has_the_files_of_the_checkout(wheel: Path) -> None:
    for folder, place in (("examples/bash-tools", "examples/bash-tools"), ("templates", "templates")):
        tracked = git(ROOT, "ls-files", folder).splitlines()
        assert {name.removeprefix(f"{folder}/") for name in tracked} <= names(wheel / "evalward" / place)


def test_a_wheel_of_the_source_distribution_has_the_same_files(wheel: Path, tmp_path: Path) -> None:
    (source,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (unpacked,) = (tmp_path / "source").iterdir()
    (built,) = WheelBuilder(str(unpacked)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(built) as rebuilt:
        found = set(rebuilt.namelist())
    packed = {name for name in names(wheel) if name.startswith("evalward/") and "__pycache__" not in name}
    assert len(packed) > 500
    assert found >= packed


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody's repository, with a configuration that is not ours."""
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "--quiet")
    (folder / "evalward.yml").write_text("not: ours\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "one")
    return folder


@pytest.fixture(scope="module")
def done(repository: Path) -> subprocess.CompletedProcess[str]:
    """The demo in that repository, with a key in the environment."""
    return demo(repository, ANTHROPIC_API_KEY="canary-of-the-environment")


def test_it_is_one_page(done: subprocess.CompletedProcess[str], repository: Path) -> None:
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 52
    assert [line for line in lines if len(line) > 80 and "evalward show" not in line] == []
    (place,) = [line.split()[-1] for line in lines if line.endswith("report.html")]
    assert (repository / place).is_file()


def test_the_command_that_it_names_shows_what_the_agent_did(
    done: subprocess.CompletedProcess[str], repository: Path
) -> None:
    joined = re.sub(r" \\\n +", " ", done.stdout)  # a long command goes on in the next line
    (command,) = [line.strip() for line in joined.splitlines() if "evalward show" in line]
    shown = warm.evalward(*command.split()[1:], cwd=repository, env={"PATH": os.environ["PATH"]})
    assert shown.returncode == 0, shown.stderr
    assert "python: command not found" in shown.stdout


@pytest.mark.usefixtures("done")
def test_a_repository_around_it_is_neither_read_nor_changed(repository: Path) -> None:
    assert git(repository, "status", "--porcelain") == ""
    head = git(repository, "rev-parse", "HEAD").strip()
    left = [path for path in (repository / "evalward-demo").rglob("*") if path.is_file()]
    assert len(left) > 100
    strange = [b"canary-of", head.encode(), head[:7].encode()]
    assert [path for path in left if any(text in path.read_bytes() for text in strange)] == []


def test_at_a_terminal_with_a_display_a_browser_opens_the_page(repository: Path, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    ours, theirs = pty.openpty()
    env = {"PATH": os.environ["PATH"], "TERM": "xterm", "BROWSER": str(browser)}
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        done = warm.start_evalward("demo", cwd=repository, env=env, stdout=theirs)
        os.close(theirs)
        text = said_at(terminal)
        done.communicate(timeout=PATIENCE_S)
        assert done.wait() == 0
    assert "The report, open in your browser: " in text
    page = repository / "evalward-demo" / "evalward-out" / "report.html"
    assert (tmp_path / "opened").read_text().strip() == page.as_uri()


def said_at(terminal: IO[bytes]) -> str:
    """All that is printed at a terminal until its other end is closed."""
    said = b""
    with suppress(OSError):  # how Linux says so
        while part := terminal.read(65536):
            said += part
    return said.decode()


def test_again_is_the_same(done: subprocess.CompletedProcess[str], repository: Path) -> None:
    assert demo(repository).stdout == done.stdout


def test_what_is_in_the_way_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    refused = demo(tmp_path, "--output", "mine")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "error: mine/notes.txt: is not a file of the demo, or no longer as the demo left it. "
        "Name a new folder with --output.\n"
    )
