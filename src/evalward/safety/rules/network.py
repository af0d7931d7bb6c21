"""Connections, interfaces, routes and floods."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import SHELLS, Answer, NestedCommand, ProgramCall
from evalward.safety.model import CRITICAL, HIGH, MODERATE, SAFE
from evalward.safety.registry import Subcommand, rule, table

_DEFAULT = frozenset({"default", "0.0.0.0/0", "0/0", "::/0"})
_CUT = "cuts the machine off the network"


@rule("nc ncat netcat")
def netcat(call: ProgramCall) -> Iterator[Answer]:
    """A connection that is tied to a program gives that program away."""
    options = call.options("e/exec: c/sh-exec: p: s: w: i: q: x: X: l/listen lua-exec:")
    program = options.value("e", "c", "lua-exec")
    if program is not None:
        yield call.find("network.reverse_shell", CRITICAL, f"gives {program.text} to anyone who connects")
    elif call.stdin is not None and _is_shell_output(call):
        yield call.find("network.reverse_shell", CRITICAL, "gives a shell to anyone who connects")
    elif options.has("l"):
        yield call.find("network.listen", MODERATE, "listens for connections")


def _is_shell_output(call: ProgramCall) -> bool:
    source = call.stdin.source.split() if call.stdin is not None else []
    return bool(source) and source[0].rpartition("/")[2] in SHELLS


@rule("socat")
def socat(call: ProgramCall) -> Iterator[Answer]:
    """``EXEC:`` and ``SYSTEM:`` tie a connection to a program."""
    for word in call.options("b: t: T: l: d").operands:
        kind, _, command = word.text.partition(":")
        if kind.lower() in ("exec", "system", "shell"):
            program = command.partition(",")[0].strip("'\"").split()[:1]
            is_shell = bool(program) and program[0].rpartition("/")[2] in SHELLS
            yield call.find("network.reverse_shell", CRITICAL if is_shell else HIGH, "ties a connection to a program")


@rule("telnet")
def telnet(call: ProgramCall) -> Iterator[Answer]:
    """Telnet between two pipes is a remote shell."""
    if call.stdin is not None and call.piped:
        yield call.find("network.raw_connection", HIGH, "ties a connection to other commands")


@rule("ip")
def ip(call: ProgramCall) -> Iterator[Answer]:
    """``ip`` shows by default; taking links or the default route down cuts the network."""
    texts = [word.text for word in call.options("n/netns: f: b/batch: c").operands]
    what, verb = (texts[0] if texts else ""), (texts[1] if len(texts) > 1 else "show")
    if (
        (what.startswith("l") and "down" in texts)
        or (verb.startswith(("flush", "f")) and verb != "file")
        or (verb in ("del", "delete", "d") and (what.startswith(("l", "a")) or _DEFAULT.intersection(texts)))
    ):
        yield call.find("network.down", HIGH, _CUT)
    elif what == "netns" and verb == "exec":
        yield NestedCommand(words=call.options("n:").operands[3:], stdin=call.stdin)
    elif verb in ("replace", "change") and _DEFAULT.intersection(texts):
        yield call.find("network.settings", HIGH, "sends the machine's traffic another way")
    elif verb in ("add", "set", "del", "delete", "change", "replace", "append"):
        yield call.find("network.settings", MODERATE, "changes the network")


@rule("ifconfig iwconfig ifdown ethtool")
def interface(call: ProgramCall) -> Iterator[Answer]:
    """Taking an interface down."""
    texts = [word.text for word in call.args]
    if call.program == "ifdown" or "down" in texts[1:]:
        yield call.find("network.down", HIGH, _CUT)
    elif len(texts) > 1 and call.program == "ifconfig":
        yield call.find("network.settings", MODERATE, "changes an interface")


table(
    "route",
    "",
    [
        Subcommand("del|delete|flush", HIGH, "network.down", _CUT),
        Subcommand("add", MODERATE, "network.settings", "changes routes"),
    ],
)
table(
    "nmcli",
    "f/fields: t g: c",
    [
        Subcommand("n*|networking off", HIGH, "network.down", _CUT),
        Subcommand("r*|radio all|wifi off", HIGH, "network.down", _CUT),
        Subcommand("d*|device disconnect|down|delete", HIGH, "network.down", _CUT),
        Subcommand("c*|connection down|delete", HIGH, "network.down", _CUT),
        Subcommand("* up|add|modify|connect", MODERATE, "network.settings", "changes the network"),
    ],
)
table("rfkill", "", [Subcommand("block", HIGH, "network.down", _CUT)])
table("dhclient dhcpcd", "p: l: s:", [Subcommand("", HIGH, "network.down", _CUT, needs="r release k")])
table("hping3 hping", "i: p: c: d:", [Subcommand("", HIGH, "network.flood", "floods a host", needs="flood faster")])
table(
    "ping ping6",
    "c: i: s: w: W: I: t:",
    [Subcommand("", HIGH, "network.flood", "floods a host", needs="f"), Subcommand("", SAFE, "", "")],
)
table(
    "ettercap arpspoof dnsspoof bettercap responder mdk3 mdk4 aireplay-ng slowloris goldeneye macof "
    "yersinia tcpkill dsniff airmon-ng aircrack-ng t50 mz xerxes hydra medusa ncrack patator msfconsole "
    "msfvenom sqlmap beef-xss",
    "",
    [Subcommand("", HIGH, "network.attack", "attacks other machines")],
)
table(
    "masscan zmap nmap",
    "p: o: s:",
    [
        Subcommand("", HIGH, "privilege.shell", "opens a shell inside a scanner", needs="interactive"),
        Subcommand("", MODERATE, "network.scan", "scans machines"),
    ],
)
table(
    "tc",
    "",
    [
        Subcommand("qdisc add|replace|change", HIGH, "network.shaping", "slows or drops traffic"),
        Subcommand("qdisc del", MODERATE, "network.shaping", "changes traffic rules"),
    ],
)
table("tcpdump tshark dumpcap", "i: c: w: r:", [Subcommand("", MODERATE, "network.capture", "records traffic")])
table(
    "ngrok localtunnel lt cloudflared serveo bore chisel",
    "",
    [Subcommand("*", MODERATE, "network.tunnel", "opens this machine to the internet")],
)
table("scp sftp ftp", "", [Subcommand("", MODERATE, "network.copy", "copies to or from another machine")])
