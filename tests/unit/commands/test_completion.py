"""The scripts that complete our commands, asked by real shells."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from evalward.cli import build_parser
from evalward.commands.completion import completion_script

ASK_BASH = """\
source "$1"
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMPREPLY=()
_complete_it=$(complete -p evalward | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
"$_complete_it"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def script(shell: str, folder: Path) -> Path:
    file = folder / f"completion.{shell}"
    file.write_text(completion_script(build_parser(), shell), "utf-8")
    return file


def shell_named(name: str) -> str:
    """The shell's program; without it the test is skipped, and pytest says so."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: what it completes was not asked")
    return found


def completed_by_bash(folder: Path, *words: str) -> list[str]:
    line = [shell_named("bash"), "--norc", "-c", ASK_BASH, "bash", str(script("bash", folder)), "evalward", *words]
    done = subprocess.run(line, capture_output=True, text=True, cwd=folder, check=False, timeout=30)
    assert done.returncode == 0, done.stderr
    return [word.strip() for word in done.stdout.splitlines() if word.strip()]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["ch"], {"check"}),
        (["baseline", ""], {"update", "show", "diff", "commit"}),
        (["baseline", "up"], {"update"}),
        (["check", "--fail-on", ""], {"regression", "inconclusive", "never"}),
        (["compare", "--format", "j"], {"junit", "json"}),
        (["check", "--pro"], {"--profile"}),
        (["import", "bash"], {"bashkit-eval"}),
        (["completion", ""], {"bash", "zsh", "fish"}),
    ],
)
def test_bash__completes(tmp_path: Path, words: list[str], wanted: set[str]) -> None:
    assert wanted <= set(completed_by_bash(tmp_path, *words))


def test_bash__offers_nothing_that_does_not_begin_so(tmp_path: Path) -> None:
    assert all(word.startswith("ch") for word in completed_by_bash(tmp_path, "ch"))


def test_bash__completes_the_names_of_files(tmp_path: Path) -> None:
    (tmp_path / "special.yml").touch()
    assert "special.yml" in completed_by_bash(tmp_path, "check", "--config", "spe")


def test_zsh__reads_its_script(tmp_path: Path) -> None:
    line = [shell_named("zsh"), "-n", str(script("zsh", tmp_path))]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish__completes(tmp_path: Path) -> None:
    ask = f"source {script('fish', tmp_path)}; complete -C 'evalward baseline '"
    done = subprocess.run([shell_named("fish"), "-c", ask], capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr
    assert {"update", "show", "diff", "commit"} <= {line.split("\t")[0] for line in done.stdout.splitlines()}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script__knows_every_command(shell: str) -> None:
    text = completion_script(build_parser(), shell)
    for word in ("check", "compare", "baseline", "update", "--fail-on", "inconclusive"):
        assert word.removeprefix("--") in text
