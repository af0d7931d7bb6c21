"""What decides which program runs later: variables, and names that are chosen for the whole machine."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.model import HIGH, MODERATE
from evalward.safety.registry import rule
from evalward.safety.targets import PlaceKind
from evalward.safety.words import Word, names

_PRELOAD = names("LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES PERL5OPT PYTHONSTARTUP BASH_ENV")
_COMMANDS = names("PROMPT_COMMAND GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_EDITOR LESSOPEN MANPAGER GIT_PAGER")
_HISTORY_SIZES = names("HISTSIZE HISTFILESIZE SAVEHIST")


def rate_assignment(call: ProgramCall, name: str, value: Word) -> Iterator[Answer]:
    """Judge giving ``name`` a value."""
    if name == "PATH" and not _extends_path(value):
        yield call.find("environment.path", MODERATE, "replaces the search path of programs")
    elif name in _PRELOAD and value.text:
        yield call.find("environment.preload", HIGH, f"makes programs load {value.text} through {name}")
    elif _stops_history(name, value.text):
        yield call.find("history.off", HIGH, "stops recording the command history")
    elif name in _COMMANDS and value.text:
        yield NestedCommand(script=value)


def _extends_path(value: Word) -> bool:
    return "$PATH" in value.text or "${PATH" in value.text


def _stops_history(name: str, value: str) -> bool:
    if name == "HISTFILE":
        return value in ("", "/dev/null")
    if name == "HISTIGNORE":
        return value.strip(":") == "*"
    return name in _HISTORY_SIZES and value in ("", "0")


@rule("update-alternatives alternatives")
def choose_program(call: ProgramCall) -> Iterator[Answer]:
    """Which of the installed programs has a common name; a program from elsewhere takes that name away."""
    options = call.options("install set slave remove remove-all auto config list display query all")
    if not options.has("install", "set", "remove", "remove-all", "auto"):
        return
    at = 2 if options.has("install") else 1
    paths = [target for _, target in call.places(options.operands[at : at + 1])]
    foreign = options.has("install", "set") and any(
        target.place not in (PlaceKind.SYSTEM, PlaceKind.LOCAL) for target in paths
    )
    if foreign:
        yield call.find("evasion.alias", HIGH, f"makes {options.operands[at - 1].text} mean another program")
    else:
        yield call.find("machine.settings", MODERATE, "changes which program has a common name")
