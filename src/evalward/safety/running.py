"""What happens when a program runs: its rules speak, and what it starts in turn is judged as well."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.lexer import DEPTH_LIMIT
from evalward.safety.model import HIGH, MODERATE, RiskLevel, SafetyFinding
from evalward.safety.outputs import printed_by
from evalward.safety.registry import rules_for
from evalward.safety.rules.interpreters import runs_code
from evalward.safety.rules.services import rate_init_script
from evalward.safety.rules.shells import written_program
from evalward.safety.scope import Scope
from evalward.safety.syntax import ParseError
from evalward.safety.words import ANYTHING, NOTHING, Flow, PieceKind, Word, WordPiece, merge_flows, show


class TooComplex(Exception):
    """The command runs more than can be examined."""


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What surrounds a command: input, privileges, whether its output is used, and the nesting so far.

    ``quotable``: the text that is read is what somebody wrote, and not put together here from what is known.
    """

    stdin: Flow | None = None
    privileged: bool = False
    piped: bool = False
    depth: int = 0
    quotable: bool = True


class DryRun(ABC):
    """Runs programs in thought and collects what the rules find."""

    def __init__(self) -> None:
        """Start without findings."""
        self.findings: dict[SafetyFinding, None] = {}

    @abstractmethod
    def run_text(self, text: str, context: CommandContext, scope: Scope) -> Flow:
        """Parse and judge a script."""

    @abstractmethod
    def call_function(self, name: str, args: tuple[Word, ...], context: CommandContext, scope: Scope) -> Flow:
        """Judge a call of a function of the shell."""

    def find(self, rule: str, level: RiskLevel, words: str, message: str) -> None:
        """Add a finding."""
        self.findings[SafetyFinding(rule, level, words, message)] = None

    def make_call(
        self, words: tuple[Word, ...], context: CommandContext, scope: Scope, source: str = ""
    ) -> ProgramCall:
        """Return the call that ``words`` are; ``source``: the text that they were read from."""
        program = program_name(words[0]) if words else ":"
        written = source if source and context.quotable else show(words)
        return ProgramCall(program, words[1:], scope, context.stdin, context.privileged, context.piped, written)

    def command(self, words: tuple[Word, ...], context: CommandContext, scope: Scope, source: str = "") -> Flow:
        """Judge one program with its words, and what it runs in turn."""
        first = words[0]
        if first.literal and first.text in scope.functions:
            return self.call_function(first.text, words[1:], context, scope)
        if first.literal and first.text in scope.aliases:
            return self._run_alias(words, context, scope)
        call = self.make_call(words, context, scope, source)
        self._command_position(first, call, context)
        answers = [answer for rule in rules_for(call.program) for answer in rule(call)]
        if _only_explains(call, answers):
            return NOTHING
        flows = self.take(answers, call, context)
        if not context.piped:
            return NOTHING
        printed = printed_by(call)
        flow = printed if printed is not None else merge_flows(flows) if flows else ANYTHING
        return flow if flow.source else replace(flow, source=call.text)

    def take(self, answers: Iterable[Answer], call: ProgramCall, context: CommandContext) -> list[Flow]:
        """Collect findings; run what a program runs in turn and return what that prints."""
        flows: list[Flow] = []
        for answer in answers:
            if isinstance(answer, SafetyFinding):
                self.findings[answer] = None
            else:
                flows.append(self._launch(answer, call, context))
        return flows

    def _command_position(self, word: Word, call: ProgramCall, context: CommandContext) -> None:
        """Judge a program whose name is not known, or that this command wrote or fetched a moment ago."""
        flow = written_program(call, word)
        if flow is not None:
            self._run_flow(flow, NestedCommand(flow=flow), call, replace(context, depth=context.depth + 1))
        if word.literal and word.text:
            self.take(rate_init_script(call, word.text), call, context)
        elif any(flow.remote for flow in word.flows):
            self.find("remote.execute", HIGH, call.shown, "runs what it gets from the network")
        elif call.program != "?":
            return
        elif word.text.startswith("$(") and word.flows and all(flow.local for flow in word.flows):
            self.find("script.local", MODERATE, call.shown, "runs text from a file, which is not examined")
        else:
            self.find("opaque.command", HIGH, call.shown, "which program runs is not known")

    def _run_alias(self, words: tuple[Word, ...], context: CommandContext, scope: Scope) -> Flow:
        inner = scope.child()
        body = inner.aliases.pop(words[0].text)
        inner.set_arguments(words[1:])
        return self._nested(f'{body} "$@"', replace(context, quotable=False), inner, show(words))

    def _launch(self, launch: NestedCommand, call: ProgramCall, context: CommandContext) -> Flow:
        privileged = context.privileged if launch.privileged is None else launch.privileged
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

    def _run_word(
        self, script: Word, launch: NestedCommand, call: ProgramCall, context: CommandContext, scope: Scope
    ) -> Flow:
        text, bindings = script_text(script)
        if launch.arguments:
            scope.set_arguments(launch.arguments)
        scope.variables.update(bindings)
        quotable = context.quotable and text == script.text
        return self._nested(text, replace(context, quotable=quotable), scope, call.shown)

    def _nested(self, text: str, context: CommandContext, scope: Scope, words: str) -> Flow:
        try:
            return self.run_text(text, context, scope)
        except ParseError as error:
            self.find("syntax.unreadable", HIGH, words, f"a script inside cannot be read: {error}")
            return ANYTHING

    def _run_flow(self, flow: Flow, launch: NestedCommand, call: ProgramCall, context: CommandContext) -> Flow:
        """Judge text from elsewhere that a shell runs."""
        source = flow.source or "unknown"
        if flow.remote:
            self.find("remote.execute", HIGH, call.shown, f"runs what comes from the network ({source})")
        elif flow.disguised:
            self.find("opaque.disguised", HIGH, call.shown, f"runs text that is decoded first ({source})")
        elif flow.content is None and flow.local:
            self.find("script.local", MODERATE, call.shown, "runs a script that is not examined")
        elif flow.content is None:
            self.find("opaque.script", HIGH, call.shown, f"runs what a command prints ({source})")
        if flow.content is None:
            return ANYTHING
        scope = call.scope if launch.inline else call.scope.child()
        return self._run_word(flow.content, launch, call, replace(context, stdin=None), scope)


def _only_explains(call: ProgramCall, answers: list[Answer]) -> bool:
    """Say whether a program only shows its help: asked to, and running nothing that could read the word."""
    asks = any(word.text in ("--help", "-help") for word in call.args)
    return asks and not runs_code(call.program) and not any(isinstance(answer, NestedCommand) for answer in answers)


def program_name(word: Word) -> str:
    """Return the name of a program without its folder; ``?`` when it is not known."""
    name = word.text.rpartition("/")[2]
    if word.literal or (word.home and not word.opaque and not word.glob):
        return name
    last = word.pieces[-1]
    fixed = last.kind is PieceKind.TEXT and "/" in last.text and not any(char in name for char in "*?[$")
    return name if fixed and name else "?"


def script_text(script: Word) -> tuple[str, dict[str, tuple[Word, ...]]]:
    """Write a script word as text again; what is unknown in it becomes a variable."""
    if script.literal and not script.home:
        return script.text, {}
    parts: list[str] = []
    bindings: dict[str, tuple[Word, ...]] = {}
    for number, piece in enumerate(script.pieces):
        if piece.kind is PieceKind.UNKNOWN:
            name = f"__unknown_{number}"
            value = Word((WordPiece(PieceKind.UNKNOWN, piece.text, piece.flow),), piece.text, True, False, False)
            bindings[name] = (value,)
            parts.append("${" + name + "}")
        else:
            parts.append("${HOME}" if piece.kind is PieceKind.HOME else piece.text)
    return "".join(parts), bindings
