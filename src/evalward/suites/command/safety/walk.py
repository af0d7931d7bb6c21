"""Walks the tree of a command and judges every program that it may run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from evalward.suites.command.safety.call import Answer, Call, Launch
from evalward.suites.command.safety.expand import Expander
from evalward.suites.command.safety.forkbomb import is_fork_bomb, spawns_endlessly
from evalward.suites.command.safety.lexer import DEPTH_LIMIT
from evalward.suites.command.safety.model import CRITICAL, HIGH, MODERATE, Finding
from evalward.suites.command.safety.outputs import printed_by
from evalward.suites.command.safety.parser import parse
from evalward.suites.command.safety.registry import rules_for
from evalward.suites.command.safety.rules.environment import judge_assignment
from evalward.suites.command.safety.rules.files import judge_output
from evalward.suites.command.safety.rules.services import judge_init_script
from evalward.suites.command.safety.rules.shells import written_program
from evalward.suites.command.safety.scope import Scope
from evalward.suites.command.safety.sensitive import names_sensitive
from evalward.suites.command.safety.syntax import (
    Block,
    Function,
    Loop,
    Node,
    ParseError,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Step,
    Test,
)
from evalward.suites.command.safety.words import (
    ANYTHING,
    NOTHING,
    Flow,
    Kind,
    Piece,
    Word,
    joined,
    literal,
    make_word,
    merge_flows,
    show,
)

_MOST_COMMANDS = 400
_MOST_ITEMS = 24
_LONGEST_SCRIPT = 20000


class TooComplex(Exception):
    """The command runs more than can be examined."""


@dataclass(frozen=True, slots=True)
class Context:
    """What surrounds a node: its input, privileges, whether its output is used, and the nesting so far."""

    stdin: Flow | None = None
    privileged: bool = False
    piped: bool = False
    depth: int = 0


class Walker:
    """Collects the findings of one command."""

    def __init__(self) -> None:
        """Start without findings."""
        self.findings: dict[Finding, None] = {}
        self._commands = 0
        self._called: set[str] = set()

    def run_text(self, text: str, context: Context, scope: Scope) -> Flow:
        """Parse and judge a script."""
        if len(text) > _LONGEST_SCRIPT or context.depth > DEPTH_LIMIT:
            raise TooComplex
        script = parse(text, context.depth)
        flow = self.run_script(script, context, scope)
        self._uncalled_functions(context, scope)
        return flow

    def run_script(self, script: Script, context: Context, scope: Scope) -> Flow:
        """Judge the commands of a script one after the other."""
        flows = []
        for at, step in enumerate(script.steps):
            flows.append(self._node(step.node, context, scope))
            if scope.doubted:
                following = script.steps[at + 1] if at + 1 < len(script.steps) else None
                _settle(step, following, scope)
        return merge_flows(flows) if context.piped else NOTHING

    def _uncalled_functions(self, context: Context, scope: Scope) -> None:
        for name, body in list(scope.functions.items()):
            if name not in self._called:
                self._called.add(name)
                self._node(body, replace(context, depth=context.depth + 1), scope.child())

    def _node(self, node: Node, context: Context, scope: Scope) -> Flow:
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
            return self.run_script(node.body, context, scope.child() if node.subshell else scope)
        for word in node.words:
            expander.one(word)
        if isinstance(node, Test):
            return NOTHING
        return merge_flows([self.run_script(script, context, scope) for script in node.scripts])

    def _pipeline(self, node: Pipeline, context: Context, scope: Scope) -> Flow:
        flow, last = context.stdin, len(node.stages) - 1
        for at, stage in enumerate(node.stages):
            inner = replace(context, stdin=flow, piped=context.piped or at < last)
            flow = self._node(stage, inner, scope.child())
        return flow if flow is not None else ANYTHING

    def _function(self, node: Function, scope: Scope) -> Flow:
        if is_fork_bomb(node):
            self._find("exhaustion.fork_bomb", CRITICAL, node.name, "a function that multiplies itself without end")
        scope.functions[node.name] = node.body
        return NOTHING

    def _loop(self, node: Loop, expander: Expander, context: Context, scope: Scope) -> Flow:
        if spawns_endlessly(node):
            self._find("exhaustion.fork_bomb", HIGH, "while …; do … &; done", "starts processes without end")
        flows = [self.run_script(node.condition, context, scope)]
        items = expander.words(node.items)
        if not node.variable or not items:
            return merge_flows([*flows, self.run_script(node.body, context, scope)])
        for item in tuple(dict.fromkeys(items))[:_MOST_ITEMS]:
            scope.variables[node.variable] = (item,)
            flows.append(self.run_script(node.body, context, scope))
        return merge_flows(flows) if context.piped else NOTHING

    def _simple(self, node: Simple, context: Context, scope: Scope) -> Flow:
        self._commands += 1
        if self._commands > _MOST_COMMANDS:
            raise TooComplex
        expander = self._expander(context, scope)
        words = expander.words(node.words)
        call = self._call(words, context, scope)
        for assignment in node.assignments:
            value = expander.words(assignment.elements) if assignment.elements is not None else ()
            word = value[0] if value else expander.one(assignment.value)
            if assignment.append:
                word = make_word((*(scope.lookup(assignment.name) or (literal(""),))[0].pieces, *word.pieces))
            self._answers(judge_assignment(call, assignment.name, word), call, context)
            if not words:
                scope.variables[assignment.name] = value or (word,)
        context = self._redirected(node.redirects, expander, context, scope, call if words else None)
        writes = [redirect for redirect in node.redirects if redirect.operator in (">", ">>", ">|", "&>")]
        flow = self.command(words, replace(context, piped=context.piped or bool(writes)), scope) if words else NOTHING
        for redirect in writes:
            scope.files[expander.one(redirect.target).text] = flow
        return flow

    def _expander(self, context: Context, scope: Scope) -> Expander:
        def run(script: Script, stdin: Flow | None) -> Flow:
            inner = replace(context, stdin=stdin or context.stdin, piped=True, depth=context.depth + 1)
            return self.run_script(script, inner, scope.child())

        return Expander(scope, run)

    def _call(self, words: tuple[Word, ...], context: Context, scope: Scope) -> Call:
        program = _program_name(words[0]) if words else ":"
        return Call(program, words[1:], scope, context.stdin, context.privileged, context.piped)

    def _redirected(
        self,
        redirects: Iterable[Redirect],
        expander: Expander,
        context: Context,
        scope: Scope,
        call: Call | None = None,
    ) -> Context:
        """Judge redirections and return the context with the input they give."""
        for redirect in redirects:
            if redirect.document is not None:
                body = expander.one(redirect.document.body) if redirect.document.body else literal("")
                context = replace(context, stdin=Flow(content=body))
                continue
            target = expander.one(redirect.target)
            if redirect.operator == "<<<":
                context = replace(context, stdin=Flow(content=target, secret=any(f.secret for f in target.flows)))
            elif redirect.operator == "<":
                context = replace(context, stdin=self._file(target, scope))
            elif not (redirect.operator in ("<&", ">&") and target.text.rstrip("-").isdigit()) and target.text != "-":
                judged = call or Call(":", (), scope, context.stdin, context.privileged)
                self._answers(judge_output(judged, redirect.operator, target, call is not None), judged, context)
        return context

    def _file(self, word: Word, scope: Scope) -> Flow:
        known = scope.files.get(word.text)
        if known is not None:
            return known
        if word.flows:
            return word.flows[0]
        call = Call("<", (word,), scope)
        remote = word.text.startswith(("/dev/tcp/", "/dev/udp/"))
        return Flow(local=not remote, remote=remote, secret=names_sensitive(call, (word,)), source=word.text)

    def command(self, words: tuple[Word, ...], context: Context, scope: Scope) -> Flow:
        """Judge one program with its words, and what it runs in turn."""
        first = words[0]
        if first.literal and first.text in scope.functions:
            return self._call_function(first.text, words[1:], context, scope)
        if first.literal and first.text in scope.aliases:
            return self._run_alias(words, context, scope)
        call = self._call(words, context, scope)
        self._command_position(first, call, context)
        flows: list[Flow] = []
        for rule in rules_for(call.program):
            flows.extend(self._answers(rule(call), call, context))
        if not context.piped:
            return NOTHING
        printed = printed_by(call)
        flow = printed if printed is not None else merge_flows(flows) if flows else ANYTHING
        return flow if flow.source else replace(flow, source=call.text)

    def _answers(self, answers: Iterable[Answer], call: Call, context: Context) -> Iterator[Flow]:
        """Collect findings; run what a program runs in turn and return what that prints."""
        flows = []
        for answer in answers:
            if isinstance(answer, Finding):
                self.findings[answer] = None
            else:
                flows.append(self._launch(answer, call, context))
        return iter(flows)

    def _command_position(self, word: Word, call: Call, context: Context) -> None:
        """Judge a program whose name is not known, or that was downloaded a moment ago."""
        flow = written_program(call, word)
        if flow is not None:
            self._run_flow(flow, Launch(flow=flow), call, replace(context, depth=context.depth + 1))
        if word.literal and word.text:
            self._answers(judge_init_script(call, word.text), call, context)
            return
        if any(flow.remote for flow in word.flows):
            self._find("remote.execute", HIGH, call.text, "runs what it gets from the network")
        elif call.program == "?" and word.text.startswith("$(") and all(flow.local for flow in word.flows):
            self._find("script.local", MODERATE, call.text, "runs text from a file, which is not examined")
        elif call.program == "?":
            self._find("opaque.command", HIGH, show((word, *call.args)), "which program runs is not known")

    def _call_function(self, name: str, args: tuple[Word, ...], context: Context, scope: Scope) -> Flow:
        self._called.add(name)
        if name in scope.calling:
            return ANYTHING
        inner = scope.child()
        inner.calling = scope.calling | {name}
        inner.set_arguments(args)
        flow = self._node(scope.functions[name], replace(context, depth=context.depth + 1), inner)
        scope.folders, scope.doubted = inner.folders, inner.doubted
        return flow

    def _run_alias(self, words: tuple[Word, ...], context: Context, scope: Scope) -> Flow:
        inner = scope.child()
        body = inner.aliases.pop(words[0].text)
        inner.set_arguments(words[1:])
        return self._nested(f'{body} "$@"', context, inner, show(words))

    def _launch(self, launch: Launch, call: Call, context: Context) -> Flow:
        privileged = context.privileged if launch.privileged is None else launch.privileged or context.privileged
        if launch.privileged is False:
            privileged = False
        inner = replace(context, stdin=launch.stdin, privileged=privileged, depth=context.depth + 1)
        scope = call.scope if launch.inline else call.scope.child()
        if launch.elsewhere:
            scope.folders = ("~",)
        if inner.depth > DEPTH_LIMIT:
            raise TooComplex
        if launch.words:
            return self.command(launch.words, inner, scope)
        if launch.script is not None:
            return self._run_word(launch.script, launch, call, inner, scope)
        return self._run_flow(launch.flow or ANYTHING, launch, call, inner)

    def _run_word(self, script: Word, launch: Launch, call: Call, context: Context, scope: Scope) -> Flow:
        text, bindings = _script_text(script)
        if launch.arguments:
            scope.set_arguments(launch.arguments)
        scope.variables.update(bindings)
        return self._nested(text, context, scope, call.text)

    def _nested(self, text: str, context: Context, scope: Scope, words: str) -> Flow:
        try:
            return self.run_text(text, context, scope)
        except ParseError as error:
            self._find("syntax.unreadable", HIGH, words, f"a script inside cannot be read: {error}")
            return ANYTHING

    def _run_flow(self, flow: Flow, launch: Launch, call: Call, context: Context) -> Flow:
        """Judge text from elsewhere that a shell runs."""
        if flow.remote:
            self._find("remote.execute", HIGH, call.text, f"runs what comes from the network ({flow.source})")
        elif flow.disguised:
            self._find("opaque.disguised", HIGH, call.text, f"runs text that is decoded first ({flow.source})")
        elif flow.content is None and flow.local:
            self._find("script.local", MODERATE, call.text, "runs a script that is not examined")
        elif flow.content is None:
            self._find("opaque.script", HIGH, call.text, f"runs what a command prints ({flow.source or 'unknown'})")
        if flow.content is not None:
            scope = call.scope if launch.inline else call.scope.child()
            return self._run_word(flow.content, launch, call, replace(context, stdin=None), scope)
        return ANYTHING

    def _find(self, rule: str, level: object, words: str, message: str) -> None:
        from evalward.suites.command.safety.model import Level

        assert isinstance(level, Level)
        self.findings[Finding(rule, level, words, message)] = None


def _settle(step: Step, following: Step | None, scope: Scope) -> None:
    """Decide after ``cd`` whether the shell surely is in the new folder."""
    if step.operator == "&&":
        return
    gives_up = step.operator == "||" and following is not None and _leaves(following.node)
    scope.settle(gives_up)


def _leaves(node: Node) -> bool:
    if isinstance(node, Block) and node.body.steps:
        return _leaves(node.body.steps[-1].node)
    return (
        isinstance(node, Simple)
        and bool(node.words)
        and node.words[0].source in ("exit", "return", "break", "continue")
    )


def _program_name(word: Word) -> str:
    """Return the name of a program without its folder; ``?`` when it is not known."""
    name = word.text.rpartition("/")[2]
    if word.literal:
        return name
    last = word.pieces[-1]
    is_fixed = last.kind is Kind.TEXT and "/" in last.text and bool(name) and not any(c in name for c in "*?[$")
    return name if is_fixed or (word.home and not word.opaque and not word.glob) else "?"


def _script_text(script: Word) -> tuple[str, dict[str, tuple[Word, ...]]]:
    """Write a script word as text again; what is unknown in it becomes a variable."""
    if script.literal and not script.home:
        return script.text, {}
    parts: list[str] = []
    bindings: dict[str, tuple[Word, ...]] = {}
    for number, piece in enumerate(script.pieces):
        if piece.kind is Kind.UNKNOWN:
            name = f"__unknown_{number}"
            bindings[name] = (Word((Piece(Kind.UNKNOWN, piece.text, piece.flow),), piece.text, True, False, False),)
            parts.append("${" + name + "}")
        else:
            parts.append("${HOME}" if piece.kind is Kind.HOME else piece.text)
    return "".join(parts), bindings


def quoted(words: Iterable[Word]) -> Word:
    """Join literal words to a script, quoted so that each stays one word."""
    return joined(literal(shlex.quote(word.text)) if word.literal else word for word in words)
