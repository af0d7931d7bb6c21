"""Normal forms of a command's syntax tree: equal for commands that say the same in other words.

`token_form` keeps the order of words and sees through quotes, blanks and bundled options; `equivalent_form` also lets
options stand in any order, where it is known which of them take a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from evalward.safety.parser import parse
from evalward.safety.syntax import ListStep, LiteralText, ParseError, Script, Simple, SyntaxWord
from evalward.safety.words import names

Form = tuple[Any, ...] | str | bool | None
Arrange = Callable[[str, Sequence[Form]], tuple[Form, ...]]

# Programs whose words with one dash are whole words, or whose order of words matters.
SINGLE_DASH = names(
    "find fd java javac gcc g++ clang cc ld go terraform openssl convert magick ffmpeg ffprobe xset xrandr xrdb dig ip "
    "test [ expr chmod dd ant mvn gradle pdftk kill printf sed"
)
# Programs that run another one: the options behind it are not theirs, so that nothing of them is moved.
WRAPPERS = names(
    "sudo doas env nohup nice ionice timeout time watch xargs exec command ssh su setsid stdbuf strace parallel eval "
    "bash sh dash zsh ksh docker podman kubectl npx busybox chroot flock"
)
# Short options that take a value, by program: what stands behind them belongs to them.
VALUED: dict[str, str] = {
    "sort": "ktoST", "head": "nc", "tail": "nc", "cut": "dfcb", "grep": "efmABC", "egrep": "efmABC", "fgrep": "efmABC",
    "ls": "IwT", "mkdir": "m", "cp": "tS", "mv": "tS", "du": "d", "df": "tx", "uniq": "fsw", "wc": "", "cat": "",
    "rm": "", "rmdir": "", "touch": "dtr", "tee": "", "tr": "", "nl": "bfhilnsvw", "fold": "w", "paste": "d",
    "join": "12aetov", "comm": "", "diff": "UCIxXF", "cmp": "nij", "split": "ablnC", "seq": "sf", "ln": "tS",
    "basename": "s", "stat": "cf", "file": "fmFP", "tar": "fCXTbKVL", "gzip": "S", "gunzip": "S", "zcat": "",
    "curl": "oHdXuAebFTmwxE", "wget": "OPotTUw", "date": "dfr", "git": "mCc", "uname": "", "id": "", "who": "",
    "whoami": "", "pwd": "", "hostname": "", "uptime": "", "free": "s", "ping": "ciWst", "md5sum": "", "sha256sum": "",
    "sha1sum": "", "rev": "", "tac": "s", "expand": "t", "column": "tsoc", "shuf": "eino", "base64": "w", "xxd": "lsc",
    "od": "AjNtw", "ss": "f", "lsof": "ipuc", "mktemp": "pt", "readlink": "", "realpath": "", "tree": "LPIo",
}  # fmt: skip


def token_form(command: str) -> Form:
    """Shell words in order; `None` for what isn't shell."""
    return _form(command, _split_bundles)


def equivalent_form(command: str) -> Form:
    """The syntax tree with options in one order; `None` for what isn't shell."""
    return _form(command, _sorted_options)


@lru_cache(maxsize=4096)
def _form(command: str, arrange: Arrange) -> Form:
    try:
        return _node(parse(command), arrange)
    except (ParseError, RecursionError):
        return None


def _node(node: Any, arrange: Arrange) -> Form:
    """Any part of a syntax tree as nested tuples, without the text that it was written as."""
    if isinstance(node, Simple):
        return _simple(node, arrange)
    if isinstance(node, SyntaxWord):
        return _word(node, arrange)
    if isinstance(node, Script):
        return ("Script", *_steps(node.steps, arrange))
    if is_dataclass(node) and not isinstance(node, type):
        inner = [_node(getattr(node, field.name), arrange) for field in fields(node) if field.name != "source"]
        return (type(node).__name__, *inner)
    if isinstance(node, tuple):
        return tuple(_node(item, arrange) for item in node)
    return node if isinstance(node, bool) or node is None else str(node)


def _steps(steps: Sequence[ListStep], arrange: Arrange) -> list[Form]:
    """The commands of a list; it doesn't matter whether the last one ends with a sign."""
    found: list[Form] = []
    for index, step in enumerate(steps):
        operator = step.operator if step.operator not in {"", "\n"} else ";"
        last = index == len(steps) - 1 and operator == ";"
        found.append((_node(step.node, arrange), "" if last else operator))
    return found


def _word(word: SyntaxWord, arrange: Arrange) -> Form:
    """A word: letters as they reach the program, whatever quotes they stand in."""
    parts: list[Form] = []
    text = ""
    for part in word.parts:
        if isinstance(part, LiteralText) and not (not part.quoted and text == "" and part.text.startswith("~")):
            text += part.text
            continue
        if text:
            parts.append(text)
            text = ""
        parts.append(_node(part, arrange))
    if text or not parts:
        parts.append(text)
    return parts[0] if len(parts) == 1 else tuple(parts)


def _simple(node: Simple, arrange: Arrange) -> Form:
    words = [_word(word, arrange) for word in node.words]
    program = words[0] if words and isinstance(words[0], str) else ""
    return (
        "Simple",
        _node(node.assignments, arrange),
        tuple(words[:1]),
        arrange(program.rpartition("/")[2], words[1:]),
        _node(node.redirects, arrange),
    )


def _is_bundle(program: str, word: Form) -> bool:
    if not isinstance(word, str) or len(word) < 3 or not word.startswith("-") or not word[1:].isalpha():
        return False
    return word.isascii() and program not in SINGLE_DASH | WRAPPERS


def _split_bundles(program: str, words: Sequence[Form]) -> tuple[Form, ...]:
    """`-la` becomes `-l -a` where that is what it means: before `--`, and not for programs like `find`."""
    done: list[Form] = []
    for index, word in enumerate(words):
        if word == "--":
            return (*done, *words[index:])
        done += [f"-{letter}" for letter in str(word)[1:]] if _is_bundle(program, word) else [word]
    return tuple(done)


def _sorted_options(program: str, words: Sequence[Form]) -> tuple[Form, ...]:
    """Options with their values first, sorted; then the other words in their order."""
    valued = VALUED.get(program)
    if valued is None:
        return _split_bundles(program, words)
    options: list[tuple[str, Form]] = []
    operands: list[Form] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if not isinstance(word, str) or not word.startswith("-") or word == "-":
            operands.append(word)
        elif word.startswith("--"):
            options.append((word, None))
        else:
            options += _short(word, valued, rest)
    return tuple(sorted(options, key=lambda option: option[0])), *operands


def _short(word: str, valued: str, rest: list[Form]) -> list[tuple[str, Form]]:
    """The options of one word; the last may take its value from the same word or from the next."""
    found: list[tuple[str, Form]] = []
    for index, letter in enumerate(word[1:], 2):
        if letter not in valued:
            found.append((f"-{letter}", None))
            continue
        value: Form = word[index:] or (rest.pop(0) if rest else None)
        return [*found, (f"-{letter}", value)]
    return found
