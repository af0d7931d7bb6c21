"""The parser, held against bash itself where bash is there."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from evalward.safety.parser import parse
from evalward.safety.syntax import (
    Block,
    Branches,
    Condition,
    Function,
    Loop,
    ParseError,
    Pipeline,
    Simple,
)
from evalward.safety.visit import simple_commands

CASES = json.loads((Path(__file__).parents[2] / "data" / "shell-syntax.json").read_text(encoding="utf-8"))
BASH = shutil.which("bash")


def _accepts(text: str) -> bool:
    try:
        parse(text)
    except ParseError:
        return False
    return True


@pytest.mark.parametrize("text", CASES["valid"])
def test_valid_syntax_is_read(text: str) -> None:
    assert _accepts(text)


@pytest.mark.parametrize("text", CASES["invalid"])
def test_invalid_syntax_is_refused(text: str) -> None:
    assert not _accepts(text)


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@pytest.mark.parametrize("valid", [True, False])
def test_the_list_is_what_bash_says(valid: bool) -> None:
    for text in CASES["valid" if valid else "invalid"]:
        done = subprocess.run(
            [str(BASH), "-O", "extglob", "-n"], input=text, capture_output=True, text=True, check=False
        )
        assert (done.returncode == 0 and "unexpected" not in done.stderr) is valid, text


def _programs(text: str) -> list[str]:
    return [simple.words[0].source for simple in simple_commands(parse(text)) if simple.words]


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("a; b && c || d & e", ["a", "b", "c", "d", "e"]),
        ("a | b |& c", ["a", "b", "c"]),
        ("echo 1>&2 rm -x; ls", ["echo", "ls"]),
        ("cat <<A; rm -rf /\nhi\nA", ["cat", "rm"]),
        ("cat <<A <<B\nx\nA\ny\nB\nls", ["cat", "ls"]),
        ("cat <<E 2>/dev/null | bash\nhi\nE", ["cat", "bash"]),
        ("echo `a \\`b\\``", ["echo", "a", "b"]),
        ('echo ${x:-$(a)} $((1 + $(b))) <(c) "$(d)"', ["echo", "a", "b", "c", "d"]),
        ("cat <<E\n$(a)\nE", ["cat", "a"]),
        ("cat <<'E'\n$(a)\nE", ["cat"]),
        ("ls # rm", ["ls"]),
        ("true # && rm -rf /", ["true"]),
        ("coproc N { a; }; time -p b; ! c", ["a", "b", "c"]),
        ("case x in (a|b) c;; d) e;& f) g; esac", ["c", "e", "g"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("f() { a; }; function g { b; }", ["a", "b"]),
        ("x=$(a) y=(1 $(b))", ["a", "b"]),
        (">f a <(b)", ["a", "b"]),
        ("[[ $(a) == b ]] && ((x = $(c)))", ["a", "c"]),
    ],
)
def test_every_program_is_found(text: str, programs: list[str]) -> None:
    assert _programs(text) == programs


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ls", Simple),
        ("a | b", Pipeline),
        ("(a)", Block),
        ("{ a; }", Block),
        ("for x in a; do b; done", Loop),
        ("for ((;;)); do b; done", Loop),
        ("if a; then b; fi", Branches),
        ("f() { a; }", Function),
        ("[[ a ]]", Condition),
        ("((a))", Condition),
    ],
)
def test_kinds_of_nodes(text: str, kind: type) -> None:
    assert isinstance(parse(text).steps[0].node, kind)


def test_operators_are_kept() -> None:
    assert [step.operator for step in parse("a && b || c; d & e\nf").steps] == [
        "&&",
        "||",
        ";",
        "&",
        ";",
        ";",
    ]


def test_here_documents_belong_to_their_redirection() -> None:
    node = parse("cat <<-A 3<<'B'\n\tone\n\tA\ntwo $x\nB").steps[0].node
    assert isinstance(node, Simple)
    documents = [redirect.document for redirect in node.redirects]
    assert [document.body.source for document in documents if document and document.body] == [
        "one\n",
        "two $x\n",
    ]
