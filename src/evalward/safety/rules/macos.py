"""What only macOS has: its disk tool, its protections, its accounts, its backups, its schedules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.harm import describe
from evalward.safety.model import CRITICAL, HIGH, MODERATE, SAFE
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.targets import PathTarget, PlaceKind

_WIDE = (PlaceKind.ROOT, PlaceKind.HOME, PlaceKind.PARENT, PlaceKind.PERSONAL, PlaceKind.TOP, PlaceKind.UNKNOWN)
_BOOT = "changes how the machine boots"
_DOWN = "stops or restarts the machine"
_OFF = "switches protection off"
_SETTINGS = "changes settings of the machine"


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


_PROTECTIONS = {
    "com.apple.alf": ("globalstate",),
    "com.apple.launchservices": ("lsquarantine",),
    "com.apple.screensaver": ("askforpassword",),
    "com.apple.security": ("gkautorearm",),
    "com.apple.softwareupdate": (
        "automaticcheckenabled",
        "automaticdownload",
        "automaticallyinstallmacosupdates",
        "configdatainstall",
        "criticalupdateinstall",
    ),
}
"""Settings that protect as long as they are on."""
_LOGIN = ("autologinuser", "loginhook", "logouthook")


@rule("defaults")
def preferences(call: ProgramCall) -> Iterator[Answer]:
    """``defaults write DOMAIN KEY VALUE`` and ``defaults delete DOMAIN [KEY]``; some settings are protections."""
    words = [word for word in call.args if word.text not in ("-currentHost", "-app")]
    texts = [word.text for word in words]
    if texts[:1] in (["delete"], ["remove"]) and len(texts) > 1:
        everything = len(texts) == 2 and (texts[1] in ("-g", "-globalDomain", "NSGlobalDomain") or words[1].opaque)
        yield call.find("machine.settings", HIGH if everything else MODERATE, "deletes settings")
    elif texts[:1] == ["write"] and len(texts) > 3:
        domain = texts[1].rpartition("/")[2].lower().removesuffix(".plist")
        key, off = texts[2].lower(), texts[-1].lower() in ("0", "false", "no")
        if key in _PROTECTIONS.get(domain, ()) and off:
            yield call.find("protection.off", HIGH, _OFF)
        elif domain == "com.apple.loginwindow" and key in _LOGIN:
            yield call.find("privilege.login", HIGH, "changes who is logged in, or what runs then")
        else:
            yield call.find("machine.settings", MODERATE, "changes settings")


_NVRAM_HARMLESS = re.compile(r"(?:SystemAudioVolume\w*|StartupMute|BootAudio|prev-lang:kbd)=", re.IGNORECASE)


@rule("nvram")
def firmware_variables(call: ProgramCall) -> Iterator[Answer]:
    """Reading, and setting the volume of the chime, are harmless; other variables decide what boots."""
    options = call.options("d: f: p x c h")
    sets = [word.text for word in options.operands if "=" in word.text]
    if options.has("c", "d", "f") or any(not _NVRAM_HARMLESS.match(text) for text in sets):
        yield call.find("kernel.boot", HIGH, _BOOT)
    elif sets:
        yield call.find("machine.settings", MODERATE, _SETTINGS)


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
    elif verb == "addexclusion":
        for _, target in call.places(options.operands[1:] or options.all_values("p")):
            wide = is_wide(target) or target.place is PlaceKind.SYSTEM
            message = f"keeps {describe(target)} out of backups"
            yield call.find("deletion.backup", HIGH if wide else MODERATE, message)


@rule("scutil")
def system_configuration(call: ProgramCall) -> Iterator[Answer]:
    """What is read on the input can take the network's configuration away."""
    script = call.stdin.content.text if call.stdin is not None and call.stdin.content is not None else ""
    if re.search(r"^\s*(?:remove|set)\s+(?:State|Setup):", script, re.MULTILINE):
        yield call.find("network.down", HIGH, "cuts the machine off the network")
    elif call.options("").has("set"):
        yield call.find("machine.settings", MODERATE, _SETTINGS)


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
table("log", "", [Subcommand("erase", HIGH, "history.log", "clears the system log")])
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
    "bless",
    "mount: device: folder: file: server: label:",
    [
        Subcommand("", SAFE, "", "", needs="info getBoot", unless="setBoot netboot"),
        Subcommand("", HIGH, "kernel.boot", _BOOT, needs="setBoot netboot nextonly folder"),
        Subcommand("", MODERATE, "kernel.boot", _BOOT, needs="mount device"),
    ],
)
table(
    "pmset",
    "",
    [
        Subcommand("", SAFE, "", "", needs="g"),
        Subcommand("schedule|repeat|relative shutdown|restart|sleep|poweroff", HIGH, "machine.down", _DOWN),
        Subcommand("sleepnow", HIGH, "machine.down", "suspends the machine"),
        Subcommand("*", MODERATE, "machine.settings", _SETTINGS),
    ],
)
_REMOTE = "opens or cuts remote access"
table(
    "systemsetup",
    "setremotelogin setremoteappleevents setstartupdisk",
    [
        Subcommand("on|off", HIGH, "remote.access", _REMOTE, needs="setremotelogin"),
        Subcommand("on", HIGH, "remote.access", _REMOTE, needs="setremoteappleevents"),
        Subcommand("*", HIGH, "kernel.boot", _BOOT, needs="setstartupdisk"),
        Subcommand("*", MODERATE, "machine.settings", _SETTINGS),
    ],
)
table(
    "kickstart",
    "users: privs access",
    [
        Subcommand("", HIGH, "remote.access", _REMOTE, needs="activate access privs"),
        Subcommand("", MODERATE, "remote.access", _REMOTE),
    ],
)
table(
    "networksetup",
    "setairportpower setnetworkserviceenabled removenetworkservice removeallpreferredwirelessnetworks",
    [
        Subcommand(
            "* off", HIGH, "network.down", "cuts the machine off", needs="setairportpower setnetworkserviceenabled"
        ),
        Subcommand(
            "*",
            HIGH,
            "network.down",
            "forgets networks",
            needs="removenetworkservice removeallpreferredwirelessnetworks",
        ),
    ],
)
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
table("mdutil", "i:", [Subcommand("", MODERATE, "machine.settings", _SETTINGS, needs="i E X d")])
