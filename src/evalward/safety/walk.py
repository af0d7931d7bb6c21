"""Walks the tree of a command and judges every program that it may run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evalward.safety.call import ProgramCall
from evalward.safety.expand import Expander
from evalward.safety.forkbomb import is_fork_bomb, spawns_endlessly
from evalward.safety.lexer import DEPTH_LIMIT
from evalward.safety.model import CRITICAL, HIGH
from evalward.safety.parser import parse
from evalward.safety.rules.environment import rate_assignment
from evalward.safety.rules.files import rate_output, rate_written
from evalward.safety.rules.shells import rate_function_name
from evalward.safety.running import CommandContext, DryRun, TooComplex
from evalward.safety.scope import Scope
from evalward.safety.sensitive import names_sensitive
from evalward.safety.syntax import (
    Assignment,
    Block,
    Condition,
    Function,
    ListStep,
    Loop,
    Node,
    Pipeline,
    Redirect,
    Script,
    Simple,
)
from evalward.safety.words import (
    ANYTHING,
    NOTHING,
    Flow,
    Word,
    literal,
    make_word,
    merge_flows,
)

_MOST_COMMANDS = 300
_MOST_ITEMS = 24
_LONGEST_SCRIPT = 20000
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>"})


class Walker(DryRun):
    """Collects the findings of one command."""

    def __init__(self) -> None:
        """Start without findings."""
        super().__init__()
        self._commands = 0
        self._called: set[str] = set()

    def run_text(self, text: str, context: CommandContext, scope: Scope) -> Flow:
        """Parse and judge a script."""
        if len(text) > _LONGEST_SCRIPT or context.depth > DEPTH_LIMIT:
            raise TooComplex
        script = parse(text, context.depth)
        flow = self._script(script, context, scope)
        self._uncalled_functions(context, scope)
        return flow

    def call_function(self, name: str, args: tuple[Word, ...], context: CommandContext, scope: Scope) -> Flow:
        """Judge the body of a function with the arguments of one call."""
        self._called.add(name)
        if name in scope.calling:
            return ANYTHING
        inner = scope.child()
        inner.calling = scope.calling | {name}
        inner.set_arguments(args)
        flow = self._node(scope.functions[name], replace(context, depth=context.depth + 1), inner)
        scope.folders, scope.doubted = inner.folders, inner.doubted
        return flow

    def _script(self, script: Script, context: CommandContext, scope: Scope) -> Flow:
        """Judge the commands of a script one after the other."""
        flows = []
        for at, step in enumerate(script.steps):
            flows.append(self._node(step.node, context, scope))
            if scope.doubted:
                following = script.steps[at + 1] if at + 1 < len(script.steps) else None
                _settle(step, following, scope)
        return merge_flows(flows) if context.piped else NOTHING

    def _uncalled_functions(self, context: CommandContext, scope: Scope) -> None:
        """A function that is only defined is judged too: it is there to be called."""
        for name, body in list(scope.functions.items()):
            if name not in self._called:
                self._called.add(name)
                self._node(body, replace(context, depth=context.depth + 1), scope.child())

    def _node(self, node: Node, context: CommandContext, scope: Scope) -> Flow:
        if isinstance(node, Simple):
            return self._simple(node, context, scope)
        if isinstance(node, Pipeline):
            return self._pipeline(node, context, scope)
        if isinstance(node, Function):
            return self._function(node, scope)
        expander = self._expander(context, scope)
        context = self._redirected(node.redirects, expander, context, scope)
        if isinstance(node, Loop):
            return self._loop(node, expander, context, scope)
        if isinstance(node, Block):
            return self._script(node.body, context, scope.child() if node.subshell else scope)
        for word in node.words:
            expander.one(word)
        if isinstance(node, Condition):
            return NOTHING
        return merge_flows([self._script(script, context, scope) for script in node.scripts])

    def _pipeline(self, node: Pipeline, context: CommandContext, scope: Scope) -> Flow:
        flow, last = context.stdin, len(node.stages) - 1
        for at, stage in enumerate(node.stages):
            inner = replace(context, stdin=flow, piped=context.piped or at < last)
            flow = self._node(stage, inner, scope.child())
        return flow if flow is not None else ANYTHING

    def _function(self, node: Function, scope: Scope) -> Flow:
        if is_fork_bomb(node):
            message = "a function that multiplies itself without end"
            self.find("exhaustion.fork_bomb", CRITICAL, node.name, message)
        for finding in rate_function_name(node.name):
            self.findings[finding] = None
        scope.functions[node.name] = node.body
        return NOTHING

    def _loop(self, node: Loop, expander: Expander, context: CommandContext, scope: Scope) -> Flow:
        if spawns_endlessly(node):
            self.find("exhaustion.fork_bomb", HIGH, "… do … & done", "starts processes without end")
        flows = [self._script(node.condition, context, scope)]
        items = expander.words(node.items)
        if not node.variable or not items:
            return merge_flows([*flows, self._script(node.body, context, scope)])
        for item in tuple(dict.fromkeys(items))[:_MOST_ITEMS]:
            scope.variables[node.variable] = (item,)
            flows.append(self._script(node.body, context, scope))
        return merge_flows(flows) if context.piped else NOTHING

    def _simple(self, node: Simple, context: CommandContext, scope: Scope) -> Flow:
        self._commands += 1
        if self._commands > _MOST_COMMANDS:
            raise TooComplex
        expander = self._expander(context, scope)
        words = expander.words(node.words)
        call = self.make_call(words, context, scope, node.source)
        for assignment in node.assignments:
            self._assign(assignment, expander, call, context, keep=not words)
        context = self._redirected(node.redirects, expander, context, scope, call if words else None)
        if not words:
            return NOTHING
        writes = [redirect for redirect in node.redirects if redirect.operator in _WRITING]
        if not writes:
            return self.command(words, context, scope, node.source)
        flow = self.command(words, replace(context, piped=True), scope, node.source)
        for redirect in writes:
            target = expander.one(redirect.target)
            scope.files[target.text] = flow
            self.take(rate_written(call, target, flow), call, context)
        return flow

    def _assign(
        self, assignment: Assignment, expander: Expander, call: ProgramCall, context: CommandContext, keep: bool
    ) -> None:
        scope = call.scope
        value = expander.words(assignment.elements) if assignment.elements is not None else ()
        word = value[0] if value else expander.one(assignment.value)
        if assignment.append:
            before = scope.lookup(assignment.name) or (literal(""),)
            word = make_word((*before[0].pieces, *word.pieces))
        self.take(rate_assignment(call, assignment.name, word), call, context)
        if keep:
            scope.variables[assignment.name] = value or (word,)

    def _expander(self, context: CommandContext, scope: Scope) -> Expander:
        def run(script: Script, stdin: Flow | None) -> Flow:
            inner = replace(context, stdin=stdin or context.stdin, piped=True, depth=context.depth + 1)
            return self._script(script, inner, scope.child())

        return Expander(scope, run)

    def _redirected(
        self,
        redirects: Iterable[Redirect],
        expander: Expander,
        context: CommandContext,
        scope: Scope,
        call: ProgramCall | None = None,
    ) -> CommandContext:
        """Judge redirections and return the context with the input they give."""
        for redirect in redirects:
            if redirect.document is not None:
                body = expander.one(redirect.document.body) if redirect.document.body else literal("")
                context = replace(context, stdin=Flow(content=body))
                continue
            target = expander.one(redirect.target)
            if redirect.operator == "<<<":
                secret = any(flow.secret for flow in target.flows)
                context = replace(context, stdin=Flow(content=target, secret=secret))
            elif redirect.operator == "<":
                context = replace(context, stdin=_file(target, scope))
            elif not _duplicates(redirect.operator, target.text):
                judged = call or _without_program(redirect, target, context, scope)
                self.take(rate_output(judged, redirect.operator, target, call is not None), judged, context)
        return context


def _without_program(redirect: Redirect, target: Word, context: CommandContext, scope: Scope) -> ProgramCall:
    """Return the call that a redirection of no program, or of several, stands for."""
    path = redirect.target.source if context.quotable else target.text
    written = f"{redirect.descriptor}{redirect.operator} {path}"
    return ProgramCall(":", (), scope, context.stdin, context.privileged, written=written)


def _duplicates(operator: str, target: str) -> bool:
    """Say whether a redirection only copies or closes a descriptor."""
    return target == "-" or (operator in ("<&", ">&") and target.rstrip("-").isdigit())


def _file(word: Word, scope: Scope) -> Flow:
    """Return what reading a file gives."""
    known = scope.files.get(word.text)
    if known is not None:
        return known
    if word.flows:
        return word.flows[0]
    secret = names_sensitive(ProgramCall("<", (word,), scope), (word,))
    remote = word.text.startswith(("/dev/tcp/", "/dev/udp/"))
    return Flow(local=not remote, remote=remote, secret=secret, source=word.text)


def _settle(step: ListStep, following: ListStep | None, scope: Scope) -> None:
    """Decide after ``cd`` whether the shell surely is in the new folder."""
    if step.operator == "&&":
        return
    gives_up = step.operator == "||" and following is not None and _leaves(following.node)
    scope.settle(gives_up)


def _leaves(node: Node) -> bool:
    if isinstance(node, Block) and node.body.steps:
        return _leaves(node.body.steps[-1].node)
    return isinstance(node, Simple) and node.words[:1] != () and node.words[0].source in _LEAVING


_LEAVING = frozenset({"exit", "return", "break", "continue"})
