"""The forms that the targets of a suite can have; which of them a kind takes is said by the record of its suites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Protocol

from msgspec import Struct, field
from pydantic import BeforeValidator, Discriminator, Field, Tag

from evalward.config.agents import AGENT_FORMS
from evalward.config.fields import Text, one_or_more
from evalward.records.base import StrictRecord
from evalward.records.providers import PROVIDERS
from evalward.records.succession import Predecessor
from evalward.records.target_id import TargetId, target_id
from evalward.records.words import shown
from evalward.registry import TARGETS, added

MODEL_FORMS = tuple(f"{name}/NAME" for name in PROVIDERS)

FILE_FORMS = ("patch:NAME", "log:NAME")
"""The forms of targets that are one file per case."""

KNOWN_TARGETS: tuple[str, ...] = ("oracle", "nop", "replay:NAME", "program:NAME", *MODEL_FORMS)
"""The forms of a target that somebody talks with; `NAME` stands for a recording, a program or a provider's model."""

ALL_FORMS: tuple[str, ...] = (*KNOWN_TARGETS, *(form for form in AGENT_FORMS if form not in KNOWN_TARGETS), *FILE_FORMS)
"""Every form of a target."""

_STANDS_FOR_ANY = re.compile("NAME|MODEL|PROVIDER")


class TargetForms(Struct, frozen=True):
    """Which targets the suites of a kind take.

    `forms` are written as people read them, like `replay:NAME`. `agents` are those of them that work by themselves,
    instead of being talked with. `refused` says of further forms what is wrong with such a target, and what to do.
    """

    forms: tuple[str, ...] = KNOWN_TARGETS
    agents: tuple[str, ...] = ()
    refused: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def pattern(self) -> str:
        """The forms as a regular expression, for editors."""
        return "^(" + "|".join(_STANDS_FOR_ANY.sub(".+", form) for form in self.forms) + ")$"

    @property
    def known(self) -> tuple[str, ...]:
        """The forms, with the targets of third parties: where there are no agents, one talks with these, too."""
        return self.forms if self.agents else (*self.forms, *added(TARGETS))

    @property
    def usable(self) -> tuple[str, ...]:
        """Those of them that suites of the kind don't refuse."""
        return tuple(form for form in self.known if form not in self.refused)

    def takes_added(self, target: TargetId) -> bool:
        """Whether this is a third party's target, `NAME` or `NAME:REST`, of which the suites may have one."""
        return target.form == "other" and target.mark != "/" and not self.agents and target.head in added(TARGETS)

    def works(self, target: str) -> bool:
        """Whether this target of such a suite is an agent, which works by itself."""
        return form_of(target, self.agents) is not None

    def refusal(self, target: str, kind: str) -> tuple[str, str] | None:
        """Why suites of this kind take no such target, and what else to do; `None` when they do, or nobody knows it."""
        form = form_of(target, self.refused)
        if form is not None:
            what, remedy = self.refused[form]
            return f"the target {shown(target)} {what}", remedy
        if form_of(target, self.forms) is None and form_of(target, ALL_FORMS) is not None:
            return f"suites of kind {kind} don't take the target {shown(target)}", f"Here: {', '.join(self.forms)}."
        return None


def form_of(target: str, forms: Iterable[str]) -> str | None:
    """Which of the forms a target has, by what stands before its `:` or `/`."""
    return next((form for form in forms if _begins_alike(target, form)), None)


def _begins_alike(target: str, form: str) -> bool:
    given, known = target_id(target), target_id(form)
    return given.head == known.head and given.mark in {"", known.mark}


class Successor(StrictRecord):
    """A target that takes another's place."""

    id: Text = Field(description="What is evaluated")
    replaces: Text = Field(description="The target that it replaces, and whose baseline it is compared with")


def _form(value: Any) -> str:
    return "successor" if isinstance(value, dict | Successor) else "text"


ListedTarget = Annotated[Annotated[Text, Tag("text")] | Annotated[Successor, Tag("successor")], Discriminator(_form)]
SomeTargets = Annotated[
    list[ListedTarget],
    Field(min_length=1),
    BeforeValidator(one_or_more, json_schema_input_type=Text | Annotated[list[ListedTarget], Field(min_length=1)]),
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
