"""Judges SQL text by its statements, with strings and comments out of the way."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.model import HIGH, MODERATE, SAFE, RiskLevel

_NOISE = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.|'')*'|\$(\w*)\$.*?\$\1\$",
    re.DOTALL,
)
_FLAGS = re.IGNORECASE | re.DOTALL
_ALWAYS_TRUE = re.compile(
    r"\bwhere\s+(?:\(?\s*(?:1|true|not\s+false)\s*(?:=\s*1)?\s*\)?)\s*(?:$|limit|returning)", _FLAGS
)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, _FLAGS)


_STATEMENTS: tuple[tuple[re.Pattern[str], RiskLevel, str], ...] = (
    (
        _pattern(r"drop\s+(?:index|view|materialized\s+view|trigger|function|procedure|type|rule|temporary|temp)\b"),
        MODERATE,
        "drops a definition that can be made again",
    ),
    (
        _pattern(r"drop\s+(?:partition|constraint|policy|extension|sequence|server)\b"),
        MODERATE,
        "drops a definition",
    ),
    (_pattern(r"drop\s+\w+"), HIGH, "drops data"),
    (_pattern(r"truncate\b"), HIGH, "empties a table"),
    (
        _pattern(r"alter\s+table\b.*\bdrop\s+(?:column\s+)?(?!constraint|index|default|not|foreign|key|primary)\w"),
        HIGH,
        "drops a column",
    ),
    (
        _pattern(r"alter\s+(?:user|role)\b.*\b(?:superuser|password|identified)"),
        HIGH,
        "changes an account of the database",
    ),
    (_pattern(r"grant\s+all\b|grant\b.*\b(?:superuser|dba|sysadmin)\b"), HIGH, "gives all rights away"),
    (_pattern(r"create\s+(?:user|role)\b.*\bsuperuser"), HIGH, "creates an account that may do everything"),
    (
        _pattern(
            r"copy\b.*\b(?:to|from)\s+program\b|.*\bxp_cmdshell\b|.*\binto\s+(?:out|dump)file\b|.*\bload_file\s*\("
        ),
        HIGH,
        "reaches out of the database",
    ),
    (_pattern(r"shutdown\b|reset\s+master\b|flush\s+privileges\s+reset"), HIGH, "stops the database"),
    (
        _pattern(
            r"(?:alter\s+system|set\s+global|alter\s+database|revoke|grant|create\s+(?:user|role)|kill|select\s+pg_terminate_backend)\b"
        ),
        MODERATE,
        "changes how the database runs",
    ),
    (
        _pattern(
            r"(?:insert|merge|replace|alter|create|rename|comment|call|exec|do|load|copy|vacuum|reindex|set|lock)\b"
        ),
        MODERATE,
        "changes the database",
    ),
)
_ROW_CHANGES = re.compile(r"(?:with\b.*?\)\s*)?(delete|update)\s+", _FLAGS)


def rate_sql(text: str) -> Iterator[tuple[RiskLevel, str, str]]:
    """Return level, reason and statement for each statement that is not simply a query."""
    for statement in _NOISE.sub(_blank, text).split(";"):
        plain = " ".join(statement.split()).strip("\\g ")
        level, reason = _rate(plain)
        if level > SAFE:
            yield level, reason, plain[:120]


def _blank(match: re.Match[str]) -> str:
    return "''" if match[0].startswith(("'", "$")) else " "


def _rate(statement: str) -> tuple[RiskLevel, str]:
    changes = _ROW_CHANGES.match(statement)
    if changes:
        return _rate_rows(statement, changes[1].lower())
    explains = re.match(r"explain\s+(?!\(?\s*analy[sz]e)", statement, re.IGNORECASE)
    if explains:
        return SAFE, ""
    for pattern, level, reason in _STATEMENTS:
        if pattern.match(statement):
            return level, reason
    return SAFE, ""


def _rate_rows(statement: str, verb: str) -> tuple[RiskLevel, str]:
    limited = re.search(r"\bwhere\b", statement, re.IGNORECASE) and not _ALWAYS_TRUE.search(statement)
    if limited:
        return MODERATE, f"{verb}s some rows"
    return HIGH, f"{verb}s every row of a table"
