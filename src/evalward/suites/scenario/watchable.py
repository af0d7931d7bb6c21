"""Which scripts can be watched: their shell can tell how each of the target's commands ended, and they don't notice.

A function stands for each program. Refused are scripts that could tell it from the program, whose commands may outlive
the call, and those that we can't read.
"""

from __future__ import annotations

import re
from typing import Any

from evalward.safety.syntax import Function, ListStep, Process, Script, Simple
from evalward.safety.words import names
from evalward.suites.scenario.patterns import CommandPattern, own
from evalward.suites.scenario.shell_reading import parsed
from evalward.suites.scenario.shell_trees import (
    NO_CODE,
    SET_RULES,
    SHELLS,
    all_simples,
    first_word,
    has_substitutions,
    nodes,
)

_NAME = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./+-]{0,200}")
_BUILTINS = names(
    ". : [ alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs "
    "disown do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help "
    "history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set "
    "shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset until wait while"
)
_SEES_FUNCTIONS = names(
    "type declare typeset compgen hash enable builtin unset alias unalias trap eval source . shopt caller bind "
    "ulimit"  # a bound on files or descriptors would end our notes, and the shell with them
)
_SAME_OPTIONS = re.compile(r"[-+][euEo]+")
"""What `set` may change, beside the names after `-o`."""
_TELLING = re.compile(r"\$\{?_\b|FUNCNAME|BASH_|xtrace|\bcoproc\b|\b(?:command|export)\s+-\w*[vVf]")


def programs_to_watch(script: str, pattern: CommandPattern) -> list[str]:
    """The programs of the target's commands in a script, as they stand there; empty where we had better not watch."""
    tree = parsed(script)
    runs = [] if tree is None else [(one, len(own(one, pattern))) for one in all_simples(tree)]
    programs = [first_word(simple) or "" for simple, count in runs if count]
    if tree is None or not programs or _is_alone(tree) or _TELLING.search(script) or _refuses(tree):
        return []
    if any(count > 1 for _, count in runs) or not all(map(_may_be_function, programs)):
        return []
    return list(dict.fromkeys(programs))


def _is_alone(tree: Script) -> bool:
    return len(tree.steps) == 1 and isinstance(tree.steps[0].node, Simple) and not has_substitutions(tree)


def _may_be_function(program: str) -> bool:
    return bool(_NAME.fullmatch(program)) and program not in _BUILTINS | SHELLS | NO_CODE


def _refuses(tree: Script) -> bool:
    return any(_is_telling(node) for node in nodes(tree))


def _is_telling(node: Any) -> bool:
    """A part of a script that would notice a function in place of a program, or outlive the call."""
    if isinstance(node, ListStep):
        return node.operator == "&"
    if isinstance(node, Simple):
        program = first_word(node)
        return program in _SEES_FUNCTIONS or (program == "set" and not _sets_plainly(node))
    return isinstance(node, Function | Process)


def _sets_plainly(node: Simple) -> bool:
    """`set` of positional words, or of rules under which a function works as a program does."""
    is_name = False
    for word in (word.keyword() for word in node.words[1:]):
        if is_name and word not in SET_RULES:
            return False
        if not is_name and word and (word == "--" or word[0] not in "-+"):
            return True
        if not is_name and not _SAME_OPTIONS.fullmatch(word or ""):
            return False
        is_name = not is_name and "o" in (word or "")
    return len(node.words) > 1 and not is_name
