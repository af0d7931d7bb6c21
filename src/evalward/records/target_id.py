"""The id of a target, parsed: what configuration, reports and the command line call who is evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct

from evalward.records.providers import AGENT_PROVIDERS, PROVIDERS

FixedForm = Literal["oracle", "nop"]
NamedForm = Literal["replay", "program", "agent", "scripted", "patch", "log"]
Form = FixedForm | NamedForm | Literal["model", "coding-agent", "other"]

_FIXED: Mapping[str, FixedForm] = {form: form for form in get_args(FixedForm)}
_NAMED: Mapping[str, NamedForm] = {form: form for form in get_args(NamedForm)}
_MARK = re.compile("[:/]")


class TargetId(Struct, frozen=True):
    """`oracle`, `nop`, `FORM:NAME`, `PROVIDER/MODEL`, or a coding agent with its model: `PROGRAM/MODEL`.

    `head` stands before the first `:` or `/`, which is the `mark`, and `name` behind it. `form` is `other` for targets
    of third parties, which are called by their `head`, and for what is no target. `provider` and `model` say which
    model is asked; they are empty where the id doesn't.
    """

    text: str
    form: Form
    head: str
    mark: Literal["", ":", "/"]
    name: str
    provider: str = ""
    model: str = ""

    @property
    def short(self) -> str:
        """Its last part, which tells it apart where columns are narrow."""
        return self.text.rpartition("/")[2]


def target_id(text: str) -> TargetId:
    """The id that a text is. Any text is one: whether there is such a target, others know."""
    found = _MARK.search(text)
    if found is None:
        form: Form = _FIXED[text] if text in _FIXED else _NAMED.get(text, "other")
        return TargetId(text, form, text, "", "")
    head, name = text[: found.start()], text[found.end() :]
    if found[0] == ":":
        return TargetId(text, _NAMED.get(head, "other"), head, ":", name)
    if head in PROVIDERS:
        return TargetId(text, "model", head, "/", name, head, name)
    if head in AGENT_PROVIDERS:
        return TargetId(text, "coding-agent", head, "/", name, *_provider_and_model(head, name))
    return TargetId(text, "other", head, "/", name)


def _provider_and_model(program: str, name: str) -> tuple[str, str]:
    """Provider and model of a coding agent: where it may ask several providers, its id names one."""
    providers = AGENT_PROVIDERS[program]
    if len(providers) == 1:
        return providers[0], name
    provider, _, model = name.partition("/")
    return (provider, model) if provider in providers else ("", "")
