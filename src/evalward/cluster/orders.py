"""What passes between the command and the driver: one order, then a line for everything that happens."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal

MOST_BUNDLES = 256  # as many shards as a plan may have
AUTO = "auto"  # the address of the cluster whose node we are on
PER_CPU = 4
"""Bundles for each CPU of the cluster: a node that is lost takes little with it, and slow cases even out."""

Happened = Literal["no-ray", "unreachable", "begun", "part", "failed", "refused", "ended"]


class ClusterError(Exception):
    """The cluster can't be reached, or was lost (exit code 3); a sentence for people."""


@dataclass(frozen=True)
class ClusterOrder:
    """What to run on a cluster.

    `words` are those of `evalward run` that all bundles share. `folder` is where we were called; `parts` is the folder
    for what the bundles leave. `units` are the cases that can be shared out, `bundles` the number that was asked for.
    """

    words: list[str]
    folder: str
    parts: str
    units: int
    bundles: int | None
    address: str

    def written(self) -> str:
        """As one line."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, line: str) -> ClusterOrder:
        """What `written` gave."""
        return cls(**json.loads(line))


@dataclass(frozen=True)
class ClusterEvent:
    """What happened. `index`: of which bundle, from 1; `total`: of how many. `seconds`: how long it took.

    `text` is the node's name, or the reason for a failure.
    """

    kind: Happened
    index: int = 0
    total: int = 0
    nodes: int = 0
    cpus: int = 0
    seconds: float = 0.0
    text: str = ""

    def written(self) -> str:
        """As one line."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, line: str) -> ClusterEvent:
        """What `written` gave."""
        return cls(**json.loads(line))


def bundles_of(asked: int | None, cpus: int, units: int) -> int:
    """How many bundles: as asked, else some for each CPU; never more than there are cases, and at least one."""
    wanted = asked if asked is not None else PER_CPU * max(1, cpus)
    return max(1, min(wanted, units, MOST_BUNDLES))
