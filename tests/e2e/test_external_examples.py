"""The examples of suites of other harnesses, as users have them.

Each is green on what its harness really wrote before a pull request and red on what it wrote after; and where the
harness is on PATH it runs itself, and again for what failed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import warm
from support.needs import missing

EXAMPLES = Path(__file__).parents[2] / "examples" / "external"
MODULES = "node_modules"
LEFT_BY_RUNS = shutil.ignore_patterns("evalward-out", "logs", "results", MODULES, "__pycache__", ".deepeval")
COMMANDS = re.compile(r"^    (run|rerun): .*\n", re.MULTILINE)
FRESH = {1: ("1 case that failed was", 4), 2: ("2 cases that failed were", 6)}
"""What is said of so many broken cases, and the retrials that they get."""
RESULTS = re.compile(r"^    results: .*$", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """A folder of examples/external, the cases that its pull request breaks, and a command that shows that the harness
    can be started.
    """

    name: str
    broken: Sequence[str]
    shows: Sequence[str]

    @property
    def folder(self) -> Path:
        """Where it is."""
        return EXAMPLES / self.name

    def copied(self, to: Path) -> Path:
        """The example in a folder of the test's own; what npm installed is linked there."""
        folder = shutil.copytree(self.folder, to / self.name, ignore=LEFT_BY_RUNS)
        if (self.folder / MODULES).exists():
            (folder / MODULES).symlink_to(self.folder / MODULES)
        return folder

    def output(self, stem: str) -> Path:
        """What the harness wrote `before` or `after` the pull request."""
        (found,) = (self.folder / "outputs").glob(f"{stem}.*")
        return found


ALL = [
    Example("inspect", ["support_bot/return", "support_bot/warranty"], ["inspect", "--version"]),
    Example("promptfoo", ["allergy", "swallowed"], ["promptfoo", "--version"]),
    Example("deepeval", ["in-words", "three-cables"], ["deepeval", "--version"]),
    Example("pydantic-evals", ["mail/charged-twice"], ["python", "-c", "import pydantic_evals"]),
    Example(
        "vitest-evals", ["rooms > 'any-room'", "rooms > 'for-six'"], ["npx", "--no-install", "vitest", "--version"]
    ),
    Example("pytest", [f"test_helper::test_command[{name}]" for name in ("cut-names", "sort-numbers")], []),
]
each = pytest.mark.parametrize("example", ALL, ids=lambda example: example.name)


def check(folder: Path, path: str = os.environ["PATH"]) -> tuple[int, str]:
    """Exit code of `evalward check` in the folder, and what it said, in one line; it knows nothing but PATH."""
    done = warm.evalward("check", cwd=folder, env={"PATH": path})
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def startable(example: Example, folder: Path) -> str:
    """The PATH where the harness is; pytest is what runs this test."""
    if not example.shows:
        return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    program, *words = example.shows
    found = shutil.which(program)
    done = found and subprocess.run([found, *words], cwd=folder, capture_output=True, check=False)
    if not done or done.returncode:
        missing("harnesses", f"`{' '.join(example.shows)}` fails, so the example of {example.name} wasn't run")
    return os.environ["PATH"]


def without_commands(folder: Path, results: Path) -> None:
    """The example as in a workflow whose earlier step ran the harness."""
    config = folder / "evalward.yml"
    shutil.copy(results, folder / results.name)
    text = COMMANDS.sub("", config.read_text("utf-8"))
    config.write_text(RESULTS.sub(f"    results: {results.name}", text), "utf-8")


@each
def test_what_was_written_before_is_green(example: Example, tmp_path: Path) -> None:
    folder = example.copied(tmp_path)
    without_commands(folder, example.output("before"))
    code, said = check(folder)
    assert code == 0, said
    assert "nothing got worse" in said
    assert "30/30" in said


@each
def test_what_was_written_after_is_red_and_the_broken_cases_are_named(example: Example, tmp_path: Path) -> None:
    folder = example.copied(tmp_path)
    without_commands(folder, example.output("after"))
    code, said = check(folder)
    assert code == 1, said
    assert f"Broken: {len(example.broken)} " in said
    assert all(f"✗ {case} (" in said for case in example.broken)
    assert "the suite has no rerun" in said


@each
def test_the_harness_runs_and_runs_again_what_failed(example: Example, tmp_path: Path) -> None:
    folder = example.copied(tmp_path)
    path = startable(example, folder)
    code, said = check(folder, path)
    assert code == 0, said
    assert "6/6" in said

    (folder / "prompt-after.md").replace(folder / "prompt.md")
    code, said = check(folder, path)
    assert code == 1, said
    assert all(f"✗ {case} (" in said for case in example.broken)
    assert "confirmed by retrials" in said
    failed, fresh = FRESH[len(example.broken)]
    assert f"{failed} retried: 0 of {fresh} retrials passed" in said
