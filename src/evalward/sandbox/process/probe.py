"""What this machine lets us do, found out by doing it."""

from __future__ import annotations

import errno
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

from evalward.sandbox.base import SandboxError
from evalward.sandbox.launcher import bubblewrap, landlock, seccomp
from evalward.sandbox.launcher.plan import SandboxPlan
from evalward.sandbox.process.client import PATIENCE_S, LauncherClient, LauncherSocket, SandboxRefusedError
from evalward.sandbox.process.isolation import Isolation
from evalward.sandbox.process.launching import can_change_users
from evalward.sandbox.process.settings import Network
from evalward.sandbox.process.sockets import open_sockets
from evalward.sandbox.process.temporary import new_folder, remove_ours
from evalward.sandbox.process.users import take_user

ATTEMPTS = 3
_PASSING = {errno.EAGAIN, errno.ENOMEM, errno.EINTR, errno.EBUSY, errno.EMFILE, errno.ENFILE}
_PERHAPS_PASSING = {errno.ENOSPC, errno.EUSERS}  # too many namespaces just now, or none allowed at all

_Built = TypeVar("_Built")
Build = Callable[["Layers", float, list[LauncherSocket]], _Built]
"""Builds something behind these walls, with this patience in seconds, by a launcher that waits if there is one."""


@dataclass(frozen=True)
class Layers:
    """The walls that can be built here, each one tried. `note`: what was tried before, and why it wasn't to be."""

    own_user: bool = False
    namespaces: bool = False
    network: bool = False
    landlock: bool = False
    filtered: bool = False
    bubblewrap: str | None = None
    note: str = ""

    def isolation(self, network: Network) -> Isolation:
        """What holds for a workspace that asks for this network."""
        return Isolation(
            user=self.own_user,
            processes=self.namespaces or self.own_user,
            files=self.namespaces or self.landlock,
            network=network if self.network else "open",
            how=", ".join(self._means(network)),
            sockets=() if self.namespaces else open_sockets(own_user=self.own_user),
            note=self.note,
        )

    def _means(self, network: Network) -> Iterator[str]:
        means = [
            ("own user", self.own_user),
            ("own process and mount namespace", self.namespaces),
            ("built by bubblewrap", self.bubblewrap is not None),
            ("Landlock", self.landlock),
            ("own network namespace", self.network and network != "open"),
            ("filtered system calls", self.filtered),
        ]
        return (name for name, holds in means if holds)

    def applied(self, plan: SandboxPlan, user: int | None) -> SandboxPlan:
        """The plan with these walls."""
        return plan._replace(
            user=user,
            namespaces=self.namespaces,
            network=self.network,
            landlock=self.landlock,
            filtered=self.filtered,
            bubblewrap=self.bubblewrap,
        )


def available() -> Isolation:
    """The most that this machine offers; tried once. Raises `SandboxError` when that can't be said."""
    return layers().isolation("none")


@cache
def layers() -> Layers:
    """The first of the combinations, from strong to weak, that works. Raises `SandboxError`: it never guesses."""
    found, _ = strongest(_try)
    return found


def strongest(build: Build[_Built]) -> tuple[Layers, _Built]:
    """The strongest walls with which something can be built, and what was built.

    What the machine refuses is told in `note`. An attempt that failed for any other reason says nothing about the
    machine: it is repeated with more patience. Raises `SandboxError` when that doesn't help.
    """
    refused: list[str] = []
    with _spares() as spares:
        for layers in (*candidates(), Layers()):
            try:
                built = attempt(build, layers, spares)
            except SandboxRefusedError as error:
                refused.append(f"no {', '.join(layers._means('none')) or 'launcher'}: {error}")
                continue
            return replace(layers, note="; ".join(refused[:1])), built
    raise SandboxError(f"no sandbox can be built here at all: {refused[-1]}")


@contextmanager
def _spares() -> Iterator[list[LauncherSocket]]:
    """Launchers that refused and wait; those that are left are ended."""
    spares: list[LauncherSocket] = []
    try:
        yield spares
    finally:
        for launcher in spares:
            launcher.close()


def attempt(build: Build[_Built], layers: Layers, spares: list[LauncherSocket]) -> _Built:
    """Build, and again where a failure may pass. Raises `SandboxRefusedError` when the machine doesn't allow it."""
    for number in range(ATTEMPTS):
        last = number == ATTEMPTS - 1
        try:
            return build(layers, PATIENCE_S * (number + 1), spares)
        except SandboxRefusedError as error:
            if last and error.number in _PASSING:
                raise SandboxError(
                    f"{error}, {ATTEMPTS} times: this machine is too busy to say what it offers"
                ) from error
            if last or error.number not in _PASSING | _PERHAPS_PASSING:
                raise
        except SandboxError as error:
            if last:
                raise SandboxError(f"{error}, {ATTEMPTS} times: what this machine offers can't be said") from error
    raise AssertionError("unreachable")


def candidates() -> Iterator[Layers]:
    """From strong to weak."""
    if sys.platform != "linux":
        yield from [Layers(own_user=True)] if can_change_users() else []
        return
    version, filtered = landlock.version(), seccomp.available()
    for own_user in [True, False] if can_change_users() else [False]:
        inner = version >= landlock.SCOPED  # with namespaces, for what they leave open
        strongest_walls = Layers(own_user, namespaces=True, network=True, landlock=inner, filtered=filtered)
        wrapper = None if can_change_users() else bubblewrap.installed()  # behind it nobody becomes another user
        if wrapper is not None:
            yield replace(strongest_walls, bubblewrap=wrapper)
        yield strongest_walls
        yield Layers(own_user, namespaces=True, landlock=inner, filtered=filtered)
        if version > 0:
            yield Layers(own_user, landlock=True, filtered=filtered)
        if own_user:
            yield Layers(own_user, filtered=filtered)
    if filtered:
        yield Layers(filtered=True)


def works(layers: Layers) -> bool:
    """Can such a sandbox be built? Raises `SandboxError` when that can't be said."""
    with _spares() as spares:
        try:
            attempt(_try, layers, spares)
        except SandboxRefusedError:
            return False
    return True


def _try(layers: Layers, patience_s: float, spares: list[LauncherSocket]) -> None:
    with yard(layers) as plan:
        LauncherClient(plan, patience_s, spares).close()


@contextmanager
def yard(layers: Layers) -> Iterator[SandboxPlan]:
    """A plan with these walls and nothing in them, with a folder and a user id that are given back afterwards."""
    user = take_user() if layers.own_user else None
    if layers.own_user and user is None:
        raise SandboxError("no user id is free for a workspace")
    try:
        folder = new_folder("probe")
        try:
            yield layers.applied(SandboxPlan(str(folder), [], str(folder)), None if user is None else user.number)
        finally:
            remove_ours(folder)
    except OSError as error:
        raise SandboxError(f"a sandbox could not be tried in {tempfile.gettempdir()}: {error}") from error
    finally:
        if user is not None:
            user.release()
