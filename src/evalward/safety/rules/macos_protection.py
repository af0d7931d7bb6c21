"""What macOS protects with: signatures, privacy, encryption, its firewall, the key chain."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.harm import describe
from evalward.safety.model import HIGH, MODERATE
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.targets import PathTarget, PlaceKind

_DOWN = "stops or restarts the machine"
_OFF = "switches protection off"
_WIDE = (PlaceKind.ROOT, PlaceKind.HOME, PlaceKind.PARENT, PlaceKind.PERSONAL, PlaceKind.TOP, PlaceKind.UNKNOWN)


def is_wide(target: PathTarget) -> bool:
    """Say whether a change to all in ``target`` reaches more than one program or folder of work."""
    whole_folder = target.place is PlaceKind.SYSTEM and (target.everything or target.path.count("/") == 1)
    return target.place in _WIDE or whole_folder or target.path.startswith("/System/")


@rule("xattr")
def extended_attributes(call: ProgramCall) -> Iterator[Answer]:
    """Attributes hold where a file came from; without them nothing is checked before it first runs."""
    options = call.options("c d: w p: r s l v x")
    if not options.has("c", "d"):
        return
    for _, target in call.places(options.operands):
        wide = is_wide(target) and (options.has("r") or target.everything or target.place is PlaceKind.ROOT)
        message = f"removes download quarantine marks from {describe(target)}"
        yield call.find("protection.quarantine", HIGH if wide else MODERATE, message)


@rule("chflags")
def file_flags(call: ProgramCall) -> Iterator[Answer]:
    """Hidden, locked and protected files; deep in the system or over a home folder that breaks it."""
    options = call.options("R f h H L P v x")
    for _, target in call.places(options.operands[1:]):
        wide = options.has("R") and (is_wide(target) or target.place is PlaceKind.SYSTEM)
        yield call.find("permission.flags", HIGH if wide else MODERATE, f"changes the flags of {describe(target)}")


_SIGNING = (
    "s/sign: f/force d/display v/verify h remove-signature deep strict entitlements: o/options: i/identifier: "
    "r/requirements: R/test-requirement: keychain: prefix:"
)


@rule("codesign")
def sign(call: ProgramCall) -> Iterator[Answer]:
    """A signature says whose a program is and that it is whole; signing what one has just built is ordinary work."""
    options = call.options(_SIGNING)
    for _, target in call.places(options.operands):
        installed = target.place is PlaceKind.SYSTEM or is_wide(target)
        if options.has("remove-signature"):
            level = HIGH if installed else MODERATE
            yield call.find("protection.off", level, f"removes the signature of {describe(target)}")
        elif options.has("s") and installed:
            yield call.find("protection.rules", MODERATE, f"replaces the signature of {describe(target)}")


table(
    "spctl",
    "label: rule: type: t: path:",
    [
        Subcommand("", HIGH, "protection.off", _OFF, needs="master-disable global-disable disable remove"),
        Subcommand("kext-consent disable|add|remove", HIGH, "protection.off", _OFF),
        Subcommand("", MODERATE, "protection.rules", "changes which programs may run", needs="add enable"),
    ],
)

table(
    "csrutil",
    "without:",
    [
        Subcommand("disable|clear", HIGH, "protection.off", _OFF),
        Subcommand("authenticated-root disable", HIGH, "protection.off", _OFF),
        Subcommand("enable", HIGH, "protection.off", "switches a part of the protection off", needs="without"),
    ],
)

table(
    "fdesetup",
    "user: usertoremove:",
    [
        Subcommand("disable|remove*", HIGH, "protection.off", "takes the disk's encryption, or a way to open it, away"),
        Subcommand("authrestart", HIGH, "machine.down", _DOWN),
        Subcommand("enable|add|changerecovery|sync", MODERATE, "protection.on", "changes the disk's encryption"),
    ],
)

table(
    "profiles",
    "identifier: p: path: F: user: type: D R I L P",
    [
        Subcommand("remove", HIGH, "protection.off", "takes an administrator's rules away"),
        Subcommand("", HIGH, "protection.off", "takes an administrator's rules away", needs="D R"),
        Subcommand("install|renew", MODERATE, "protection.rules", "changes an administrator's rules"),
        Subcommand("", MODERATE, "protection.rules", "changes an administrator's rules", needs="I"),
    ],
)

table(
    "socketfilterfw",
    "",
    [
        Subcommand("off", HIGH, "firewall.off", "takes the firewall down", needs="setglobalstate"),
        Subcommand("*", MODERATE, "firewall.rules", "changes the rules of the firewall"),
    ],
)

table(
    "tccutil",
    "",
    [
        Subcommand("reset * *", MODERATE, "permission.privacy", "resets what one program may see"),
        Subcommand("reset All", HIGH, "permission.privacy", "resets what every program may see"),
        Subcommand("reset", MODERATE, "permission.privacy", "resets what programs may see"),
    ],
)

table(
    "security",
    "a: s: c: l: w g k: r: p: D",
    [
        Subcommand("find-*-password", HIGH, "credential.read", "shows stored passwords", needs="w g"),
        Subcommand(
            "dump-keychain|export|delete-*",
            HIGH,
            "credential.read",
            "shows or deletes stored passwords",
        ),
        Subcommand(
            "add-trusted-cert|remove-trusted-cert|trust-settings-import",
            HIGH,
            "credential.trust",
            "changes who is trusted",
        ),
        Subcommand("authorizationdb write|remove", HIGH, "privilege.rules", "changes who may do what"),
        Subcommand("unlock-keychain|create-keychain|import|add-*|set-*", MODERATE, "credential.keys", "changes keys"),
    ],
)
