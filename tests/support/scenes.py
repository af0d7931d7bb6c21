"""A pull request, checked out, and the image that judges it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.container import ActionRun, Container
from support.git_repo import PullRequestRepo, pull_request_repo
from support.github_api import REPOSITORY, FakeGitHub
from support.github_events import FORK, pull_request

CONFIG = """\
version: 1
baseline: .evalward/baseline.json
suites:
  - {name: tools, kind: bash, cases: evals/*.jsonl, targets: [oracle]}
policy:
  - {metric: pass_rate, max_drop: 0.1}
"""

Files = Mapping[str, str | bytes]


def cases(*broken: str) -> str:
    """Six cases, each solved by its solution but for those named."""
    lines = []
    for name in ("one", "two", "three", "four", "five", "six"):
        solution = "echo wrong | wc -Q" if name in broken else f"echo {name}"
        expectations = [{"check": f"stdout_contains:{name}"}, {"check": "exit_code:0"}]
        task = {"id": name, "category": "echo", "prompt": f"Print {name}.", "expectations": expectations}
        lines.append(json.dumps({**task, "solution": solution}))
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Scene:
    """A pull request, checked out, and the server that it lives on."""

    container: Container
    api: FakeGitHub
    repo: PullRequestRepo

    def run(
        self,
        inputs: Mapping[str, str] | None = None,
        *,
        workspace: Path | None = None,
        run_id: int = 1,
        fork: bool = False,
        event_name: str = "pull_request",
        action: str = "synchronize",
        env: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
    ) -> ActionRun:
        """One run of the action; `options` are the engine's."""
        self.api.heads[7] = self.repo.head
        return self.container.run_action(
            workspace or self.repo.folder,
            pull_event(self.repo, fork=fork, action=action),
            inputs,
            api_url=self.api.url,
            sha=self.repo.merge,
            run_id=run_id,
            event_name=event_name,
            env=env,
            options=options,
        )


def pull_event(repo: PullRequestRepo, *, fork: bool = False, action: str = "synchronize") -> dict[str, Any]:
    """The event of this pull request."""
    owner = FORK if fork else REPOSITORY
    return pull_request(action, head=repo.head, base=repo.fork_point, head_repository=owner)


def scene(container: Container, api: FakeGitHub, folder: Path, base: Files, head: Files) -> Scene:
    """A pull request that changes `head` on top of `base`."""
    return Scene(container, api, pull_request_repo(folder / "workspace", base, head))


def protected(baseline: bytes) -> Files:
    """A base with everything that a gate needs."""
    return {"evalward.yml": CONFIG, "evals/a.jsonl": cases(), ".evalward/baseline.json": baseline}
