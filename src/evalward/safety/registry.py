"""Which rules look at which program. Adding a program is one function or one row of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.model import SAFE, RiskLevel
from evalward.safety.options import Options, parse_options, spec

Rule = Callable[[ProgramCall], Iterable[Answer]]

_RULES: dict[str, list[Rule]] = {}


def rule(programs: str) -> Callable[[Rule], Rule]:
    """Register a function for the programs named, separated by blanks."""

    def register(function: Rule) -> Rule:
        for program in programs.split():
            _RULES.setdefault(program, []).append(function)
        return function

    return register


def rules_for(program: str) -> list[Rule]:
    """Return the rules for a program; Windows and macOS do not mind upper case, so neither do we."""
    return _RULES.get(program) or _RULES.get(program.lower()) or []


@dataclass(frozen=True, slots=True)
class Subcommand:
    """One line of a table: a subcommand and what it means.

    ``when`` are the operands in order, alternatives separated by ``|``, wildcards allowed, ``...`` in front
    for "anywhere". ``needs`` lists option groups separated by ``;``, of each of which one must be given;
    ``unless`` lists options that make the row not apply.
    """

    when: str
    level: RiskLevel
    rule: str
    message: str
    needs: str = ""
    unless: str = ""


def table(programs: str, known: str, rows: Iterable[Subcommand]) -> None:
    """Register a table. The first row that fits speaks: one with level safe is an exception to later ones."""
    fixed = tuple(rows)

    def judge(call: ProgramCall) -> Iterator[Answer]:
        yield from rate_rows(call, parse_options(call.args, spec(known)), fixed)

    rule(programs)(judge)


def rate_rows(call: ProgramCall, options: Options, rows: Iterable[Subcommand]) -> Iterator[Answer]:
    """Let the first row that fits ``options`` speak about ``call``."""
    row = next((row for row in rows if row_fits(row, options)), None)
    if row is None:
        return
    if row.level > SAFE:
        yield call.find(row.rule, row.level, row.message)


def row_fits(row: Subcommand, options: Options) -> bool:
    """Say whether a call with ``options`` is what ``row`` describes."""
    if any(not options.enabled(*group.split()) for group in row.needs.split(";") if group.strip()):
        return False
    if row.unless and options.has(*row.unless.split()):
        return False
    return operands_fit(row.when, [word.text for word in options.operands])


@cache
def _tokens(when: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(token.split("|")) for token in when.split())


def operands_fit(when: str, operands: list[str]) -> bool:
    """Match operands against the notation of ``Row.when``."""
    tokens = _tokens(when)
    if not tokens or tokens[0] != ("...",):
        return _starts_with(tokens, operands)
    rest = tokens[1:]
    return any(_starts_with(rest, operands[at:]) for at in range(len(operands)))


def _starts_with(tokens: tuple[tuple[str, ...], ...], operands: list[str]) -> bool:
    if len(operands) < len(tokens):
        return False
    return all(
        any(fnmatchcase(operand, choice) for choice in choices)
        for choices, operand in zip(tokens, operands, strict=False)
    )
