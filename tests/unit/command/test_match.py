"""The matchers: the specification's tables, and ours."""

from __future__ import annotations

import pytest

from evalward.suites.command.match import (
    matches_text,
    normalise,
    same_normalised,
    same_shape,
    same_text,
    same_tokens,
    same_tree,
)
from support.commands import command_case

NORMALISED = {
    "": "",
    "   ": "",
    "ls  -la   /var": "ls -al /var",
    "  grep\t'error'\t\tlogs  ": "grep 'error' logs",
    "ls -l -a": "ls -al",
    "ls -a -l": "ls -al",
    "ls -la": "ls -al",
    "ls -l -la": "ls -l -al",
    "ls --all --long": "ls --all --long",
    "echo 'hello  world'": "echo 'hello world'",
    "find . -name '*.c'": "find . -aemn '*.c'",
    "sort -n -k 2 f": "sort -kn 2 f",
    "sort -k 2 -n f": "sort -k 2 -n f",
    "git commit -a -m x": "git commit -am x",
    "git commit -m -a x": "git commit -am x",
    "ls -l /var -a": "ls -l /var -a",
    "cat - < f": "cat - < f",
    "kill -9 42": "kill -9 42",
    "ls -l -l": "ls -ll",
    "x -é": "x -é",
}
CARO_DIFFERENT = [
    ("ls -la", "ls -lh"),
    ("grep 'x' f", 'grep "x" f'),
    ("ls -R", "ls -r"),
    ("cat f | wc -l", "cat f|wc -l"),
    ("head -n 10 f", "head -n10 f"),
    ("mv a b", "mv b a"),
    ("ls --all --long", "ls --long --all"),
]
SHAPE_EQUAL = [
    ("ls", "ls --all"),
    ("rm a", "rm --force a"),
    ("ls -l", "ls -l -l"),
    ("sort -n -k 2 f", "sort -k 2 -n f"),
    ("grep -r x .", "grep x . -r"),
    ("", ""),
]
SHAPE_DIFFERENT = [("find .", "find . -type f"), ("rm a", "rm -f a"), ("ls -l /a /b", "ls -l /b /a"), ("", "ls")]
TOKENS_EQUAL = [
    ("ls -la", "ls -l -a"),
    ("cat f|wc -l", "cat f | wc -l"),
    ("grep 'x' f", 'grep "x" f'),
    ("grep x f", "grep 'x' f"),
    ("ls  -l   /var", "ls -l /var"),
    ("ls;", "ls"),
    ("tar -xzf a.tgz", "tar -x -z -f a.tgz"),
]
TOKENS_DIFFERENT = [
    ("ls -la", "ls -al"),
    ("echo 'hello  world'", "echo 'hello world'"),
    ("find . -name x", "find . -n -a -m -e x"),
    ('echo "$x"', "echo '$x'"),
    ('echo "$x"', "echo $x"),
    ("ls *", "ls '*'"),
    ("rm -- -rf", "rm -- -r -f"),
    ("chmod -rw f", "chmod -r -w f"),
    ("a && b", "a || b"),
    ("ls > f", "ls >> f"),
    ("ls", "ls &"),
    ("echo ~", "echo '~'"),
]
TREE_EQUAL = [
    *TOKENS_EQUAL,
    ("ls -la", "ls -al"),
    ("ls -l /var -a", "ls -a -l /var"),
    ("sort -n -k 2 f", "sort -k 2 -n f"),
    ("head -n 10 f", "head -n10 f"),
    ("ls --all --long", "ls --long --all"),
    ("grep -r x .", "grep x . -r"),
    ("git commit -a -m x", "git commit -m x -a"),
    ("(ls -l -a)", "( ls -al )"),
    ("echo $(ls -la)", "echo $(ls -al)"),
]
TREE_DIFFERENT = [
    ("mv a b", "mv b a"),
    ("sort -k 1 -k 2 f", "sort -k 2 -k 1 f"),
    ("find . -type f -name x", "find . -name x -type f"),
    ("sudo ls -l", "ls -l"),
    ("sudo -u ls x", "sudo x -u ls"),
    ("cut -d , -f 1", "cut -f , -d 1"),
    ("unknown -a x -b", "unknown -b x -a"),
]


@pytest.mark.parametrize(("command", "normal"), NORMALISED.items())
def test_the_specifications_normal_form(command: str, normal: str) -> None:
    assert normalise(command) == normal


@pytest.mark.parametrize(("one", "other"), [("ls -la", "ls -l -a"), ("ls -l -a /var", "ls -la /var")])
def test_caro_equal(one: str, other: str) -> None:
    assert same_normalised(one, other)


@pytest.mark.parametrize(("one", "other"), CARO_DIFFERENT)
def test_caro_different(one: str, other: str) -> None:
    assert not same_normalised(one, other)


@pytest.mark.parametrize(("one", "other"), SHAPE_EQUAL)
def test_command_equivalence_equal(one: str, other: str) -> None:
    assert same_shape(one, other)
    assert same_shape(other, one)


@pytest.mark.parametrize(("one", "other"), SHAPE_DIFFERENT)
def test_command_equivalence_different(one: str, other: str) -> None:
    assert not same_shape(one, other)


def test_exact() -> None:
    assert same_text(" ls -la\n", "ls -la")
    assert not same_text("ls -al", "ls -la")


@pytest.mark.parametrize(("one", "other"), TOKENS_EQUAL)
def test_tokens_equal(one: str, other: str) -> None:
    assert same_tokens(one, other)


@pytest.mark.parametrize(("one", "other"), TOKENS_DIFFERENT)
def test_tokens_different(one: str, other: str) -> None:
    assert not same_tokens(one, other)


@pytest.mark.parametrize(("one", "other"), TREE_EQUAL)
def test_equivalent_equal(one: str, other: str) -> None:
    assert same_tree(one, other)


@pytest.mark.parametrize(("one", "other"), TREE_DIFFERENT)
def test_equivalent_different(one: str, other: str) -> None:
    assert not same_tree(one, other)


def test_what_is_no_shell_is_compared_as_text() -> None:
    assert same_tokens("echo 'x", " echo 'x")
    assert not same_tokens("echo 'x", "echo 'y")


def test_a_pattern_is_searched_for() -> None:
    case = command_case(None, match="pattern", pattern=r"^ls\s+-\w*a")
    assert matches_text(case, "ls -la")
    assert not matches_text(case, "rm -rf /; ls -la")


def test_every_accepted_command_is_right() -> None:
    case = command_case("ls -la", accepted=["find . -maxdepth 1"])
    assert matches_text(case, "find  . -maxdepth 1")
    assert not matches_text(case, "find .")
