"""Servers for tests: `mcp_server.py` as a program behind walls."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from evalward.sandbox.process import WorkspaceSettings
from evalward.suites.mcp.server.place import CommandServer
from evalward.suites.mcp.server.session import ServerSession, open_server
from evalward.suites.mcp.server.traffic import ServerBounds

PROGRAM = Path(__file__).with_name("mcp_server.py")
_READABLE = (Path(sys.prefix), Path(sys.base_prefix), PROGRAM.parent)


def small_server(*odd: str, files: Mapping[str, bytes] | None = None) -> CommandServer:
    """The small server, made to misbehave as these words say."""
    return CommandServer(
        words=(sys.executable, "-I", "-S", str(PROGRAM), *odd),
        linked=PROGRAM.parent,
        workspace=WorkspaceSettings(network="none", readable=_READABLE),
        env={"NOTES": "{folder}"},
        files=files or {},
    )


@asynccontextmanager
async def small_session(*odd: str, bounds: ServerBounds | None = None) -> AsyncIterator[ServerSession]:
    """A session with it."""
    async with open_server(small_server(*odd), bounds or ServerBounds(end_s=0)) as session:
        yield session


@contextmanager
def checkout() -> Iterator[Path]:
    """A folder with the small server that every user can read, as checkouts are; pytest's are for one user alone."""
    folder = Path(tempfile.mkdtemp(prefix="evalward-checkout-"))
    folder.chmod(0o755)
    shutil.copy(PROGRAM, folder / "server.py")
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
