"""Which walls are in force, and when there are too few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evalward.sandbox.process.settings import Network, WorkspaceSettings

Level = Literal["full", "partial", "none"]


@dataclass(frozen=True)
class Isolation:
    """What keeps the commands from the rest of the machine.

    `user`: they have a user id of their own. `processes`: they can neither see into nor signal any process but their
    own, and none of theirs outlives the workspace. `files`: they can open only the workspace, installed programs and
    what `Settings.readable` names. `network`: what they can reach. `how`: by what means. `sockets`: those of container
    engines and the like that are open to them, and with them the machine. `note`: stronger walls that were tried, and
    why they could not be built. With Landlock alone every socket that our own user may use is open: that is `partial`.
    """

    user: bool
    processes: bool
    files: bool
    network: Network
    how: str
    sockets: tuple[str, ...] = ()
    note: str = ""

    @property
    def level(self) -> Level:
        """`full`: files and processes, and no way around; `none`: a program there can do whatever we can."""
        if self.files and self.processes and not self.sockets:
            return "full"
        return "partial" if self.files or self.processes or self.user else "none"

    def words(self) -> str:
        """One line for a report: `full isolation (own user, own process and mount namespace), network open`."""
        network = {"open": "open", "loopback": "only to Evalward", "none": "off"}[self.network]
        means = f" ({self.how})" if self.how else ""
        open_to_them = f", {', '.join(self.sockets)} open" if self.sockets else ""
        return f"{self.level if self.level != 'none' else 'no'} isolation{means}, network {network}{open_to_them}"


def refusal(isolation: Isolation, settings: WorkspaceSettings, env: Mapping[str, str]) -> str | None:
    """Why commands of a model must not run here, `None` when they may.

    In a GitHub workflow the process beside us may hold the keys of the whole job: there it is all walls or nothing.
    """
    if isolation.level == "full" or settings.allow_unisolated or env.get("GITHUB_ACTIONS") != "true":
        return None
    without = "without any isolation" if isolation.level == "none" else f"with {isolation.words()} only"
    tried = f" ({isolation.note})" if isolation.note else ""
    return (
        f"commands would run here {without}, next to the keys of this workflow{tried}; use the action's container, a "
        "runner with user namespaces or sudo, or let the base branch set allow_unisolated"
    )
