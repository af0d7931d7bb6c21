"""A command that begins anew (`evalward.edge.enter`) does so in the fork that it is, where its start isn't tested.

A command that needs no key leaves its secrets behind by replacing itself with a Python of its own, which loads
everything again: a second for each of many hundred commands of tests whose environment has keys.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from evalward import entry
from evalward.edge import PROGRAM

_execve = os.execve


def use() -> None:
    """From here on, what this process would be replaced with runs in it, if it is a command of ours."""
    os.execve = _replaced  # type: ignore[assignment]


def _replaced(path: str, words: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    if PROGRAM not in words:
        _execve(path, list(words), env)
    os.environ.clear()
    os.environ.update(env)
    sys.orig_argv = list(words)
    sys.argv[:] = ["evalward", *words[words.index(PROGRAM) + 2 :]]  # the word between them is where we are installed
    entry.main()
    raise SystemExit
