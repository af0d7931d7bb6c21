"""The built image, run as GitHub's runner runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.github_api import REPOSITORY, TOKEN

ROOT = Path(__file__).resolve().parents[2]
TOOLS_VARIABLE = "CONTAINER_TOOLS"  # the folder with build_image.sh and run_action.py
BASE = "docker.io/library/python:3.12-slim"
OWNER = 1001  # the workspace's owner is not the container's root


@dataclass(frozen=True)
class ActionRun:
    """What one run of the action left: exit code, outputs, job summary, and its log (stdout and stderr)."""

    rc: int
    outputs: dict[str, str]
    summary: str
    log: str


@dataclass(frozen=True)
class Container:
    """A built image and the tools to run it."""

    tools: Path
    image: str
    env: Mapping[str, str] = field(default_factory=dict)

    def run_action(
        self,
        workspace: Path,
        event: Mapping[str, Any],
        inputs: Mapping[str, str] | None = None,
        *,
        api_url: str,
        sha: str,
        event_name: str = "pull_request",
        token: str = TOKEN,
        run_id: int = 1,
        env: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> ActionRun:
        """One run. `env` adds variables of the step, or replaces the runner's; `options` are the engine's."""
        event_file = workspace.parent / "event.json"
        event_file.write_text(json.dumps(event))
        variables = {"GITHUB_RUN_ID": str(run_id), **(env or {})}
        command = [
            sys.executable,
            str(self.tools / "run_action.py"),
            f"--action={ROOT / 'action.yml'}",
            f"--image={self.image}",
            f"--workspace={workspace}",
            f"--event={event_file}",
            f"--event-name={event_name}",
            f"--repository={REPOSITORY}",
            f"--api-url={api_url}",
            f"--sha={sha}",
            f"--token={token}",
            f"--chown={OWNER}:{OWNER}" if os.geteuid() == 0 else "--chown=",
            *(f"--input={name}={value}" for name, value in (inputs or {}).items()),
            *(f"--env={name}={value}" for name, value in variables.items()),
            *(f"--opt={option}" for option in options),
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        log, _, last = done.stdout.rstrip("\n").rpartition("\n")
        try:
            told = json.loads(last)
        except ValueError:
            raise AssertionError(f"the container did not run:\n{done.stdout}") from None
        return ActionRun(told["rc"], told["outputs"], told["summary"], log)


def build_image(tools: Path, tag: str) -> Container:
    """Builds the repository's Dockerfile, on a base image that is named by its digest, as a release is built."""
    command = [
        str(tools / "build_image.sh"),
        str(ROOT / "Dockerfile"),
        tag,
        f"--build-arg=BASE_DIGEST=@{base_digest()}",
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    return Container(tools, tag)


def base_digest() -> str:
    """The digest of the base image that is here."""
    command = ["podman", "image", "inspect", "--format={{.Digest}}", BASE]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def tell(config: pytest.Config, line: str) -> None:
    """A figure for whoever watches, captured output or not."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")
    if reporter is not None and capture is not None:
        with capture.global_and_fixture_disabled():
            reporter.ensure_newline()
            reporter.write_line(line)
