"""A process with a secret, and a hostile command that looks for it everywhere. Run as a program, optionally as a user.

`python canary.py USER|- WALL INTERPRETER FOLDER`: becomes the user, makes a workspace behind only that wall and prints
as JSON what the command found. The folder holds what stands for the parent's files. The secret is in our environment,
and in that of no other run: two run at a time as the same user, and see each other until their walls stand.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from pathlib import Path

VARIABLE = "EVALWARD_CANARY"

# Prints a name for each way on which the secret was found. The secret itself isn't in it: only its halves are.
THIEF = """
import ctypes, glob, os, socket, struct, sys
SECRET = (HALVES).encode()
parent, others = int(sys.argv[1]), sys.argv[2:]

def look(way, path):
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # some are pipes that nobody writes to
    except OSError:
        return
    try:
        if SECRET in os.read(file, 1 << 20):
            print("FOUND", way, path)
    except OSError:
        pass
    finally:
        os.close(file)  # else there would be none left for the rest, on a machine with a thousand processes

if SECRET.decode() in str(dict(os.environ)):
    print("FOUND env")
for folder in {f"/proc/{parent}", *glob.glob("/proc/[0-9]*")}:
    for name in ("environ", "cmdline", *(f"task/{n}/environ" for n in (os.path.basename(folder),))):
        look("proc", f"{folder}/{name}")
    for file in glob.glob(f"{folder}/fd/*") + glob.glob(f"{folder}/root/tmp/evalward-canary*"):
        look("fd", file)
for task in glob.glob(f"/proc/{parent}/task/*"):
    look("thread", task + "/environ")
for path in others:
    look("file", path)
for number in range(3, 64):
    try:
        if SECRET in os.pread(number, 1 << 16, 0):
            print("FOUND inherited", number)
    except OSError:
        pass

libc = ctypes.CDLL(None, use_errno=True)
for request in (16, 0x4206):  # attach, seize
    if libc.ptrace(request, parent, 0, 0) == 0:
        print("FOUND ptrace", request)
try:
    maps = open(f"/proc/{parent}/maps").read()
    print("FOUND maps" if maps else "")
except OSError:
    pass

class Area(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

buffer = ctypes.create_string_buffer(8)
local, remote = Area(ctypes.addressof(buffer), 8), Area(int(os.environ["ADDRESS"]), 8)
if libc.process_vm_readv(parent, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) > 0:
    print("FOUND vm_readv")
try:
    with socket.socket(socket.AF_UNIX) as docker:
        docker.connect(os.environ["DOCKER"])
        print("FOUND docker")
except OSError:
    pass
print("looked")
"""


async def main(wall: str, folder: Path) -> None:
    """See above."""
    from evalward.sandbox.process import WorkspaceSettings, probe, workspace
    from support.sandboxes import buildable, name_of

    layers = next((found for found in buildable() if name_of(found) == wall), None)
    if layers is None:
        sys.stdout.write(json.dumps({"skipped": f"no {wall} here"}))
        return
    for module in (probe, workspace):
        module.layers = lambda: layers  # type: ignore[attr-defined]
    held = ctypes_buffer()
    files = [str(path) for path in folder.rglob("*") if path.is_file()]
    env = {"ADDRESS": str(held[1]), "DOCKER": str(folder / "docker.sock")}
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait, daemon=True)
    thread.start()
    async with await workspace.Workspace.create(None, WorkspaceSettings(readable=(folder / "checkout",))) as place:
        done = await place.run(["python3", "-c", thief(), str(os.getpid()), *files], env=env, timeout_s=600)
        own = await place.run(["cat", str(folder / "checkout" / "code.txt")])
    stop.set()
    thread.join()
    answer = {"found": done.stdout, "stderr": done.stderr, "own": own.stdout, "level": place.isolation.level}
    sys.stdout.write(json.dumps(answer))


def thief() -> str:
    """The program that looks for our secret."""
    secret = os.environ[VARIABLE]
    half = len(secret) // 2
    return THIEF.replace("HALVES", f"{secret[:half]!r} + {secret[half:]!r}")


def ctypes_buffer() -> tuple[object, int]:
    """Bytes of ours at a known address."""
    import ctypes

    buffer = ctypes.create_string_buffer(os.environ[VARIABLE].encode())
    return buffer, ctypes.addressof(buffer)


def become(user: str, interpreter: str) -> None:
    """Be this user, with memory as open as that of any program that was just started."""
    # Everything that is imported later must be there before: our interpreter may be out of the user's reach.
    import concurrent.futures.thread
    import ctypes

    import evalward.sandbox.process
    import support.sandboxes

    del concurrent, evalward, support
    sys.executable = interpreter
    if user != "-":
        os.setgroups([])
        os.setresgid(int(user), int(user), int(user))
        os.setresuid(int(user), int(user), int(user))
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE


if __name__ == "__main__":
    become(sys.argv[1], sys.argv[3])
    asyncio.run(main(sys.argv[2], Path(sys.argv[4])))
