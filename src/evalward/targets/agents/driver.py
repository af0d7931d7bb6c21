"""An agent program with a model behind the proxy: started, watched, read, and counted."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from evalward.opening import program_inside
from evalward.records.base import clean_text
from evalward.records.case import Case
from evalward.records.trace import Message, Text, Trace
from evalward.sandbox.launcher.plan import SYSTEM
from evalward.targets.agents.base import AgentJob, AgentRun, EndedAgent
from evalward.targets.agents.model_access import ModelAccess, ModelLink, Visit
from evalward.targets.agents.readers.common import AgentAccount
from evalward.targets.asking import AgentRequests
from evalward.targets.base import BrokeOffError
from evalward.targets.failures import Cause, TargetError

UNKNOWN = "unknown"
NOT_STARTED = (126, 127)  # exit codes, as a shell has them


@dataclass(frozen=True)
class AgentLaunch:
    """How an agent is started. `stdin` carries the task, so that no length and no leading dash of it matters."""

    command: list[str]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    stdin: bytes = b""


@dataclass(frozen=True)
class Dialect:
    """One agent program: how it is started, and how its output is read."""

    launch: Callable[[str, AgentJob, ModelLink | None], AgentLaunch]
    read: Callable[[str], AgentAccount]


class DrivenAgent:
    """An agent program as a target. `access` is its model; without one nobody counts what it uses.

    `about` says what identifies it beside its model. `timeout_s` bounds its trials beyond their own limit.
    """

    random = True

    def __init__(
        self,
        identity: str,
        executable: str,
        dialect: Dialect,
        access: ModelAccess | None,
        *,
        about: Mapping[str, str],
        timeout_s: float | None = None,
    ) -> None:
        self.id = identity
        self._executable, self._dialect, self._access = startable(executable), dialect, access
        self._about, self._timeout_s = about, timeout_s

    @property
    def subject(self) -> Mapping[str, str]:
        """The program's version or form, and model, host and settings."""
        return {**self._about, **(self._access.settings.subject if self._access else {})}

    @property
    def priced(self) -> bool:
        """True when its model's price is known; without a model of ours it isn't."""
        return self._access is not None and self._access.settings.price is not None

    @property
    def missing_key(self) -> str | None:
        """The variable that should hold the model's key and is not set."""
        return self._access.missing_key if self._access else None

    @property
    def at_once(self) -> int | None:
        """As many as the provider's places; without a model of ours as many as the processor takes."""
        return self._access.settings.concurrency if self._access else None

    @property
    def readable(self) -> Sequence[Path]:
        """The program, and what is installed with it."""
        return installed_with(self._executable)

    def prepare(self) -> None:
        """Nothing to load: the door opens with the first trial."""

    async def close(self) -> None:
        """Give back connections."""
        if self._access is not None:
            await self._access.close()

    async def work(self, case: Case, trial: int, job: AgentJob) -> AgentRun:  # noqa: ARG002 - it sees the job alone
        """Start the program in the job's place and wait for it. Raises as `Agent.work`."""
        visit: Visit | None = None
        ended: EndedAgent | None = None
        begun = False
        try:
            async with AsyncExitStack() as stack:
                if self._access is not None:
                    visit = await stack.enter_async_context(self._access.opened(job))
                launch = self._dialect.launch(self._executable, job, visit.link if visit else None)
                begun = True
                ended = await job.workspace.run(
                    launch.command,
                    env={**job.env, **launch.env},
                    timeout_s=min(job.timeout_s, self._timeout_s or job.timeout_s),
                    stdin=launch.stdin,
                )
            self._refuse_unstarted(ended)
            asked = visit.asked if visit else None
            if asked is not None and asked.ended_by is not None:
                raise asked.ended_by
            return self._run_of(job, ended, asked)
        except Exception as error:
            if not begun:
                raise
            raise BrokeOffError(_known(job, ended, visit), error) from error

    def _run_of(self, job: AgentJob, ended: EndedAgent, asked: AgentRequests | None) -> AgentRun:
        run = run_of(job, ended, self._dialect.read(ended.stdout), asked)
        return run if asked is None or asked.refused is None else structs.replace(run, refused=asked.refused)

    def _refuse_unstarted(self, ended: EndedAgent) -> None:
        """A program that isn't there, or can't be run, has failed at nothing.

        The workspace says so in one line, the program and why. A shell that ran and missed another program says more.
        """
        program, _, why_not = ended.stderr.strip().partition(": ")
        unstarted = program == self._executable and bool(why_not) and not set(why_not) & {":", "\n"}
        if ended.exit_code in NOT_STARTED and not ended.stdout and unstarted:
            why = f"{self.id} could not be started in the workspace: {clean_text(ended.stderr.strip())}"
            raise TargetError(Cause.SANDBOX, why, target=self.id)


def _known(job: AgentJob, ended: EndedAgent | None, visit: Visit | None) -> Trace:
    """What is known of a trial that broke: what was asked, and what that has cost."""
    prompt = Message(role="user", content=[Text(text=job.prompt)])
    duration_ms = ended.duration_ms if ended is not None else 0
    return Trace(messages=[prompt], turns=visit.asked.turns if visit else [], duration_ms=duration_ms)


def run_of(job: AgentJob, ended: EndedAgent, account: AgentAccount, asked: AgentRequests | None) -> AgentRun:
    """What an agent's output says and what it asked its model, as one record.

    Turns and tokens are the proxy's; words and calls the agent's own, and where it told none the model's words.
    """
    words = account.messages or [answer.message for answer in (asked.answers if asked else ()) if answer.main]
    prompt = Message(role="user", content=[Text(text=clean_text(job.prompt))])
    exit_code = None if ended.timed_out else ended.exit_code
    limit = (asked.limit if asked else None) or ended.exceeded
    good = exit_code == 0 and account.finished is not False
    trace = Trace(
        messages=[prompt, *(message for message in words if message.content)],
        tool_calls=account.tool_calls,
        turns=asked.turns if asked else [],
        natural_stop=good and limit is None,
        duration_ms=ended.duration_ms,
        working_ms=max(0, ended.duration_ms - _waited_ms(asked)),
        skills=account.skills,
    )
    claims = {**account.claims, **({"finished": account.finished} if account.finished is not None else {})}
    return AgentRun(
        trace,
        _transcript(ended),
        exit_code,
        ended.timed_out,
        claims,
        limit,
        structured=account.structured,
        skipped=account.skipped,
        api_error=account.api_error,
        lacking=account.lacking,
    )


def _waited_ms(asked: AgentRequests | None) -> int:
    return sum(turn.wall_ms - turn.working_ms for turn in asked.turns) if asked else 0


def _transcript(ended: EndedAgent) -> str:
    parts = [clean_text(text) for text in (ended.stdout, ended.stderr) if text]
    return "\n".join(part.rstrip("\n") for part in parts) + ("\n" if parts else "")


def plain(text: str) -> str:
    """A text that can be an argument or input of a program: without NUL and lone surrogates."""
    return clean_text(text).replace("\0", "")


def version_of(executable: str) -> str:
    """The version of a program that npm installed: what its package says; "unknown" for any other."""
    for folder in list(Path(executable).resolve().parents)[:4]:
        try:
            value = json.loads((folder / "package.json").read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(value, dict) and isinstance(value.get("version"), str):
            return str(value["version"])
    return UNKNOWN


def installed_with(executable: str) -> tuple[Path, ...]:
    """The program's file, where it leads, and the node_modules or the virtual environment that it belongs to."""
    file = Path(executable)
    found = [file, file.resolve()]
    found += [folder for folder in file.resolve().parents if folder.name == "node_modules"][-1:]
    found += [folder for folder in list(file.parents)[1:2] if _is_environment(folder)]
    return tuple(dict.fromkeys(found))


def _is_environment(folder: Path) -> bool:
    """A virtual environment; a repository is none, whatever file is committed in it."""
    return (folder / "pyvenv.cfg").is_file() and not os.path.lexists(folder / ".git")


def startable(executable: str) -> str:
    """The path under which a workspace shows the program: where it really lies, unless it is one of the system's."""
    system = any(executable.startswith(f"{folder}/") for folder in SYSTEM)
    return executable if system else str(Path(executable).resolve())


def found(program: str, env: Mapping[str, str], root: Path | None = None) -> str | None:
    """Where a program is: on the PATH, or below `root` for a relative path; `None` when it can't be started.

    Raises `InputError` where a path below `root` leads through a link or out of it.
    """
    if root is not None and "/" in program and not program.startswith("/"):
        return program_inside(root, program)
    return shutil.which(program, path=env.get("PATH"))
