"""The exit code of each command of a call, as far as it follows from the call's own and the rules of the shell.

A call's exit code is that of the last command that ran. `a; b` says nothing of `a`, `a | b` nothing of `a`; `a && b`
that gave 0 says that both did. Whatever doesn't follow is unknown: neither a success nor a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evalward.safety.syntax import Block, ListStep, Node, Pipeline, Script, Simple
from evalward.suites.scenario.patterns import DEEPEST_SHELL, CommandPattern, Invocation, invocations, own
from evalward.suites.scenario.shell_trees import (
    INDIRECT,
    all_simples,
    first_word,
    has_substitutions,
    parsed,
    program_run,
    script_of_shell,
    simples,
)

TIMED_OUT, SIGNALLED = 124, 128  # what timeout(1) ends with, and what shells add to a signal's number

_CHANGES_RULES = frozenset({"exit", "exec", "return", "trap", "kill", "pkill", "killall", "shopt", "alias", "set"})
_SURE = frozenset({"echo", "true", ":", "export"})
"""What doesn't fail; `cd` and assignments beside them."""
# Blanks only: with line ends in the run, many of them would take quadratic time.
_NEGATED = re.compile(r"(?:^|[;&|({\n]|\b(?:then|do|else|if|while|until)\b)[ \t]*(?:!|coproc)\s")
_OPTION = re.compile(r"-[euEo]+|errexit|nounset|errtrace|pipefail")

Coded = tuple[Simple, int | None]


@dataclass(frozen=True)
class Use:
    """A use of the tool in a call. `program` is the first word of its command, if it is one of its own."""

    found: Invocation
    exit_code: int | None = None
    program: str | None = None


def uses_of(call: str, pattern: CommandPattern, exit_code: int | None, output: str = "") -> list[Use]:
    """The tool's commands in a call that ended with `exit_code` and printed `output`."""
    return _uses(call, pattern, exit_code, output, DEEPEST_SHELL)


def _uses(call: str, pattern: CommandPattern, exit_code: int | None, output: str, depth: int) -> list[Use]:
    tree = parsed(call)
    if tree is None:
        return [Use(one) for one in invocations(call, pattern)]
    codes = {id(simple): code for simple, code in _codes_of_call(tree, call, exit_code, output)}
    found = [
        use for simple in all_simples(tree) for use in _in_simple(simple, codes.get(id(simple)), pattern, output, depth)
    ]
    return found or [Use(one) for one in pattern.across(call, tree)]


def may_be_ended(exit_code: int | None) -> bool:
    """The call may have been ended from outside, wherever it was: by a time limit or a signal, or nobody knows how."""
    return exit_code is None or exit_code == TIMED_OUT or exit_code > SIGNALLED or exit_code < 0


def _in_simple(simple: Simple, code: int | None, pattern: CommandPattern, output: str, depth: int) -> Iterator[Use]:
    """The uses in a simple command that ended with `code`; those of substitutions are looked at by themselves."""
    inner = script_of_shell(simple) if depth else None
    if inner is not None:
        yield from (Use(use.found, use.exit_code) for use in _uses(inner, pattern, code, output, depth - 1))
        return
    found = own(simple, pattern, depth)
    program = first_word(simple)
    if len(found) > 1 or program is None or {program, program_run(simple)} & INDIRECT:
        yield from (Use(one) for one in found)
        return
    yield from (Use(one, code, program) for one in found)


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
    if any(first_word(one) in _CHANGES_RULES | INDIRECT for one in simples(Script(rest))):
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
    if not isinstance(first, Simple) or first_word(first) != "set" or steps[0].operator in {"&&", "||", "&"}:
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
    if not isinstance(node, Simple) or node.redirects or has_substitutions(node):
        return False
    program = first_word(node)
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
