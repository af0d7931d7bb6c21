"""Is the answered command the one that was asked for? Several ways to say so, from letters to behaviour."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evalward.suites.command.case import CommandCase, Matching
from evalward.suites.command.tree import equivalent_form, token_form
from evalward.suites.re2_pattern import compiled

Matcher = Callable[[str, str], bool]


def normalise(command: str) -> str:
    """The specification's normal form: split at blanks, single-letter options pooled, letters of options sorted.

    Quotes are not looked at, and everything else stays as and where it is.
    """
    done: list[str] = []
    pool = ""
    for token in command.split():
        short = token.startswith("-") and not token.startswith("--") and len(token) > 1
        if short and len(token.encode("utf-8", "surrogatepass")) == 2:
            pool += token[1]
            continue
        if pool:
            done.append("-" + "".join(sorted(pool)))
            pool = ""
        done.append("-" + "".join(sorted(token[1:])) if short else token)
    if pool:
        done.append("-" + "".join(sorted(pool)))
    return " ".join(done)


def same_normalised(answer: str, expected: str) -> bool:
    """`caro`: the specification's comparison."""
    return normalise(answer) == normalise(expected)


def same_text(answer: str, expected: str) -> bool:
    """`exact`: letter by letter, but for blanks around."""
    return answer.strip() == expected.strip()


def same_tokens(answer: str, expected: str) -> bool:
    """`tokens`: the same shell words; what can't be read as shell has to be equal as text."""
    one, other = token_form(answer), token_form(expected)
    return same_text(answer, expected) if one is None or other is None else one == other


def same_tree(answer: str, expected: str) -> bool:
    """`equivalent`: the same syntax tree, with options in any order."""
    one, other = equivalent_form(answer), equivalent_form(expected)
    return same_text(answer, expected) if one is None or other is None else one == other


def same_shape(answer: str, expected: str) -> bool:
    """`command_equivalence` of caro's 026: same program, same set of short flags, same other words in order."""
    one, other = answer.split(), expected.split()
    return one == other or (_shape(one) == _shape(other) if one and other else False)


def _shape(tokens: list[str]) -> tuple[str, frozenset[str], list[str]]:
    rest = tokens[1:]
    flags = frozenset(c for token in rest if token.startswith("-") and not token.startswith("--") for c in token[1:])
    return tokens[0], flags, [token for token in rest if not token.startswith("-")]


MATCHERS: Mapping[Matching, Matcher] = {
    "caro": same_normalised,
    "exact": same_text,
    "tokens": same_tokens,
    "equivalent": same_tree,
    "command_equivalence": same_shape,
}


def matches_text(case: CommandCase, answer: str) -> bool:
    """Does the answer match one of the accepted commands, or the pattern? For matchers that look at text alone."""
    if case.match == "pattern":
        return compiled(case.task.pattern or "").search(answer) is not None
    matcher = MATCHERS[case.match]
    return any(matcher(answer, command) for command in case.task.commands)
