"""What only macOS has: its disk tool, its services, its backups, its updates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.harm import describe
from evalward.safety.model import CRITICAL, HIGH, MODERATE, SAFE
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.rules.macos_protection import is_wide
from evalward.safety.targets import PlaceKind

_DOWN = "stops or restarts the machine"

_OFF = "switches protection off"


@rule("launchctl")
def launch_service(call: ProgramCall) -> Iterator[Answer]:
    """Services of the system matter to everybody, a person's own agents to that person."""
    options = call.options("w F k p s D:")
    verb = options.operands[0].text if options.operands else ""
    if verb == "reboot":
        yield call.find("machine.down", HIGH, _DOWN)
    elif verb in ("unload", "remove", "bootout", "stop", "disable", "kill"):
        is_own = not call.privileged and _is_own_agent([word.text for word in options.operands[1:]])
        yield call.find("service.stop", MODERATE if is_own else HIGH, "stops a service")
    elif verb in ("load", "bootstrap", "start", "enable", "kickstart", "submit", "setenv", "unsetenv"):
        yield call.find("service.change", MODERATE, "starts or reloads a service")


def _is_own_agent(texts: list[str]) -> bool:
    """Say whether a job is one that its user has installed: by its file, or by its name in the user's session."""
    own_file = r"(?:~|/Users/[^/]+)/Library/LaunchAgents/.+"
    own_name = r"(?:gui|user)/[^/]+/(?!com\.apple\.).+"
    return any(re.fullmatch(own_file, text) or re.fullmatch(own_name, text) for text in texts)


@rule("tmutil")
def backups(call: ProgramCall) -> Iterator[Answer]:
    """Backups can be deleted, switched off, or made to leave out what matters."""
    options = call.options("d: t: p v a")
    verb = options.operands[0].text.lower() if options.operands else ""
    if verb.startswith("delete") or verb in ("disable", "disablelocal", "restore", "removedestination"):
        yield call.find("deletion.backup", HIGH, "deletes backups or switches them off")
    elif verb == "thinlocalsnapshots":
        yield call.find("deletion.backup", HIGH, "deletes backups")
    elif verb == "setdestination":
        yield _destination(call, [word.text for word in options.operands[1:]])
    elif verb == "addexclusion":
        for _, target in call.places(options.operands[1:] or options.all_values("p")):
            wide = is_wide(target) or target.place is PlaceKind.SYSTEM
            message = f"keeps {describe(target)} out of backups"
            yield call.find("deletion.backup", HIGH if wide else MODERATE, message)


table(
    "diskutil",
    "",
    [
        Subcommand(
            "erase*|partition[dD]isk|reformat|zero[dD]isk|secure[eE]rase|random[dD]isk|splitPartition|addPartition",
            CRITICAL,
            "disk.format",
            "erases a disk",
        ),
        Subcommand("apfs|ap delete*|erase*", CRITICAL, "disk.format", "erases a volume"),
        Subcommand(
            "cs|coreStorage|apple[rR][aA][iI][dD]|ar delete*|remove*", CRITICAL, "disk.format", "erases a volume"
        ),
        Subcommand("merge[pP]artitions", CRITICAL, "disk.format", "erases all but the first partition"),
        Subcommand("apfs|ap decrypt*", HIGH, "protection.off", _OFF),
        Subcommand("unmount*|umount|eject|resize*", MODERATE, "disk.volume", "takes a disk away"),
        Subcommand("rename|mount*|enableJournal|disableJournal|repair*", MODERATE, "disk.settings", "changes a volume"),
    ],
)

table(
    "gpt",
    "i: b: s: t: l: u:",
    [Subcommand("destroy|create|remove|migrate|add", CRITICAL, "disk.partition", "changes the partitions of a disk")],
)

table("hdiutil", "o: size:", [Subcommand("erasekeys|burn", HIGH, "disk.wipe", "destroys an image")])

table("asr", "source: target:", [Subcommand("", CRITICAL, "disk.format", "erases a volume", needs="erase")])

table(
    "startosinstall",
    "volume: newvolumename:",
    [
        Subcommand("", SAFE, "", "", needs="usage"),
        Subcommand("", CRITICAL, "disk.format", "erases the disk to install a system", needs="eraseinstall"),
        Subcommand("", HIGH, "package.release", "upgrades the whole system"),
    ],
)

table(
    "softwareupdate",
    "l/list i/install a/all R/restart d/download r/recommended schedule ignore: user:",
    [
        Subcommand("off", HIGH, "protection.off", "switches security updates off", needs="schedule"),
        Subcommand("", HIGH, "machine.down", _DOWN, needs="R"),
        Subcommand("", SAFE, "", "", needs="l list-full-installers"),
        Subcommand(
            "", MODERATE, "package.install", "installs or upgrades packages", needs="i d ignore install-rosetta"
        ),
    ],
)


def _destination(call: ProgramCall, texts: list[str]) -> Answer:
    """A backup is all that a machine knows: a server that gets it matters more than another disk."""
    if any("://" in text for text in texts):
        return call.find("network.send", HIGH, "sends this machine's backups to a server")
    return call.find("deletion.backup", MODERATE, "changes where backups go")


@rule("pkgutil")
def receipts(call: ProgramCall) -> Iterator[Answer]:
    """Without its receipt nothing knows what a package has installed; that of a removed program is ordinary work."""
    for package in call.options("forget: volume:").all_values("forget"):
        if package.opaque or package.glob or package.text.startswith("com.apple."):
            yield call.find("package.force", HIGH, "makes the system forget packages that it consists of")
        else:
            yield call.find("package.change", MODERATE, "makes the system forget a package")


table("log", "", [Subcommand("erase", HIGH, "history.log", "clears the system log")])

table(
    "kmutil",
    "p: b: bundle-path: bundle-identifier:",
    [
        Subcommand(
            "load|unload|clear-staging|trigger-panic-medic",
            HIGH,
            "kernel.module",
            "loads or removes parts of the kernel",
        )
    ],
)

table(
    "port",
    "",
    [
        Subcommand(
            "uninstall|deactivate installed|all|active|inactive", HIGH, "package.remove", "removes all packages"
        ),
        Subcommand("uninstall|deactivate|install|upgrade|selfupdate", MODERATE, "package.change", "changes packages"),
    ],
)
