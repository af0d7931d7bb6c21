"""Recognises what multiplies processes without end, by shape."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.syntax import (
    Block,
    Condition,
    Function,
    Loop,
    Node,
    Pipeline,
    Simple,
)
from evalward.safety.visit import scripts_of

_ENDLESS = frozenset({"true", ":", "[ 1 ]", "[ true ]", "[ : ]", "test 1", "1", " 1 ", "true;", "/bin/true"})
_VAST = re.compile(r"\bseq\s+(?:\d+\s+)?\d{4,}|\{\d+\.\.\d{4,}")
_PAUSES = frozenset({"wait", "break", "read", "exit", "return"})


def _simple_commands(node: Node) -> Iterator[tuple[Simple, bool]]:
    """Return all simple commands below ``node``, and whether each runs beside others."""
    if isinstance(node, Simple):
        yield node, False
    elif isinstance(node, Pipeline):
        for stage in node.stages:
            yield from ((simple, True) for simple, _ in _simple_commands(stage))
    for script in scripts_of(node):
        for step in script.steps:
            beside = step.operator == "&"
            yield from ((simple, beside or inner) for simple, inner in _simple_commands(step.node))


def _program(simple: Simple) -> str:
    return simple.words[0].source if simple.words else ""


def is_fork_bomb(function: Function) -> bool:
    """Say whether a function starts itself beside itself."""
    return any(beside and _program(simple) == function.name for simple, beside in _simple_commands(function.body))


def _text(node: Node) -> str:
    words = node.words if isinstance(node, (Simple, Condition)) else ()
    return " ".join(word.source for word in words)


def _is_vast(loop: Loop) -> bool:
    """Say whether a loop has thousands of rounds."""
    return any(_VAST.search(word.source) for word in loop.items)


def spawns_endlessly(loop: Loop) -> bool:
    """Say whether a loop without an end starts processes without waiting for them."""
    condition = " ".join(_text(step.node) for step in loop.condition.steps)
    is_endless = loop.kind == "endless" or _is_vast(loop) or (loop.kind == "while" and condition.strip() in _ENDLESS)
    commands = list(_simple_commands(Block(loop.body, (), False)))
    waits = any(_program(simple) in _PAUSES for simple, _ in commands)
    in_background = any(step.operator == "&" for step in loop.body.steps)
    return is_endless and in_background and not waits
