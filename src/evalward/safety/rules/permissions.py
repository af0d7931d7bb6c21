"""Modes, owners, attributes and access lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.harm import ADMINISTERED, describe
from evalward.safety.model import CRITICAL, HIGH, MODERATE, RiskLevel
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.rules.files import is_setuid
from evalward.safety.sensitive import is_secret
from evalward.safety.targets import PathTarget, PlaceKind

_WORLD = re.compile(r"0*[0-7]?[0-7][0-7][2367]\Z|(?:[ugo]*[ao][ugoa]*)?[+=][rxXst]*w[rwxXst]*\Z")
_EXECUTE_ONLY = re.compile(r"[ugoa]*\+[xX]\Z")
_FAR = (PlaceKind.ROOT, PlaceKind.HOME, PlaceKind.SYSTEM, PlaceKind.DISK, PlaceKind.KERNEL, PlaceKind.PARENT)


def opens_to_world(mode: str) -> bool:
    """Say whether a mode lets everybody write."""
    return any(_WORLD.match(part) and not part.startswith(("u+", "g+", "u=", "g=", "ug+")) for part in mode.split(","))


@rule("chmod gchmod")
def chmod(call: ProgramCall) -> Iterator[Answer]:
    """Judge a mode by what it allows, where, and how deep it goes."""
    args = list(call.args)
    minus = next((word for word in args if re.match(r"-[rwxXst]+\Z", word.text) and word.text != "-R"), None)
    if minus is not None:  # chmod -x file: a mode that looks like an option
        args.remove(minus)
    options = call.with_args(tuple(args)).options("R/recursive reference: c f v")
    mode = minus or (options.operands[0] if options.operands and not options.has("reference") else None)
    files = options.operands if minus is not None or options.has("reference") else options.operands[1:]
    text = mode.text if mode is not None else ""
    if is_setuid(text):
        yield call.find("privilege.setuid", HIGH, "lets a program run as its owner")
    for _, target in call.places(files):
        level = _mode_level(target, options.has("R"), text)
        yield call.find("permission.mode", level, f"changes the mode of {describe(target)}")


def _mode_level(target: PathTarget, recursive: bool, mode: str) -> RiskLevel:
    vital = target.place in _FAR
    if target.place is PlaceKind.ROOT and recursive:
        return CRITICAL
    if opens_to_world(mode):
        sensitive = (
            vital
            or is_secret(target)
            or target.place in (PlaceKind.PRIVATE, PlaceKind.LOCAL, PlaceKind.LOG, PlaceKind.TOP)
        )
        wide = recursive and target.place is not PlaceKind.TEMP
        return HIGH if sensitive or wide else MODERATE
    if vital and (recursive or target.place in (PlaceKind.ROOT, PlaceKind.DISK)):
        return HIGH
    if target.place is PlaceKind.SYSTEM and not _EXECUTE_ONLY.match(mode):
        return HIGH
    return HIGH if recursive and mode.strip("0") == "" and mode else MODERATE


@rule("chown chgrp gchown")
def chown(call: ProgramCall) -> Iterator[Answer]:
    """Changing owners deep in the system breaks it."""
    options = call.options("R/recursive from: reference: h c f v H L P")
    files = options.operands if options.has("reference") else options.operands[1:]
    for _, target in call.places(files):
        own = target.place in (PlaceKind.HOME, PlaceKind.PARENT) or target.path in ADMINISTERED
        is_far = target.place in _FAR and not own
        level = CRITICAL if target.place is PlaceKind.ROOT and options.has("R") else HIGH if is_far else MODERATE
        yield call.find("permission.owner", level, f"changes the owner of {describe(target)}")


@rule("setfacl chattr")
def access_list(call: ProgramCall) -> Iterator[Answer]:
    """Access lists and immutable flags."""
    options = call.options("m/modify: x/remove: M: X: R/recursive b k d n v: p: restore:")
    operands = [word for word in options.operands if not word.text.startswith(("+", "="))]
    for _, target in call.places(operands):
        level = HIGH if target.place in _FAR and target.place is not PlaceKind.HOME else MODERATE
        yield call.find("permission.access", level, f"changes the access to {describe(target)}")


@rule("umask")
def umask(call: ProgramCall) -> Iterator[Answer]:
    """A mask of zero lets everybody write what is created from now on."""
    if call.args and call.args[0].text.strip("0") == "":
        yield call.find("permission.mask", MODERATE, "makes new files writable for everybody")


table("setcap", "", [Subcommand("*", HIGH, "privilege.capability", "gives a program powers of root")])
