"""From written words to what a program gets, and where paths lead."""

from __future__ import annotations

import pytest

from evalward.safety.expand import Expander
from evalward.safety.options import leading_options, parse_options, spec
from evalward.safety.parser import parse
from evalward.safety.scope import Scope
from evalward.safety.sql import judge_sql
from evalward.safety.syntax import Script, Simple
from evalward.safety.targets import Place, locate
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
        ("/", Place.ROOT),
        ("//", Place.ROOT),
        ("/../.", Place.ROOT),
        ("/*", Place.ROOT),
        ("/[a-z]*", Place.ROOT),
        ("/b*", Place.ROOT),
        ("/etc/../home", Place.SYSTEM),
        ("/tmp/..", Place.ROOT),
        ("~", Place.HOME),
        ("~/*", Place.HOME),
        ("~/x/..", Place.HOME),
        ("~/..", Place.SYSTEM),
        ("/home/bob", Place.HOME),
        ("/home/bob/x", Place.ORDINARY),
        ("/Users/bob", Place.HOME),
        ("/root", Place.HOME),
        ("~/.ssh", Place.PRIVATE),
        ("~/Documents", Place.PERSONAL),
        ("~/.cache/x", Place.CACHE),
        ("~/.bash_history", Place.HISTORY),
        ("~/.bashrc", Place.STARTUP),
        (".", Place.HERE),
        ("*", Place.HERE),
        ("./.*", Place.HERE),
        ("a/..", Place.HERE),
        ("..", Place.PARENT),
        ("a/../../b/..", Place.PARENT),
        ("../x", Place.ORDINARY),
        (".git", Place.REPOSITORY),
        ("build/*", Place.ORDINARY),
        ("/usr/lib/x", Place.SYSTEM),
        ("/usr/local/bin/x", Place.LOCAL),
        ("/opt/x", Place.LOCAL),
        ("/var/log/syslog", Place.LOG),
        ("/var/tmp/x", Place.TEMP),
        ("/tmp/x", Place.TEMP),
        ("/tmp", Place.SYSTEM),
        ("/data", Place.TOP),
        ("/data/db", Place.ELSEWHERE),
        ("/app/dist", Place.ORDINARY),
        ("/dev/sda1", Place.DISK),
        ("/dev/nvme0n1", Place.DISK),
        ("/dev/null", Place.SINK),
        ("/dev/tcp/h/1", Place.NETWORK),
        ("/proc/sys/kernel/x", Place.KERNEL),
    ],
)
def test_places(path: str, place: Place) -> None:
    assert locate(pattern(path)).place is place


def test_a_folder_changes_what_a_wildcard_means() -> None:
    everything = pattern("*")
    assert locate(everything, "build").place is Place.ORDINARY
    assert locate(everything, "/").place is Place.ROOT
    assert locate(everything, None).place is Place.UNKNOWN
    assert locate(literal("*")).place is Place.ORDINARY  # quoted: a file of that name


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
    worst = max((found[0] for found in judge_sql(text)), default=None)
    assert (str(worst) if worst is not None else "safe") == level
