"""What a command line of a scenario runs, as far as that can be read off: scripts, test runners, files it names."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalward.suites.scenario.wrappers import program_at

_INTERPRETER = re.compile(r"(sh|bash|dash|zsh|ksh|node|nodejs|deno|bun|ruby|perl|php|lua|Rscript|pypy3?|python[\d.]*)")
_PYTHON = re.compile(r"(pypy3?|python[\d.]*)")
_CODE_FOLLOWS = frozenset({"-c", "-e", "--eval", "-p"})
_VALUE_FOLLOWS = frozenset({"-W", "-X", "-r", "--require", "-o"})
_NODE_RUNNERS = frozenset({"deno", "bun"})
_SEPARATORS = frozenset("();<>|&\n")


@dataclass(frozen=True)
class SimpleCommand:
    """One simple command of a line. Paths are the folder's, as far as `cd` in the line can be followed.

    `script`: the file that it executes. `module`: what `python -m` runs. `named`: its other words that may be paths.
    `folder`: where it runs. `here`: Python that looks there for modules first, as it runs no file by its path.
    `interpreter`: the file of one that lies in the folder.
    """

    program: str
    script: str | None = None
    module: str | None = None
    named: Sequence[str] = ()
    is_python: bool = False
    folder: str = "."
    here: bool = False
    interpreter: str | None = None


def pieces(command: str) -> Iterator[SimpleCommand]:
    """The simple commands of a line of shell."""
    folder = "."
    for words in _simple(command):
        bare = _unwrapped(words)
        if not bare:
            continue
        if bare[0] == "cd" and len(bare) > 1:
            folder = posixpath.normpath(posixpath.join(folder, bare[1]))
            continue
        yield _piece(bare, folder)


def _simple(command: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:  # quotes that only the shell understands
        words = command.replace(";", " ; ").replace("&&", " ; ").replace("|", " ; ").split()
    here: list[str] = []
    for word in words:
        if set(word) <= _SEPARATORS and not set(word) <= {"<", ">"}:
            yield here
            here = []
        else:
            here.append(word)
    yield here


def _unwrapped(words: Sequence[str]) -> list[str]:
    """Without assignments and words that only run the rest; what `uv run` and `deno run` start has its interpreter."""
    at = program_at(words)
    rest = list(words[at:])
    if len(rest) > 2 and rest[0] in _NODE_RUNNERS and rest[1] == "run":
        return ["node", *rest[2:]]
    is_run = "run" in words[:at] and bool(rest) and rest[0].endswith(".py")
    return ["python", *rest] if is_run else rest


def _piece(words: Sequence[str], folder: str) -> SimpleCommand:
    def at(word: str) -> str:
        return posixpath.normpath(posixpath.join(folder, word))

    name = words[0].rpartition("/")[2]
    named = [at(word) for word in words[1:] if not word.startswith("-")]
    if _INTERPRETER.fullmatch(name):
        script, module = _of_interpreter(words[1:])
        is_python = bool(_PYTHON.fullmatch(name))
        here = is_python and (script is None or "<" in words)
        own = at(words[0]) if "/" in words[0] and not words[0].startswith("/") else None
        return SimpleCommand(name, script and at(script), module, named, is_python, folder, here, own)
    if words[0] in {"source", "."} and len(words) > 1:
        return SimpleCommand(name, at(words[1]), None, named, folder=folder)
    script = at(words[0]) if "/" in words[0] and not words[0].startswith("/") else None
    return SimpleCommand(name, script, None, named, is_python=words[0].endswith(".py"), folder=folder)


def _of_interpreter(words: Sequence[str]) -> tuple[str | None, str | None]:
    """Script or module that an interpreter is given; neither where the code stands in the line."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "-m":
            return None, rest[0] if rest else None
        if word in _CODE_FOLLOWS:
            return None, None
        if word in _VALUE_FOLLOWS:
            rest = rest[1:]
        elif word != "<" and not word.startswith("-"):
            return word, None
    return None, None
