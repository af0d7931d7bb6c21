"""An ordinary user who makes workspaces by a privileged launcher. Run as a program by root: `unprivileged.py USER`.

The parent stays root, opens nothing and only starts launchers; the child becomes the user, works and prints as JSON
what it found.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

SCRIPT = """
mkdir -p deep/er locked && echo mine > deep/er/file && echo tmp > $TMPDIR/t && ln -s /etc/passwd out && ln -s deep/er in
echo x > locked/file && chmod 000 locked/file locked && chmod 700 deep
id -u
"""


async def work() -> dict[str, Any]:
    """What the user finds."""
    from support.patience import until
    from support.sandboxes import bash, opened

    with tempfile.TemporaryDirectory() as ours:
        async with opened(files={"given.txt": b"given"}) as place:
            done = await bash(place, SCRIPT)
            running = asyncio.ensure_future(bash(place, "touch $TMPDIR/begun && exec sleep 600"))
            begun = str(place.tmp / "begun")
            await until(lambda: read(place, begun) is not None)  # what hasn't begun isn't ended, and sleeps on
            answer: dict[str, Any] = {
                "id": done.stdout.split(),
                "stderr": done.stderr,
                "isolation": place.isolation.words(),
                "read": [read(place, name) for name in ("given.txt", "deep/er/file", "in/file", "out", "none")],
                "type": [place.file_type(name) for name in (".", "deep", "out", "locked")],
                "tmp": read(place, str(place.tmp / "t")),
                "closed": not os.access(place.folder / "deep", os.R_OK),
            }
            await place.end_processes()
            await running
            copied = await asyncio.to_thread(place.copy_to, Path(ours, "copy"), 10)
            files = [path for path in Path(ours).rglob("*") if path.is_file() and not path.is_symlink()]
            answer["copied"] = sorted(str(path.relative_to(ours)) for path in files)
            answer["files"] = copied.files
            answer["after"] = (await bash(place, "cat deep/er/file; echo more >> given.txt && id -u")).stdout.split()
            base = place.folder.parent
        answer["gone"] = not base.exists()
    return answer


def read(place: Any, name: str) -> str | None:
    """A file as text."""
    content = place.read_file(name)
    return None if content is None else content.decode()


def main(user: int) -> None:
    """See above."""
    import concurrent.futures.thread

    import support.patience
    import support.sandboxes
    from evalward.sandbox.process import launching, starter

    del concurrent, support
    launching.module_folders()
    ours, theirs = socket.socketpair()
    if os.fork():
        theirs.close()
        starter.serve(ours, user)
        os.wait()
        return
    ours.close()
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)

    launching.launch_by(starter.Starter(theirs).launching())
    sys.stdout.write(json.dumps(asyncio.run(work())))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
