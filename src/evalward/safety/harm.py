"""How bad it is to destroy, empty, overwrite or move something, by the place where it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from evalward.safety.call import ProgramCall
from evalward.safety.model import CRITICAL, HIGH, MODERATE, SAFE, RiskLevel, SafetyFinding
from evalward.safety.targets import PathTarget, PlaceKind, is_disposable
from evalward.safety.words import Word

_DESTROY: dict[PlaceKind, tuple[RiskLevel, RiskLevel]] = {
    PlaceKind.ROOT: (CRITICAL, CRITICAL),
    PlaceKind.HOME: (CRITICAL, HIGH),
    PlaceKind.HERE: (CRITICAL, HIGH),
    PlaceKind.PARENT: (CRITICAL, HIGH),
    PlaceKind.SYSTEM: (CRITICAL, HIGH),
    PlaceKind.DISK: (CRITICAL, CRITICAL),
    PlaceKind.KERNEL: (HIGH, HIGH),
    PlaceKind.SINK: (HIGH, HIGH),
    PlaceKind.UNKNOWN: (HIGH, HIGH),
    PlaceKind.LOG: (HIGH, HIGH),
    PlaceKind.HISTORY: (HIGH, HIGH),
    PlaceKind.PRIVATE: (HIGH, HIGH),
    PlaceKind.STARTUP: (HIGH, HIGH),
    PlaceKind.PERSONAL: (HIGH, MODERATE),
    PlaceKind.REPOSITORY: (HIGH, HIGH),
    PlaceKind.TOP: (HIGH, MODERATE),
    PlaceKind.ELSEWHERE: (HIGH, MODERATE),
    PlaceKind.LOCAL: (HIGH, MODERATE),
    PlaceKind.CACHE: (MODERATE, SAFE),
}
"""Level of deleting a folder with all in it, and of deleting single files. Elsewhere: ``_ordinary_loss``."""

_OVERWRITE: dict[PlaceKind, tuple[RiskLevel, RiskLevel]] = {
    PlaceKind.ROOT: (HIGH, HIGH),
    PlaceKind.SYSTEM: (HIGH, HIGH),
    PlaceKind.KERNEL: (HIGH, HIGH),
    PlaceKind.DISK: (CRITICAL, CRITICAL),
    PlaceKind.LOG: (HIGH, MODERATE),
    PlaceKind.HISTORY: (HIGH, MODERATE),
    PlaceKind.PRIVATE: (HIGH, MODERATE),
    PlaceKind.STARTUP: (HIGH, MODERATE),
    PlaceKind.AUTOSTART: (HIGH, HIGH),
    PlaceKind.REPOSITORY: (MODERATE, MODERATE),
    PlaceKind.TOP: (MODERATE, MODERATE),
    PlaceKind.LOCAL: (MODERATE, MODERATE),
    PlaceKind.NETWORK: (MODERATE, MODERATE),
    PlaceKind.UNKNOWN: (MODERATE, MODERATE),
}
"""Level of replacing a file, and of appending to one. Elsewhere: safe."""

_MOVE: dict[PlaceKind, RiskLevel] = {
    PlaceKind.ROOT: CRITICAL,
    PlaceKind.HOME: CRITICAL,
    PlaceKind.SYSTEM: HIGH,
    PlaceKind.DISK: HIGH,
    PlaceKind.LOG: HIGH,
    PlaceKind.HISTORY: HIGH,
    PlaceKind.PARENT: HIGH,
    PlaceKind.UNKNOWN: MODERATE,
    PlaceKind.HERE: MODERATE,
    PlaceKind.TOP: MODERATE,
    PlaceKind.LOCAL: MODERATE,
}

_DOCUMENT = re.compile(
    r"\.(?:txt|md|rst|pdf|docx?|xlsx?|pptx?|od[tsp]|csv|tex|jpe?g|png|mp[34]|mov|zip|sql|db|sqlite3?|key|pem)\Z",
    re.IGNORECASE,
)
_PRECIOUS = re.compile(
    r"important|critical|prod|backup|database|customer|account|secret|passw"
    r"|\.(?:db|sqlite3?|sql|docx?|xlsx?|pdf|od[tsp]|kdbx|key|pem|mdb|dump|bak|py|js|ts|go|rs|c|cpp|java|rb|php|sh)\Z",
    re.IGNORECASE,
)
"""Names of files that somebody will miss when they are emptied."""
_ALWAYS_CRITICAL = re.compile(r"/etc/(?:passwd|shadow|sudoers(?:/.*|\.d/.*)?|fstab|ld\.so\.preload)|.*/sysrq-trigger")
ADMINISTERED = frozenset({"/usr/local", "/opt", "/srv", "/var/www", "/mnt", "/media", "/var/lib/docker"})
"""Folders of the system that administrators fill with their own."""
_OPEN_FOLDERS = frozenset({"/tmp", "/var/tmp", "/dev/shm", "/private/tmp"})
"""Everybody may put files there."""
_BACK_DOOR = re.compile(
    r"(?:.*/)?\.ssh/(?:authorized_keys2?|rc)|.*/cron(?:\.\w+|tabs?)?/.*"
    r"|.*/(?:Library/LaunchAgents|\.config/(?:autostart|systemd/user))/.*"
)
"""Files that let somebody in or start a program later, also where a part of the name is not known."""

_NAMES: dict[PlaceKind, str] = {
    PlaceKind.ROOT: "the root of the file system",
    PlaceKind.HOME: "a home folder",
    PlaceKind.HERE: "the whole current folder",
    PlaceKind.PARENT: "a folder above the current one",
    PlaceKind.SYSTEM: "a system folder",
    PlaceKind.DISK: "a disk or memory device",
    PlaceKind.KERNEL: "a live kernel setting",
    PlaceKind.SINK: "a device",
    PlaceKind.UNKNOWN: "something that is not known before it runs",
    PlaceKind.LOG: "a system log",
    PlaceKind.HISTORY: "a command history",
    PlaceKind.PRIVATE: "keys or private settings",
    PlaceKind.STARTUP: "a startup file of the shell",
    PlaceKind.AUTOSTART: "what starts at login",
    PlaceKind.PERSONAL: "personal files",
    PlaceKind.REPOSITORY: "a repository's history",
    PlaceKind.TOP: "a folder directly below the root",
    PlaceKind.ELSEWHERE: "data outside the home folder",
    PlaceKind.LOCAL: "locally installed software",
    PlaceKind.NETWORK: "a network connection",
}


def describe(target: PathTarget) -> str:
    """Return a target in words for a message."""
    name = _NAMES.get(target.place)
    what = f"everything in {target.path}" if target.everything else target.path
    return f"{what} ({name})" if name else what


_COLLECTIONS = (PlaceKind.PERSONAL, PlaceKind.LOCAL, PlaceKind.TOP, PlaceKind.ELSEWHERE)
"""Places where all files together are as bad to lose as the folder."""


def destroy_level(target: PathTarget, recursive: bool) -> RiskLevel:
    """Return how bad it is to delete ``target``."""
    levels = _DESTROY.get(target.place)
    if levels is None:
        return _ordinary_loss(target, recursive)
    deep = recursive or (target.everything and target.place in _COLLECTIONS)
    return levels[0] if deep else levels[1]


def _ordinary_loss(target: PathTarget, recursive: bool) -> RiskLevel:
    if target.everything or any(char in target.path for char in "*?["):
        return MODERATE
    far = recursive and target.place is not PlaceKind.TEMP and target.path[:1] in ("/", "~", ".")
    return MODERATE if far or _DOCUMENT.search(target.path) else SAFE


def destroy(call: ProgramCall, words: Iterable[Word], recursive: bool, asks: bool = False) -> Iterator[SafetyFinding]:
    """Judge the deletion of ``words``. ``asks``: the program asks before each file."""
    for _, target in call.places(words):
        level = destroy_level(target, recursive)
        if asks and target.place in (PlaceKind.HERE, PlaceKind.UNKNOWN, PlaceKind.ORDINARY):
            level = min(level, MODERATE)
        if call.privileged:
            level = max(level, HIGH)
        if level > SAFE:
            name = f"deletion.{target.place.name.lower()}"
            yield call.find(name, level, f"deletes {describe(target)}")


def put_into_trash(call: ProgramCall, words: Iterable[Word]) -> Iterator[SafetyFinding]:
    """Judge moving ``words`` to the trash: like deleting them, but what can be got back weighs less."""
    for found in destroy(call, words, recursive=True):
        level = RiskLevel(found.level - 1)
        if level > SAFE:
            yield replace(found, level=level, message=found.message.replace("deletes", "moves to the trash:", 1))


def wipe(call: ProgramCall, words: Iterable[Word]) -> Iterator[SafetyFinding]:
    """Judge overwriting so that nothing can be recovered."""
    for _, target in call.places(words):
        least = MODERATE if is_disposable(target) else HIGH
        level = CRITICAL if target.place is PlaceKind.DISK else max(least, destroy_level(target, False))
        yield call.find("deletion.wipe", level, f"destroys {describe(target)} beyond recovery")


def overwrite_level(target: PathTarget, append: bool) -> RiskLevel:
    """Return how bad it is to write to ``target``."""
    if _ALWAYS_CRITICAL.fullmatch(target.path):
        return CRITICAL
    if _BACK_DOOR.fullmatch(target.path):
        return HIGH
    if target.path in _OPEN_FOLDERS:
        return SAFE
    if target.path in ADMINISTERED:
        return MODERATE
    if target.place is PlaceKind.PRIVATE and target.name.endswith((".pub", "known_hosts")):
        return MODERATE
    levels = _OVERWRITE.get(target.place)
    return SAFE if levels is None else levels[1] if append else levels[0]


def overwrite(call: ProgramCall, words: Iterable[Word], append: bool = False) -> Iterator[SafetyFinding]:
    """Judge writing to ``words``."""
    for _, target in call.places(words):
        level = overwrite_level(target, append)
        if level > SAFE:
            name = f"write.{target.place.name.lower()}"
            yield call.find(name, level, f"{'appends to' if append else 'writes to'} {describe(target)}")


def empty(call: ProgramCall, words: Iterable[Word]) -> Iterator[SafetyFinding]:
    """Judge cutting files to nothing."""
    for _, target in call.places(words):
        if target.place in (PlaceKind.SINK, PlaceKind.TEMP, PlaceKind.CACHE):
            continue
        level = max(MODERATE, overwrite_level(target, False))
        if target.place in (PlaceKind.UNKNOWN, PlaceKind.HERE) or _PRECIOUS.search(target.name):
            level = HIGH
        yield call.find("deletion.empty", level, f"empties {describe(target)}")


def move_away(call: ProgramCall, words: Iterable[Word]) -> Iterator[SafetyFinding]:
    """Judge moving ``words`` from where they are."""
    for _, target in call.places(words):
        level = _MOVE.get(target.place, SAFE)
        if level > SAFE:
            yield call.find("move.away", level, f"moves {describe(target)} away")
