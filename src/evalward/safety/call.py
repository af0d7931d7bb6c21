"""What a rule gets to see, and what it may answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from evalward.safety.model import RiskLevel, SafetyFinding
from evalward.safety.options import Options, leading_options, parse_options, spec
from evalward.safety.scope import Scope
from evalward.safety.targets import PathTarget, locate
from evalward.safety.words import Flow, Word, in_a_line, literal, names, show

SHELLS = names("sh bash dash zsh ksh mksh ash rbash fish csh tcsh")
"""Programs that read commands from their input."""


@dataclass(frozen=True, slots=True)
class NestedCommand:
    """A further command that a program runs: given as ``words``, or as ``script`` text for a shell.

    ``flow`` is a script of which only the origin may be known. ``inline`` runs it in the same shell
    (``eval``), otherwise changes of variables and folder do not come back. ``privileged`` is ``None`` to
    inherit. ``arguments`` become ``$1`` and so on.
    """

    words: tuple[Word, ...] = ()
    script: Word | None = None
    flow: Flow | None = None
    stdin: Flow | None = None
    privileged: bool | None = None
    inline: bool = False
    arguments: tuple[Word, ...] = ()
    elsewhere: bool = False
    """In another folder or on another machine: relative paths mean nothing known."""


Answer = SafetyFinding | NestedCommand


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """One program with its arguments and surroundings. ``piped``: what it prints goes to another command.

    ``written``: the command for messages, as somebody wrote it where that is known; a rule that looks at a part
    of the arguments (``with_args``) still speaks about all of it.
    """

    program: str
    args: tuple[Word, ...]
    scope: Scope
    stdin: Flow | None = None
    privileged: bool = False
    piped: bool = False
    written: str = ""

    @property
    def words(self) -> tuple[Word, ...]:
        """The program and its arguments."""
        return (literal(self.program), *self.args)

    @property
    def text(self) -> str:
        """The call as one line, with its values instead of their names: what other rules look at."""
        return show(self.words)

    @property
    def shown(self) -> str:
        """The call as one line for messages."""
        return in_a_line(self.written) or self.text

    def options(self, known: str = "") -> Options:
        """Parse all arguments; see ``options.spec`` for the notation."""
        return parse_options(self.args, spec(known))

    def leading(self, known: str = "") -> Options:
        """Parse the options in front of the first operand."""
        return leading_options(self.args, spec(known))

    def find(self, rule: str, level: RiskLevel, message: str) -> SafetyFinding:
        """Return a finding about this call."""
        return SafetyFinding(rule, level, self.shown, message)

    def places(self, words: Iterable[Word]) -> Iterator[tuple[Word, PathTarget]]:
        """Return every word with each target that it may have."""
        for word in words:
            for folder in self.scope.folders:
                yield word, locate(word, folder)

    def with_args(self, args: tuple[Word, ...]) -> ProgramCall:
        """Return the same call with other arguments."""
        return replace(self, args=args)
