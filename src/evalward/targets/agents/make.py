"""From the id of an agent to the agent."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from evalward.config import LoadedConfig
from evalward.config.agents import AGENT_FORMS, AgentProgram
from evalward.records.base import digest
from evalward.records.problem import wrong
from evalward.targets.agents.base import Agent
from evalward.targets.asking import Asker, NoAsker

PROGRAM, SCRIPTED = "agent:", "scripted:"
# One line per agent: the module with PROGRAM, PACKAGE, PROVIDERS and DIALECT.
DRIVERS: Mapping[str, str] = {
    "claude-code": "evalward.targets.agents.claude_code",
    "codex": "evalward.targets.agents.codex",
    "opencode": "evalward.targets.agents.opencode",
}


def make_agent(
    name: str,
    loaded: LoadedConfig,
    env: Mapping[str, str],
    asker: Asker | None = None,
    *,
    agents: Mapping[str, AgentProgram] | None = None,
    scripts: Mapping[str, str] | None = None,
) -> Agent:
    """The agent of this id. Raises `InputError` when there is none, or when its program or script isn't there.

    `agents` and `scripts` are the configuration's, by name; a script's path counts from the configuration's folder.
    `env` says which keys there are and where programs are looked up; `asker` asks the agents' models.
    """
    if name in ("oracle", "nop"):
        from evalward.targets.agents.scripted import NopAgent, OracleAgent  # noqa: PLC0415

        return OracleAgent() if name == "oracle" else NopAgent()
    if name.startswith(SCRIPTED) and name.removeprefix(SCRIPTED) in (scripts or {}):
        from evalward.targets.agents.scripted import load_scripts  # noqa: PLC0415

        path = (scripts or {})[name.removeprefix(SCRIPTED)]
        return load_scripts(name.removeprefix(SCRIPTED), loaded.root / path, path, loaded.root)
    if name.startswith(PROGRAM) and name.removeprefix(PROGRAM) in (agents or {}):
        return _program(name, (agents or {})[name.removeprefix(PROGRAM)], loaded, env, asker or NoAsker())
    kind, _, model = name.partition("/")
    if kind in DRIVERS and model:
        return _driven(name, import_module(DRIVERS[kind]), loaded, env, asker or NoAsker())
    raise wrong(loaded.file, f"there is no agent {name!r}", f"Known: {', '.join(AGENT_FORMS)}.", field="targets")


def _driven(name: str, module: Any, loaded: LoadedConfig, env: Mapping[str, str], asker: Asker) -> Agent:
    from evalward.targets.agents.driver import DrivenAgent, found, version_of  # noqa: PLC0415
    from evalward.targets.agents.model_access import ModelAccess  # noqa: PLC0415

    provider, model = module.PROVIDERS[0], name.partition("/")[2]
    if len(module.PROVIDERS) > 1:
        provider, _, model = model.partition("/")
        if provider not in module.PROVIDERS or not model:
            remedy = f"Write it as {module.PROGRAM}/PROVIDER/MODEL with one of: {', '.join(module.PROVIDERS)}."
            raise wrong(loaded.file, f"{name!r} doesn't name its provider and model", remedy, field="targets")
    executable = found(module.PROGRAM, env)
    if executable is None:
        remedy = f"Install it where the workflow runs: npm install --global {module.PACKAGE}."
        raise wrong(loaded.file, f"{name!r} needs the program {module.PROGRAM}, which is not on the PATH", remedy)
    access = ModelAccess(name, loaded.config, env, asker, (provider, model), pinned=False)
    about = {"agent": module.PROGRAM, "agent_version": version_of(executable)}
    return DrivenAgent(name, executable, module.DIALECT, access, about=about)


def _program(name: str, program: AgentProgram, loaded: LoadedConfig, env: Mapping[str, str], asker: Asker) -> Agent:
    from evalward.targets.agents.driver import DrivenAgent, found  # noqa: PLC0415
    from evalward.targets.agents.model_access import ModelAccess  # noqa: PLC0415
    from evalward.targets.agents.program import dialect_of  # noqa: PLC0415

    own = name.removeprefix(PROGRAM)
    executable = found(program.command[0], env, loaded.root)
    if executable is None:
        remedy = "Name a program on the PATH, or an executable file relative to the configuration's folder."
        message = f"there is no program {program.command[0]!r} that can be started"
        place = loaded.line("agents", own, "command")
        raise wrong(loaded.file, message, remedy, line=place, field=f"agents.{own}.command")
    access = None
    if program.model is not None:
        provider, _, model = program.model.partition("/")
        access = ModelAccess(name, loaded.config, env, asker, (provider, model), pinned=program.pinned)
    about = {"program": digest(program.model_dump(mode="json"))}
    return DrivenAgent(
        name, str(Path(executable)), dialect_of(program), access, about=about, timeout_s=program.timeout_s
    )
