"""Commands that run on other machines: ssh, pdsh, ansible, salt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.model import HIGH, MODERATE
from evalward.safety.registry import rule
from evalward.safety.words import joined, names

_PASSIVE_SSH = names("p l i o F J L R D W b c E e I m O Q S w B")

_WAY_IN = re.compile(r"(?:0\.0\.0\.0|\*|\[::\])?:\d+:|(?:[^:]*:)?\d+:(?:localhost|127\.0\.0\.1|\[::1\]):22\Z")
"""A port of the other machine that is open to everybody, or that leads to this one's own ssh."""


@rule("ssh autossh mosh")
def remote_shell(call: ProgramCall) -> Iterator[Answer]:
    """What ssh runs on the other machine counts as if it ran here."""
    watched = " M:" if call.program == "autossh" else ""  # its port to watch by; ssh's -M has no value
    options = call.leading(" ".join(f"{name}:" for name in sorted(_PASSIVE_SSH)) + watched)
    yield call.find("network.ssh", MODERATE, "opens a session on another machine")
    for value in options.all_values("o"):
        name, _, command = value.text.partition("=")
        if name.lower() in ("proxycommand", "localcommand") and command:
            yield NestedCommand(script=value.after(len(name) + 1))
    if any(map(_WAY_IN.match, (word.text for word in options.all_values("R")))):
        yield call.find("network.tunnel", HIGH, "lets others into this machine, or everybody to one of its services")
    command_words = call.with_args(options.operands[1:]).leading("p: l: i: o: t").operands
    if command_words:
        yield NestedCommand(script=joined(command_words), stdin=call.stdin, elsewhere=True)
    elif call.stdin is not None:
        yield NestedCommand(flow=call.stdin, elsewhere=True)


@rule("sshpass")
def with_password(call: ProgramCall) -> Iterator[Answer]:
    """Give ssh a password."""
    yield from (
        NestedCommand(words=words, stdin=call.stdin) for words in [call.leading("p: f: d: P:").operands] if words
    )


_ENDING = re.compile(r"\bstate=(?:absent|stopped|killed)\b|\benabled=(?:no|false)\b")


@rule("ansible")
def ansible(call: ProgramCall) -> Iterator[Answer]:
    """Judge the module and its arguments."""
    options = call.options("m/module-name: a/args: i/inventory: u/user: l/limit: f/forks: e: b/become K k C/check")
    module = options.value("m")
    name = module.text.rpartition(".")[2] if module is not None else "command"
    yield call.find("network.many", MODERATE, "works on many machines")
    if name in ("reboot", "win_reboot", "shutdown") and not options.has("C"):
        yield call.find("machine.down", HIGH, "restarts many machines")
    for value in options.all_values("a"):
        if name in ("shell", "command", "raw", "script", "win_shell"):
            yield NestedCommand(script=value, elsewhere=True, privileged=options.has("b") or None)
        elif _ENDING.search(value.text):
            yield call.find("network.many", HIGH, "removes or stops something on many machines")


@rule("pdsh salt clush pssh dsh")
def many_machines(call: ProgramCall) -> Iterator[Answer]:
    """Run a command on many machines."""
    operands = call.leading("w: x: l: f: g: h: H: t: p: a b").operands
    yield call.find("network.many", MODERATE, "runs a command on many machines")
    if call.program == "salt":
        runs = len(operands) > 2 and operands[1].text.startswith("cmd.")
        operands = operands[2:3] if runs else ()
    if operands:
        yield NestedCommand(script=joined(operands), elsewhere=True)


_POWER = re.compile(r"\b(?:PowerOff|Reboot|Halt|Suspend|Hibernate|KillUser|TerminateUser)\b")


@rule("dbus-send busctl gdbus qdbus")
def message_bus(call: ProgramCall) -> Iterator[Answer]:
    """The message bus can switch the machine off."""
    if any(_POWER.search(word.text) for word in call.args):
        yield call.find("machine.down", HIGH, "stops or restarts the machine")
