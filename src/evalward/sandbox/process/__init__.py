"""Where real programs run: a fresh copy of a fixture, and walls around it as high as the machine allows.

Each name costs only whoever uses it: claiming a user id, the first thing that a command does, must not load all of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalward.sandbox.process.isolation import Isolation, refusal
    from evalward.sandbox.process.probe import available
    from evalward.sandbox.process.running import Finished
    from evalward.sandbox.process.settings import Network, SandboxLimits, WorkspaceSettings
    from evalward.sandbox.process.shell import ProcessShell
    from evalward.sandbox.process.workspace import Workspace

__all__ = [
    "Finished",
    "Isolation",
    "Network",
    "ProcessShell",
    "SandboxLimits",
    "Workspace",
    "WorkspaceSettings",
    "available",
    "refusal",
]

_HOMES = {
    "Finished": "running",
    "Isolation": "isolation",
    "SandboxLimits": "settings",
    "Network": "settings",
    "ProcessShell": "shell",
    "WorkspaceSettings": "settings",
    "Workspace": "workspace",
    "available": "probe",
    "refusal": "isolation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
