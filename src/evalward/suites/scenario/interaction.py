"""Layer 1: how the agent used the tool, by the specification's definitions.

What is told of a tool call is one exit code: that of the last command that ran. Each command's own is what the shell
tells of it where the shell was ours, else what follows from the call's by the rules of the shell, else unknown. A
command with `--help` counts as exit code 0. A call without a result is unknown, never a success; where the run was
killed, the one command that it was waiting for failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalward.records.base import clean_text
from evalward.records.events import AnsweredCall, Complete, Event, answered_calls
from evalward.suites.scenario.details import FailedCommand, Interaction, SubcommandStats
from evalward.suites.scenario.observed import observed_uses
from evalward.suites.scenario.patterns import NAMELESS, CommandPattern, asks_for_help
from evalward.suites.scenario.shell_codes import Use, uses_of

MOST_SUBCOMMANDS = 50
OTHERS = "(others)"
"""Under this name the subcommands beyond the limit are kept together."""
MOST_FAILED = 10
COMMAND_SHOWN, SAID_SHOWN = 200, 300
_SIGNAL_CODES = 128  # what shells add to a signal's number
_TIMED_OUT = 124  # what timeout(1) ends with


@dataclass(frozen=True)
class ToolCommand:
    """One command of the tool. `exit_code` is `None` where nobody told it."""

    identity: str
    text: str
    exit_code: int | None
    said: str = ""
    is_help: bool = False
    killed: bool = False

    @property
    def failed(self) -> bool:
        """It is known to have failed."""
        return self.killed or self.exit_code not in {0, None}

    @property
    def succeeded(self) -> bool:
        """It is known to have succeeded."""
        return self.exit_code == 0 and not self.killed


def was_killed(events: Sequence[Event]) -> bool:
    """True when the events say that the agent was ended by a signal or a time limit."""
    codes = [event.exit_code for event in events if isinstance(event, Complete)]
    code = codes[-1] if codes else None
    return code is not None and (code < 0 or code == _TIMED_OUT or code > _SIGNAL_CODES)


def tool_commands(events: Sequence[Event], pattern: CommandPattern, *, killed: bool | None = None) -> list[ToolCommand]:
    """The tool's commands among the events. `killed`: the run was ended from outside; else the events say it."""
    ended = was_killed(events) if killed is None else killed
    return [command for call in answered_calls(events) for command in _commands(call, pattern, ended)]


def _commands(call: AnsweredCall, pattern: CommandPattern, killed: bool) -> list[ToolCommand]:
    answer, script = call.answer, call.call.command
    output, code = (answer.output, answer.exit_code) if answer else ("", None)
    uses = uses_of(script, pattern, code, output)
    known = observed_uses(answer.commands, uses, pattern, code) if answer and answer.commands is not None else None
    waited_for = killed and answer is None and len(uses) == 1
    return [_command(use, output, killed=waited_for) for use in (uses if known is None else known)]


def _command(use: Use, said: str, *, killed: bool) -> ToolCommand:
    asks = asks_for_help(use.found.text)
    return ToolCommand(
        identity=use.found.identity,
        text=use.found.text,
        exit_code=0 if asks else use.exit_code,
        said=said,
        is_help=use.found.is_help,
        killed=killed and not asks,
    )


def interaction_of(commands: Sequence[ToolCommand], *, completed: bool, per_subcommand: bool) -> Interaction:
    """The counts of these commands, in the order in which they ran.

    Where the pattern captures no subcommand (`per_subcommand` is false), nobody knows which commands are the same: what
    counts different ones, repetitions and first tries is then not available.
    """
    counts = Interaction(
        total_commands=len(commands),
        error_count=sum(command.failed for command in commands),
        help_invocations=sum(command.is_help for command in commands),
        unknown_count=sum(not command.failed and not command.succeeded for command in commands),
        completed=completed,
    )
    if commands and not per_subcommand:
        failed = [_failed(replace(command, identity=NAMELESS), ()) for command in commands if command.failed]
        without = dict.fromkeys(("unique_commands", "retry_count", "first_try_count", "retries_after_failure"))
        return counts.model_copy(update={**without, "failed": failed[:MOST_FAILED]})
    groups: dict[str, list[ToolCommand]] = {}
    for command in commands:
        groups.setdefault(command.identity, []).append(command)
    failed = [_failed(one, commands[place + 1 :]) for place, one in enumerate(commands) if one.failed]
    return counts.model_copy(
        update={
            "unique_commands": len(groups),
            "retry_count": len(commands) - len(groups),
            "first_try_count": _first_tries(groups.values(), unknown=counts.unknown_count, total=len(commands)),
            "retries_after_failure": sum(map(_retries_after_failure, groups.values())),
            "per_subcommand": _per_subcommand(groups),
            "failed": failed[:MOST_FAILED],
        }
    )


def _first_tries(groups: Iterable[Sequence[ToolCommand]], *, unknown: int, total: int) -> int | None:
    if total and unknown == total:
        return None
    return sum(group[0].succeeded for group in groups)


def _retries_after_failure(group: Sequence[ToolCommand]) -> int:
    return sum(before.failed for before in group[:-1])


def _per_subcommand(groups: dict[str, list[ToolCommand]]) -> dict[str, SubcommandStats]:
    """By number of commands, the most first; beyond the limit the rest is one entry."""
    by_size = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    kept = {clean_text(name): _stats(group) for name, group in by_size[:MOST_SUBCOMMANDS]}
    rest = [_stats(group) for _, group in by_size[MOST_SUBCOMMANDS:]]
    if rest:
        kept[OTHERS] = SubcommandStats(
            total=sum(stats.total for stats in rest),
            errors=sum(stats.errors for stats in rest),
            retries=sum(stats.retries for stats in rest),
            retries_after_failure=sum(stats.retries_after_failure for stats in rest),
        )
    return kept


def _stats(group: Sequence[ToolCommand]) -> SubcommandStats:
    first = group[0]
    return SubcommandStats(
        total=len(group),
        errors=sum(command.failed for command in group),
        retries=len(group) - 1,
        retries_after_failure=_retries_after_failure(group),
        first_try=first.succeeded if first.succeeded or first.failed else None,
    )


def _failed(command: ToolCommand, later: Sequence[ToolCommand]) -> FailedCommand:
    worked = (
        other.text
        for other in later
        if other.identity == command.identity and other.succeeded and not asks_for_help(other.text)
    )
    mended = next(worked, None)
    output = "" if command.killed else command.said.strip()
    return FailedCommand(
        subcommand=clean_text(command.identity),
        command=clean_text(command.text[:COMMAND_SHOWN]),
        exit_code=command.exit_code,
        said=clean_text("it was ended with the run" if command.killed else output[-SAID_SHOWN:]),
        worked=None if mended is None else clean_text(mended[:COMMAND_SHOWN]),
    )
