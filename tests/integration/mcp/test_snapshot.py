"""`evalward mcp snapshot`: what it shows and writes, and what is said of servers and words that are wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from evalward.cli import build_parser
from evalward.commands.parsing import read_arguments
from evalward.commands.world import World
from evalward.records.problem import InputError
from evalward.suites.mcp.catalogue import read_catalogue
from support.mcp import checkout
from support.mcp_http import http_server
from support.patience import PATIENCE_S, wait_until

SMALL = (sys.executable, "-I", "-S", "./server.py")
SUITE = """\
  - name: {name}
    kind: mcp
    server: {{command: [{python}, -I, -S, ./server.py, mark=here], env: {{NOTES: "{{folder}}"}}}}
    cases: cases.yaml
    targets: oracle
"""


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with checkout() as folder:
        monkeypatch.chdir(folder)
        yield folder


def snapshot(folder: Path, *words: str) -> tuple[int, str]:
    """The command as it is typed: its exit code and what it shows. Raises `InputError`."""
    out = StringIO()
    world = World(out=out, err=StringIO(), now=lambda: "2026-01-01T00:00:00Z", env=dict(os.environ), cwd=folder)
    args = read_arguments(build_parser(), ["mcp", "snapshot", *words])
    return args.handler(world, args), out.getvalue()


def suites(folder: Path, *names: str) -> None:
    """A repository with suites that have the small server."""
    suite = "".join(SUITE.format(name=name, python=sys.executable) for name in names)
    (folder / "evalward.yml").write_text(f"version: 1\nsuites:\n{suite}", "utf-8")


def test_a_commands_tools_are_shown_and_written(root: Path) -> None:
    code, shown = snapshot(root, "--output", "evals/tools.json", "--", *SMALL)
    assert code == 0
    assert shown == (
        "small: 3 tools, ≈ 125 tokens, instructions ≈ 5 tokens, protocol 2025-11-25\n"
        "\n"
        "tool          tokens  description\n"
        "----------  --------  ------------------------------\n"
        "echo            ≈ 36  Says a text again.\n"
        "add             ≈ 41  Adds two numbers.\n"
        "write_note      ≈ 49  Writes a note into the folder.\n"
        "\n"
        "Snapshot: evals/tools.json\n"
    )
    written = read_catalogue(root, "evals/tools.json")
    assert (written.server, written.instructions) == ("small", "Use echo for texts.")
    assert [tool.name for tool in written.tools] == ["echo", "add", "write_note"]


def test_options_of_a_command_are_its_own(root: Path) -> None:
    code, shown = snapshot(root, "--format", "json", "--", *SMALL, "tools=2", "--format", "terminal")
    assert code == 0
    assert [tool["name"] for tool in json.loads(shown)["tools"]] == ["tool_0", "tool_1"]


def test_the_only_suite_with_a_server_is_meant(root: Path) -> None:
    suites(root, "tools")
    assert snapshot(root)[1] == snapshot(root, "tools")[1]
    assert snapshot(root)[1].startswith("small: 3 tools")


def test_a_url_is_asked(root: Path) -> None:
    with http_server() as server:
        assert snapshot(root, server.url)[1].startswith("distant: 3 tools, ≈ 125 tokens, protocol")


def test_a_server_that_fails_is_told_in_one_sentence(root: Path) -> None:
    with pytest.raises(InputError) as failed:
        snapshot(root, "--output", "tools.json", "--", *SMALL, "die=list")
    assert str(failed.value) == (
        f"{sys.executable}: the server didn't list its tools: it ended with exit code 7: no database: the reason "
        "stands here. Start it by hand to see what is wrong."
    )
    assert not (root / "tools.json").exists()


def test_tools_that_providers_refuse_are_named(root: Path) -> None:
    tool = {"name": "x", "description": "d", "inputSchema": {"type": "object", "oneOf": [{"required": ["a"]}]}}
    _, shown = snapshot(root, "--", *SMALL, f"list={json.dumps({'tools': [tool]})}")
    assert "! x is left out for models of Anthropic: " in shown
    assert "! x is left out for models of OpenAI: " in shown


def test_what_a_server_calls_itself_is_harmless(root: Path) -> None:
    tool = {"name": "x\x1b[2J", "description": "::error::\x1b]0;title\x07\nnext", "inputSchema": {"type": "object"}}
    _, shown = snapshot(root, "--", *SMALL, f"list={json.dumps({'tools': [tool]})}")
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\n::error::" not in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tools", "other"), "there is more than one suite or URL. Write a command after two hyphens: "),
        (("tools", "--", "server"), "'tools' stands before a command. Give one of the two."),
        (("tool",), "there is no suite 'tool' of kind mcp."),
        ((), "more than one suite of kind mcp has a server that runs. Name a suite, or a URL."),
        (("--", "no-such-program"), "there is no program 'no-such-program' on the PATH. Install it before the run"),
    ],
)
def test_words_that_name_no_server_are_refused_with_a_remedy(root: Path, words: tuple[str, ...], message: str) -> None:
    suites(root, "tools", "more")
    with pytest.raises(InputError) as failed:
        snapshot(root, *words)
    assert message in str(failed.value)


def test_a_signal_ends_it_and_does_not_wait_for_the_server(tmp_path: Path) -> None:
    with http_server(hang="tools/list") as server:
        words = [str(Path(sys.executable).with_name("evalward")), "mcp", "snapshot", server.url]
        with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
            wait_until(lambda: len(server.headers) >= 2)  # it has been greeted, and is asked
            process.terminate()
            _, said = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, said) == (130, "interrupted: finished trials are kept\n")
