"""From written words to what a program gets, and where paths lead."""

from __future__ import annotations

import pytest

from evalward.safety.expand import Expander
from evalward.safety.options import leading_options, parse_options, spec
from evalward.safety.parser import parse
from evalward.safety.scope import Scope
from evalward.safety.sql import rate_sql
from evalward.safety.syntax import Script, Simple
from evalward.safety.targets import PlaceKind, locate
from evalward.safety.words import Flow, Word, literal, pattern


def _expand(text: str, **variables: str) -> list[str]:
    scope = Scope({name: (literal(value),) for name, value in variables.items()})

    def run(script: Script, stdin: Flow | None) -> Flow:
        return Flow(content=literal("out put"))

    node = parse(text).steps[0].node
    assert isinstance(node, Simple)
    return [word.text for word in Expander(scope, run).words(node.words)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("r\\m 'a b' \"c d\" $'\\x72m'", ["rm", "a b", "c d", "rm"]),
        ("'r'\"m\"", ["rm"]),
        ("{rm,-rf,/}", ["rm", "-rf", "/"]),
        ("a{b,c{d,e}}f", ["abf", "acdf", "acef"]),
        ("{1..3} {c..a} {1..100} {x}", ["1", "2", "3", "c", "b", "a", "1", "100", "{x}"]),
        ("rm${IFS}-rf${IFS}/", ["rm", "-rf", "/"]),
        ('$(x) "$(x)"', ["out", "put", "out put"]),
        ("~ ~/a ~root/b ~bob of=~/c '~'", ["~", "~/a", "/root/b", "/home/bob", "of=~/c", "~"]),
        ("$? $((1+2)) ${#x}", ["0", "12345", "5"]),
        ("'' \"\" $nothing", ["", "", "$nothing"]),
        ("${PATH:0:1}", ["/"]),
        ('$HOME "$PWD"', ["~", "."]),
    ],
)
def test_expansion(text: str, words: list[str]) -> None:
    assert _expand(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$v", ["a", "b.txt"]),
        ('"$v"', ["a b.txt"]),
        ("${v%.txt} ${v#a } ${v##* }", ["a", "b", "b.txt", "b.txt"]),
        ('"${v/b/c}" "${v//[ab]/x}" "${v^^}" "${v:2:1}"', ["a c.txt", "x x.txt", "A B.TXT", "b"]),
        ('"${v:-x}" "${w:-x}" "${w:=y}" "${v:+z}"', ["a b.txt", "x", "y", "z"]),
        ("${!v}", ["$v"]),
    ],
)
def test_parameter_operators(text: str, words: list[str]) -> None:
    assert _expand(text, v="a b.txt") == words


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/", PlaceKind.ROOT),
        ("//", PlaceKind.ROOT),
        ("/../.", PlaceKind.ROOT),
        ("/*", PlaceKind.ROOT),
        ("/[a-z]*", PlaceKind.ROOT),
        ("/b*", PlaceKind.ROOT),
        ("/etc/../home", PlaceKind.SYSTEM),
        ("/tmp/..", PlaceKind.ROOT),
        ("~", PlaceKind.HOME),
        ("~/*", PlaceKind.HOME),
        ("~/x/..", PlaceKind.HOME),
        ("~/..", PlaceKind.SYSTEM),
        ("/home/bob", PlaceKind.HOME),
        ("/home/bob/x", PlaceKind.ORDINARY),
        ("/Users/bob", PlaceKind.HOME),
        ("/root", PlaceKind.HOME),
        ("~/.ssh", PlaceKind.PRIVATE),
        ("~/Documents", PlaceKind.PERSONAL),
        ("~/.cache/x", PlaceKind.CACHE),
        ("~/.bash_history", PlaceKind.HISTORY),
        ("~/.bashrc", PlaceKind.STARTUP),
        (".", PlaceKind.HERE),
        ("*", PlaceKind.HERE),
        ("./.*", PlaceKind.HERE),
        ("a/..", PlaceKind.HERE),
        ("..", PlaceKind.PARENT),
        ("a/../../b/..", PlaceKind.PARENT),
        ("../x", PlaceKind.ORDINARY),
        (".git", PlaceKind.REPOSITORY),
        ("build/*", PlaceKind.ORDINARY),
        ("/usr/lib/x", PlaceKind.SYSTEM),
        ("/usr/local/bin/x", PlaceKind.LOCAL),
        ("/opt/x", PlaceKind.LOCAL),
        ("/var/log/syslog", PlaceKind.LOG),
        ("/var/tmp/x", PlaceKind.TEMP),
        ("/tmp/x", PlaceKind.TEMP),
        ("/tmp", PlaceKind.SYSTEM),
        ("/data", PlaceKind.TOP),
        ("/data/db", PlaceKind.ELSEWHERE),
        ("/app/dist", PlaceKind.ORDINARY),
        ("/dev/sda1", PlaceKind.DISK),
        ("/dev/nvme0n1", PlaceKind.DISK),
        ("/dev/null", PlaceKind.SINK),
        ("/dev/tcp/h/1", PlaceKind.NETWORK),
        ("/proc/sys/kernel/x", PlaceKind.KERNEL),
    ],
)
def test_places(path: str, place: PlaceKind) -> None:
    assert locate(pattern(path)).place is place


def test_a_folder_changes_what_a_wildcard_means() -> None:
    everything = pattern("*")
    assert locate(everything, "build").place is PlaceKind.ORDINARY
    assert locate(everything, "/").place is PlaceKind.ROOT
    assert locate(everything, None).place is PlaceKind.UNKNOWN
    assert locate(literal("*")).place is PlaceKind.ORDINARY  # quoted: a file of that name


def _words(text: str) -> tuple[Word, ...]:
    return tuple(literal(word) for word in text.split())


def test_options_are_read_like_getopt() -> None:
    known = spec("r/R/recursive f/force t/target-directory: p?")
    options = parse_options(_words("-rf a --targ=x -t y b -ppw -- -z"), known)
    assert options.has("r", "x")
    assert options.has("f")
    assert options.has("p")
    assert [word.text for word in options.all_values("t")] == ["x", "y"]
    assert [word.text for word in options.operands] == ["a", "b", "-z"]
    assert parse_options(_words("--recurs"), known).has("r")
    assert parse_options(_words("-auto-approve"), spec("")).has("auto-approve")


def test_options_of_an_inner_command_are_not_read() -> None:
    options = leading_options(_words("-n 5 rm -rf x"), spec("n:"))
    assert [word.text for word in options.operands] == ["rm", "-rf", "x"]
    assert not options.has("r")


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("SELECT 1", "safe"),
        ("select 'drop table x' -- drop table y", "safe"),
        ("/* truncate t */ SHOW TABLES;", "safe"),
        ("EXPLAIN DELETE FROM t", "safe"),
        ("INSERT INTO t VALUES (1)", "moderate"),
        ("DELETE FROM t WHERE id = 1", "moderate"),
        ("DROP INDEX i", "moderate"),
        ("DELETE FROM t", "high"),
        ("DELETE FROM t WHERE 1=1", "high"),
        ("UPDATE t SET a = 1", "high"),
        ("SELECT 1; DROP TABLE t", "high"),
        ("truncate t", "high"),
        ("ALTER TABLE t DROP COLUMN c", "high"),
        ("ALTER TABLE t DROP CONSTRAINT c", "moderate"),
        ("COPY t TO PROGRAM 'id'", "high"),
    ],
)
def test_sql(text: str, level: str) -> None:
    worst = max((found[0] for found in rate_sql(text)), default=None)
    assert (str(worst) if worst is not None else "safe") == level
