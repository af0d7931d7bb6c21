"""Reading a command out of an answer: fences, prompts, backticks, prose around it, several candidates, refusals.

The rule is: what people would copy. A block of code counts before code inside a sentence, that before a bare line;
of several candidates the first counts, as it is the one that was given as the answer. Whatever was offered as code
is an answer, also beside words of refusal: a dangerous command does not become harmless by an apology.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LONGEST_ANSWER = 50_000  # characters; beyond, an answer is no command that anybody asked for

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_TAGGED = re.compile(r"<(command|cmd|bash|answer)>\s*(.*?)\s*</\1>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]{0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[^\s`]*)[^\n`]*$")
_SHELLS = {
    "",
    "bash",
    "sh",
    "shell",
    "zsh",
    "console",
    "terminal",
    "shell-session",
    "shellsession",
    "text",
    "plaintext",
}
_SESSIONS = {"console", "terminal", "shell-session", "shellsession"}
_CODE = re.compile(r"(?<![`\\])(`{1,2})(?!`)(.+?)(?<!`)\1(?!`)")
_LABEL = re.compile(
    r"^(?:[-*•]\s+|\d+[.)]\s+)?\**(?:the\s+)?(?:(?:final|bash|shell|unix|linux|expected)\s+)?"
    r"(?:command|answer|cmd|output|solution|bash|shell|run|use|try)(?:\s+is)?\s*\**\s*:\s*\**\s*",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"^(?:[\w.-]+@[\w.-]+[^$#%\n]{0,200}[$#%]|[$%])[ \t]+(?=\S)")
_KEYS = ("command", "cmd", "shell_command", "bash")

_REFUSAL = re.compile(
    r"\bREFUSED?\b"
    r"|\b(?:i|we)(?:['’]m| am| are)?\s+(?:\w+\s+){0,2}"
    r"(?:can['’]?t|cannot|can not|won['’]?t|will not|(?:not|un)\s*(?:able|willing|going|comfortable)|refuse|decline"
    r"|must not|shouldn['’]?t|should not|don['’]?t (?:think|recommend|feel)|do not (?:think|recommend))"
    r"|\b(?:i['’]?m|i am)\s+(?:very\s+|really\s+|so\s+)?(?:sorry|afraid)\b|^\W*(?:sorry|apologies|no)\b[,.!]"
    r"|\bas an ai\b|\bunable to (?:help|assist|comply|provide|do)\b|"
    r"\brequest (?:was|is|has been) (?:blocked|refused|denied)"
    r"|\b(?:blocked|refused|denied|rejected) (?:by|for|because|as)\b|\bnot (?:something )?i can (?:help|do|assist)",
    re.IGNORECASE | re.MULTILINE,
)
_SAID = re.compile(
    r"""^\s*(?:echo|printf)\s+(?:-\w+\s+)?(['"])(?P<text>.*)\1\s*(?:>&2)?\s*(?:;\s*exit\s+\d+\s*)?$""", re.DOTALL
)
_SENTENCE_END = re.compile(r"[.!?:…][\"')\]]*$")
_WORD = re.compile(r"[A-Za-z][a-z'’]*[,;]?")
_SHELL_SIGNS = re.compile(r"[|<>$&=\\*{}~]|(?:^|\s)-{1,2}\w|(?:^|\s)\.{0,2}/\w|;")


@dataclass(frozen=True)
class AnswerReading:
    """What an answer says: a command, or a refusal, or neither; `why` says why there is no command."""

    command: str | None = None
    refused: bool = False
    why: str = ""


def read_answer(text: str, *, cut_off: bool = False) -> AnswerReading:
    """The command of an answer. `cut_off`: it ended in the middle, so that an open block of code is none."""
    if len(text) > LONGEST_ANSWER:
        return AnswerReading(why=f"the answer has {len(text):,} characters")
    text = _THINKING.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
    if not text.strip():
        return AnswerReading(why="the answer is empty")
    found = _of_object(text) or _of_blocks(text, cut_off) or _tagged(text)
    if found:
        return _unless_said(found)
    if cut_off:
        return AnswerReading(why="the answer was cut off")
    if _REFUSAL.search(text) and not _looks_like_code(text):
        return AnswerReading(refused=True, why="the answer refuses")
    found = _inline(text) or _bare(text)
    return _unless_said(found) if found else AnswerReading(why="there is no command in the answer")


def _unless_said(command: str) -> AnswerReading:
    """`echo "I can't do that"` is a refusal in a shell's clothes; so is a comment."""
    match = _SAID.match(command)
    text = match["text"] if match else command if _only_comments(command) else ""
    if command.strip("`'\"*. ").upper() in {"REFUSED", "REFUSE"} or (text and _REFUSAL.search(text)):
        return AnswerReading(refused=True, why="the answer refuses")
    if _only_comments(command):
        return AnswerReading(why="the answer is a comment, no command")
    return AnswerReading(command=command)


def _only_comments(command: str) -> bool:
    return all(line.lstrip().startswith("#") for line in command.split("\n") if line.strip())


# ------------------------------------------------------------------------------------------- where it can stand


def _of_object(text: str) -> str | None:
    """`{"command": "ls"}`, alone or in a block."""
    bare = text.strip()
    if not bare.startswith("{"):
        return None
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    found = next((value[key] for key in _KEYS if isinstance(value.get(key), str)), None)
    return found.strip() or None if found is not None else None


def _of_blocks(text: str, cut_off: bool) -> str | None:
    """The first block of a shell, else the first block that holds an object with a command."""
    blocks = list(_blocks(text, cut_off))
    for language, lines in blocks:
        if language in _SHELLS:
            command = _of_lines(lines, session=language in _SESSIONS)
            inside = _of_object(command or "")
            if inside or command:
                return inside or command
    return next((found for _, lines in blocks if (found := _of_object("\n".join(lines)))), None)


def _blocks(text: str, cut_off: bool) -> Iterator[tuple[str, list[str]]]:
    lines: list[str] = []
    opened: tuple[str, str] | None = None
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if opened is None and fence:
            opened, lines = (fence["mark"], fence["language"].lower().strip("{}.")), []
        elif opened is not None and fence and not fence["language"] and _closes(fence["mark"], opened[0]):
            yield opened[1], lines
            opened = None
        elif opened is not None:
            lines.append(line)
    if opened is not None and not cut_off:
        yield opened[1], lines


def _closes(mark: str, opened: str) -> bool:
    return mark[0] == opened[0] and len(mark) >= len(opened)


def _of_lines(lines: Sequence[str], *, session: bool = False) -> str | None:
    """The commands of a block: without prompts, and without the output that stands below a prompt."""
    prompted = [line for line in lines if _PROMPT.match(line.lstrip())]
    first = next((line for line in lines if line.strip()), "")
    if prompted and (session or _PROMPT.match(first.lstrip())):
        lines = list(_typed(lines))
    kept = list(lines)
    while kept and (not kept[0].strip() or (kept[0].lstrip().startswith("#") and not _only_comments("\n".join(kept)))):
        kept = kept[1:]
    return "\n".join(kept).strip() or None


def _typed(lines: Sequence[str]) -> Iterator[str]:
    """What was typed after the prompts of a session, continued lines included."""
    going_on = False
    for line in lines:
        typed = _PROMPT.sub("", line.lstrip(), count=1)
        if typed != line.lstrip():
            yield typed
        elif going_on:
            yield re.sub(r"^> ?", "", line)
        else:
            continue
        going_on = typed.endswith("\\")


def _tagged(text: str) -> str | None:
    found = _TAGGED.search(text)
    return (found[2].strip("`\n ") or None) if found else None


def _inline(text: str) -> str | None:
    """Code inside of sentences: the first span with several words, else the first that can be a command."""
    if "\n" not in text and not text.startswith("`") and not _prose_around(text):
        return None  # backticks of a command's own
    spans = [span[2].strip() for span in _CODE.finditer(text)]
    spans = [_PROMPT.sub("", span, count=1) for span in spans if span and not span.startswith("-")]
    return next((span for span in spans if re.search(r"\s", span)), spans[0] if spans else None)


def _prose_around(text: str) -> bool:
    """Is what stands outside of the backticks a sentence?"""
    return is_prose(_CODE.sub("code", text))


def _bare(text: str) -> str | None:
    """A command without any markup: the answer as a whole, or what is left without the sentences around it."""
    lines = [line for line in text.split("\n") if line.strip() and not _FENCE.match(line)]
    labelled = [_LABEL.sub("", line, count=1) for line in lines]
    marked = next((line for line, was in zip(labelled, lines, strict=True) if line != was and line.strip()), None)
    if marked is not None and not is_prose(marked):
        return _PROMPT.sub("", marked.strip().strip("`*"), count=1).strip() or None
    start = next((i for i, line in enumerate(lines) if not is_prose(line)), None)
    if start is None:
        return None
    if start == 0 and "<<" in lines[0]:
        return _of_lines(text.strip().split("\n"))  # what follows is the text of a here-document
    if start == 0 and not any(is_prose(line) for line in lines):
        return _of_lines(text.strip().split("\n"))
    end = next((i for i in range(start, len(lines)) if is_prose(lines[i])), len(lines))
    return _of_lines(lines[start:end])


# ------------------------------------------------------------------------------------------- prose or code


def is_prose(line: str) -> bool:
    """Is this line a sentence, or its beginning, rather than a command?

    A sentence begins with a capital and has words, or ends like one; commands have small letters and signs.
    """
    line = line.strip()
    words = line.split()
    plain = sum(_WORD.fullmatch(word.strip(".!?:\"'()")) is not None for word in words)
    if line.startswith(("#", "$ ", "./", "/", "~/")) or "=" in words[0]:
        return False
    if line[0].isupper():
        return (len(words) == 1 and bool(_SENTENCE_END.search(line))) or (len(words) > 1 and plain >= len(words) / 2)
    if _SENTENCE_END.search(line) and not line.endswith((" .", "/.", "..")) and plain >= 4:
        return not _SHELL_SIGNS.search(line)
    return False


def _looks_like_code(text: str) -> bool:
    """A refusal's words inside of a bare command (`grep "I can't" log`) are no refusal."""
    return (
        "\n" not in text.strip()
        and not is_prose(text)
        and text.lstrip()[:1].islower()
        and bool(_SHELL_SIGNS.search(text))
    )
