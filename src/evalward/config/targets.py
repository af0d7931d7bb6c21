"""The forms that the targets of a suite can have, by the kind of the suite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Protocol

from pydantic import BeforeValidator, Discriminator, Field, Tag

from evalward.config.agents import AGENT_FORMS
from evalward.config.fields import Text, one_or_more
from evalward.records.base import StrictRecord
from evalward.records.providers import PROVIDERS
from evalward.records.succession import Predecessor

_MODELS = tuple(f"{name}/NAME" for name in PROVIDERS)

KNOWN_TARGETS: tuple[str, ...] = ("oracle", "nop", "replay:NAME", "program:NAME", *_MODELS)
"""The forms of a target that somebody talks with; `NAME` stands for a recording, a program or a provider's model."""

SCENARIO_TARGETS: tuple[str, ...] = (*_MODELS, "replay:NAME", *AGENT_FORMS)
"""The forms of a scenario's target: a model in the built-in loop, a recording, or an agent."""

SPEEDUP_TARGETS: tuple[str, ...] = ("patch:NAME", "log:NAME", *AGENT_FORMS)
"""The forms of a speedup suite's target: changes and logs that are there already, or an agent."""

_STANDS_FOR_ANY = re.compile("NAME|MODEL|PROVIDER")


def _pattern(forms: tuple[str, ...]) -> str:
    return "^(" + "|".join(_STANDS_FOR_ANY.sub(".+", form) for form in forms) + ")$"


class Successor(StrictRecord):
    """A target that takes another's place."""

    id: Text = Field(description="Who is evaluated")
    replaces: Text = Field(description="The target that it takes the place of: it is compared with that one's baseline")


def _form(value: Any) -> str:
    return "successor" if isinstance(value, dict | Successor) else "text"


TargetText = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": _pattern(KNOWN_TARGETS)})]
ListedTarget = Annotated[
    Annotated[TargetText, Tag("text")] | Annotated[Successor, Tag("successor")], Discriminator(_form)
]
SomeTargets = Annotated[
    list[ListedTarget],
    Field(min_length=1),
    BeforeValidator(
        one_or_more, json_schema_input_type=TargetText | Annotated[list[ListedTarget], Field(min_length=1)]
    ),
]

ScenarioTargetText = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": _pattern(SCENARIO_TARGETS)})]
ListedScenarioTarget = Annotated[
    Annotated[ScenarioTargetText, Tag("text")] | Annotated[Successor, Tag("successor")], Discriminator(_form)
]
SomeScenarioTargets = Annotated[
    list[ListedScenarioTarget],
    Field(min_length=1),
    BeforeValidator(
        one_or_more,
        json_schema_input_type=ScenarioTargetText | Annotated[list[ListedScenarioTarget], Field(min_length=1)],
    ),
]

ListedSpeedupTarget = Annotated[
    Annotated[Text, Tag("text")] | Annotated[Successor, Tag("successor")], Discriminator(_form)
]
SomeSpeedupTargets = Annotated[
    list[ListedSpeedupTarget],
    Field(min_length=1),
    BeforeValidator(
        one_or_more, json_schema_input_type=Text | Annotated[list[ListedSpeedupTarget], Field(min_length=1)]
    ),
]


def ids_of(listed: Sequence[str | Successor]) -> list[str]:
    """Who is evaluated, without whom they replace."""
    return [target if isinstance(target, str) else target.id for target in listed]


class Succeeding(Protocol):
    """What of a suite says whose place it and its targets take."""

    @property
    def listed(self) -> Sequence[str | Successor]:
        """Its targets, as they are written."""
        ...

    @property
    def replaces(self) -> str | None:
        """The suite whose place it takes."""
        ...


def predecessor_of(suite: Succeeding, target: str) -> Predecessor | None:
    """Which run this suite says that its run with a target takes the place of, `None` where it says nothing."""
    named = next((each.replaces for each in suite.listed if isinstance(each, Successor) and each.id == target), None)
    return Predecessor(suite=suite.replaces, target=named) if suite.replaces or named else None
