"""Where a comment really says `/evalward accept`: in text that everybody who reads the page sees.

A maintainer may paste what somebody else prepared. So a command counts only where no Markdown could hide or quote it:
at the start of a line, outside of code blocks, HTML comments and everything that follows other HTML, and behind no line
of its paragraph that could make it part of a quote, a link, a footnote or a formula. In doubt it counts for nothing.
"""

from __future__ import annotations

import re

from evalward.render.escape import one_line

COMMAND = "/evalward accept"
MAX_REASON = 300

_COMMAND = re.compile(rf"{COMMAND}(?:[ \t]+(?P<reason>.*))?")
_FENCE = re.compile(r"(?P<mark>`{3,}|~{3,})(?P<rest>.*)")
_CLOSING = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})[ \t]*")
_LATER_FENCE = re.compile(r"[\s>*+\d.)-]*(?:`{3}|~{3})")
_MARKUP = re.compile(r"<[A-Za-z/!?]")
_OPEN, _CLOSE = "<!--", "-->"
_ENTANGLING = frozenset("`[]<>$")  # code, links and footnotes, quotes, formulas: they may go on in the next line


def find_command(body: str) -> str | None:
    """The reason behind the first command that everybody sees, `None` without one; empty when none was given."""
    reader = _CommentReader()
    for line in body.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        found = _COMMAND.fullmatch(line.rstrip())
        if found and reader.plain:
            return one_line(found["reason"] or "", MAX_REASON).strip()
        reader.read(line)
        if reader.lost:
            return None
    return None


class _CommentReader:
    """Reads line by line. `plain`: the next line is ordinary text of its own; `lost`: nobody can tell any more."""

    def __init__(self) -> None:
        self.lost = False
        self._fence = ""
        self._comment = False
        self._entangled = False  # the paragraph so far could swallow its next line

    @property
    def plain(self) -> bool:
        return not (self._fence or self._comment or self._entangled)

    def read(self, line: str) -> None:
        if self._fence:
            self._in_code(line)
        elif self._comment:
            self._in_comment(line)
        elif line.startswith(_OPEN):
            self._comment = True
            self._in_comment(line[len(_OPEN) :])
        else:
            self._in_text(line)

    def _in_code(self, line: str) -> None:
        """Only a line of the same marks, as many or more, closes a code block."""
        found = _CLOSING.fullmatch(line)
        if found and found["mark"].startswith(self._fence):
            self._fence = ""

    def _in_comment(self, line: str) -> None:
        _, end, rest = line.partition(_CLOSE)
        if end:
            self._comment = self._entangled = False
            self.lost = "<" in rest

    def _in_text(self, line: str) -> None:
        fence = _FENCE.fullmatch(line)
        if fence and not (fence["mark"].startswith("`") and "`" in fence["rest"]):
            self._fence, self._entangled = fence["mark"], False
        elif _MARKUP.search(line) or _LATER_FENCE.match(line):
            self.lost = True
        elif not line.strip(" \t"):
            self._entangled = False
        else:
            self._entangled = self._entangled or not _ENTANGLING.isdisjoint(line)
