"""The entry point: one command in, one assessment out."""

from __future__ import annotations

import re

import evalward.safety.rules  # noqa: F401  registers the rules
from evalward.safety.model import HIGH, SAFE, Assessment, SafetyFinding
from evalward.safety.running import CommandContext, TooComplex
from evalward.safety.scope import Scope
from evalward.safety.syntax import ParseError
from evalward.safety.walk import Walker
from evalward.safety.windows import is_windows, rate_windows

LONGEST_COMMAND = 5000
"""Bytes; longer commands are not examined and not allowed."""

_HIDDEN = re.compile("[\x00\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\r\x1b\x08]")


def assess(command: str) -> Assessment:
    """Judge a shell command without running it. Never raises; what cannot be understood is not safe."""
    if len(command.encode("utf-8", errors="surrogatepass")) > LONGEST_COMMAND:
        finding = SafetyFinding("syntax.length", HIGH, command[:80], f"longer than {LONGEST_COMMAND} bytes")
        return Assessment(HIGH, (finding,), parsed=False)
    text = command.replace("\r\n", "\n")
    findings: dict[SafetyFinding, None] = {}
    if _HIDDEN.search(text):
        findings[SafetyFinding("syntax.hidden", HIGH, text[:80], "contains characters that hide what it does")] = None
    for_windows = is_windows(text)
    if for_windows or "%0" in text:
        findings.update(dict.fromkeys(rate_windows(text)))
    walker = Walker()
    problem = _walk(walker, text)
    findings.update(walker.findings)
    if problem and not for_windows:
        findings[SafetyFinding("syntax.unreadable", HIGH, text[:80], problem)] = None
    worst = max((finding.level for finding in findings), default=SAFE)
    ordered = sorted(findings, key=lambda finding: -finding.level)
    return Assessment(worst, tuple(ordered), parsed=not problem or for_windows)


def _walk(walker: Walker, text: str) -> str:
    """Judge a command for a Unix shell; return what was wrong with it."""
    try:
        walker.run_text(text, CommandContext(), Scope())
    except ParseError as error:
        return f"cannot be read as a shell command: {error}"
    except (TooComplex, RecursionError):
        return "runs or nests more than can be examined"
    return ""
