"""Which scripts a command line runs, and what of a fixture belongs to those who judge."""

from __future__ import annotations

import pytest

from evalward.suites.scenario.commands import pieces
from evalward.suites.scenario.instruments import Instruments


@pytest.mark.parametrize(
    ("command", "scripts"),
    [
        ("./check.sh", ["check.sh"]),
        ("python3 check.py --strict", ["check.py"]),
        ("python3 -W ignore -u checks/a.py", ["checks/a.py"]),
        ("A=1 timeout -k 1 30 env B=2 ./check.sh && node b.js", ["check.sh", "b.js"]),
        ("cd checks && sh a.sh; ./b", ["checks/a.sh", "checks/b"]),
        ("cat x | bash judge.sh > out", ["judge.sh"]),
        ("if ./a; then ./b; fi", ["a", "b"]),
        (". ./lib.sh && uv run check.py", ["lib.sh", "check.py"]),
        ("uv run python check.py", ["check.py"]),
        ("python3 -c 'import check'", []),
        ("/usr/bin/env python3 x.py", ["x.py"]),
        ("test -n 'it''s", []),
        ("", []),
    ],
)
def test_scripts_are_found(command: str, scripts: list[str]) -> None:
    assert [piece.script for piece in pieces(command) if piece.script] == scripts


@pytest.mark.parametrize(
    ("path", "protected"),
    [
        ("check.py", True),
        ("json.py", True),
        ("json/__init__.py", True),
        ("json/data.txt", False),
        ("check/__init__.py", True),
        ("check.cpython-311-x86_64-linux-gnu.so", True),
        ("types.py", False),
        ("mine.py", False),
        ("below/json.py", False),
        ("below/sitecustomize.py", True),
    ],
)
def test_what_would_come_before_a_script_of_the_judges(path: str, protected: bool) -> None:
    import sys

    beside = (("", frozenset({"check"} | sys.stdlib_module_names)),)
    found = Instruments(frozenset(), frozenset({"check.py"}), ("sitecustomize.py",), beside, frozenset({"types.py"}))
    assert found.protects(path) is protected
