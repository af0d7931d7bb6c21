"""A place whose shell tells how each of the tool's commands in a call ended.

Only for calls that run through a shell of ours (`bash -c SCRIPT`) and have several commands; one alone has the call's
own exit code. The shell gets a function by the name of each of the tool's programs in the script. It runs the program
as it stands, with its words, streams and folder, notes the exit code in a file whose name nobody knows before, and ends
with that code. Where a script could tell the difference (it looks at functions, traces, starts things in the
background), or where we can't read it, there is no function, and what doesn't follow from the call's exit code stays
unknown.

What is in the file is a claim, for the commands run with the shell's rights: bounded here, believed by `observed` only
where it agrees with what we see. Two differences are known: bash's own message has other words for a program that a
signal ends, and for a file that may be executed and that the system can't start.
"""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from evalward.records.base import clean_text
from evalward.records.events import Event, RanCommand, ToolAnswered, ToolCalled
from evalward.sandbox.base import SandboxError
from evalward.suites.scenario.observed import MOST_COMMANDS
from evalward.suites.scenario.patterns import CommandPattern
from evalward.suites.scenario.watchable import programs_to_watch
from evalward.targets.agents.base import AgentPlace, EndedAgent

SHELL = ["bash", "-c"]
HOOK = "EVALWARD_HOOK"
LOG_LIMIT = 1 << 18  # bytes of what one call tells
WORDS_KEPT = 2_000  # characters of one command

_BEGIN = "unset {hook}; {{ printf '%s\\n' {begin} >{log}; }} 2>/dev/null\n"
_FUNCTION = """\
{name} () {{
local evalward_code=0 evalward_words
if {works}; then command {name} "$@" || evalward_code=$?
{else_}
fi
{{ printf -v evalward_words '%q ' {name} "$@"
printf '%d %s\\n' "$evalward_code" "${{evalward_words:0:{kept}}}" >>{log}; }} 2>/dev/null || :
return "$evalward_code"
}}
"""
_SAID = """\
printf '%s: line %d: %s: {message}\\n' "$0" "${{BASH_LINENO[0]}}" {name} >&2; evalward_code={code}"""
_OTHER_SHELL = frozenset({"POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS", "BASH_ENV", HOOK})
"""Variables with which bash is another shell from its start."""


class Watchable(AgentPlace, Protocol):
    """A place of which we can read a file that its commands wrote."""

    @property
    def tmp(self) -> Path:
        """The commands' folder for temporary files."""
        ...

    def read_file(self, path: str) -> bytes | None:
        """The content of a regular file of theirs, `None` when there is none."""
        ...


@dataclass(frozen=True)
class _WatchedEvents:
    script: str
    commands: list[RanCommand]


@dataclass
class WatchedPlace:
    """The place, and what its shell tells of the calls that ran in it, in order."""

    place: Watchable
    pattern: CommandPattern
    calls: list[_WatchedEvents] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """The place's."""
        return self.place.folder

    @property
    def home(self) -> Path:
        """The place's."""
        return self.place.home

    async def run(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] = {},
        cwd: str = ".",
        timeout_s: float | None = None,
        stdin: bytes | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> EndedAgent:
        """Run it as the place does; of a script with several commands it is heard how each of them ended."""

        async def run(words: Sequence[str], variables: Mapping[str, str]) -> EndedAgent:
            return await self.place.run(
                words, env=variables, cwd=cwd, timeout_s=timeout_s, stdin=stdin, on_line=on_line
            )

        ours = [*command[:-1]] == SHELL and not _OTHER_SHELL & set(env)
        names = programs_to_watch(command[-1], self.pattern) if ours else []
        if not names:
            return await run(command, env)
        script, begin = command[-1], secrets.token_hex(8)
        log = str(self.place.tmp / f".evalward-{secrets.token_hex(8)}")
        done = await run([*SHELL, f'eval "${HOOK}"; {script}'], {**env, HOOK: hook_of(names, log, begin)})
        commands = self._read(log, begin)
        if commands is not None:
            self.calls.append(_WatchedEvents(clean_text(script), commands))
        return done

    def _read(self, log: str, begin: str) -> list[RanCommand] | None:
        """What was noted, `None` where it can't be used: notes that were emptied meanwhile lack their begin."""
        try:
            content = self.place.read_file(log)
        except SandboxError:  # the commands made it absurdly large: their doing
            return None
        if content is None or len(content) > LOG_LIMIT:
            return None
        first, *lines = content.decode("utf-8", "replace").split("\n")[:-1] or [""]
        if first != begin:
            return None
        commands = [_noted(line) for line in lines[: MOST_COMMANDS + 1]]
        return None if None in commands else [one for one in commands if one is not None]

    def heard(self, events: Sequence[Event]) -> list[Event]:
        """The events, with what the shell told of each call."""
        unmatched, hearing = list(self.calls), None
        heard: list[Event] = []
        for event in events:
            if isinstance(event, ToolCalled):
                hearing = unmatched.pop(0) if unmatched and unmatched[0].script == clean_text(event.command) else None
            elif isinstance(event, ToolAnswered) and hearing is not None:
                event = event.model_copy(update={"commands": hearing.commands})  # noqa: PLW2901
                hearing = None
            heard.append(event)
        return heard


def _noted(line: str) -> RanCommand | None:
    code, _, words = line.partition(" ")
    if not words or not re.fullmatch(r"\d{1,3}", code):
        return None
    try:
        return RanCommand(command=clean_text(shlex.join(shlex.split(words))), exit_code=int(code))
    except ValueError:  # cut within a quote
        return RanCommand(command=clean_text(shlex.join(words.split())), exit_code=int(code))


def hook_of(names: Sequence[str], log: str, begin: str) -> str:
    """The shell's functions for these programs, which write into `log`, behind a first line `begin`."""
    quoted = shlex.quote(log)
    return "".join([_BEGIN.format(hook=HOOK, log=quoted, begin=begin), *(_function(name, quoted) for name in names)])


def _function(name: str, log: str) -> str:
    """What cannot be started is told in bash's words: from within a function it would say another place."""
    if "/" in name:
        works = f"[[ -f {name} && -x {name} ]]"
        else_ = (
            f"elif [[ -d {name} ]]; then {_bash_error(name, 'Is a directory', 126)}\n"
            f"elif [[ -e {name} ]]; then {_bash_error(name, 'Permission denied', 126)}\n"
            f"else {_bash_error(name, 'No such file or directory', 127)}"
        )
    else:
        works = f"type -P {name} >/dev/null"
        else_ = f"else {_bash_error(name, 'command not found', 127)}"
    return _FUNCTION.format(name=name, works=works, else_=else_, log=log, kept=WORDS_KEPT)


def _bash_error(name: str, message: str, code: int) -> str:
    return _SAID.format(name=name, message=message, code=code)
