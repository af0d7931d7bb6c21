"""Page by page at a terminal, at once anywhere else; and what a pager gets to know."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from io import StringIO
from pathlib import Path

import pytest

from evalward.commands.paging import paged, pager_words
from support.showing import Terminal, world_of

KEEP = "import json, os, sys; json.dump([sys.stdin.read(), dict(os.environ)], open(sys.argv[1], 'w'))"


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({}, ["less", "-R"]),
        ({"PAGER": "more -d"}, ["more", "-d"]),
        ({"PAGER": "'my pager' --x='a b'"}, ["my pager", "--x=a b"]),
        ({"PAGER": ""}, []),
        ({"PAGER": "cat"}, []),
        ({"PAGER": "'"}, []),
    ],
)
def test_the_pager_is_the_users(env: dict[str, str], words: list[str]) -> None:
    assert pager_words(env) == words


def test_elsewhere_than_at_a_terminal_no_pager_is_started(tmp_path: Path) -> None:
    out = StringIO()
    paged(world_of(tmp_path, out, PAGER="/nothing/that/could/be/started"), "text\n")
    assert out.getvalue() == "text\n"


def test_at_a_terminal_the_pager_gets_the_text_and_no_secret(tmp_path: Path) -> None:
    file, out = tmp_path / "seen.json", Terminal()
    env = {"PAGER": shlex.join([sys.executable, "-c", KEEP, str(file)]), "ANTHROPIC_API_KEY": "sk-ant-1234567890"}

    paged(world_of(tmp_path, out, **env, PATH="/usr/bin"), "key sk-ant-1234567890 é\n")

    text, seen = json.loads(file.read_text("utf-8"))
    assert "sk-ant" not in text
    assert text.endswith("é\n")
    assert "ANTHROPIC_API_KEY" not in seen
    assert seen["LESS"] == "FRX"
    assert out.getvalue() == ""


def test_a_pager_that_cannot_be_started_is_no_reason_to_say_nothing(tmp_path: Path) -> None:
    out = Terminal()
    paged(world_of(tmp_path, out, PAGER="/nothing/that/could/be/started"), "text\n")
    assert out.getvalue() == "text\n"


def test_a_pager_that_ends_early_breaks_nothing(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    paged(world_of(tmp_path, Terminal(), PAGER="true", PATH="/usr/bin:/bin"), "x" * 10_000_000)
    assert signal.getsignal(signal.SIGINT) is before
