"""What was changed, as a folder: a patch applied, or what an agent left; tests and benchmarks as they were before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalward.sandbox.process import Workspace, WorkspaceSettings
from evalward.suites import put_back as putting

PATCH_FILE = ".evalward-change.patch"
# The code may hold files that make its folder a bare repository, whose configuration names programs.
NO_REPOSITORY = ("-c", "safe.bareRepository=explicit", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
NO_CONFIGURATION = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
SAID = 300
SHOWN = 3


class ChangeRefusedError(Exception):
    """A change that can't be taken: it doesn't apply, or it reaches out of the folder."""


async def apply_patch(original: Path, patch: bytes, target: Path, settings: WorkspaceSettings) -> None:
    """Copy the original with the patch applied, by git in a workspace. Raises `ChangeRefusedError` and `SandboxError`.

    git itself refuses paths that leave the folder, be it by `..` or through links.
    """
    if not patch.strip():
        raise ChangeRefusedError("the patch is empty")
    async with await Workspace.create(original, settings, extra_files={PATCH_FILE: patch}) as workspace:
        command = ["git", *NO_REPOSITORY, "apply", "--whitespace=nowarn", PATCH_FILE]
        alone = {"GIT_CEILING_DIRECTORIES": str(workspace.folder.parent), **NO_CONFIGURATION}
        done = await workspace.run(command, env=alone)
        if done.exit_code != 0:
            reason = " ".join(done.stderr.split())[:SAID]
            raise ChangeRefusedError(f"the patch doesn't apply: {reason}")
        take(workspace, target)
    (target / PATCH_FILE).unlink(missing_ok=True)


def take(workspace: Workspace, target: Path) -> None:
    """Copy what stands in a workspace's folder now. Raises `SandboxError`."""
    target.mkdir()
    workspace.copy_to(target, workspace.settings.limits.disk_mb or 1 << 20)
    putting.drop_bytecode(target)


def put_back(original: Path, target: Path, protect: Sequence[str]) -> list[str]:
    """Make every protected file of a copy what it is in the original; the paths that had been changed."""
    return putting.put_back(original, target, lambda path: putting.matches(path, protect))


def put_back_notes(changed: Sequence[str]) -> list[str]:
    """A note about protected files that had been changed."""
    if not changed:
        return []
    named = ", ".join(path[:80] for path in changed[:SHOWN])
    return [f"PROTECTED: put back as they were: {named}" + (" …" if len(changed) > SHOWN else "")]
