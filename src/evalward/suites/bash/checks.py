"""The checks of a bash task, on two sources: what the calls printed, and what is in the file system afterwards.

Semantics: `exit_code` looks at the last call (−1 without any); `stdout_contains` and `stdout_regex` hold when *some*
call's stdout matches; `stderr_empty` when *every* call's stderr is empty; `file_exists` is true for folders too.
Patterns are RE2: linear time, whatever a pattern or an output contains. Relative paths count from the home folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalward.graders.source import is_grader, parse_reference
from evalward.records.base import clean_text
from evalward.records.result import CheckResult
from evalward.records.trace import ToolCall
from evalward.records.words import near_or_known
from evalward.render.numbers import plural
from evalward.sandbox.base import FileTooLargeError, Shell
from evalward.suites.re2_pattern import compiled

NO_CALL_EXIT_CODE = -1
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
NOT_JUDGED = "not judged: no judge is configured (set judge: in the config)"
SHOWN = 80  # characters of a found text that a detail shows


@dataclass(frozen=True)
class CheckEvidence:
    """What the checks of a task look at."""

    calls: Sequence[ToolCall]
    shell: Shell


@dataclass(frozen=True)
class ParsedCheck:
    """A parsed check: its name, and its arguments as text."""

    name: str
    args: tuple[str, ...] = ()


Verdict = tuple[bool, str]


def parse_check(text: str) -> ParsedCheck:
    """Read `name`, `name:argument…` or a grader. Raises `ValueError` that says what is wrong with it."""
    name, colon, rest = text.partition(":")
    form = FORMS.get(name)
    if form is None and is_grader(text):
        return ParsedCheck(GRADER, (parse_reference(text).text,))
    if form is None:
        raise ValueError(f"unknown check {_cut(name)!r}. {near_or_known(name, FORMS, 'Known checks')}")
    if form.usage == name:
        if colon:
            raise ValueError(f"{name!r} takes no argument")
        return ParsedCheck(name)
    if not colon:
        raise ValueError(f"{name!r} needs an argument: {form.usage}")
    return ParsedCheck(name, form.parse(rest))


def evaluate(text: str, weight: float, evidence: CheckEvidence) -> CheckResult:
    """Does the check hold? A check that can't be read fails with its weight, as the specification's scorer has it."""
    try:
        check = parse_check(text)
    except ValueError as error:
        return CheckResult(check=text, passed=False, detail=str(error), weight=weight)
    if check.name == GRADER:  # see `graded`
        return CheckResult(check=text, passed=False, detail="not graded", weight=weight)
    passed, detail = FORMS[check.name].judge(evidence, *check.args)
    if check.name == JUDGED:  # a judge's answer takes this result's place: see `judged`
        weight = 0.0  # until then it passes unseen, so it must not lift the score
    return CheckResult(check=text, passed=passed, detail=detail, weight=weight)


def _one(rest: str) -> tuple[str, ...]:
    return (rest,)


def _integer(rest: str) -> tuple[str, ...]:
    if not WHOLE_NUMBER.fullmatch(rest):
        raise ValueError(f"{_cut(rest)!r} is not a whole number")
    return (str(int(rest)),)


def _count(rest: str) -> tuple[str, ...]:
    number = _integer(rest)
    if int(number[0]) < 0:
        raise ValueError(f"{rest!r} is negative, and a number of calls can't be")
    return number


def _path(rest: str) -> tuple[str, ...]:
    if not rest:
        raise ValueError("the path is empty")
    return (rest,)


def _path_and_text(rest: str) -> tuple[str, ...]:
    path, colon, text = rest.partition(":")
    if not path or not colon:
        raise ValueError("needs a path and a text: /path:text")
    return (path, text)


def _pattern(rest: str) -> tuple[str, ...]:
    compiled(rest)
    return (rest,)


def _path_and_pattern(rest: str) -> tuple[str, ...]:
    path, pattern = _path_and_text(rest)
    compiled(pattern)
    return (path, pattern)


def _shown(text: str) -> str:
    return repr(_cut(text.strip()))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _last_stdout(evidence: CheckEvidence) -> str:
    if not evidence.calls:
        return "no tool call was made"
    return f"the last call printed {_shown(evidence.calls[-1].stdout)}"


def _exit_code(evidence: CheckEvidence, expected: str) -> Verdict:
    if not evidence.calls:
        return int(expected) == NO_CALL_EXIT_CODE, f"expected {expected}, but no tool call was made"
    got = evidence.calls[-1].exit_code
    if got is None:
        return False, f"expected {expected}, but the exit code of the last call is unknown"
    return got == int(expected), f"expected {expected}, got {got}"


def _stdout_contains(evidence: CheckEvidence, text: str) -> Verdict:
    if any(text in call.stdout for call in evidence.calls):
        return True, "found"
    return False, f"{_shown(text)} is in no call's stdout; {_last_stdout(evidence)}"


def _stdout_regex(evidence: CheckEvidence, pattern: str) -> Verdict:
    if any(compiled(pattern).search(clean_text(call.stdout)) for call in evidence.calls):
        return True, "matched"
    return False, f"no call's stdout matches; {_last_stdout(evidence)}"


def _stderr_empty(evidence: CheckEvidence) -> Verdict:
    stderr = next((call.stderr for call in evidence.calls if call.stderr), None)
    return (True, "no call wrote to stderr") if stderr is None else (False, f"stderr has {_shown(stderr)}")


def _file_exists(evidence: CheckEvidence, path: str) -> Verdict:
    there = evidence.shell.file_type(path)
    return (True, f"{there} exists") if there else (False, "there is nothing at this path")


def _dir_exists(evidence: CheckEvidence, path: str) -> Verdict:
    there = evidence.shell.file_type(path)
    if there == "directory":
        return True, "directory exists"
    return False, f"there is a {there} at this path, no directory" if there else "there is nothing at this path"


def _read(evidence: CheckEvidence, path: str) -> tuple[str | None, str]:
    """The file's text, or `None` and why there is none. Bytes that are no UTF-8 become replacement characters."""
    there = evidence.shell.file_type(path)
    if there is None:
        return None, "there is no such file"
    if there != "file":
        return None, f"there is a {there} at this path, no file"
    try:
        content = evidence.shell.read_file(path)
    except FileTooLargeError as error:  # the target's doing, no fault of the sandbox's
        return None, str(error)
    return (None, "the file can't be read") if content is None else (content.decode("utf-8", "replace"), "")


def _file_contains(evidence: CheckEvidence, path: str, text: str) -> Verdict:
    content, why_not = _read(evidence, path)
    if content is None:
        return False, why_not
    return (True, "found") if text in content else (False, f"{_shown(text)} isn't in it; it reads {_shown(content)}")


def _file_line_regex(evidence: CheckEvidence, path: str, pattern: str) -> Verdict:
    content, why_not = _read(evidence, path)
    if content is None:
        return False, why_not
    if any(compiled(pattern).search(line) for line in content.splitlines()):
        return True, "some line matches"
    return False, f"no line matches; it reads {_shown(content)}"


def _tool_calls_min(evidence: CheckEvidence, least: str) -> Verdict:
    made = len(evidence.calls)
    return made >= int(least), f"{plural(made, 'call')}, at least {least} wanted"


def _tool_calls_max(evidence: CheckEvidence, most: str) -> Verdict:
    made = len(evidence.calls)
    return made <= int(most), f"{plural(made, 'call')}, at most {most} allowed"


def _llm_judge(evidence: CheckEvidence, prompt: str) -> Verdict:  # noqa: ARG001 - who judges is asked elsewhere
    return True, NOT_JUDGED


@dataclass(frozen=True)
class Form:
    """How one check is written, read and judged."""

    usage: str
    parse: Callable[[str], tuple[str, ...]]
    judge: Callable[..., Verdict]


FORMS: dict[str, Form] = {
    "exit_code": Form("exit_code:N", _integer, _exit_code),
    "stdout_contains": Form("stdout_contains:text", _one, _stdout_contains),
    "stdout_regex": Form("stdout_regex:pattern", _pattern, _stdout_regex),
    "stderr_empty": Form("stderr_empty", _one, _stderr_empty),
    "file_exists": Form("file_exists:/path", _path, _file_exists),
    "dir_exists": Form("dir_exists:/path", _path, _dir_exists),
    "file_contains": Form("file_contains:/path:text", _path_and_text, _file_contains),
    "file_line_regex": Form("file_line_regex:/path:pattern", _path_and_pattern, _file_line_regex),
    "tool_calls_min": Form("tool_calls_min:N", _count, _tool_calls_min),
    "tool_calls_max": Form("tool_calls_max:N", _count, _tool_calls_max),
    "llm_judge": Form("llm_judge:prompt", _one, _llm_judge),
}
JUDGED = "llm_judge"
GRADER = "grader"
