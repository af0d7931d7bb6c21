"""The action's inputs and the runner's variables, from the environment, with all mistakes told at once."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal, TypeVar, cast, get_args

from evalward.github.comment import COMMENT_ID, CommentMode
from evalward.records.part import MOST_SHARDS, Shard, told_count
from evalward.records.policy import FailOn
from evalward.records.problem import InputError, Place, Problem
from evalward.render.escape import one_line

MAX_TRIALS = 100
MAX_COMMENT_ID = 64
MAX_STATUS = 100
MAX_BRANCH = 200
MAX_SHOWN_URL = 200
BASE_IN_STATUS = "{base}"

Mode = Literal["check", "update-baseline", "accept", "release", "link", "history-page"]
BaselineTo = Literal["push", "pull-request"]
BaselineMode = Literal["replace", "pool"]

BRANCH = re.compile(r"[A-Za-z0-9]+(?:[._/-][A-Za-z0-9]+)*")
_ARTIFACT = re.compile(r"/actions/runs/[0-9]{1,20}/artifacts/[0-9]{1,20}")
SERVER_URL = "https://github.com"


@dataclass(frozen=True)
class ActionInputs:
    """The action's inputs; the fields are their names with `_` for `-`.

    Paths are relative to `working_directory`, which is relative to the workspace; none leaves the workspace.
    `None` and `()` mean that the input was left empty: then the configuration decides.
    """

    mode: Mode = "check"
    config: str = "evalward.yml"
    suites: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    trials: int | None = None
    baseline: str | None = None
    profile: str | None = None
    report: str | None = None
    shard_index: int | None = None
    shard_total: int | None = None
    parts: str | None = None
    publish: str | None = None
    report_url: str = ""
    baseline_to: BaselineTo = "push"
    baseline_mode: BaselineMode = "pool"
    baseline_branch: str = "evalward/baseline"
    artifact: str = "evalward"
    dry_run: bool = False
    bootstrap: bool = False
    fail_on: FailOn | None = None
    comment: CommentMode = "always"
    comment_id: str = "evalward"
    status: str = ""
    github_token: str = field(default="", repr=False)
    output_dir: str = "evalward-out"
    working_directory: str = "."

    @property
    def shard(self) -> Shard | None:
        """The shard that is measured here, from 1: GitHub counts the jobs of a matrix from 0."""
        if self.shard_index is None or self.shard_total is None:
            return None
        return Shard(self.shard_index + 1, self.shard_total)

    def status_against(self, base: str | None) -> str:
        """The commit status's name; `{base}` in it is the branch that judged, so that each has a name of its own."""
        return one_line(self.status.replace(BASE_IN_STATUS, base or ""), MAX_STATUS) if self.status else ""


INPUT_NAMES = tuple(item.name.replace("_", "-") for item in fields(ActionInputs))


@dataclass(frozen=True, slots=True)
class RunnerEnvironment:
    """What the runner tells: where its files are, and which run this is. Files that it doesn't offer are `None`."""

    workspace: Path
    event_path: Path
    output: Path | None
    summary: Path | None
    repository: str
    run_id: int
    run_attempt: int
    api_url: str
    server_url: str
    search_path: str

    @property
    def run_url(self) -> str:
        """The page of this workflow run."""
        return f"{self.server_url}/{self.repository}/actions/runs/{self.run_id}"


def read_settings(env: Mapping[str, str]) -> ActionInputs:
    """The inputs from INPUT_… (upper case, hyphens kept). Raises `InputError` with all mistakes."""
    reader = _InputReader(env)
    directory = reader.directory("working-directory")
    settings = ActionInputs(
        mode=reader.choice("mode", cast("tuple[Mode, ...]", get_args(Mode))) or ActionInputs.mode,
        config=reader.path("config", directory) or ActionInputs.config,
        suites=reader.names("suites"),
        targets=reader.names("targets"),
        trials=reader.number("trials", MAX_TRIALS),
        baseline=reader.path("baseline", directory),
        profile=reader.text("profile") or None,
        report=reader.path("report", directory),
        shard_index=reader.number("shard-index", MOST_SHARDS - 1, least=0),
        shard_total=reader.number("shard-total", MOST_SHARDS),
        parts=reader.path("parts", directory),
        publish=reader.path("publish", directory),
        report_url=reader.report_url(),
        baseline_to=reader.choice("baseline-to", cast("tuple[BaselineTo, ...]", get_args(BaselineTo)))
        or ActionInputs.baseline_to,
        baseline_mode=reader.choice("baseline-mode", cast("tuple[BaselineMode, ...]", get_args(BaselineMode)))
        or ActionInputs.baseline_mode,
        baseline_branch=reader.branch(),
        artifact=reader.text("artifact") or ActionInputs.artifact,
        dry_run=reader.choice("dry-run", ("true", "false")) == "true",
        bootstrap=reader.choice("bootstrap", ("true", "false")) == "true",
        fail_on=reader.choice("fail-on", cast("tuple[FailOn, ...]", get_args(FailOn))),
        comment=reader.choice("comment", cast("tuple[CommentMode, ...]", get_args(CommentMode)))
        or ActionInputs.comment,
        comment_id=reader.comment_id(),
        status=reader.status(),
        github_token=reader.token(),
        output_dir=reader.path("output-dir", directory) or ActionInputs.output_dir,
        working_directory=directory,
    )
    reader.refuse_beside_publish(settings)
    reader.refuse_beside_shards(settings)
    if reader.problems:
        raise InputError(reader.problems)
    # What a shard measured is judged by another job: that one comments.
    return settings if settings.shard is None else replace(settings, comment="off", status="")


def read_runner(env: Mapping[str, str]) -> RunnerEnvironment:
    """The runner's own variables. Raises `InputError` when one that we need is not there."""
    needed = ("GITHUB_WORKSPACE", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY")
    missing = [name for name in needed if not env.get(name)]
    if missing:
        remedy = "Evalward's action runs in GitHub Actions; elsewhere use `evalward check`."
        raise InputError(
            Problem(place=Place(file="environment"), message=f"{name} is not set", remedy=remedy) for name in missing
        )
    return RunnerEnvironment(
        workspace=Path(env["GITHUB_WORKSPACE"]),
        event_path=Path(env["GITHUB_EVENT_PATH"]),
        output=_file(env, "GITHUB_OUTPUT"),
        summary=_file(env, "GITHUB_STEP_SUMMARY"),
        repository=env["GITHUB_REPOSITORY"],
        run_id=told_count(env.get("GITHUB_RUN_ID", "")),
        run_attempt=told_count(env.get("GITHUB_RUN_ATTEMPT", "")),  # untold it counts as older than any other
        api_url=env.get("GITHUB_API_URL") or "https://api.github.com",
        server_url=(env.get("GITHUB_SERVER_URL") or SERVER_URL).rstrip("/"),
        search_path=env.get("PATH") or posixpath.defpath,
    )


def is_artifact_of(url: str, server_url: str, repository: str) -> bool:
    """True for the page of an artifact of this very repository on this very server: no query, fragment or blank."""
    start = f"{(server_url or SERVER_URL).rstrip('/')}/{repository}"
    return bool(repository) and url.startswith(start) and _ARTIFACT.fullmatch(url[len(start) :]) is not None


def _file(env: Mapping[str, str], name: str) -> Path | None:
    return Path(env[name]) if env.get(name) else None


_NUMBERS = {
    "shard-index": "Write ${{ strategy.job-index }}.",
    "shard-total": "Write ${{ strategy.job-total }}.",
}
_Choice = TypeVar("_Choice", bound=str)


class _InputReader:
    """Reads one input after the other and collects what is wrong with them."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self.problems: list[Problem] = []

    def text(self, name: str) -> str:
        return self._env.get(f"INPUT_{name.upper()}", "").strip()

    def names(self, name: str) -> tuple[str, ...]:
        """Names separated by commas or line ends, each once."""
        parts = (part.strip() for part in re.split(r"[,\n]", self.text(name)))
        return tuple(dict.fromkeys(part for part in parts if part))

    def number(self, name: str, most: int, least: int = 1) -> int | None:
        text = self.text(name)
        if not text:
            return None
        if re.fullmatch(r"[0-9]{1,6}", text) and least <= int(text) <= most:
            return int(text)
        remedy = _NUMBERS.get(name, "Leave it empty to use the configuration's.")
        self._wrong(name, f"{text!r} is not a whole number from {least} to {most}", remedy)
        return None

    def choice(self, name: str, known: tuple[_Choice, ...]) -> _Choice | None:
        text = self.text(name)
        if not text:
            return None
        for value in known:
            if value == text:
                return value
        self._wrong(name, f"{text!r} is unknown", f"Use one of: {', '.join(known)}.")
        return None

    def comment_id(self) -> str:
        text = self.text("comment-id") or ActionInputs.comment_id
        if len(text) <= MAX_COMMENT_ID and COMMENT_ID.fullmatch(text):
            return text
        remedy = f"Use letters and digits, with single . _ or - between them, at most {MAX_COMMENT_ID}."
        self._wrong("comment-id", f"{text[:MAX_COMMENT_ID]!r} can't be a comment's id", remedy)
        return ActionInputs.comment_id

    def status(self) -> str:
        text = self.text("status")
        if len(text) <= MAX_STATUS and text.isprintable():
            return text
        remedy = f"Use one line of at most {MAX_STATUS} characters, for example evalward."
        self._wrong("status", f"{text[:MAX_STATUS]!r} can't be a commit status's name", remedy)
        return ""

    def branch(self) -> str:
        text = self.text("baseline-branch") or ActionInputs.baseline_branch
        if len(text) <= MAX_BRANCH and BRANCH.fullmatch(text):
            return text
        remedy = "Use letters and digits, with single . _ / or - between them, as in evalward/baseline."
        self._wrong("baseline-branch", f"{text[:MAX_BRANCH]!r} can't be a branch's name", remedy)
        return ActionInputs.baseline_branch

    def report_url(self) -> str:
        """An artifact of this repository, as GitHub shows it; no other address gets into our comment."""
        text = self.text("report-url")
        if not text:
            return ""
        if self.text("mode") != "link":
            self._wrong("report-url", "has no meaning without `mode: link`", "Give it to the step behind the upload.")
        elif not is_artifact_of(text, self._env.get("GITHUB_SERVER_URL", ""), self._env.get("GITHUB_REPOSITORY", "")):
            remedy = "Give it the output `artifact-url` of the step that uploads report.html, and nothing else."
            self._wrong(
                "report-url", f"{one_line(text, MAX_SHOWN_URL)!r} is not an artifact of this repository", remedy
            )
        else:
            return text
        return ""

    def token(self) -> str:
        text = self.text("github-token")
        if text.isascii() and text.isprintable() and " " not in text:
            return text
        self._wrong("github-token", "is not a token: it has spaces or special characters", "Check the secret's value.")
        return ""

    def directory(self, name: str) -> str:
        """A folder of the workspace, relative to it; the runner may have made the path absolute."""
        text = self.text(name) or ActionInputs.working_directory
        return self._inside(name, text, self._env.get("GITHUB_WORKSPACE", "")) or ActionInputs.working_directory

    def path(self, name: str, directory: str) -> str | None:
        """A path relative to the working directory that stays in the workspace."""
        text = self.text(name)
        if not text:
            return None
        workspace = self._env.get("GITHUB_WORKSPACE", "")
        if not text.startswith("/"):
            text = posixpath.join(workspace, directory, text)
        found = self._inside(name, text, workspace)
        return None if found is None else posixpath.relpath(f"/{found}", f"/{directory}")

    def refuse_beside_publish(self, settings: ActionInputs) -> None:
        """Publishing runs nothing: inputs that say what to run are a mistake there."""
        if settings.publish is None:
            return
        if settings.mode != "check":
            self._wrong("mode", "can't be combined with publish", "Use a workflow of its own for it.")
        for name in ("suites", "targets", "trials", "report"):
            if getattr(settings, name):
                self._wrong(name, "can't be combined with publish", "Give it to the workflow that measures.")

    def refuse_beside_shards(self, settings: ActionInputs) -> None:
        """A shard only measures, and parts are measured already: inputs that say otherwise are a mistake."""
        index, total = settings.shard_index, settings.shard_total
        for given, other, name in ((index, total, "shard-total"), (total, index, "shard-index")):
            if given is not None and other is None and not self.text(name):
                self._wrong(name, "is missing", _NUMBERS[name])
        if index is not None and total is not None and index >= total:
            self._wrong("shard-index", f"is {index}, and there are {total} shards, from 0", _NUMBERS["shard-index"])
        if index is not None and settings.mode != "check":
            self._wrong("mode", "has no meaning for a shard", "Give it to the job that judges all parts.")
        if settings.parts is not None and index is not None:
            self._wrong("shard-index", "can't be combined with parts", "Give it to the jobs that measure.")
        measured = "parts" if settings.parts is not None else "shard-index" if index is not None else None
        for name in ("report", "publish") if measured else ():
            if getattr(settings, name) is not None:
                self._wrong(name, f"can't be combined with {measured}", "Give it to a job of its own.")

    def _inside(self, name: str, text: str, workspace: str) -> str | None:
        """The path from the workspace's top, `None` with a problem noted when it is elsewhere."""
        top = posixpath.normpath(workspace) if workspace else ""
        clean = posixpath.normpath(text)
        if top and clean.startswith("/"):
            clean = posixpath.relpath(clean, top)
        if clean.startswith("/") or clean == ".." or clean.startswith("../") or not clean.isprintable():
            self._wrong(name, f"{self.text(name)!r} is not in the workspace", "Use a path inside the checkout.")
            return None
        return clean

    def _wrong(self, name: str, message: str, remedy: str) -> None:
        self.problems.append(Problem(place=Place(file=f"input {name}"), message=message, remedy=remedy))
