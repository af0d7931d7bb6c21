"""What keeps the programs that models and pull requests start from the rest of this machine, and what is lacking."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalward.records.checkup import CheckupItem, CheckupStatus
from evalward.sandbox.base import SandboxError
from evalward.sandbox.launcher import bubblewrap, cgroups, landlock
from evalward.sandbox.process.isolation import Isolation
from evalward.sandbox.process.probe import Layers, layers

NO_NAMESPACES = {
    "/proc/sys/user/max_user_namespaces": ("0", "user.max_user_namespaces is 0"),
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone is 0"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "kernel.apparmor_restrict_unprivileged_userns is 1",
    ),
}
"""Settings that forbid user namespaces to ordinary users: the value that does, and the words for it."""
_MEMORY, _PROCESSES = 1 << 30, 64  # limits that no group refuses
_PAGE = "See docs/isolation.md."


@dataclass(frozen=True)
class FoundWalls:
    """The walls that were built for a try; `failed` says why that can't be said. `grouped`: a control group, too."""

    layers: Layers | None
    grouped: bool = False
    failed: str = ""

    @property
    def isolation(self) -> Isolation | None:
        """What holds with all of them, `None` where it is not known."""
        return self.layers.isolation("none") if self.layers else None


def found_walls() -> FoundWalls:
    """Build the strongest walls that can be built, and take them down again."""
    try:
        found = layers()
    except SandboxError as error:
        return FoundWalls(None, failed=str(error))
    return FoundWalls(found, grouped=sys.platform == "linux" and _can_group())


def _can_group() -> bool:
    group = cgroups.make(_MEMORY, _PROCESSES)
    if group is not None:
        group.remove()
    return group is not None


def wall_items(found: FoundWalls) -> Iterator[CheckupItem]:
    """The level first, then each wall with why it is lacking."""
    isolation = found.isolation
    if found.layers is None or isolation is None:
        yield _item("level", "warning", f"not known: {found.failed}", "Run it again when the machine is less busy.")
        return
    full = isolation.level == "full"
    remedy = "" if full else f"A GitHub workflow refuses to start programs of models with less than full. {_PAGE}"
    yield _item("level", "ok" if full else "warning", isolation.words(), remedy)
    yield from _each_wall(found.layers, found.grouped, lacking="note" if full else "warning")
    if isolation.sockets:
        what = f"open to the programs, and with them this machine: {', '.join(isolation.sockets)}"
        yield _item("sockets", "warning", what, "Run where no container engine listens.")


def _each_wall(here: Layers, grouped: bool, lacking: CheckupStatus) -> Iterator[CheckupItem]:
    if here.own_user:
        yield _item("own user", "ok", "each trial has a user id of its own")
    else:
        yield _item(
            "own user",
            "note",
            "no: only root can give one to a trial",
            "Run it with sudo, or in the action's container.",
        )
    if here.namespaces:
        yield _item("namespaces", "ok", "own processes and files")
    else:
        why = _why_no_namespaces() or here.note.partition(": ")[2] or "this system has none"
        remedy = "Allow user namespaces, install bubblewrap (bwrap) as root, or use sudo."
        yield _item("namespaces", lacking, f"none: {why}", remedy)
    if here.network:
        yield _item("network namespace", "ok", "`network: none` can be enforced")
    else:
        yield _item(
            "network namespace", "warning", "none, so `network: none` can't be enforced: programs reach the network"
        )
    yield _landlock(here, lacking)
    if here.filtered:
        yield _item("system call filter", "ok", "seccomp")
    else:
        yield _item("system call filter", lacking, "none: it needs Linux with seccomp, on x86-64 or ARM64")
    yield _bubblewrap(here)
    if grouped:
        yield _item("control group", "ok", "counts memory and processes of each trial")
    else:
        what = "none that we may change: limits are watched from outside, four times a second"
        yield _item("control group", "note", what)


def _landlock(here: Layers, lacking: CheckupStatus) -> CheckupItem:
    number = landlock.version() if sys.platform == "linux" else 0
    if here.landlock:
        return _item("Landlock", "ok", f"version {number}")
    if number:
        return _item("Landlock", "note", f"version {number}, not used: the namespaces do the same")
    return _item("Landlock", lacking, "none: it needs Linux 5.13, and landlock among the kernel's lsm=")


def _bubblewrap(here: Layers) -> CheckupItem:
    place = bubblewrap.installed()
    if here.bubblewrap:
        return _item("bubblewrap", "ok", here.bubblewrap)
    if place is None:
        return _item("bubblewrap", "note", f"not installed (optional): not at {', '.join(bubblewrap.PLACES)}")
    why = "not needed: root builds the namespaces itself" if here.own_user else "can't build namespaces here either"
    return _item("bubblewrap", "note", f"{place}, {why}")


def _why_no_namespaces() -> str:
    """The system's setting that forbids them, where it is one of the known ones."""
    return "; ".join(words for place, (value, words) in NO_NAMESPACES.items() if _setting(place) == value)


def _setting(place: str) -> str:
    try:
        return Path(place).read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def _item(name: str, status: CheckupStatus, text: str, remedy: str = "") -> CheckupItem:
    return CheckupItem(group="isolation", name=name, status=status, text=text, remedy=remedy)
