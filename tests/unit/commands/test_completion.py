"""The scripts that complete our commands, asked by real shells."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from evalward.cli import build_parser
from evalward.commands.completion import completion_script
from support.needs import missing
from support.patience import PATIENCE_S
from support.zsh import zsh_completes

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
    """The shell's program; without it the test is passed over, and says so."""
    found = shutil.which(name)
    if found is None:
        missing("shells", f"{name} is not installed: what it completes was not asked")
    return found


def completed_by_bash(folder: Path, *words: str) -> list[str]:
    line = [shell_named("bash"), "--norc", "-c", ASK_BASH, "bash", str(script("bash", folder)), "evalward", *words]
    done = subprocess.run(line, capture_output=True, text=True, cwd=folder, check=False, timeout=PATIENCE_S)
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
        (["help", "val"], {"validate"}),
    ],
)
def test_bash__completes(tmp_path: Path, words: list[str], wanted: set[str]) -> None:
    assert wanted <= set(completed_by_bash(tmp_path, *words))


def test_bash__offers_nothing_that_does_not_begin_so(tmp_path: Path) -> None:
    assert all(word.startswith("ch") for word in completed_by_bash(tmp_path, "ch"))


def test_bash__completes_the_names_of_files(tmp_path: Path) -> None:
    (tmp_path / "special.yml").touch()
    assert "special.yml" in completed_by_bash(tmp_path, "check", "--config", "spe")


def completed_by_zsh(folder: Path, line: str) -> list[str]:
    shell_named("zsh")
    return zsh_completes(folder, completion_script(build_parser(), "zsh"), line)


def completed_by_fish(folder: Path, line: str) -> list[str]:
    ask = f"source {script('fish', folder)}; complete -C {shlex.quote(line)}"
    command = [shell_named("fish"), "--no-config", "-c", ask]
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S, cwd=folder, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    return [offered.split("\t")[0] for offered in done.stdout.splitlines()]


COMPLETED = {"zsh": completed_by_zsh, "fish": completed_by_fish}


@pytest.mark.parametrize("shell", COMPLETED)
@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("evalward ch", ["check"]),
        ("evalward baseline ", ["commit", "diff", "show", "update"]),
        ("evalward baseline up", ["update"]),
        ("evalward baseline update --po", ["--pool"]),
        ("evalward check --fail-on ", ["inconclusive", "never", "regression"]),
        ("evalward compare --format j", ["json", "junit"]),
        ("evalward check --suite a --sui", ["--suite"]),
        ("evalward import bash", ["bashkit-eval"]),
        ("evalward completion ", ["bash", "fish", "zsh"]),
        ("evalward help val", ["validate"]),
        ("evalward check --config spec", ["special.yml"]),
        ("evalward validate spec", ["special.yml"]),
        ("evalward validate other.yml spec", ["special.yml"]),
        ("evalward import bashkit-eval other.yml spec", ["special.yml"]),
    ],
)
def test_zsh_and_fish__complete(tmp_path: Path, shell: str, line: str, wanted: list[str]) -> None:
    (tmp_path / "special.yml").touch()
    (tmp_path / "other.yml").touch()
    assert sorted(set(COMPLETED[shell](tmp_path, line))) == wanted


@pytest.mark.parametrize("shell", COMPLETED)
@pytest.mark.parametrize(
    ("line", "wanted"),
    [("evalward compare --format=j", {"json", "junit"}), ("evalward check --output-dir=fold", {"folder"})],
)
def test_zsh_and_fish__complete_a_value_behind_an_equals_sign(
    tmp_path: Path, shell: str, line: str, wanted: set[str]
) -> None:
    (tmp_path / "folder").mkdir()
    found = {word.rpartition("=")[2].rstrip("/") for word in COMPLETED[shell](tmp_path, line)}
    assert found == wanted


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script__knows_every_command(shell: str) -> None:
    text = completion_script(build_parser(), shell)
    for word in ("check", "compare", "baseline", "update", "--fail-on", "inconclusive"):
        assert word.removeprefix("--") in text


def test_zsh_script__lets_arguments_repeat_and_values_stand_behind_an_equals_sign() -> None:
    text = completion_script(build_parser(), "zsh")
    assert '"(*)' not in text
    assert '"*:configs, baselines, files of cases:_files"' in text
    assert '"--config=[' in text
    assert '"*--suite=[' in text
    assert '{--output=,--output-dir=}"[' in text
    assert '"--no-prove[' in text
