"""Where real programs run: a fresh copy of a fixture, and walls around it as high as the machine allows."""

from __future__ import annotations

from evalward.sandbox.process.isolation import Isolation, refusal
from evalward.sandbox.process.probe import available
from evalward.sandbox.process.running import Finished
from evalward.sandbox.process.settings import Limits, Network, Settings
from evalward.sandbox.process.shell import ProcessShell
from evalward.sandbox.process.workspace import Workspace

__all__ = [
    "Finished",
    "Isolation",
    "Limits",
    "Network",
    "ProcessShell",
    "Settings",
    "Workspace",
    "available",
    "refusal",
]
