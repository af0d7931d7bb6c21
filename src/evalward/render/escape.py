"""The one module for untrusted text: what a model, a case file, a pull request or a recording wrote.

Names of suites, ids, check texts, commands and messages are hostile until they went through here. The functions
return text for one place each: a Markdown sentence or cell, a code span, a code block, HTML, a terminal or log,
a workflow command.

GitHub looks for mentions, issue references, commits, e-mail addresses and emoji in the *rendered* text, after
backslash escapes and entities are undone (`&#64;name` still notifies people). It leaves code alone. So whatever
could become a link is put into a code span; zero-width characters, which would break copying, are never needed.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from evalward.records.base import clean_text

_ELLIPSIS = "…"
_LONG_WORD = 40  # a longer one is cut inside
_MAX_MARKS = 3  # combining characters in a row; more only serve to draw over other lines
_MAX_BLOCK_LINES = 40

# Escape sequences of terminals: CSI, OSC and other strings, and two-character ones.
_ANSI = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_EMOJI_SELECTOR = "\ufe0f"
# Characters that show nothing although Unicode calls them letters or marks: fillers and variation selectors.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0").union(
    map(chr, range(0xFE00, 0xFE10)), map(chr, range(0xE0100, 0xE01F0))
)

# Control and format characters, those of private use, surrogates, and what Unicode doesn't know.
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})
# What is left out of a text, and marks, of which there may be too many; control characters are dealt with before.
_LOOKED_AT = _UNSEEN - {"Cc"} | {"Mn", "Me"}
_PICTURES = 0x2400  # the first of Unicode's pictures of control characters
# Runs of characters that are looked at one by one: not ASCII, nor the letters of Latin and what sets words apart.
_NOT_ORDINARY = re.compile("[^\n\t -~·…–—\u00c0-\u024f]+")

_MEANS_MARKUP = re.compile("[&<>\"']")

_BLANKS = re.compile(r"\s+")
# What GitHub, or a repository's own autolink rules, would turn into something else than text.
_LINKABLE = re.compile(
    r"""
      @ | :// | (?i:\bwww\.) | (?i:\b(?:mailto|xmpp):)
    | \#\w                                      # issue: #1, owner/repo#1
    | (?i:\b(?:gh|cve|ghsa)-\w) | \b[A-Z]{2,}-\d # GH-1, CVE-…, JIRA-1
    | (?i:(?<![0-9a-z])[0-9a-f]{7,}(?![0-9a-z])) # commit
    | :[\w+-]+:                                 # emoji
    | \$(?!\d[\d.,]*[);:\]]*\Z)                # formula; a price is none
    """,
    re.VERBOSE,
)
_CORE = re.compile(r"""(?P<head>[("'\[{<]*)(?P<core>.*?)(?P<tail>["'\])}>,.;:!?]*)\Z""", re.DOTALL)
# What checks quote, which stays together: `'…'` as Python writes a text, at the start of a word and to the end of one.
_QUOTATION = re.compile(r"""(?<![^\s(\[{])('[^\n]*?')(?=[\s,.;:!?)\]}]|\Z)""")
_MARKUP = {char: "\\" + char for char in "\\`*[]#~^"} | {
    "<": "&lt;",
    ">": "&gt;",
    "&": "&amp;",
    "|": "&#124;",  # a backslash before it would be read differently inside and outside tables
    "$": "&#36;",
}
_BLOCK_START = re.compile(r"(?P<digits>\d{0,9})(?P<sign>[.)]|[-+=:]+)\Z")
_LOOSE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_KEPT = 4000
"""Of so many texts it is remembered what they become: each detail of a page names the same cases again."""


def plain(text: str, limit: int | None = None) -> str:
    r"""The text for terminal and log: no control characters but `\n` and `\t`, no bidi, ANSI or zero-width ones.

    Control characters are replaced by �, because they matter in outputs that are compared; the others vanish.
    """
    text = _LINE_ENDS.sub("\n", _ANSI.sub("", clean_text(text)))
    text = _CONTROLS.sub("\ufffd", text)
    if not text.isascii() and any(map(_is_looked_at, set(text))):
        text = "".join(_visible(text))
    return text if limit is None else _cut(text, limit)


def one_line(text: str, limit: int | None = None) -> str:
    """`plain` text on one line: every run of white space is one space."""
    if limit is None:
        return _BLANKS.sub(" ", plain(text)).strip()
    head = _head(text, limit)
    return _line(head, limit, more=len(head) < len(text))


def _line(head: str, limit: int, *, more: bool) -> str:
    return _cut(_BLANKS.sub(" ", plain(head)).strip(), limit, more=more)


def log_text(text: str) -> str:
    """Text that the runner of GitHub Actions doesn't take for a workflow command, wherever it stands in the log.

    For whole outputs: colours that we added are left as they are.
    """
    text = re.sub(r"^(\s*):(?=:)", r"\1: ", text, flags=re.MULTILINE)
    return text.replace("##[", "# #[")


def md_cell(text: str, limit: int = 120) -> str:
    """Text that is safe inside a Markdown table cell or sentence: one line, no markup, nothing that links."""
    head = _head(text, limit)
    return _cell(head, limit, len(head) < len(text))


@lru_cache(_KEPT)
def _cell(head: str, limit: int, more: bool) -> str:
    parts = _QUOTATION.split(_line(head, limit, more=more))
    return "".join(
        md_code(part, len(part)) if index % 2 and _LINKABLE.search(part) else _words(part, starts=not index)
        for index, part in enumerate(parts)
    )


def md_prose(text: str, limit: int = 300) -> str:
    """A sentence of ours that may name untrusted things: like `md_cell`, and what is `in backticks` becomes code."""
    parts = one_line(text, limit).split("`")
    if len(parts) % 2 == 0:  # an odd backtick out is no code
        parts[-2:] = ["`".join(parts[-2:])]
    pieces = [md_code(part, limit) if index % 2 else _spaced(part) for index, part in enumerate(parts)]
    return "".join(_separated(pieces)).strip()


def without_marks(text: str) -> str:
    """A sentence of ours for a terminal or a log, where `md_prose` is for Markdown: no marks around code."""
    return text.replace("`", "")


def md_code(text: str, limit: int = 120) -> str:
    """An inline code span on one line, for any content, inside and outside of table cells."""
    head = _head(text, limit)
    return _code(head, limit, len(head) < len(text))


@lru_cache(_KEPT)
def _code(head: str, limit: int, more: bool) -> str:
    joined = re.sub(r"\n+", " ↵ ", plain(head).strip("\n")).replace("\t", " ")
    line = _cut(joined, limit, more=more)
    if not line.strip():
        return "(empty)" if not line else f"<code>{'&#160;' * len(line)}</code>"
    if "|" in line:
        return f"<code>{_entities(line)}</code>"
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line[0] in "` " or line[-1] in "` " else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def md_block(text: str, limit: int = 2000, language: str = "") -> str:
    """A fenced code block whose fence is longer than any run of backticks inside; too much is cut with a note."""
    head = _head(text, limit)
    body = plain(head).strip("\n")
    lines = body[:limit].split("\n")[:_MAX_BLOCK_LINES]
    shown = "\n".join(lines)
    hidden = len(text) - len(head) + len(body) - len(shown)
    if hidden:
        shown += f"\n{_ELLIPSIS} ({hidden:,} more characters)"
    fence = "`" * max(3, _longest_run(shown) + 1)
    info = "".join(char for char in language if char.isascii() and char.isalnum())
    return f"{fence}{info}\n{shown}\n{fence}"


def html_text(text: str) -> str:
    """Text that is safe as HTML content and inside a quoted attribute."""
    return html.escape(plain(text), quote=True)


def html_shown(text: str) -> str:
    r"""The text for an HTML page, not yet escaped: what can't be seen or would turn the text around is shown.

    Control characters become their pictures (`␛`), all others their number (`⟨U+202E⟩`); `\n` and `\t` stay.
    """
    if (text.isascii() and text.isprintable()) or not _NOT_ORDINARY.search(text):
        return text
    text = _LINE_ENDS.sub("\n", clean_text(text))
    return _NOT_ORDINARY.sub(lambda found: "".join(_shown(found[0])), text)


def html_element(text: str) -> str:
    """`html_shown` text as it stands in a page's source, in an element or a quoted attribute: as Jinja escapes it."""
    text = html_shown(text)
    if _MEANS_MARKUP.search(text):
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        text = text.replace('"', "&#34;").replace("'", "&#39;")
    return text


def html_code(text: str, limit: int = 120) -> str:
    """A `<code>` element on one line, for the places where GitHub doesn't read Markdown, such as `<summary>`."""
    return f"<code>{html_text(one_line(text, limit))}</code>"


def workflow_data(text: str) -> str:
    """The message of a workflow command."""
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def workflow_property(text: str) -> str:
    """A property's value of a workflow command."""
    return workflow_data(text).replace(":", "%3A").replace(",", "%2C")


def _head(text: str, limit: int) -> str:
    """More than enough of a text to show `limit` characters: megabytes are not cleaned to be cut."""
    return text[: 4 * limit + 400]


def _cut(text: str, limit: int, *, more: bool = False) -> str:
    """At most `limit` characters, with an ellipsis where something is missing or `more` would have followed.

    It ends where a word does, unless that word is so long that much of the room would stay empty.
    """
    if len(text) < limit or (len(text) == limit and not more):
        return text + (_ELLIPSIS if more else "")
    kept = text[: max(limit - 1, 0)]
    if kept and not text[len(kept)].isspace():
        blank = max(kept.rfind(" "), kept.rfind("\n"))
        if blank >= max(len(kept) - _LONG_WORD, len(kept) // 2):
            kept = kept[:blank]
    return kept.rstrip() + _ELLIPSIS


def _is_looked_at(char: str) -> bool:
    """Whether a text with this character may be another than its visible characters."""
    return unicodedata.category(char) in _LOOKED_AT or char in _INVISIBLE


def _visible(text: str) -> Iterator[str]:
    """The characters that can be seen, and white space; combining ones only a few in a row."""
    marks = 0
    before = ""
    for char in text:
        category = unicodedata.category(char)
        if char == _EMOJI_SELECTOR and before == "So":  # ⚠️ instead of ⚠
            before = ""
            yield char
            continue
        before = category
        if category in {"Cf", "Co", "Cs", "Cn"} or char in _INVISIBLE:
            continue
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks <= _MAX_MARKS:
            yield char


def _shown(text: str) -> Iterator[str]:
    """The characters, those that can't be seen by a sign; combining ones only a few in a row."""
    marks = 0
    before = ""
    for char in text:
        category = unicodedata.category(char)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if char in "\n\t" or (char == _EMOJI_SELECTOR and before == "So"):
            yield char
        elif category in _UNSEEN or char in _INVISIBLE or marks > _MAX_MARKS:
            yield _sign(char)
        else:
            yield char
        before = category


def _sign(char: str) -> str:
    """What stands for a character that can't be seen."""
    code = ord(char)
    if code < 0x20:
        return chr(_PICTURES + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def _spaced(text: str) -> str:
    """`md_cell` that keeps a blank at either end, for a part of a sentence."""
    start = " " if text[:1] == " " else ""
    end = " " if text[-1:] == " " else ""
    return f"{start}{md_cell(text, len(text))}{end}" if text.strip() else text


def _separated(pieces: list[str]) -> Iterator[str]:
    """The pieces, with a blank where two code spans would run into each other."""
    before = ""
    for piece in pieces:
        if before.endswith("`") and piece.startswith("`"):
            yield " "
        yield piece
        before = piece or before


def _words(text: str, *, starts: bool) -> str:
    """Words as Markdown; `starts`: the first of them begins a line."""
    first, *rest = [_word(word) for word in text.split(" ")]
    return " ".join([_not_a_block(first) if starts else first, *rest])


def _word(word: str) -> str:
    """One word as Markdown: as code when something could make a link or picture of it."""
    if not _LINKABLE.search(word):
        return _escaped(word)
    match = _CORE.match(word)
    if match is None or not match["core"]:
        return md_code(word, len(word))
    return _escaped(match["head"]) + md_code(match["core"], len(word)) + _escaped(match["tail"])


def _escaped(text: str) -> str:
    marked = _LOOSE_UNDERSCORE.sub("\0", text)  # one between letters is no emphasis and stays readable
    return "".join(_MARKUP.get(char, char) for char in marked).replace("\0", r"\_")


def _not_a_block(word: str) -> str:
    """Keeps the first word from being a list's mark, an underline or a table's rule."""
    match = _BLOCK_START.match(word)
    return f"{match['digits']}\\{match['sign']}" if match else word


def _entities(line: str) -> str:
    """Text inside an HTML element in Markdown: every punctuation mark as an entity.

    The comment behind @ keeps the parser, which doesn't know that it is inside of code, from seeing an address.
    """
    escaped = "".join(f"&#{ord(char)};" if char.isascii() and not char.isalnum() else char for char in line)
    return escaped.replace("&#32;", " ").replace("&#64;", "&#64;<!-- -->")


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
