"""Commands that run on other machines: ssh, pdsh, ansible, salt."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.suites.command.safety.call import Answer, Call, Launch
from evalward.suites.command.safety.model import MODERATE
from evalward.suites.command.safety.registry import rule
from evalward.suites.command.safety.words import joined, names

_PASSIVE_SSH = names("p l i o F J L R D W b c E e I m O Q S w B")


@rule("ssh autossh mosh")
def remote_shell(call: Call) -> Iterator[Answer]:
    """What ssh runs on the other machine counts as if it ran here."""
    options = call.leading(" ".join(f"{name}:" for name in sorted(_PASSIVE_SSH)))
    yield call.find("network.ssh", MODERATE, "opens a session on another machine")
    for value in options.all_values("o"):
        name, _, command = value.text.partition("=")
        if name.lower() in ("proxycommand", "localcommand") and command:
            yield Launch(script=value.after(len(name) + 1))
    command_words = call.with_args(options.operands[1:]).leading("p: l: i: o: t").operands
    if command_words:
        yield Launch(script=joined(command_words), stdin=call.stdin, elsewhere=True)
    elif call.stdin is not None:
        yield Launch(flow=call.stdin, elsewhere=True)


@rule("sshpass")
def with_password(call: Call) -> Iterator[Answer]:
    """Give ssh a password."""
    yield from (Launch(words=words, stdin=call.stdin) for words in [call.leading("p: f: d: P:").operands] if words)


@rule("pdsh ansible salt")
def many_machines(call: Call) -> Iterator[Answer]:
    """Run a command on many machines."""
    options = call.options("m/module-name: a/args: i/inventory: u/user: w: x: l: f: e: b/become K k")
    yield call.find("network.many", MODERATE, "runs a command on many machines")
    module = options.value("m")
    for value in options.all_values("a"):
        if module is None or module.text in ("shell", "command", "raw", "script", "win_shell"):
            yield Launch(script=value, elsewhere=True, privileged=options.has("b") or None)
    if call.program == "pdsh" and options.operands:
        yield Launch(script=joined(options.operands), elsewhere=True)
    elif call.program == "salt" and len(options.operands) > 2 and options.operands[1].text.startswith("cmd."):
        yield Launch(script=options.operands[2], elsewhere=True)
