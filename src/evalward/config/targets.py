"""The forms that the targets of a suite can have, by the kind of the suite."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

from evalward.config.agents import AGENT_FORMS
from evalward.config.fields import one_or_more
from evalward.config.providers import PROVIDERS

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


TargetText = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": _pattern(KNOWN_TARGETS)})]
SomeTargets = Annotated[
    list[TargetText],
    Field(min_length=1),
    BeforeValidator(one_or_more, json_schema_input_type=TargetText | Annotated[list[TargetText], Field(min_length=1)]),
]

ScenarioTargetText = Annotated[str, Field(min_length=1, json_schema_extra={"pattern": _pattern(SCENARIO_TARGETS)})]
SomeScenarioTargets = Annotated[
    list[ScenarioTargetText],
    Field(min_length=1),
    BeforeValidator(
        one_or_more,
        json_schema_input_type=ScenarioTargetText | Annotated[list[ScenarioTargetText], Field(min_length=1)],
    ),
]
