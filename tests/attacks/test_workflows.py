"""In a workflow the walls are full or nothing runs: also as root with a container's few capabilities."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalward.sandbox.launcher import landlock
from evalward.sandbox.process import WorkspaceSettings, refusal, sockets
from evalward.sandbox.process.probe import Layers
from evalward.sandbox.process.sockets import open_sockets

pytestmark = pytest.mark.cold

DOCKERS = re.findall(
    r"\w+",
    "chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod "
    "audit_write setfcap",
)
IN_A_CONTAINER = """
import asyncio, json, os
from evalward.sandbox.process import WorkspaceSettings, Workspace, available
from evalward.sandbox.virtual import VirtualShell
async def main():
    found = available()
    async with await Workspace.create(None, WorkspaceSettings()) as place:
        done = await place.run(["sh", "-c", "id -u; echo x > /dev/stdout"])
    shell = await VirtualShell({}, 20).run("echo virtual")
    print(json.dumps([found.level, found.how, found.note, done.stdout.split(), shell.stdout]))
asyncio.run(main())
"""


def test_a_containers_root_has_full_walls() -> None:
    """What Docker leaves to root, which is no right to build namespaces."""
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("needs root and setpriv")
    if landlock.version() == 0:
        pytest.skip("this kernel has no Landlock")
    kept = ",".join(["-all", *(f"+{name}" for name in DOCKERS)])
    done = subprocess.run(
        [setpriv, f"--bounding-set={kept}", "--inh-caps=-all", sys.executable, "-c", IN_A_CONTAINER],
        env={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "GITHUB_ACTIONS": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    level, how, note, said, shell = json.loads(done.stdout)
    assert (level, how.split(", ")[:2], shell) == ("full", ["own user", "Landlock"], "virtual\n")
    assert "not permitted" in note
    assert said[0] not in {"0", str(os.getuid())}
    assert said[1] == "x"


@pytest.fixture
def docker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A container engine's socket, in a place that everybody can reach."""
    folder = Path(tempfile.mkdtemp(prefix="evalward-docker-"))
    folder.chmod(0o755)
    place = folder / "docker.sock"
    monkeypatch.setattr(sockets, "KNOWN", (str(place),))
    monkeypatch.setenv("DOCKER_HOST", "")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        yield place
    shutil.rmtree(folder)


def test_an_engines_socket_that_commands_could_use_is_no_full_isolation(docker: Path) -> None:
    docker.chmod(0o666)
    walls = Layers(own_user=True, landlock=True, filtered=True).isolation("open")
    assert walls.sockets == (str(docker),)
    assert walls.level == "partial"
    told = refusal(walls, WorkspaceSettings(), {"GITHUB_ACTIONS": "true"})
    assert told is not None
    assert str(docker) in told


def test_one_that_belongs_to_others_or_is_out_of_sight_does_no_harm(docker: Path) -> None:
    docker.chmod(0o660)
    assert open_sockets(own_user=True) == ()
    assert open_sockets(own_user=False) == (str(docker),)  # ours: Landlock alone can't keep it
    docker.chmod(0o666)
    assert Layers(own_user=True, namespaces=True).isolation("open").level == "full"
    docker.parent.chmod(0o700)
    assert open_sockets(own_user=True) == ()
