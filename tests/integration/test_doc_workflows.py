"""The workflows and steps that README and docs show are valid by GitHub's schema, as the example workflows are."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from support.doc_blocks import Block, Form, blocks

CHECKER = Path(sys.executable).with_name("check-jsonschema")
AROUND = "on: push\npermissions: {}\njobs:\n  one:\n    runs-on: ubuntu-latest\n    steps:\n"


def written(folder: Path, block: Block) -> Path:
    """The block as a workflow's file; steps with a workflow around them."""
    whole = block.text if block.form is Form.WORKFLOW else AROUND + textwrap.indent(block.text, "      ")
    path = folder / f"{block.page.replace('/', '-')}-{block.line}.yml"
    path.write_text(whole, "utf-8")
    return path


def checked(*files: Path) -> subprocess.CompletedProcess[str]:
    words = [str(CHECKER), "--builtin-schema", "vendor.github-workflows", *map(str, files)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_workflows_and_steps_on_pages__are_valid(tmp_path: Path) -> None:
    found = [written(tmp_path, block) for block in blocks() if block.form in {Form.WORKFLOW, Form.STEPS}]
    assert len(found) >= 10
    done = checked(*found)
    assert done.returncode == 0, done.stdout


def test_a_mistake_in_steps__is_seen(tmp_path: Path) -> None:
    wrong = Block("docs/wrong.md", 1, "yaml", "- uses: actions/checkout@v5\n  wiht: {fetch-depth: 2}\n")
    assert checked(written(tmp_path, wrong)).returncode == 1
