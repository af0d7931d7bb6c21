"""The process that talks to Ray: it holds no key, hands out the bundles, and writes what they give back.

It reads one order from standard input and says on standard output what happens, a line for each event. It ends when
standard input closes; Ray then ends what it had started.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evalward.cluster.bundle import BundleDone, BundleFailedError, BundleOrder, run_bundle
from evalward.cluster.orders import AUTO, ClusterEvent, ClusterOrder, bundles_of
from evalward.cluster.packing import PackingError, unpacked

RETRIES = 3
CONNECT_S = 10.0
_SAID = 600  # characters of a reason
Tell = Callable[[ClusterEvent], None]


@dataclass(frozen=True)
class _Connected:
    """Ray, connected to a cluster. It is loaded late and has no types of its own here."""

    ray: Any

    def cpus(self) -> int:
        return int(self.ray.cluster_resources().get("CPU", 0))

    def nodes(self) -> int:
        return sum(1 for node in self.ray.nodes() if node.get("Alive"))

    def has_working_dir(self) -> bool:
        """Whether Ray brings the job's files to its nodes, and runs tasks in them."""
        return bool(self.ray.get_runtime_context().runtime_env.get("working_dir"))


def drive(order: ClusterOrder, tell: Tell, package: str = "ray") -> None:
    """Run the order's bundles on the cluster; what they leave goes to its folder, a folder for each."""
    if find_spec(package) is None:
        tell(ClusterEvent("no-ray"))
        return
    import ray  # noqa: PLC0415 - it takes a second, and few have it

    unreachable = _connect(ray, order.address)
    if unreachable:
        tell(ClusterEvent("unreachable", text=unreachable))
        return
    _hand_out(_Connected(ray), order, tell)
    tell(ClusterEvent("ended"))


def _connect(ray: Any, address: str) -> str:
    """Connect; why that is not possible, `""` where it was."""
    why = unreachable(address)
    if why:
        return why
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except ConnectionError as error:
        return "none runs on this machine" if address == AUTO else _brief(error)
    except (Exception, SystemExit) as error:  # Ray has no type of its own for this
        return _brief(error)
    return ""


def unreachable(address: str) -> str:
    """Why nothing answers at HOST:PORT, `""` where something does: Ray itself would take two minutes to say so."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdigit():
        return ""
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_S).close()
    except (OSError, OverflowError) as error:
        return f"nothing answers at {address} ({getattr(error, 'strerror', None) or error})"
    return ""


def _hand_out(cluster: _Connected, order: ClusterOrder, tell: Tell) -> None:
    ray = cluster.ray
    total = bundles_of(order.bundles, cluster.cpus(), order.units)
    tell(ClusterEvent("begun", total=total, nodes=cluster.nodes(), cpus=cluster.cpus()))
    folder = None if cluster.has_working_dir() else order.folder
    task = ray.remote(run_bundle)
    waiting: dict[Any, int] = {}
    for index in range(1, total + 1):
        how = {
            "name": f"evalward {index}/{total}",
            "num_cpus": 1,
            "max_retries": RETRIES,
            "retry_exceptions": [BundleFailedError],
            "scheduling_strategy": "SPREAD",
        }
        waiting[task.options(**how).remote(BundleOrder(tuple(order.words), index, total, folder))] = index
    while waiting:
        ready, _ = ray.wait(list(waiting), num_returns=1)
        event = _taken(ray, ready[0], ClusterEvent("part", waiting.pop(ready[0]), total), Path(order.parts))
        tell(event)
        if event.kind == "refused":
            return  # it is the same for all of them


def _taken(ray: Any, found: Any, event: ClusterEvent, parts: Path) -> ClusterEvent:
    """Write the part that a bundle gave back: whole, or not at all."""
    try:
        done: BundleDone = ray.get(found)
        if done.refused:
            return ClusterEvent("refused", event.index, event.total, text=done.refused)
        unpacked(done.archive, parts / str(event.index))
    except (PackingError, OSError) as error:
        return ClusterEvent("failed", event.index, event.total, text=_brief(error))
    except Exception as error:  # a bundle's own, after its last attempt, or one of Ray's many
        return ClusterEvent("failed", event.index, event.total, text=_brief(getattr(error, "cause", None) or error))
    return ClusterEvent("part", event.index, event.total, seconds=done.seconds, text=done.node)


def _brief(error: BaseException) -> str:
    """One line: Ray's messages have many, the first of which says what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:_SAID]


def main() -> None:
    """Entry point of the process. Standard output is for events alone, whatever Ray prints."""
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    order = ClusterOrder.read(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()

    def tell(event: ClusterEvent) -> None:
        with contextlib.suppress(BrokenPipeError):
            events.write(event.written() + "\n")
            events.flush()

    drive(order, tell)


def _end_with_input() -> None:
    """When whoever started us has gone, there is nobody to measure for."""
    while os.read(0, 1 << 12):
        pass
    os._exit(1)
