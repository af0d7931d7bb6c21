"""A Ray cluster on this machine, as a program: a head without CPUs and two nodes with one each.

It prints the cluster's address. A line with a process id on its standard input ends the node that the process runs on,
at once; the end of its input ends the cluster. Nodes have the environment that the program has.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any


def ancestors(pid: int) -> list[int]:
    """The process and those that started it, up to the first of all."""
    found = [pid]
    while found[-1] > 1:
        stat = Path(f"/proc/{found[-1]}/stat").read_text("utf-8")
        found.append(int(stat.rpartition(")")[2].split()[1]))
    return found


def raylet_of(node: Any) -> int:
    """The process of a node that starts all its workers."""
    return int(node.all_processes["raylet"][0].process.pid)


def main() -> None:
    """Serves until standard input ends."""
    from ray.cluster_utils import Cluster

    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    said.write(f"{cluster.address}\n")
    said.flush()
    for line in sys.stdin:
        lost = next(node for node in nodes if raylet_of(node) in ancestors(int(line)))
        cluster.remove_node(lost, allow_graceful=False)
        nodes.remove(lost)
        said.write("lost\n")
        said.flush()
    cluster.shutdown()


if __name__ == "__main__":
    main()
