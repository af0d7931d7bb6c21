"""Settings of macOS: preferences, firmware, power, what boots."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.harm import empty, overwrite
from evalward.safety.model import HIGH, MODERATE, SAFE
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.words import Word

_DOWN = "stops or restarts the machine"
_OFF = "switches protection off"
_BOOT = "changes how the machine boots"

_SETTINGS = "changes settings of the machine"

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


_PREFERENCES = re.compile(r"(?:~|/Users/[^/]+)/Library/Preferences/.+")
_EDITS = ("set", "add", "delete", "copy", "merge", "import", "revert")


@rule("plistbuddy")
def property_list(call: ProgramCall) -> Iterator[Answer]:
    """Commands after ``-c``, or on the input; ``Print`` only reads."""
    options = call.options("c: x h")
    typed = call.stdin.content.text.splitlines() if call.stdin is not None and call.stdin.content is not None else []
    commands = [word.text for word in options.all_values("c")] or typed
    verbs = {command.split()[0].lower() for command in commands if command.strip()}
    if "clear" in verbs:
        yield from empty(call, options.operands)
    elif verbs.intersection(_EDITS):
        yield from _edited(call, options.operands)


@rule("plutil")
def property_list_tool(call: ProgramCall) -> Iterator[Answer]:
    """``plutil`` edits the file that stands last, or writes to the one after ``-o``."""
    options = call.options("convert: replace: insert: remove: extract: create: o: e: p lint type")
    if options.has("o"):
        yield from overwrite(call, options.all_values("o"))
    elif options.has("convert", "replace", "insert", "remove"):
        yield from _edited(call, options.operands[-1:])


def _edited(call: ProgramCall, files: tuple[Word, ...]) -> Iterator[Answer]:
    """Settings of programs are as ``defaults write`` has them; elsewhere it matters what is written over."""
    yield from overwrite(call, files)
    for _, target in call.places(files):
        if _PREFERENCES.fullmatch(target.path):
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


table(
    "bless",
    "mount: device: folder: file: server: label:",
    [
        Subcommand("", SAFE, "", "", needs="info getBoot", unless="setBoot netboot unbless"),
        Subcommand("", HIGH, "kernel.boot", _BOOT, needs="setBoot netboot nextonly folder unbless"),
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

table(
    "hidutil", "set: get: m/matching:", [Subcommand("property", MODERATE, "machine.settings", _SETTINGS, needs="set")]
)
table("mdutil", "i:", [Subcommand("", MODERATE, "machine.settings", _SETTINGS, needs="i E X d")])
