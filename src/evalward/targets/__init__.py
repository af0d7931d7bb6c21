"""Who answers: models, programs, and the three that need nobody: oracle, nop and replay."""

from __future__ import annotations

from collections.abc import Mapping

from evalward.config import PROVIDERS, LoadedConfig, TargetForms
from evalward.records.problem import wrong
from evalward.targets.asking import AskedTarget, Asker, NoAsker
from evalward.targets.base import Evaluated, Target

REPLAY = "replay:"
PROGRAM = "program:"
PER_TASK = ("patch", "log")


def make_target(name: str, loaded: LoadedConfig, env: Mapping[str, str], asker: Asker | None = None) -> Target:
    """The target of this id. Raises `InputError` when there is none, or when its recording can't be read.

    `env` says which keys there are: one that is missing is no error yet, see `Target.missing_key`. `asker` asks the
    models; without it nobody does.
    """
    if name == "oracle":
        from evalward.targets.scripted import Oracle  # noqa: PLC0415 - each target costs only who uses it

        return Oracle()
    if name == "nop":
        from evalward.targets.scripted import Nop  # noqa: PLC0415

        return Nop()
    if name.startswith(REPLAY):
        from evalward.targets.replay import load_recording  # noqa: PLC0415

        recording = name.removeprefix(REPLAY)
        path = loaded.config.recordings[recording]
        return load_recording(recording, loaded.root / path, shown=path, root=loaded.root)
    if name.startswith(PROGRAM):
        from evalward.targets.programs import load_program  # noqa: PLC0415

        return load_program(name.removeprefix(PROGRAM), loaded, env)
    form, _, left = name.partition(":")
    if form in PER_TASK and left:
        return _files(form, left, loaded)
    provider, _, model = name.partition("/")
    if provider in PROVIDERS and model:
        return _live(provider, model, loaded, env, asker or NoAsker())
    known = ", ".join(
        [
            "oracle",
            "nop",
            "replay:NAME",
            "program:NAME",
            *(f"{each}/NAME" for each in PROVIDERS),
            *(f"{form}:NAME" for form in PER_TASK),
        ]
    )
    raise wrong(loaded.file, f"there is no target {name!r}", f"Known: {known}.", field="targets")


def make_evaluated(
    takes: TargetForms, name: str, loaded: LoadedConfig, env: Mapping[str, str], asker: Asker | None = None
) -> Evaluated:
    """Who is evaluated by a suite that `takes` such targets: as `make_target`, and where agents work these, too."""
    if not takes.works(name):
        return make_target(name, loaded, env, asker)
    from evalward.targets.agents.make import make_agent  # noqa: PLC0415

    config = loaded.config
    return make_agent(name, loaded, env, asker, agents=config.agents, scripts=config.scripts)


def _files(form: str, name: str, loaded: LoadedConfig) -> Target:
    from evalward.targets.per_task import FileTarget  # noqa: PLC0415

    if form == "patch":
        return FileTarget("patch", name, loaded.config.patches[name], loaded.root)
    return FileTarget("log", name, loaded.config.logs[name], loaded.root)


def _live(provider: str, model: str, loaded: LoadedConfig, env: Mapping[str, str], asker: Asker) -> Target:
    from evalward.targets.models.settings import settings_of  # noqa: PLC0415

    return AskedTarget(settings_of(loaded.config, provider, model), env, asker)
