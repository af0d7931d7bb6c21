"""docs/quickstart.md and the README, done as they say: files and commands in their order, and what is printed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from support import warm
from support.doc_blocks import OUTPUT, ROOT, Block, Form, blocks_of, commands
from support.git_repo import git, init
from support.live_runs import model_of
from support.model_server import KEY, ModelServer

PAGE = ROOT / "docs" / "quickstart.md"
BLOCKS = tuple(blocks_of(PAGE))
CASES = next(block for block in BLOCKS if block.title == "evals/tasks.yaml")
# Installing is done, and the key is that of the server that answers here.
LEFT_OUT = ("pip", "export")


@dataclass
class Reader:
    """Who follows the page: a folder, and what the last command printed."""

    folder: Path
    server: ModelServer | None = None
    printed: str = ""
    codes: dict[str, int] = field(default_factory=dict)

    def follow(self, block: Block) -> None:
        """Write the file, run the commands, or look for what the page says is printed."""
        if block.title == OUTPUT:
            self.see(block)
        elif block.title is not None:
            self.write(block.title, block.text)
        elif block.form is Form.COMMANDS:
            for words in commands(block):
                if words[0] not in LEFT_OUT:
                    self.run(words)

    def write(self, name: str, text: str) -> None:
        """A file of the page; a model is asked here."""
        if name == "evalward.yml" and "anthropic/" in text:
            assert self.server is not None
            text += f"providers: {{anthropic: {{base_url: '{self.server.messages_url}', key_env: ANTHROPIC_API_KEY,"
            text += " prices: {claude-haiku-4-5: {input: 1, output: 5, cache_read: 0.1, cache_write: 1.25}}}}\n"
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def run(self, words: list[str]) -> None:
        """One command, with what it prints at a terminal of 80 columns."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "COLUMNS": "80"}
        if self.server is not None:
            environment["ANTHROPIC_API_KEY"] = KEY
        if words[0] == "evalward":
            done = warm.evalward(*words[1:], cwd=self.folder, env=environment)
        elif words[0] == "git":
            git(self.folder, *words[1:])
            return
        else:
            program = shutil.which(words[0])
            assert program
            done = subprocess.run(
                [program, *words[1:]], cwd=self.folder, env=environment, capture_output=True, text=True, check=True
            )
        self.printed = done.stdout + done.stderr
        self.codes[" ".join(words)] = done.returncode

    def see(self, block: Block) -> None:
        """The lines that the page shows were printed in this order; those between an ellipsis are left out there."""
        printed = iter(self.printed.splitlines())
        for line in block.text.splitlines():
            assert line == "…" or line in printed, (line, self.printed)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    init(tmp_path)
    with ModelServer(
        model_of([{**case, "solution": [case["solution"]]} for case in yaml.safe_load(CASES.text)])
    ) as server:
        yield Reader(tmp_path, server)


def test_the_page_works_as_it_is_written(reader: Reader) -> None:
    for block in BLOCKS:
        reader.follow(block)
        if block.text == "evalward check\n":
            assert reader.codes["evalward check"] == 0
        if block.text.startswith("sed "):
            assert reader.codes.pop("evalward check") == 1
    assert {command: code for command, code in reader.codes.items() if code} == {}
    assert "evalward run --trials 5" in reader.codes
    baseline = (reader.folder / ".evalward" / "baseline.json").read_text("utf-8")
    assert '"anthropic/claude-haiku-4-5"' in baseline
    assert git(reader.folder, "status", "--short").split() == ["??", ".github/"]


def test_the_first_gate_of_the_readme__is_made_without_a_key(tmp_path: Path) -> None:
    init(tmp_path)
    reader = Reader(tmp_path)
    for block in blocks_of(ROOT / "README.md"):
        if block.form is Form.COMMANDS and {"init", "validate"} & {words[1] for words in commands(block)}:
            reader.follow(block)
    assert set(reader.codes.values()) == {0}
    assert {"evalward init", "evalward run --trials 5", "evalward baseline update"} <= set(reader.codes)
    assert git(tmp_path, "status", "--short") == ""
    assert "evalward-out" not in git(tmp_path, "ls-files")


def test_the_page_has_four_files_and_the_workflow() -> None:
    titles = [block.title for block in BLOCKS if block.title not in {None, OUTPUT}]
    assert titles == [
        *("evalward.yml", "prompts/shell.md", "evals/tasks.yaml", ".gitignore"),
        *("evalward.yml", ".github/workflows/evalward.yml"),
    ]
