"""Accounts of macOS and its directories of them."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.model import HIGH, MODERATE, SAFE
from evalward.safety.registry import Subcommand, rule, table

_OFF = "switches protection off"
_ACCOUNT = "creates, changes or removes accounts"

_DIRECTORY_READS = ("read", "list", "search", "readall", "readpl", "readpli", "diff", "help")


@rule("dscl")
def directory_service(call: ProgramCall) -> Iterator[Answer]:
    """``dscl SOURCE -COMMAND …``; the dash may be left out."""
    operands = call.leading("u: P: f: p q raw plist url").operands
    verb = operands[1].text.lstrip("-") if len(operands) > 1 else "help"
    reads = verb in _DIRECTORY_READS
    message = "reads accounts" if reads else _ACCOUNT
    yield call.find("user.account", MODERATE if reads else HIGH, message)


@rule("dseditgroup")
def directory_group(call: ProgramCall) -> Iterator[Answer]:
    """``dseditgroup -o OPERATION``; without one it reads."""
    operation = call.options("o: a: d: t: n: u: P: m: i: g: r: k: c: s:").value("o")
    reads = operation is None or operation.text in ("read", "checkmember")
    message = "reads accounts" if reads else _ACCOUNT
    yield call.find("user.account", MODERATE if reads else HIGH, message)


table(
    "sysadminctl",
    "secureTokenStatus screenLock guestAccount autologin afpGuestAccess smbGuestAccess addUser deleteUser",
    [
        Subcommand("", SAFE, "", "", needs="secureTokenStatus"),
        Subcommand("status", SAFE, "", "", needs="screenLock guestAccount autologin afpGuestAccess smbGuestAccess"),
        Subcommand("off", HIGH, "protection.off", _OFF, needs="screenLock"),
        Subcommand("", HIGH, "user.account", _ACCOUNT),
    ],
)

table(
    "dsenableroot",
    "u: p: r: d",
    [
        Subcommand("", MODERATE, "user.account", "switches the account of root off", needs="d"),
        Subcommand("", HIGH, "user.account", "switches the account of root on"),
    ],
)

table(
    "dsconfigad dsconfigldap",
    "u: p: a: show",
    [
        Subcommand("", SAFE, "", "", needs="show"),
        Subcommand("", HIGH, "user.account", "joins or leaves a directory of accounts"),
    ],
)

table(
    "pwpolicy",
    "u: a: p: n:",
    [
        Subcommand(
            "",
            HIGH,
            "protection.off",
            "changes the rules for passwords",
            needs="clearaccountpolicies setglobalpolicy setaccountpolicies disableuser sethashtypes",
        )
    ],
)
