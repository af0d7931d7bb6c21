"""What a workflow run left, fetched to a person's machine."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from evalward.commands.spelling import spelled
from evalward.records.report import REPORT_FILE

if TYPE_CHECKING:
    from evalward.github.settings import ActionInputs, RunnerEnvironment

_GITHUB = "https://github.com"


def download_command(settings: ActionInputs, runner: RunnerEnvironment, folder: object) -> str:
    """The command that fetches the run's artifact to a folder."""
    host = "" if runner.server_url == _GITHUB else runner.server_url.partition("://")[2] + "/"
    repository = f"{host}{runner.repository}"
    where = ["--repo", repository, "--name", settings.artifact, "--dir", str(folder)]
    return spelled(["gh", "run", "download", str(runner.run_id), *where])


def report_name(settings: ActionInputs) -> str:
    """How the report is called in the artifact."""
    return posixpath.basename(settings.report) if settings.report else REPORT_FILE
