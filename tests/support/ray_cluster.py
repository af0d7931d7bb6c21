"""The cluster of `ray_nodes`, started and ended by a test; and the commands that run on it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from support.patience import wait_until
from support.ray_nodes import ancestors

PROGRAM = Path(__file__).with_name("ray_nodes.py")


class LocalCluster:
    """Two nodes with a CPU each, whose environment is `env`."""

    def __init__(self, env: Mapping[str, str], folder: Path) -> None:
        self._session = tempfile.TemporaryDirectory(prefix="ray-")  # paths of sockets are short
        self._said = (folder / "cluster.log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM)],
            env={**env, "RAY_TMPDIR": self._session.name, "RAY_USAGE_STATS_ENABLED": "0"},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        assert self.address, (folder / "cluster.log").read_text("utf-8")

    def lose_node_of(self, pid: int) -> None:
        """End the node that a process runs on, with all its workers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{pid}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "lost\n"

    def close(self) -> None:
        """End it."""
        self._process.communicate()
        self._said.close()
        self._session.cleanup()

    def bundles(self) -> list[int]:
        """The processes of the commands that Ray has started on its nodes and that have not ended."""
        return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if self._is_bundle(path)]

    def the_only_bundle(self, late: Callable[[], bool], besides: int = 0) -> int:
        """The process of the one bundle that is left, when it is late and all others have ended."""
        found: list[int] = []

        def is_left() -> bool:
            found[:] = self.bundles() if late() else []
            return len(found) == 1 and found != [besides]

        wait_until(is_left, 240)
        return found[0]

    def _is_bundle(self, cmdline: Path) -> bool:
        try:
            words = cmdline.read_bytes()
            return b"evalward.cluster.program" in words and self._process.pid in ancestors(int(cmdline.parent.name))
        except OSError:  # it has ended meanwhile
            return False
