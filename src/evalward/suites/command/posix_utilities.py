"""Options and operands that POSIX does not specify for its utilities.

The standard is POSIX.1-2017 (Issue 7). What Issue 8 (2024) added is accepted too, as is everything that is a
matter of opinion: a finding here is a fact. Each entry of ``OPTIONS`` lists the option letters that the
standard has; a colon marks those with a value. Every other letter, and every option that starts with two
dashes, is an extension.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evalward.safety.syntax import LiteralText, Simple, SyntaxWord
from evalward.safety.words import names


@dataclass(frozen=True, slots=True)
class UtilityFinding:
    """An extension: the rule, what was written, and why it is one. A ``note`` alone breaks no compliance."""

    rule: str
    words: str
    message: str
    note: bool = False


OPTIONS: dict[str, str] = {
    "basename": "",
    "cat": "u",
    "chgrp": "hRHLP",
    "chmod": "Rh",
    "chown": "hRHLP",
    "cksum": "",
    "cmp": "ls",
    "comm": "123",
    "cp": "PfipRHLr",
    "csplit": "f:kn:s",
    "cut": "b:c:d:f:ns",
    "date": "u",
    "df": "kPt",
    "diff": "bcC:efruU:",
    "dirname": "",
    "du": "aHkLsx",
    "ed": "p:s",
    "expand": "t:",
    "file": "dhiM:m:",
    "fold": "bsw:",
    "grep": "EFce:f:ilnqsvx",
    "head": "n:c:",
    "iconv": "cf:st:l",
    "id": "Ggnru",
    "join": "a:e:o:t:v:1:2:",
    "ln": "fsLP",
    "logger": "f:ip:t:",
    "ls": "ACFHLRSacdfgiklmnopqrstux1",
    "mkdir": "pm:",
    "mkfifo": "m:",
    "mv": "fi",
    "nl": "b:d:f:h:i:l:n:ps:v:w:",
    "od": "A:j:N:t:vbcdosx",
    "paste": "d:s",
    "pathchk": "pP",
    "rm": "fiRrdv",
    "rmdir": "p",
    "sed": "ne:f:Es",
    "sleep": "",
    "sort": "cCmudfinrbt:k:o:T:",
    "split": "a:b:l:",
    "strings": "an:t:",
    "tail": "fc:n:r",
    "tee": "ai",
    "touch": "acmr:t:d:",
    "tr": "cCds",
    "tsort": "",
    "tty": "",
    "uname": "amnrsv",
    "unexpand": "at:",
    "uniq": "cduf:s:",
    "wc": "cmlw",
}
_WRAPPERS: dict[str, str] = {
    "xargs": "tpE:I:L:n:s:x0r",
    "nohup": "",
    "nice": "n:",
    "env": "i",
    "time": "p",
    "command": "pvV",
    "exec": "",
}
"""Utilities that run another one, whose words follow their own options."""

_SYMBOLIC_MODE = re.compile(r"-[rwxXst,ugo=+-]+")
_FIND_EXTENSIONS = names(
    "-maxdepth -mindepth -delete -printf -fprintf -fprint -fprint0 -fls -ls -regex -iregex -regextype "
    "-ipath -wholename -iwholename -lname -ilname -empty -mmin -amin -cmin -anewer -cnewer -executable "
    "-readable -writable -execdir -okdir -quit -not -and -or -samefile -inum -true -false -daystart "
    "-fstype -xtype -uid -gid -used -noleaf -P -O1 -O2 -O3 -newermt -newerct -newerat -files0-from"
)
_NOT_UTILITIES: dict[str, str] = {
    "which": "use command -v",
    "seq": "count in a while loop",
    "tac": "POSIX has no such utility",
    "rev": "POSIX has no such utility",
    "shuf": "POSIX has no such utility",
    "egrep": "use grep -E",
    "fgrep": "use grep -F",
    "zcat": "in POSIX only for compress format",
    "tar": "POSIX has pax",
    "stat": "use ls or test",
    "mktemp": "POSIX has no such utility",
    "nproc": "use getconf",
    "whoami": "use id -un",
    "hostname": "use uname -n",
    "install": "use cp, chmod and chown",
    "column": "POSIX has no such utility",
    "watch": "use a while loop",
    "pgrep": "use ps and grep",
    "pkill": "use ps and kill",
    "killall": "use ps and kill",
    "free": "POSIX has no such utility",
    "top": "use ps",
    "less": "use more",
    "md5sum": "use cksum",
    "sha256sum": "use cksum",
    "base64": "use uuencode",
    "numfmt": "POSIX has no such utility",
}


def check_utilities(command: Simple) -> Iterator[UtilityFinding]:
    """Report options and operands of one simple command that POSIX does not have."""
    yield from _check_words([_text(word) for word in command.words])


def _check_words(words: list[str | None]) -> Iterator[UtilityFinding]:
    name = (words[0] or "").rpartition("/")[2] if words else ""
    if name in _NOT_UTILITIES:
        message = f"{name} is not a POSIX utility: {_NOT_UTILITIES[name]}"
        yield UtilityFinding(f"utility.{name}", name, message, note=True)
    elif name in _CHECKS:
        yield from _CHECKS[name](words[1:])
    elif name in _WRAPPERS:
        own = _operand(words, _WRAPPERS[name])
        while name == "env" and own < len(words) and "=" in (words[own] or ""):
            own += 1
        yield from _check_options(name, words[1:own], _WRAPPERS[name])
        yield from _check_words(words[own:])
    elif name in OPTIONS:
        yield from _check_options(name, words[1:], OPTIONS[name])


def _operand(words: list[str | None], known: str) -> int:
    """Return where the first word stands that is neither an option nor the value of one."""
    at = 1
    while at < len(words):
        word = words[at]
        if not _dashed(word) or word is None or word == "--":
            return at + (word == "--")
        takes_next = word[1] != "-" and _value_follows(known, word)
        at += 2 if takes_next else 1
    return at


def _value_follows(known: str, word: str) -> bool:
    """Say whether the value of the last option in a bundle is the next word."""
    for index, letter in enumerate(word[1:], start=2):
        if f"{letter}:" in known:
            return index == len(word)
    return False


def _text(word: SyntaxWord) -> str | None:
    """Return a word without its quotes, or nothing when a part of it is only known later."""
    parts = [part.text if isinstance(part, LiteralText) else None for part in word.parts]
    return None if None in parts else "".join(part or "" for part in parts)


def _dashed(word: str | None) -> bool:
    return word is not None and word.startswith("-") and word != "-"


def _extension(name: str, option: str) -> UtilityFinding:
    return UtilityFinding(f"{name}.option", f"{name} {option}", f"POSIX {name} has no option {option}")


def _check_options(name: str, args: list[str | None], known: str) -> Iterator[UtilityFinding]:
    is_value = False
    for word in args:
        if is_value or not _dashed(word) or word is None:
            is_value = False
            continue
        if word == "--":
            return
        if re.fullmatch(r"-\d+", word) and name in ("head", "tail", "nl", "split", "fold"):
            yield UtilityFinding(f"{name}.count", f"{name} {word}", f"POSIX writes {name} -n {word[1:]}", note=True)
        elif word.startswith("--"):
            yield _extension(name, word.partition("=")[0])
        elif name != "chmod" or not _SYMBOLIC_MODE.fullmatch(word):
            is_value = _value_follows(known, word)
            yield from _check_bundle(name, known, word)


def _check_bundle(name: str, known: str, word: str) -> Iterator[UtilityFinding]:
    for letter in word[1:]:
        if letter not in known or letter == ":":
            yield _extension(name, "-" + letter)
            return
        if f"{letter}:" in known:
            return


def _check_find(args: list[str | None]) -> Iterator[UtilityFinding]:
    paths = 0
    for word in args:
        if word in ("-H", "-L"):
            continue
        if word is not None and (word.startswith(("-", "(")) or word == "!"):
            break
        paths += 1
    if not paths:
        yield UtilityFinding("find.path", "find", "POSIX find needs a path to start from")
    for at, word in enumerate(args):
        following = args[at + 1] if at + 1 < len(args) else None
        if word in _FIND_EXTENSIONS:
            yield UtilityFinding("find.primary", f"find {word}", f"POSIX find has no {word}")
        elif word == "-size" and following and re.fullmatch(r"[+-]?\d+[bkMGTw]", following):
            yield UtilityFinding("find.size", f"find -size {following}", "POSIX find counts in blocks or bytes (c)")
        elif word == "-perm" and following and following.startswith(("/", "+")):
            yield UtilityFinding("find.perm", f"find -perm {following}", "POSIX find has no such form of -perm")
        elif word == "-type" and following and "," in following:
            yield UtilityFinding("find.type", f"find -type {following}", "POSIX find takes one type")


def _check_ps(args: list[str | None]) -> Iterator[UtilityFinding]:
    for word in args:
        if word and not word.startswith("-") and re.fullmatch(r"[a-zA-Z]+", word) and word == args[0]:
            yield UtilityFinding("ps.operand", f"ps {word}", "POSIX ps has options only with a dash")
        elif word and word.startswith("--"):
            yield _extension("ps", word.partition("=")[0])


def _check_readlink(args: list[str | None]) -> Iterator[UtilityFinding]:
    for word in args:
        if _dashed(word) and word is not None and word not in ("-n", "--"):
            yield _extension("readlink", word)


def _check_awk(args: list[str | None]) -> Iterator[UtilityFinding]:
    for word in args:
        if not _dashed(word) or word is None:
            return
        if (word.startswith("--") and word != "--") or word[1] not in "Fvf-":
            yield _extension("awk", word.partition("=")[0])


_CHECKS = {
    "find": _check_find,
    "ps": _check_ps,
    "readlink": _check_readlink,
    "awk": _check_awk,
}
