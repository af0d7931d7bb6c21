"""The exit code of each command of a call, as far as it follows from the call's own and the rules of the shell.

A call's exit code is that of the last command that ran. `a; b` says nothing of `a`, `a | b` nothing of `a`; `a && b`
that gave 0 says that both did. Whatever doesn't follow is unknown: neither a success nor a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any

from evalward.safety.parser import parse
from evalward.safety.syntax import (
    Block,
    Branches,
    Function,
    ListStep,
    LiteralText,
    Loop,
    Node,
    ParseError,
    Pipeline,
    Process,
    Script,
    Simple,
    Substitution,
)
from evalward.suites.scenario.patterns import CommandPattern, Invocation, invocations

SCRIPT_LIMIT = 20_000  # characters of a call that are read as shell
DEEPEST_SHELL = 3  # `sh -c` in `sh -c`
TIMED_OUT, SIGNALLED = 124, 128  # what timeout(1) ends with, and what shells add to a signal's number

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
INDIRECT = frozenset({"eval", "source", ".", "find", "parallel", "ssh", "watch"})
"""What runs commands and doesn't pass their exit code on, or reads them from elsewhere."""
_CHANGES_RULES = frozenset({"exit", "exec", "return", "trap", "kill", "pkill", "killall", "shopt", "alias", "set"})
_SURE = frozenset({"echo", "true", ":", "export"})
"""What doesn't fail; `cd` and assignments beside them."""
# Blanks only: with line ends in the run, many of them would take quadratic time.
_NEGATED = re.compile(r"(?:^|[;&|({\n]|\b(?:then|do|else|if|while|until)\b)[ \t]*(?:!|coproc)\s")
_CLOSING = " \t;)}`\"'"
_OPTION = re.compile(r"-[euEo]+|errexit|nounset|errtrace|pipefail")

Coded = tuple[Simple, int | None]


@dataclass(frozen=True)
class Use:
    """A use of the tool in a call. `program` is the first word of its command, if it is one of its own."""

    found: Invocation
    exit_code: int | None = None
    program: str | None = None


def uses_of(call: str, pattern: CommandPattern, exit_code: int | None, output: str = "") -> list[Use]:
    """The tool's commands in a call that ended with `exit_code` and printed `said`."""
    return _uses(call, pattern, exit_code, output, DEEPEST_SHELL)


def _uses(call: str, pattern: CommandPattern, exit_code: int | None, output: str, depth: int) -> list[Use]:
    found = invocations(call, pattern)
    tree = parsed(call) if found else None
    if tree is None:
        return [Use(one) for one in found]
    coded = _codes_of_call(tree, call, exit_code, output)
    uses = [use for simple, code in coded for use in _in_simple(simple, code, pattern, output, depth)]
    return uses if _same([use.found for use in uses], found) else [Use(one) for one in found]


def _same(ones: Sequence[Invocation], others: Sequence[Invocation]) -> bool:
    """The same commands: a search by lines takes a closing bracket or quote for a part of one."""
    return [one.text.rstrip(_CLOSING) for one in ones] == [other.text.rstrip(_CLOSING) for other in others]


def may_be_ended(exit_code: int | None) -> bool:
    """The call may have been ended from outside, wherever it was: by a time limit or a signal, or nobody knows how."""
    return exit_code is None or exit_code == TIMED_OUT or exit_code > SIGNALLED or exit_code < 0


@lru_cache(maxsize=256)
def parsed(call: str) -> Script | None:
    """The call's syntax tree; `None` where it is no shell that we can read."""
    if len(call) > SCRIPT_LIMIT:
        return None
    try:
        return parse(call)
    except (ParseError, RecursionError):
        return None


def simples(node: Any) -> Iterator[Simple]:
    """The simple commands in a part of a tree, in order; without those of substitutions in their words."""
    if isinstance(node, Simple):
        yield node
    elif isinstance(node, tuple):
        for item in node:
            yield from simples(item)
    elif isinstance(node, Script | ListStep | Pipeline | Block | Function | Loop | Branches):
        for field in fields(node):
            yield from simples(getattr(node, field.name))


def substituted(node: Any) -> Iterator[Script]:
    """The scripts of the command and process substitutions in a part of a tree, without those inside of them."""
    if isinstance(node, Substitution | Process):
        yield node.script
    elif isinstance(node, tuple):
        for item in node:
            yield from substituted(item)
    elif is_dataclass(node):
        for field in fields(node):
            yield from substituted(getattr(node, field.name))


# ------------------------------------------------------------------------------------------- one simple command


def _in_simple(simple: Simple, code: int | None, pattern: CommandPattern, output: str, depth: int) -> Iterator[Use]:
    found = invocations(simple.source, pattern)
    if not found:
        return
    inner = _script_of_shell(simple)
    if inner is not None and depth:
        uses = _uses(inner, pattern, code, output, depth - 1)
        same = len(uses) == len(found)
        yield from ([Use(use.found, use.exit_code) for use in uses] if same else [Use(one) for one in found])
        return
    nested = any(invocations(inside.source, pattern) for script in substituted(simple) for inside in simples(script))
    program = program_of(simple)
    if len(found) > 1 or nested or program is None or program in INDIRECT:
        yield from (Use(one) for one in found)
        return
    yield Use(found[0], code, program)


def program_of(simple: Simple) -> str | None:
    """The first word of a command, where it is written as it stands."""
    return (simple.words[0].keyword() or None) if simple.words else None


def _script_of_shell(simple: Simple) -> str | None:
    """What `sh -c SCRIPT` runs."""
    words = [_literal(word.parts) for word in simple.words]
    if len(words) < 3 or (words[0] or "").rpartition("/")[2] not in SHELLS:
        return None
    return words[2] if re.fullmatch(r"-[a-z]*c", words[1] or "") else None


def _literal(parts: Sequence[Any]) -> str | None:
    texts = [part.text for part in parts if isinstance(part, LiteralText)]
    return "".join(texts) if len(texts) == len(parts) else None


# ------------------------------------------------------------------------------------------- the rules of the shell


def _codes_of_call(tree: Script, call: str, code: int | None, output: str) -> list[Coded]:
    steps = tree.steps
    alone = len(steps) == 1 and isinstance(steps[0].node, Simple) and steps[0].operator != "&"
    if _NEGATED.search(call):
        return _unknown(tree)
    if alone:
        return [(one, code) for one in simples(tree)]
    if code is None or may_be_ended(code):
        return _unknown(tree)
    rules, rest = _without_set(steps, output)
    if any(program_of(one) in _CHANGES_RULES | INDIRECT for one in simples(Script(rest))):
        return _unknown(tree)
    head = _unknown(Script(steps[: len(steps) - len(rest)]))
    return head + _codes(Script(rest), None if rules.errexit and code else code, rules)


@dataclass(frozen=True)
class _Rules:
    """What `set` switched on at the beginning of the script; and what the whole call printed."""

    output: str
    errexit: bool = False
    pipefail: bool = False


def _unknown(node: Any) -> list[Coded]:
    return [(one, None) for one in simples(node)]


def _without_set(steps: tuple[ListStep, ...], output: str) -> tuple[_Rules, tuple[ListStep, ...]]:
    """The rules of a script that begins with `set -e` or `set -o pipefail`, and what follows it."""
    first = steps[0].node
    if not isinstance(first, Simple) or program_of(first) != "set" or steps[0].operator in {"&&", "||", "&"}:
        return _Rules(output), steps
    options = [word.keyword() for word in first.words[1:]]
    if not options or not all(_OPTION.fullmatch(option) for option in options):
        return _Rules(output), steps
    errexit = any(option == "errexit" or (option.startswith("-") and "e" in option) for option in options)
    return _Rules(output, errexit, "pipefail" in options), steps[1:]


def _codes(script: Script, code: int | None, rules: _Rules) -> list[Coded]:
    *before, last = _groups(script.steps)
    coded: list[Coded] = []
    for group in before:
        coded += _and_or(group, 0 if rules.errexit and code == 0 and len(group) == 1 else None, rules)
    return coded + _and_or(last, code, rules)


def _groups(steps: Sequence[ListStep]) -> list[list[ListStep]]:
    """The lists of commands between `;`, `&` and line ends."""
    groups: list[list[ListStep]] = [[]]
    for step in steps:
        groups[-1].append(step)
        if step.operator not in {"&&", "||"}:
            groups.append([])
    return [group for group in groups if group]


def _and_or(group: Sequence[ListStep], code: int | None, rules: _Rules) -> list[Coded]:
    nodes, operators = [step.node for step in group], {step.operator for step in group[:-1]}
    if code is None or group[-1].operator == "&" or len(operators) > 1:
        return _unknown(tuple(nodes))
    if operators == {"||"}:
        return _unknown(tuple(nodes[:-1])) + (_node(nodes[-1], code, rules) if code else _unknown(nodes[-1]))
    if code == 0:
        return [one for node in nodes for one in _node(node, 0, rules)]
    may_fail = [node for node in nodes if not _is_sure(node, rules.output)]
    if len(may_fail) != 1:
        return _unknown(tuple(nodes))
    return [one for node in nodes for one in _node(node, code if node is may_fail[0] else 0, rules)]


def _is_sure(node: Node, output: str) -> bool:
    """It can't have failed, or it would have said so."""
    if not isinstance(node, Simple) or node.redirects or any(True for _ in substituted(node)):
        return False
    program = program_of(node)
    if program == "cd":
        return "cd: " not in output
    return not node.words if program is None else program in _SURE


def _node(node: Node, code: int, rules: _Rules) -> list[Coded]:
    if isinstance(node, Simple):
        return [(node, code)]
    if isinstance(node, Pipeline) and rules.pipefail:
        return [one for stage in node.stages for one in _node(stage, 0, rules)] if code == 0 else _unknown(node)
    if isinstance(node, Pipeline):
        return _unknown(node.stages[:-1]) + _node(node.stages[-1], code, rules)
    if isinstance(node, Block):
        return _codes(node.body, code, rules)
    return _unknown(node)
