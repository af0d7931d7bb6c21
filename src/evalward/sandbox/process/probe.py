"""What this machine lets us do, found out by doing it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from evalward.sandbox.base import SandboxError
from evalward.sandbox.launcher import kernel
from evalward.sandbox.launcher.plan import Plan
from evalward.sandbox.process.client import LauncherClient
from evalward.sandbox.process.isolation import Isolation
from evalward.sandbox.process.settings import Network
from evalward.sandbox.process.users import FIRST


@dataclass(frozen=True)
class Layers:
    """The walls that can be built here, each one tried."""

    own_user: bool = False
    namespaces: bool = False
    network: bool = False
    landlock: bool = False

    def isolation(self, wanted: Network) -> Isolation:
        """What holds for a workspace that asks for this network."""
        means = [
            ("own user", self.own_user),
            ("own process and mount namespace", self.namespaces),
            ("Landlock", self.landlock),
            ("own network namespace", self.network and wanted != "open"),
        ]
        return Isolation(
            user=self.own_user,
            processes=self.namespaces or self.own_user,
            files=self.namespaces or self.landlock,
            network=wanted if self.network else "open",
            how=", ".join(name for name, holds in means if holds),
        )


def available() -> Isolation:
    """The most that this machine offers; tried once."""
    return layers().isolation("none")


@cache
def layers() -> Layers:
    """The first of the combinations, from strong to weak, that works."""
    return next((found for found in candidates() if works(found)), Layers())


def candidates() -> Iterator[Layers]:
    """From strong to weak. Landlock is for where there is no mount namespace."""
    landlock = sys.platform == "linux" and kernel.landlock_version() > 0
    for own_user in [True, False] if os.geteuid() == 0 else [False]:
        if sys.platform == "linux":
            yield Layers(own_user, namespaces=True, network=True)
            yield Layers(own_user, namespaces=True)
        if landlock:
            yield Layers(own_user, landlock=True)
        if own_user:
            yield Layers(own_user)


def works(wanted: Layers) -> bool:
    """Can such a sandbox be built?"""
    folder = Path(tempfile.mkdtemp(prefix="evalward-probe-")).resolve()
    try:
        plan = Plan(str(folder), [], str(folder))
        plan = replace(
            plan,
            user=FIRST if wanted.own_user else None,
            namespaces=wanted.namespaces,
            network=wanted.network,
            landlock=wanted.landlock,
        )
        LauncherClient(plan).close()
    except SandboxError:
        return False
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return True
