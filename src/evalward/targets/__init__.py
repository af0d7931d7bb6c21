"""Who answers: models, programs, agents, and the three that need nobody: oracle, nop and replay."""

from __future__ import annotations

from collections.abc import Mapping

from evalward.config import LoadedConfig, TargetForms
from evalward.config.targets import ALL_FORMS
from evalward.records.parts import loaded
from evalward.records.problem import InputError, wrong
from evalward.records.target_id import TargetId, target_id
from evalward.registry import TARGETS, added
from evalward.targets.asking import Asker, NoAsker
from evalward.targets.base import Evaluated, Target, talks
from evalward.targets.context import TargetContext, TargetFactory

_UNNAMED = ("oracle", "nop")


def make_target(name: str, loaded: LoadedConfig, env: Mapping[str, str], asker: Asker | None = None) -> Target:
    """The target of this id, which one talks with. Raises `InputError` when there is none.

    `env` says which keys there are: one that is missing is no error yet, see `Evaluated.missing_key`. `asker` asks the
    models; without it nobody does.
    """
    made = _made(name, TargetContext(loaded, env, asker or NoAsker()))
    if not talks(made):
        raise _unknown(name, loaded)
    return made


def make_evaluated(
    takes: TargetForms, name: str, loaded: LoadedConfig, env: Mapping[str, str], asker: Asker | None = None
) -> Evaluated:
    """Who is evaluated by a suite that `takes` such targets: as `make_target`, or an agent that works by itself."""
    return _made(name, TargetContext(loaded, env, asker or NoAsker(), agents_work=takes.works(name)))


def _made(name: str, context: TargetContext) -> Evaluated:
    asked = target_id(name)
    factory = _factory(asked)
    if factory is None:
        raise _unknown(name, context.loaded)
    return factory(asked, context)


def _factory(asked: TargetId) -> TargetFactory | None:
    """What makes a target of this form, or of this name: a coding agent, a third party's target. `None` for nothing."""
    if asked.form == "other":
        there = asked.mark != "/" and asked.head in added(TARGETS)
        return loaded(TARGETS, asked.head) if there else None
    complete = asked.form in _UNNAMED or asked.name
    return loaded(TARGETS, asked.head if asked.form == "coding-agent" else asked.form) if complete else None


def _unknown(name: str, loaded: LoadedConfig) -> InputError:
    known = ", ".join([*ALL_FORMS, *added(TARGETS)])
    return wrong(loaded.file, f"there is no target {name!r}", f"Known: {known}.", field="targets")
