"""What a command line of a scenario runs, as far as that can be read off: scripts, test runners, files it names."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_INTERPRETER = re.compile(r"(sh|bash|dash|zsh|ksh|node|nodejs|deno|bun|ruby|perl|php|lua|Rscript|pypy3?|python[\d.]*)")
_PYTHON = re.compile(r"(pypy3?|python[\d.]*)")
_CODE_FOLLOWS = frozenset({"-c", "-e", "--eval", "-p"})
_VALUE_FOLLOWS = frozenset({"-W", "-X", "-r", "--require", "-o"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_WRAPPERS = frozenset(
    {"env", "exec", "time", "command", "nice", "nohup", "!", "then", "do", "if", "while", "else", "{"}
)
_RUNS_ANOTHER = {"uv": "run", "poetry": "run", "pipenv": "run", "hatch": "run", "deno": "run", "bun": "run"}
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
    """Without assignments and words that only run the rest."""
    rest = list(words)
    while rest:
        name = rest[0].rpartition("/")[2]
        if name in _WRAPPERS or _ASSIGNMENT.match(rest[0]):
            rest = rest[1:]
        elif name == "timeout":
            rest = _after_timeout(rest[1:])
        elif len(rest) > 2 and _RUNS_ANOTHER.get(name) == rest[1]:
            rest = [*_interpreter_of(name, rest[2]), *rest[2:]]
            return rest if rest[0] == "node" else _unwrapped(rest)
        else:
            return rest
    return []


def _interpreter_of(runner: str, word: str) -> list[str]:
    """What `runner run FILE` means."""
    if runner in {"deno", "bun"}:
        return ["node"]
    return ["python"] if word.endswith(".py") else []


def _after_timeout(words: Sequence[str]) -> list[str]:
    """The words behind options and duration."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in {"-k", "-s"} else rest[1:]
    return rest[1:]


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
