"""What a test can't do without: where it is missing the test is passed over, and says so; in CI it fails instead.

`EVALWARD_MUST_RUN` names what has to be there, with commas between: `npm`, `agents`, `browser`, `harnesses`,
`ray`, `shells` (zsh and fish). A check that nobody runs any more would look like one that passes.
"""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

VARIABLE = "EVALWARD_MUST_RUN"
NAMES = ("npm", "agents", "browser", "harnesses", "ray", "shells")


def missing(name: str, why: object) -> NoReturn:
    """Pass this test over, or fail it where what it needs has to be there."""
    assert name in NAMES, name
    if name in must_run(os.environ.get(VARIABLE, "")):
        pytest.fail(f"{VARIABLE} names {name}, and: {why}", pytrace=False)
    pytest.skip(f"NOT CHECKED: {why}")


def must_run(value: str) -> set[str]:
    """The names in the variable's value; one that is unknown fails the run, which otherwise would promise too much."""
    names = {name.strip() for name in value.split(",") if name.strip()}
    if unknown := names - set(NAMES):
        pytest.fail(f"{VARIABLE} names {', '.join(sorted(unknown))}: known are {', '.join(NAMES)}", pytrace=False)
    return names
