"""Which exit code of a command follows from the shell's rules and the exit code of the whole call."""

from __future__ import annotations

import pytest

from evalward.suites.scenario.patterns import command_pattern
from evalward.suites.scenario.shell_codes import uses_of

TODO = command_pattern("./todo", None)
SURE = "echo x && export A=1 && "


@pytest.mark.parametrize(
    ("script", "code", "codes"),
    [
        ("./todo add a", 0, [0]),
        ("./todo add a", 3, [3]),
        ('./todo add "$(date)" > log 2>&1', 3, [3]),
        ("env X=1 ./todo add", 124, [124]),
        # several in one call: what ran last gave the code, what ran before is another matter
        ("./todo bad; ./todo hello", 0, [None, 0]),
        ("./todo bad; ./todo hello", 1, [None, 1]),
        ("./todo bad\n./todo hello", 0, [None, 0]),
        ("./todo bad; echo $?", 0, [None]),
        ("./todo bad | cat", 0, [None]),
        ("./todo a | ./todo b", 2, [None, 2]),
        ("./todo bad || true", 0, [None]),
        ("./todo bad || ./todo worse", 4, [None, 4]),
        ("./todo a && ./todo b && ./todo c", 0, [0, 0, 0]),
        ("./todo a && ./todo b && ./todo bad", 1, [None, None, None]),
        ("ls | wc && ./todo a", 1, [None]),
        ("./todo serve & ./todo a", 0, [None, 0]),
        ("./todo serve &", 0, [None]),
        # commands that can't fail in silence blame nobody else
        (f"{SURE}./todo a", 1, [1]),
        (f"{SURE}./todo a && echo done", 1, [1]),
        ("cd sub && ./todo a", 1, [1]),
        # blocks, and what the rules don't reach into
        ("(./todo a; ./todo b)", 2, [None, 2]),
        ("{ ./todo a; }", 2, [2]),
        ("for i in 1 2; do ./todo a; done", 0, [None]),
        ("if ./todo a; then echo b; fi", 0, [None]),
        ("for i in 1 2; do ./todo a; done; ./todo b", 1, [None, 1]),
        ("! ./todo a", 1, [None]),
        ('echo "$(./todo id)"', 0, [None]),
        ("x=$(./todo id)", 0, [None]),
        ('./todo a "$(./todo id)"', 0, [0, None]),
        # a shell in the shell
        ("bash -c './todo a && ./todo b'", 0, [0, 0]),
        ("sh -c './todo a || true'", 0, [None]),
        ("eval './todo a'", 0, [None]),
        ("timeout 9 bash -c './todo a; ./todo b'", 5, [None, 5]),
        ("sh -c 'x=$(./todo a)'; ./todo b", 0, [None, 0]),
        ("[[ $(./todo a) ]] && ./todo b", 0, [None, 0]),
        # a program that a variable names
        ("T=./todo; $T bad", 3, [3]),
        ("T=./todo; $T bad; $T hello", 0, [None, 0]),
        ("T=$PWD/todo && $T bad", 2, [2]),
        # words around a command that aren't its own
        ("./todo a # and then", 3, [3]),
        ("# todo list first\n./todo a # list\n./todo b", 0, [None, 0]),
        ("./todo add 'todo list'", 0, [0]),
        ("git commit -m 'todo bad' || true; ./todo a", 0, [0]),
        ("cat > notes <<'END'\ntodo bad\nEND\n./todo a", 0, [0]),
        # what runs the rest
        ("timeout -k 2 5 ./todo a", 4, [4]),
        ("nice -n 5 ./todo a", 4, [4]),
        ("printf 'a\\nb' | xargs -n 1 ./todo", 123, [None]),
        ("setsid -f ./todo a", 0, [None]),
        ("script -qc './todo a' o", 0, [None]),
        ("su -c './todo a | cat'", 0, [None]),
        # scripts without a command
        ("", 0, []),
        ("# look around", 0, []),
        ("bash -c '# x'", 0, []),
        # `set -e` ends nothing in what && looks at
        ("set -e; { ./todo bad; ./todo list; } && echo ok", 0, [None, 0]),
        ("set -e; (./todo bad; ./todo list) && echo ok", 0, [None, 0]),
        ("set -e; { ./todo a; ./todo b; }", 0, [0, 0]),
        ("set errexit; ./todo bad; ./todo list", 0, [None, None]),
        ("set -e; \\set +e; ./todo bad; ./todo list", 0, [None, None]),
        ("set -e; command set +e; ./todo bad; ./todo list", 0, [None, None]),
        ("set -e; S=set; $S +e; ./todo bad; ./todo list", 0, [None, None]),
        ("\\exit 4; ./todo list", 4, [None]),
        ("todo() { echo hi; }; todo bad", 0, [None]),
        # an exit code that is turned round
        ("time ! ./todo bad", 0, [None]),
        ("!(./todo bad)", 0, [None]),
        ("! \\\n./todo bad", 0, [None]),
        ("./todo add 'lamp (! fragile)'", 0, [0]),
        ("cat <<'END'\n! x\nEND\n./todo a", 0, [0]),
        # other ways to call a shell or the tool
        ("bash -lc './todo bad'", 3, [3]),
        ("bash -ec './todo bad; ./todo list'", 3, [None, None]),
        ("bash -euo pipefail -c './todo a'", 0, [None]),
        ("bash --norc -c './todo a'", 0, [0]),
        ("bash -nc './todo bad'", 0, [None]),
        ("bash ./todo bad", 3, [3]),
        ('"./todo" add; "$PWD/todo" list', 2, [None, 2]),
        ("eval ./todo bad", 0, [None]),
        ("bash <<'END'\n./todo a\nEND", 0, [None]),
        ('bash -c "./todo bad $X"', 0, [None]),
        # what changes the rules
        ("set -e\n./todo a\n./todo b", 0, [0, 0]),
        ("set -e\n./todo a\n./todo b", 1, [None, None]),
        ("set -o pipefail; ./todo a | head", 0, [0]),
        ("set -o pipefail; ./todo a | ./todo b", 1, [None, None]),
        ("set -euo pipefail; ./todo a | head; ./todo b", 0, [0, 0]),
        ("set +e; set -x; ./todo a", 0, [None]),
        ("./todo a; set -e; ./todo b", 0, [None, None]),
        ("./todo a || exit 1; ./todo b", 1, [None, None]),
        ("trap 'exit 0' EXIT; ./todo a", 0, [None]),
        # ended from outside: nobody knows where it was
        ("./todo a; ./todo b", 124, [None, None]),
        ("./todo a; ./todo b", 137, [None, None]),
        ("./todo a; ./todo b", None, [None, None]),
        # no shell that we can read
        ("./todo a 'unfinished", 2, [None]),
        ("./todo a; " * 5_000, 0, [None] * 2_000),
    ],
)
def test_what_follows_from_the_calls_exit_code(script: str, code: int | None, codes: list[int | None]) -> None:
    assert [use.exit_code for use in uses_of(script, TODO, code)][:2_000] == codes


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("{ cd nothere && ./todo add x; } 2>/dev/null", 1, ""),
        ("{ ./todo list; } > /nodir/x", 1, "bash: line 1: /nodir/x: No such file or directory"),
        ("./todo list > /nodir/x", 1, "bash: line 1: /nodir/x: No such file or directory"),
        ("set -u; echo $NOPE; ./todo list", 127, "bash: line 1: NOPE: unbound variable"),
        ("export A-B=1 && ./todo list", 1, "bash: line 1: export: `A-B=1': not a valid identifier"),
    ],
)
def test_a_command_that_never_ran__has_no_code(script: str, code: int, said: str) -> None:
    assert [use.exit_code for use in uses_of(script, TODO, code, said)] == [None]


def test_a_command_behind_very_long_text__is_found() -> None:
    padded = ": " + " " * 30_000 + "; ./todo bad"
    assert [use.exit_code for use in uses_of(padded, TODO, 0)] == [None]


def test_a_cd_that_failed__is_not_the_tools_error() -> None:
    said = "bash: line 1: cd: sub: No such file or directory"
    assert [use.exit_code for use in uses_of("cd sub && ./todo a", TODO, 1, said)] == [None]


@pytest.mark.parametrize(
    ("script", "codes"),
    [
        ("./todo add 'todo list'", [0]),
        ("./todo add a # todo list", [0]),
        ("git commit -m 'todo bad' || true; ./todo add", [0]),
        ("git commit -m 'todo bad' || true", []),
        ("cat > notes <<'END'\ntodo bad\nEND\n./todo add", [0]),
        ("cat > notes <<'END'\ntodo bad\nEND", []),
        ('x="$(./todo id)"; ./todo add', [None, 0]),
        ("bash -c './todo a && ./todo b'", [0, 0]),
    ],
)
def test_a_written_pattern__doesnt_match_what_is_only_said(script: str, codes: list[int | None]) -> None:
    pattern = command_pattern("x", r"todo (\w+)")
    assert [use.exit_code for use in uses_of(script, pattern, 0)] == codes


def test_a_pattern_that_finds_words_and_no_commands__leaves_them_unknown() -> None:
    """What is matched across commands belongs to none of them."""
    pattern = command_pattern("x", r"; \./todo (\w+)")
    assert [use.exit_code for use in uses_of("ls; ./todo add", pattern, 0)] == [None]
