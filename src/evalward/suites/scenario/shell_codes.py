"""The exit code of each command of a call, as far as it follows from the call's own and the rules of the shell.

A call's exit code is that of the last command that ran. `a; b` says nothing of `a`, `a | b` nothing of `a`; `a && b`
that gave 0 says that both did. Whatever doesn't follow is unknown: neither a success nor a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evalward.safety.syntax import Block, Function, ListStep, Node, Pipeline, Script, Simple
from evalward.suites.scenario.patterns import DEEPEST_SHELL, CommandPattern, Invocation, invocations, own
from evalward.suites.scenario.shell_reading import parsed
from evalward.suites.scenario.shell_trees import (
    INDIRECT,
    NO_CODE,
    SET_RULES,
    ShellCall,
    all_simples,
    first_word,
    has_substitutions,
    nodes,
    program_run,
    program_word,
    shell_call,
    simples,
    text_of,
)

TIMED_OUT, SIGNALLED = 124, 128  # what timeout(1) ends with, and what shells add to a signal's number

_CHANGES_RULES = frozenset({"exit", "exec", "return", "trap", "kill", "pkill", "killall", "shopt", "alias", "set"})
_SURE = frozenset({"echo", "true", ":", "export"})
"""What doesn't fail; `cd` and assignments beside them."""
_OPTIONS = re.compile(r"-[euE]*o?")
_COMPLAINT = re.compile(r"^(?:\S*/)?(?:ba|da|z|k)?sh: ", re.MULTILINE)
_HIDES_ERRORS = re.compile(r"2>|&>|>&")

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
    call = shell_call(simple) if depth else None
    if call is not None and call.text is not None:
        uses = _uses(call.text, pattern, code if call.plain else None, output, depth - 1)
        yield from (Use(use.found, use.exit_code) for use in uses)
        return
    found = own(simple, pattern, depth)
    if len(found) == 1 and _has_its_code(simple, call):
        yield Use(found[0], code, first_word(simple))
    else:
        yield from (Use(one) for one in found)


def _has_its_code(simple: Simple, call: ShellCall | None) -> bool:
    """Whether the command ends with the code of what it runs."""
    if call is not None and (call.file_at is None or not call.plain):
        return False
    words = {text_of(word).rpartition("/")[2] for word in simple.words[: program_word(simple) + 1]}
    return not words & (NO_CODE | {"!"})


# ------------------------------------------------------------------------------------------- the rules of the shell


def _codes_of_call(tree: Script, call: str, code: int | None, output: str) -> list[Coded]:
    steps = tree.steps
    if not steps or any(isinstance(one, Function) or getattr(one, "inverted", False) for one in nodes(tree)):
        return _unknown(tree)
    if len(steps) == 1 and isinstance(steps[0].node, Simple) and steps[0].operator != "&":
        return [(one, None if code and _may_not_have_run(one, output) else code) for one in simples(tree)]
    if code is None or may_be_ended(code) or (code and _COMPLAINT.search(output)):
        return _unknown(tree)
    rules, rest = _without_set(steps, output)
    if any(_changes_rules(one) for one in simples(Script(rest))):
        return _unknown(tree)
    rules = replace(rules, hides_errors=_HIDES_ERRORS.search(call) is not None)
    head = _unknown(Script(steps[: len(steps) - len(rest)]))
    return head + _codes(Script(rest), None if rules.errexit and code else code, rules)


def _may_not_have_run(simple: Simple, output: str) -> bool:
    """The shell complains, and there is a file that it had to open for the command."""
    return bool(simple.redirects) and _COMPLAINT.search(output) is not None


def _changes_rules(simple: Simple) -> bool:
    """From here on other rules may hold, or the script may have ended; or nobody knows what it is."""
    if not simple.words:
        return False
    word = first_word(simple)
    unknown = word is None and "/" not in text_of(simple.words[0])  # what has a path is no builtin
    return unknown or bool({word, program_run(simple)} & (_CHANGES_RULES | INDIRECT))


@dataclass(frozen=True)
class _Rules:
    """What `set` switched on at the beginning of the script; and what the whole call printed."""

    output: str
    errexit: bool = False
    pipefail: bool = False
    hides_errors: bool = False


def _unknown(node: Any) -> list[Coded]:
    return [(one, None) for one in simples(node)]


def _without_set(steps: tuple[ListStep, ...], output: str) -> tuple[_Rules, tuple[ListStep, ...]]:
    """The rules of a script that begins with `set -e` or `set -o pipefail`, and what follows it."""
    first = steps[0].node
    if not isinstance(first, Simple) or first_word(first) != "set" or steps[0].operator in {"&&", "||", "&"}:
        return _Rules(output), steps
    letters = names = ""
    is_name = False
    for option in (word.keyword() for word in first.words[1:]):
        if not (option in SET_RULES if is_name else len(option) > 1 and _OPTIONS.fullmatch(option)):
            return _Rules(output), steps
        letters, names = (letters, f"{names} {option}") if is_name else (letters + option, names)
        is_name = not is_name and option.endswith("o")
    return _Rules(output, "e" in letters or "errexit" in names, "pipefail" in names), steps[1:]


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
    parts, operators = [step.node for step in group], {step.operator for step in group[:-1]}
    if code is None or group[-1].operator == "&" or len(operators) > 1:
        return _unknown(tuple(parts))
    if operators == {"||"}:
        return _unknown(tuple(parts[:-1])) + (_node(parts[-1], code, rules) if code else _unknown(parts[-1]))
    tested = replace(rules, errexit=False)  # `set -e` ends nothing in what `&&` looks at
    if code == 0:
        return [one for node in parts for one in _node(node, 0, rules if node is parts[-1] else tested)]
    may_fail = [node for node in parts if not _is_sure(node, rules)]
    if len(may_fail) != 1:
        return _unknown(tuple(parts))
    failing = may_fail[0]
    return [
        one
        for node in parts
        for one in _node(node, code if node is failing else 0, rules if node is parts[-1] else tested)
    ]


def _is_sure(node: Node, rules: _Rules) -> bool:
    """It can't have failed, or it would have said so."""
    if not isinstance(node, Simple) or node.redirects or has_substitutions(node):
        return False
    program = first_word(node)
    if program == "cd":
        return "cd: " not in rules.output and not rules.hides_errors
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
