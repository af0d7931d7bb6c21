"""The rules that hold for what no policy names, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.records.policy import Rule

_LIMITS = ("floor", "ceiling", "goal", "max_drop", "max_rise")


def rules_by_default(kinds: Mapping[str, Sequence[Rule]]) -> str:
    """The default rules of kinds by their names: `the default rules decide: bash: pass_rate (max_drop 0.05)`."""
    rules = [f"{kind}: {', '.join(map(_in_words, rules))}" for kind, rules in kinds.items() if rules]
    return f"the default rules decide: {'; '.join(rules)}" if rules else "no rule decides"


def _in_words(rule: Rule) -> str:
    given = [f"{name} {value:g}" for name in _LIMITS if (value := getattr(rule, name)) is not None]
    return f"{rule.metric} ({', '.join(given)})"
