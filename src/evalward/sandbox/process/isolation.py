"""Which walls are in force, and when there are too few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evalward.sandbox.process.settings import Network, Settings

Level = Literal["full", "partial", "none"]


@dataclass(frozen=True)
class Isolation:
    """What keeps the commands from the rest of the machine.

    `user`: they have a user id of their own. `processes`: they can neither see into nor signal any process but their
    own, and none of theirs outlives the workspace. `files`: they can open only the workspace, installed programs and
    what `Settings.readable` names. `network`: what they can reach. `how`: by what means. With Landlock alone a socket
    that our own user may use, such as Docker's, is open to them too: that is `partial`.
    """

    user: bool
    processes: bool
    files: bool
    network: Network
    how: str

    @property
    def level(self) -> Level:
        """`full`: files and processes; `none`: a program there can do whatever we can."""
        if self.files and self.processes:
            return "full"
        return "partial" if self.files or self.processes or self.user else "none"

    def words(self) -> str:
        """One line for a report: `full isolation (own user, own process and mount namespace), network open`."""
        network = {"open": "open", "loopback": "only to Evalward", "none": "off"}[self.network]
        means = f" ({self.how})" if self.how else ""
        return f"{self.level if self.level != 'none' else 'no'} isolation{means}, network {network}"


def refusal(isolation: Isolation, settings: Settings, env: Mapping[str, str]) -> str | None:
    """Why commands of a model must not run here, `None` when they may.

    In a GitHub workflow the process beside us may hold the keys of the whole job: without any wall nothing is run.
    """
    if isolation.level != "none" or settings.allow_unisolated or env.get("GITHUB_ACTIONS") != "true":
        return None
    return (
        "commands would run here without any isolation, beside the keys of this workflow; "
        "use a runner with user namespaces, Landlock or root, or set allow_unisolated"
    )
