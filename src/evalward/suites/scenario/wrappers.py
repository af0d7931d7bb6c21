"""Words that only run the rest of a command: `env A=1 timeout 5 todo add` runs `todo`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


@dataclass(frozen=True)
class _Wrapper:
    """A program that runs the words behind its options and operands.

    `valued`: options that are followed by a value. `asking`: those with which nothing runs. `subcommand`: it runs the
    rest only behind this word.
    """

    valued: frozenset[str] = frozenset()
    operands: int = 0
    asking: frozenset[str] = frozenset()
    subcommand: str = ""


def _wrapper(valued: str = "", operands: int = 0, asking: str = "", subcommand: str = "") -> _Wrapper:
    return _Wrapper(frozenset(valued.split()), operands, frozenset(asking.split()), subcommand)


_WRAPPERS = {
    "env": _wrapper("-u --unset -C --chdir"),
    "exec": _wrapper("-a"),
    "command": _wrapper(asking="-v -V"),
    "time": _wrapper("-f --format -o --output"),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c --class -n --classdata -p --pid"),
    "nohup": _wrapper(),
    "setsid": _wrapper(),
    "stdbuf": _wrapper("-i --input -o --output -e --error"),
    "unbuffer": _wrapper(),
    "chronic": _wrapper(),
    "timeout": _wrapper("-k --kill-after -s --signal", 1),
    "gtimeout": _wrapper("-k --kill-after -s --signal", 1),
    "builtin": _wrapper(),
    "flock": _wrapper("-w --wait --timeout -E --conflict-exit-code", 1),
    "taskset": _wrapper(operands=1),
    "setarch": _wrapper(operands=1),
    "chroot": _wrapper(operands=1),
    "sudo": _wrapper("-u --user -g --group -h --host -p --prompt -C -D -R -r -t -T -U", asking="-l -v -k -K -e"),
    "doas": _wrapper("-u -C"),
    "strace": _wrapper("-o -e -p -s -u -E -P"),
    "xargs": _wrapper("-I -n -P -L -d -a -E -s --max-args --max-procs --max-lines --delimiter --arg-file"),
    "uv": _wrapper("--with --python -p --directory --project --env-file", subcommand="run"),
    "poetry": _wrapper("-C -P", subcommand="run"),
    "pipenv": _wrapper(subcommand="run"),
    "pdm": _wrapper(subcommand="run"),
    "hatch": _wrapper("-e", subcommand="run"),
    "rye": _wrapper(subcommand="run"),
    "npx": _wrapper("-p --package"),
    "bunx": _wrapper("-p --package"),
}
_KEYWORDS = frozenset({"!", "then", "do", "if", "elif", "while", "until", "else", "{"})
"""For who splits a line into words and knows no syntax."""


def program_at(words: Sequence[str]) -> int:
    """The place of the program that the words run in the end, behind assignments and wrappers; their number if none.

    `command -v todo` and `sudo -l todo` only ask.
    """
    at = 0
    while at < len(words):
        wrapper = _WRAPPERS.get(words[at].rpartition("/")[2])
        if words[at] in _KEYWORDS or _ASSIGNMENT.match(words[at]):
            at += 1
        elif wrapper is None or (wrapper.subcommand and wrapper.subcommand not in words[at + 1 : at + 2]):
            return at
        else:
            at = _behind(words, at + 1 + bool(wrapper.subcommand), wrapper)
    return at


def _behind(words: Sequence[str], at: int, wrapper: _Wrapper) -> int:
    """The place behind the wrapper's own options and operands."""
    while at < len(words) and words[at].startswith("-"):
        if words[at] in wrapper.asking:
            return len(words)
        if words[at] == "--":
            at += 1
            break
        at += 2 if words[at] in wrapper.valued else 1
    return min(at + wrapper.operands, len(words))
