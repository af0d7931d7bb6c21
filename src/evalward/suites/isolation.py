"""Programs of a suite's cases behind walls: for any kind whose suites are an `IsolatedSuite`.

A kind makes one `Workspace` for a trial with these settings, and says in its `warnings` what `shortcomings` gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalward.config.suite import IsolatedSuite, WorkspaceLimits
from evalward.sandbox.process import Isolation, SandboxLimits, WorkspaceSettings
from evalward.sandbox.process.settings import PATH


def sandbox_limits(limits: WorkspaceLimits) -> SandboxLimits:
    """The bounds of a workspace."""
    return SandboxLimits(memory_mb=limits.memory_mb, processes=limits.processes, disk_mb=limits.disk_mb)


def settings_of(
    spec: IsolatedSuite, limits: SandboxLimits, readable: Sequence[Path] = (), path: str = PATH
) -> WorkspaceSettings:
    """How the workspaces of a suite are made. `readable`: what programs may read beside the installed ones."""
    return WorkspaceSettings(
        limits=limits,
        network=spec.network,
        readable=tuple(readable),
        path=path,
        allow_unisolated=spec.allow_unisolated,
    )


def shortcomings(spec: IsolatedSuite, found: Isolation, who: str) -> list[str]:
    """What has to be said about the walls where they aren't what one would expect. `who` works behind them."""
    notes = []
    if found.level != "full":
        tried = f" ({found.note})" if found.note else ""
        notes.append(f"{spec.name}: {who} work here with {found.words()}{tried}")
    if spec.network != "open" and found.network == "open":
        notes.append(f"{spec.name}: `network: {spec.network}` can't be enforced here: {who} reach the network")
    return notes
