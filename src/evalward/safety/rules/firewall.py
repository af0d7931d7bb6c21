"""Packet filters and mandatory access control."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.model import HIGH, MODERATE, SAFE
from evalward.safety.registry import Subcommand, rule, table

_CONDITIONS = ("s", "d", "dport", "sport", "p", "m", "i", "o", "state", "ctstate")
_OPEN = "takes the firewall down or resets it"
_RULES = "changes the rules of the firewall"


@rule("iptables ip6tables ebtables arptables iptables-legacy iptables-nft")
def iptables(call: ProgramCall) -> Iterator[Answer]:
    """Listing is harmless; flushing, policies and refusals are not."""
    options = call.options(
        "t/table: A/append: I/insert: D/delete: R/replace: P/policy: j/jump: p/protocol: s/source: "
        "d/destination: dport: sport: i/in-interface: o/out-interface: m/match: F/flush X/delete-chain "
        "Z/zero L/list S/list-rules N/new-chain: E: to-destination: to-port: state: ctstate: comment: "
        "limit:"
    )
    jump = options.value("j")
    if options.has("F", "X", "P"):
        yield call.find("firewall.flush", HIGH, _OPEN)
    elif options.has("A", "I", "R") and jump is not None and jump.text in ("DROP", "REJECT"):
        narrow = options.has("s", "d", "m") and not any(word.text == "22" for word in options.all_values("dport"))
        yield call.find("firewall.block", MODERATE if narrow else HIGH, "refuses traffic")
    elif options.has("A", "I") and jump is not None and jump.text == "ACCEPT" and not options.has(*_CONDITIONS):
        yield call.find("firewall.off", HIGH, "lets all traffic through")
    elif options.has("D"):
        yield call.find("firewall.rules", HIGH, "removes rules of the firewall")
    elif options.has("A", "I", "R", "N", "E"):
        yield call.find("firewall.rules", MODERATE, _RULES)


table(
    "iptables-restore ip6tables-restore",
    "",
    [
        Subcommand("", MODERATE, "firewall.check", _RULES, needs="t test"),
        Subcommand("", HIGH, "firewall.rules", _RULES),
    ],
)
table(
    "ufw",
    "",
    [
        Subcommand("*", SAFE, "", "", needs="dry-run"),
        Subcommand("status|show|version|app", SAFE, "", ""),
        Subcommand("disable|reset", HIGH, "firewall.off", _OPEN),
        Subcommand("default allow", HIGH, "firewall.off", _OPEN),
        Subcommand("deny|reject 22|ssh|22/tcp|OpenSSH", HIGH, "firewall.block", "refuses remote access"),
        Subcommand("delete allow 22|ssh|22/tcp|OpenSSH", HIGH, "firewall.block", "refuses remote access"),
        Subcommand("delete", HIGH, "firewall.rules", "removes rules of the firewall"),
        Subcommand("allow from any to any", HIGH, "firewall.off", "lets all traffic through"),
        Subcommand("allow from any", MODERATE, "firewall.rules", _RULES),
        Subcommand("*", MODERATE, "firewall.rules", _RULES),
    ],
)


@rule("nft")
def nft(call: ProgramCall) -> Iterator[Answer]:
    """The words of ``nft`` may also come as one argument."""
    options = call.options("f/file: I: c/check a n s j")
    words = " ".join(word.text for word in options.operands).split()
    verb = words[0] if words else ""
    if options.has("c"):
        return
    if verb in ("flush", "delete", "destroy", "reset"):
        yield call.find("firewall.flush", HIGH, _OPEN)
    elif options.has("f"):
        yield call.find("firewall.rules", HIGH, _RULES)
    elif verb in ("add", "insert", "create", "replace"):
        yield call.find("firewall.rules", MODERATE, _RULES)


table(
    "firewall-cmd",
    "zone: add-port: add-service: remove-service: remove-port: set-default-zone: add-rich-rule:",
    [
        Subcommand("", HIGH, "firewall.off", "cuts traffic", needs="panic-on"),
        Subcommand("", HIGH, "firewall.block", "refuses remote access", needs="set-default-zone remove-service"),
        Subcommand(
            "",
            MODERATE,
            "firewall.rules",
            _RULES,
            needs="add-port add-service remove-port add-rich-rule reload permanent",
        ),
    ],
)
table(
    "pfctl",
    "s: f: t: T: a: n",
    [
        Subcommand("", SAFE, "", "", needs="n", unless="d F e"),
        Subcommand("", HIGH, "firewall.off", _OPEN, needs="d F"),
        Subcommand("", HIGH, "firewall.rules", _RULES, needs="f"),
        Subcommand("", MODERATE, "firewall.rules", _RULES, needs="e"),
    ],
)
table(
    "ipfw",
    "",
    [
        Subcommand("flush|-f", HIGH, "firewall.flush", _OPEN),
        Subcommand("", HIGH, "firewall.flush", _OPEN, needs="f"),
        Subcommand("list|show", SAFE, "", ""),
    ],
)
table("ipset", "", [Subcommand("destroy|flush", HIGH, "firewall.flush", _OPEN)])
table(
    "setenforce",
    "",
    [
        Subcommand("0|Permissive|permissive", HIGH, "protection.off", "switches SELinux off"),
        Subcommand("1|Enforcing", MODERATE, "protection.on", "switches SELinux on"),
    ],
)
table(
    "setsebool semanage semodule",
    "",
    [
        Subcommand("*", MODERATE, "protection.rules", "changes SELinux"),
        Subcommand("", MODERATE, "protection.rules", "changes SELinux"),
    ],
)
table(
    "aa-teardown aa-disable aa-complain apparmor_parser",
    "",
    [Subcommand("", HIGH, "protection.off", "switches AppArmor off")],
)
table("fail2ban-client", "", [Subcommand("stop|unban", HIGH, "protection.off", "stops banning attackers")])
