"""What is odd about a configuration and no mistake: it can be read, and part of it has no effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.config.loaded import LoadedConfig
from evalward.config.words import KeyPath, field_name
from evalward.records.policy import Rule


def odd_rules(loaded: LoadedConfig) -> Iterator[str]:
    """The rules of the policy and of profiles whose goal can't be missed without missing their bound."""
    yield from _of(loaded, loaded.config.policy, ("policy",))
    for name, profile in loaded.config.profiles.items():
        yield from _of(loaded, profile.policy, ("profiles", name, "policy"))


def _of(loaded: LoadedConfig, rules: Sequence[Rule], path: KeyPath) -> Iterator[str]:
    for number, rule in enumerate(rules):
        why = _useless_goal(rule)
        if why:
            here = (*path, number, "goal")
            line = loaded.line(*here)
            yield f"{loaded.file}:{line}: {field_name(here)}: {why}"


def _useless_goal(rule: Rule) -> str:
    if rule.goal is None:
        return ""
    never = "so it never warns"
    if rule.floor is not None and rule.goal <= rule.floor:
        return f"{rule.goal:g} is not above the floor {rule.floor:g}, {never}. Write a higher one, or remove it."
    if rule.ceiling is not None and rule.goal >= rule.ceiling:
        return f"{rule.goal:g} is not below the ceiling {rule.ceiling:g}, {never}. Write a lower one, or remove it."
    return ""
