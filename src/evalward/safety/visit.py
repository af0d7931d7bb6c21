"""Finds all simple commands of a syntax tree, also those inside words."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.syntax import (
    Arithmetic,
    Block,
    Branches,
    Condition,
    Function,
    Loop,
    Node,
    Parameter,
    Part,
    Pipeline,
    Process,
    Script,
    Simple,
    Substitution,
    SyntaxWord,
)


def scripts_of(node: Node) -> tuple[Script, ...]:
    """Return the lists of commands directly inside a compound command."""
    if isinstance(node, Block):
        return (node.body,)
    if isinstance(node, Loop):
        return (node.condition, node.body)
    return node.scripts if isinstance(node, Branches) else ()


def simple_commands(script: Script) -> Iterator[Simple]:
    """Return every simple command below ``script``, those in substitutions included."""
    for step in script.steps:
        yield from _in_node(step.node)


def _in_node(node: Node) -> Iterator[Simple]:
    if isinstance(node, Simple):
        yield node
    elif isinstance(node, Pipeline):
        for stage in node.stages:
            yield from _in_node(stage)
    elif isinstance(node, Function):
        yield from _in_node(node.body)
    else:
        for script in scripts_of(node):
            yield from simple_commands(script)
    for word in _words(node):
        for part in word.parts:
            yield from _in_part(part)


def _words(node: Node) -> Iterator[SyntaxWord]:
    if isinstance(node, Simple):
        yield from node.words
        for assignment in node.assignments:
            yield from assignment.elements or (assignment.value,)
    elif isinstance(node, (Branches, Condition)):
        yield from node.words
    elif isinstance(node, Loop):
        yield from node.items
    if not isinstance(node, (Pipeline, Function)):
        for redirect in node.redirects:
            yield redirect.target
            if redirect.document is not None and redirect.document.body is not None:
                yield redirect.document.body


def _in_part(part: Part) -> Iterator[Simple]:
    if isinstance(part, (Substitution, Process)):
        yield from simple_commands(part.script)
    inner = part.word if isinstance(part, Arithmetic) else part.argument if isinstance(part, Parameter) else None
    for piece in inner.parts if inner is not None else ():
        yield from _in_part(piece)
