"""The attempts of `support.escape` behind walls that an ordinary user can build. Run by root as a program.

`python ordinary.py USER WALL INTERPRETER FOLDER` prints as JSON what got out; the folder belongs to the user.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.canary import become
from support.escape import ATTEMPTS, FIND, LEAVE


async def main(wall: str, folder: Path) -> dict[str, Any]:
    """See above."""
    from evalward.sandbox.process import WorkspaceSettings, probe, workspace
    from evalward.sandbox.virtual import VirtualShell
    from support.sandboxes import built

    layers = built().get(wall)
    if layers is None:
        return {"skipped": f"no {wall} here"}
    for module in (probe, workspace):
        module.layers = lambda: layers  # type: ignore[attr-defined]
    (folder / "secret").write_text("x")
    (folder / "visible").mkdir()
    (folder / "visible" / ".git").mkdir()
    (folder / "visible" / "file").write_text("shown")
    # Of what holds our output nothing outlives us: a mistake in here is seen at once, and not when it ends.
    victim = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    abstract, docker = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    with abstract, docker:
        abstract.bind(f"\0evalward-{os.getpid()}")
        docker.bind(str(folder / "docker.sock"))
        for one in (abstract, docker):
            one.listen(64)
        words = [str(victim.pid), f"evalward-{os.getpid()}", str(folder), str(folder / "docker.sock")]
        # The folder is seen where something in it may be read: what matters is that the rest of it isn't there.
        async with await workspace.Workspace.create(None, WorkspaceSettings(network="none")) as place:
            done = await place.run(["python3", "-c", ATTEMPTS, *words, str(folder / "secret")], timeout_s=120)
            await place.run(["python3", "-c", LEAVE])
            mine = await place.run(["sh", "-c", "echo x > a && cat a > /dev/stdout; echo $$ > b; sleep 900 & exit 3"])
            port = (await place.listener()).getsockname()[1]
            read = place.read_file("a")
        readable = WorkspaceSettings(network="none", readable=(folder / "visible",))
        async with await workspace.Workspace.create(None, readable, extra_files={}) as place:
            seen = await place.run(["sh", "-c", f"cd {folder}; cat visible/file; ls -A visible/.git; touch x"])
            found = await place.run(["python3", "-c", FIND])
    shown = sorted(Path("/usr/share").iterdir())[0]
    workspace.our_checkout = lambda: (Path("/usr/share"),)  # type: ignore[attr-defined]
    async with await workspace.Workspace.create(None, WorkspaceSettings(network="none", readable=(shown,))) as place:
        covered = await place.run(["sh", "-c", f"ls -d {shown} /usr/share/*; touch /usr/share/new"])
    alive = victim.poll() is None
    victim.kill()
    victim.wait()
    shell = await VirtualShell({}, 20).run("echo virtual")
    return {
        "said": done.stdout.splitlines(),
        "stderr": done.stderr,
        "level": place.isolation.level,
        "how": place.isolation.how,
        "alive": alive,
        "mine": [mine.stdout, mine.exit_code, read is not None and read.decode(), port > 0],
        "seen": seen.stdout,
        "new": (folder / "x").exists(),
        "found": found.stdout,
        "covered": sorted({*covered.stdout.split()} - {str(shown), "/usr/share/*"}),
        "covers": covered.stdout != "" and covered.exit_code != 0,
        "shell": shell.stdout,
    }


if __name__ == "__main__":
    import evalward.sandbox.virtual  # noqa: F401 - later it may be out of our reach
    from evalward.sandbox.process import launching

    launching.module_folders()
    become(sys.argv[1], sys.argv[3])
    sys.stdout.write(json.dumps(asyncio.run(main(sys.argv[2], Path(sys.argv[4])))))
