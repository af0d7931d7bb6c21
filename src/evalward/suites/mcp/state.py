"""What a case's script says of the state that a server leaves: it runs elsewhere, in a copy of the server's folder."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from evalward.records.result import CheckResult
from evalward.sandbox.base import NoWorkspaceError, SandboxError
from evalward.sandbox.process import Workspace
from evalward.sandbox.process.temporary import temporary_folder
from evalward.suites.mcp.server.session import ServerSession

STATE = "state"
_UNLIMITED_MB = 1 << 30


async def check_state(session: ServerSession, script: str, timeout_s: float) -> CheckResult:
    """End the server, and run the script in a copy of its folder, where nothing else of the server is.

    Raises `NoWorkspaceError` where that can't be done, `SandboxError` for a folder that can't be copied.
    """
    from evalward.suites.scenario.place import how_it_ended, run_shell  # noqa: PLC0415 - few cases have a script

    workspace = await session.closed()
    with temporary_folder("state") as place:
        left = place / "left"
        limit = workspace.settings.limits.disk_mb or _UNLIMITED_MB
        copied = await asyncio.to_thread(workspace.copy_to, left, limit)
        if copied.full:
            return CheckResult(check=STATE, passed=False, detail="the server left more than can be copied")
        try:
            async with await Workspace.create(left, replace(workspace.settings, network="none")) as room:
                done = await run_shell(room, script, {}, timeout_s)
        except SandboxError as error:
            raise NoWorkspaceError(f"the state can't be looked at: {error}") from error
    passed = done.exit_code == 0 and not done.timed_out
    return CheckResult(check=STATE, passed=passed, detail="" if passed else how_it_ended(done, timeout_s))
