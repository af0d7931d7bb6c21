"""What commands can reach: of the machine nothing, of us what we listen on for them."""

from __future__ import annotations

import asyncio
import socket

import pytest

from evalward.sandbox.base import SandboxError
from evalward.sandbox.process import Network, Workspace, WorkspaceSettings, available
from evalward.sandbox.process import workspace as module
from evalward.sandbox.process.probe import Layers
from support.patience import until
from support.sandboxes import opened, use

pytestmark = pytest.mark.cold

ASK = (
    "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 60); print(s.recv(99).decode())"
)


async def answered(place: Workspace, server: socket.socket) -> str:
    """What a command hears from the server."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    port = server.getsockname()[1]
    async with await asyncio.start_server(greet, sock=server):
        done = await place.run(["python3", "-c", ASK, str(port)])
    return done.stdout.strip()


@pytest.mark.parametrize("network", ["open", "loopback", "none"])
async def test_we_listen_where_the_commands_are(network: Network) -> None:
    async with opened(settings=WorkspaceSettings(network=network)) as place:
        assert await answered(place, await place.listener()) == "hello"


async def test_what_the_machine_listens_on_is_out_of_reach() -> None:
    if available().network != "none":
        pytest.skip("no network namespace here")
    async with opened(settings=WorkspaceSettings(network="none")) as place:
        assert await answered(place, socket.create_server(("127.0.0.1", 0))) == ""


async def test_an_open_network_is_told_where_it_cannot_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Layers())
    async with opened(settings=WorkspaceSettings(network="none")) as place:
        assert place.isolation.network == "open"
        assert await answered(place, await place.listener()) == "hello"


async def test_without_any_wall_a_workflow_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Layers())
    monkeypatch.setitem(module.os.environ, "GITHUB_ACTIONS", "true")  # type: ignore[attr-defined]
    with pytest.raises(SandboxError, match="without any isolation"):
        await Workspace.create(None, WorkspaceSettings())
    async with opened(settings=WorkspaceSettings(allow_unisolated=True)) as place:
        assert place.isolation.level == "none"


async def test_two_workspaces_cannot_read_or_signal_each_other() -> None:
    if not available().user:
        pytest.skip("only root has user ids to give")
    async with opened(files={"a": b"secret"}) as one, opened() as other:
        victim = asyncio.ensure_future(
            one.run(["bash", "-c", "touch up; until [ -e over ]; do sleep 0.01; done"], timeout_s=600)
        )
        await until((one.folder / "up").exists)
        done = await other.run(["bash", "-c", f"cat {one.folder}/a; kill -9 -1; true"])
        assert "secret" not in done.stdout
        (one.folder / "over").touch()
        assert (await victim).exit_code == 0
