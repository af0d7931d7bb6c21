"""From the id of an agent program to the agent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evalward.records.base import digest
from evalward.records.problem import wrong
from evalward.records.providers import AGENT_PROVIDERS
from evalward.records.target_id import TargetId, target_id
from evalward.targets.agents.driver import Dialect, DrivenAgent, found, version_of
from evalward.targets.agents.model_access import ModelAccess
from evalward.targets.agents.program import dialect_of
from evalward.targets.context import TargetContext
from evalward.targets.own_files import program_files


@dataclass(frozen=True)
class CodingAgent:
    """An agent program that we know how to start: makes the targets `NAME/MODEL` and `NAME/PROVIDER/MODEL`.

    `program` is what it is on the PATH, `package` what npm installs it from.
    """

    program: str
    package: str
    dialect: Dialect

    def __call__(self, asked: TargetId, context: TargetContext) -> DrivenAgent:
        """The agent of this id. Raises `InputError` when its program isn't there."""
        name, file = asked.text, context.loaded.file
        if not asked.model:
            remedy = f"Write it as {asked.head}/PROVIDER/MODEL with one of: {', '.join(AGENT_PROVIDERS[asked.head])}."
            raise wrong(file, f"{name!r} doesn't name its provider and model", remedy, field="targets")
        executable = found(self.program, context.env)
        if executable is None:
            remedy = f"Install it where the workflow runs: npm install --global {self.package}."
            raise wrong(file, f"{name!r} needs the program {self.program}, which is not on the PATH", remedy)
        access = _access(asked, context, asked, pinned=False)
        about = {"agent": self.program, "agent_version": version_of(executable)}
        return DrivenAgent(name, executable, self.dialect, access, about=about)


def own_program(asked: TargetId, context: TargetContext) -> DrivenAgent:
    """The target `agent:NAME`, a program of one's own. Raises `InputError` when there is none that can be started."""
    loaded = context.loaded
    program = context.entry(loaded.config.agents, asked)
    executable = found(program.command[0], context.env, loaded.root)
    if executable is None:
        remedy = "Name a program on the PATH, or an executable file relative to the configuration's folder."
        message = f"there is no program {program.command[0]!r} that can be started"
        place = loaded.line("agents", asked.name, "command")
        raise wrong(loaded.file, message, remedy, line=place, field=f"agents.{asked.name}.command")
    access = None
    if program.model is not None:
        access = _access(asked, context, target_id(program.model), pinned=program.pinned)
    called = {"program": digest(program.model_dump(mode="json"))}
    about = {**called, **program_files(loaded.root, program.command)}
    return DrivenAgent(
        asked.text, str(Path(executable)), dialect_of(program), access, about=about, timeout_s=program.timeout_s
    )


def _access(asked: TargetId, context: TargetContext, model: TargetId, *, pinned: bool) -> ModelAccess:
    """The way of an agent to a model."""
    name = (model.provider, model.model)
    return ModelAccess(asked.text, context.loaded.config, context.env, context.asker, name, pinned=pinned)
