"""Commands of the docs that need no key and no repository of the reader's: they are run, and do what the page says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from support import warm
from support.doc_blocks import PAGES, ROOT, Block, Form, blocks, commands, in_text
from support.git_repo import init

# Run as a whole where their example is tested: here they would take half a minute each.
ELSEWHERE = {
    "examples/guidance/": "test_guidance_cli.py",
    "examples/speedup/": "test_speedup_example.py",
    "examples/skills/": "test_skill_example.py",
}
SAID = re.compile(r"# exit (\d)")


def on_examples() -> list[tuple[str, int | None]]:
    """Commands on our examples, with the exit code where the page says it."""
    lines = [line for block in blocks() if block.form is Form.COMMANDS for line in _lines(block)]
    found = [(line, int(said[1]) if (said := SAID.search(line)) else None) for line in lines]
    found += [(line, None) for page in PAGES for line in in_text(page)]
    ours = {shlex.join(shlex.split(line, comments=True)): code for line, code in reversed(found) if "examples/" in line}
    return [(line, code) for line, code in ours.items() if line.startswith("evalward ")]


def _lines(block: Block) -> list[str]:
    return block.text.replace("\\\n", " ").splitlines()


def elsewhere(line: str) -> str | None:
    """The tests that run this command."""
    return next((tests for example, tests in ELSEWHERE.items() if example in line), None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    init(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


HERE = [each for each in on_examples() if not elsewhere(each[0])]


@pytest.mark.parametrize(("line", "code"), HERE, ids=[line for line, _ in HERE])
def test_a_command_on_an_example__ends_as_the_page_says(folder: Path, line: str, code: int | None) -> None:
    done = warm.evalward(*shlex.split(line)[1:], cwd=folder, env={"PATH": os.environ["PATH"], "HOME": str(folder)})
    expected = 1 if code is None and "pull-request.yml" in line else code or 0
    assert done.returncode == expected, done.stderr


def test_commands_that_are_run_elsewhere__are_few_and_have_tests() -> None:
    left = {elsewhere(line) for line, _ in on_examples()} - {None}
    assert left == set(ELSEWHERE.values())
    assert all((ROOT / "tests" / "e2e" / str(name)).is_file() for name in left)
    assert len(HERE) >= 4


def test_what_the_safety_validator_prints__is_what_the_page_shows(folder: Path) -> None:
    [block] = [each for each in blocks() if each.form is Form.SESSION and "evalward safety" in each.text]
    [words] = [each for each in commands(block) if each[0] == "evalward"]
    done = warm.evalward(*words[1:], cwd=folder, env={"PATH": os.environ["PATH"]})
    assert done.stdout.splitlines() == block.text.splitlines()[1:]
