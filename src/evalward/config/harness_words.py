"""The words that start another harness: how they are written, and how case ids get into them without being more.

An id is a stranger's text: it may become a part of one argument, and never an option, a second argument, a pattern or a
word of a shell.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from msgspec import Struct

IDS, ONE_ID, TRIALS, FOLDER = "ids", "id", "trials", "dir"
IDS_OR, IDS_PATTERN = "ids_or", "ids_regex"
LISTS: Mapping[str, str] = {IDS: ",", IDS_OR: " or ", IDS_PATTERN: "|"}
"""The placeholders that stand for several ids, and what stands between these: as inspect, pytest's -k and a regular
expression have them.
"""
MARKS = {
    IDS: "EVALWARD_IDS",
    IDS_OR: "EVALWARD_IDS_OR",
    IDS_PATTERN: "EVALWARD_IDS_REGEX",
    ONE_ID: "EVALWARD_ID",
    TRIALS: "EVALWARD_TRIALS",
    FOLDER: "EVALWARD_DIR",
}
"""What may stand in braces, and the variable in which a shell finds it."""
SHELL = ("sh", "-c")
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "cmd", "cmd.exe", "powershell", "pwsh"})
LONGEST_ID = 2000  # characters

_MARK = re.compile(r"(?<![${])\{([a-z][a-z_]*)\}(?!\})")  # ${name} is a shell's, {{name}} a template's
_PLAIN = re.compile(r"[\w@%+=:,./#-]+")  # of no meaning to a shell, nor to one that it starts
_PATTERN = re.compile(r"[*?\[\]]")
_SPECIAL = re.compile(r"[.*+?^${}()|\[\]\\/]")  # in regular expressions, those of JavaScript included
_WORD_OF_K = re.compile(r"[\w:+.\[\]\\/-]+")  # one word of pytest's -k
_MEANT_BY_K = frozenset({"or", "and", "not", "None", "True", "False"})
_FOLDER = re.compile(r"(/[A-Za-z0-9_+.-]+)+")


class UnfitWordsError(ValueError):
    """Values that can't be put into these words; the message says which and why."""


class Filling(Struct, frozen=True):
    """What the placeholders stand for: case ids, the number of trials of each, and a new folder's absolute path."""

    ids: Sequence[str] = ()
    trials: int = 1
    folder: str = ""


def split_words(command: str | Sequence[str], *, shell: bool = False) -> list[str]:
    """The arguments that a command consists of, the program first. Raises `ValueError` where quotes don't end."""
    if shell:
        return [*SHELL, command if isinstance(command, str) else shlex.join(command)]
    return shlex.split(command) if isinstance(command, str) else list(command)


def marks_in(command: str | Sequence[str]) -> list[str]:
    """The placeholders of a command, without their braces, each once."""
    texts = [command] if isinstance(command, str) else command
    return list(dict.fromkeys(mark for text in texts for mark in _MARK.findall(text)))


def within_a_shell(words: Sequence[str]) -> list[str]:
    """The placeholders in a text that these words hand to a shell, which would read the values as its own."""
    if not any(word.rsplit("/", 1)[-1] in SHELLS for word in words):
        return []
    return marks_in([word for word in words if any(character.isspace() for character in word)])


def in_single_quotes(text: str) -> list[str]:
    """The placeholders of a shell's text that stand in single quotes, where no variable is replaced."""
    found, quote, at = [], "", 0
    while at < len(text):
        character = text[at]
        mark = _MARK.match(text, at)
        if mark is not None and quote == "'":
            found.append(mark[1])
        if character == "\\" and quote != "'":
            at += 1
        elif character in "'\"":
            quote = "" if quote == character else quote or character
        at += 1
    return found


def unnameable(case: str, command: str | Sequence[str], *, shell: bool = False) -> str | None:
    """Why a case's id can't be handed to this command, `None` where it can: words for after "its id"."""
    used = set(marks_in(command)) & {*LISTS, ONE_ID}
    at_start = shell or _begins_a_word(split_words(command), used)
    listed, outer = IDS in used, case != case.strip()
    faults = {
        "can't be written into an argument": "\0" in case or not _is_text(case),
        f"is empty or has more than {LONGEST_ID} characters": not 0 < len(case) <= LONGEST_ID,
        "begins with -, and would be taken for an option": at_start and case.startswith("-"),
        "has a comma, a line break or outer spaces, which a list of ids can't hold": listed
        and ("," in case or outer or not case.isprintable()),
        "has *, ?, [ or ], which are wildcards": (listed or shell) and _PATTERN.search(case) is not None,
        "is not a name that pytest's -k accepts": IDS_OR in used
        and (case in _MEANT_BY_K or not _WORD_OF_K.fullmatch(case)),
        "has a line break, or characters that can't be seen": IDS_PATTERN in used and not case.isprintable(),
        "has characters that a shell may interpret (letters, digits and @%+=:,./#_- are safe)": shell
        and _PLAIN.fullmatch(case) is None,
    }
    return next((why for why, holds in faults.items() if used and holds), None)


def _is_text(case: str) -> bool:
    try:
        case.encode()
    except UnicodeEncodeError:
        return False
    return True


def _begins_a_word(words: Sequence[str], marks: set[str]) -> bool:
    return any(word.startswith(f"{{{mark}}}") for word in words for mark in marks)


def filled(
    command: str | Sequence[str], filling: Filling, *, shell: bool = False
) -> tuple[list[str], Mapping[str, str]]:
    """The arguments with their placeholders filled, and the variables that a shell's text takes them from.

    Raises `UnfitWordsError` for ids, and for a folder, that can't be put there.
    """
    used = marks_in(command)
    for case in filling.ids:
        why = unnameable(case, command, shell=shell)
        if why is not None:
            raise UnfitWordsError(f"the id {case[:80]!r} {why}")
    values = {mark: value for mark, value in _values(filling, used).items() if mark in used}
    if shell:
        text = _MARK.sub(lambda mark: f"${{{MARKS[mark[1]]}}}", command if isinstance(command, str) else "")
        return [*SHELL, text], {MARKS[mark]: value for mark, value in values.items()}
    return [_MARK.sub(lambda mark: values[mark[1]], word) for word in split_words(command)], {}


def _values(filling: Filling, used: Sequence[str]) -> Mapping[str, str]:
    unknown = [mark for mark in used if mark not in MARKS]
    if unknown:
        raise UnfitWordsError(f"{{{unknown[0]}}} is not a placeholder")
    if {*LISTS, ONE_ID} & set(used) and not filling.ids:
        raise UnfitWordsError("no case was named")
    if ONE_ID in used and len(filling.ids) != 1:
        raise UnfitWordsError(f"{{{ONE_ID}}} stands for one case, and {len(filling.ids)} were named")
    if FOLDER in used and (_FOLDER.fullmatch(filling.folder) is None or ".." in filling.folder.split("/")):
        raise UnfitWordsError(
            "the path of its folder is relative, or has characters other than letters, digits and /_+.-"
        )
    one = filling.ids[0] if filling.ids else ""
    lists = {mark: between.join(_escaped(mark, filling.ids)) for mark, between in LISTS.items()}
    return {**lists, ONE_ID: one, TRIALS: str(filling.trials), FOLDER: filling.folder}


def _escaped(mark: str, ids: Sequence[str]) -> Sequence[str]:
    return [_SPECIAL.sub(r"\\\g<0>", case) for case in ids] if mark == IDS_PATTERN else ids
