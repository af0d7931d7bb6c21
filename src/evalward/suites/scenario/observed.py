"""What the shell that ran a call tells of the commands in it: used as far as it agrees with what we saw ourselves.

Agents and tools run with the shell's rights and can forge all of it. So it only fills in what would be unknown: it is
dropped as a whole where it contradicts the call's own exit code, or isn't made of the tool's commands.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence

from evalward.records.events import RanCommand
from evalward.suites.scenario.patterns import LINE_LIMIT, CommandPattern, invocations
from evalward.suites.scenario.shell_codes import Use, may_be_ended

MOST_COMMANDS = 500
"""Of one call; a shell that tells more tells nothing."""
CLOSED_PIPE = 141
"""128 + SIGPIPE: it was writing when its reader had enough, as in `tool list | head -1`. No fault of the tool."""


def observed_uses(
    reported: Sequence[RanCommand], uses: Sequence[Use], pattern: CommandPattern, exit_code: int | None
) -> list[Use] | None:
    """The commands that the shell tells of, each a use of the tool; `None` where they can't be believed.

    `uses` are those that stand in the call's text, with what follows from the call's own `exit_code`. Of a call that
    may have been ended from outside, the shell had no time to tell all.
    """
    if len(reported) > MOST_COMMANDS or may_be_ended(exit_code):
        return None
    found = [_use(one, pattern) for one in reported]
    ran = [use for use in found if use is not None]
    known = Counter(map(_end, (use for use in uses if use.exit_code is not None)))
    if len(ran) < len(found) or known - Counter(map(_end, ran)):
        return None
    return [Use(use.found, 0 if use.exit_code == CLOSED_PIPE else use.exit_code, use.program) for use in ran]


def _end(use: Use) -> tuple[str | None, int | None]:
    return use.program, use.exit_code


def _use(ran: RanCommand, pattern: CommandPattern) -> Use | None:
    found = invocations(ran.command, pattern) if len(ran.command) <= LINE_LIMIT else []
    if len(found) != 1:
        return None
    try:
        program = next(iter(shlex.split(ran.command)), None)
    except ValueError:
        return None
    return Use(found[0], ran.exit_code, program)
