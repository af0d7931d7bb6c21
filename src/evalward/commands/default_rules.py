"""The rules that hold for what no policy names, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.records.policy import Rule


def rules_by_default(kinds: Mapping[str, Sequence[Rule]]) -> str:
    """The default rules of kinds by their names: `the default rules decide: bash: pass_rate (max_drop 0.05)`."""
    rules = [
        f"{kind}: {', '.join(f'{rule.metric} ({rule.in_words})' for rule in rules)}"
        for kind, rules in kinds.items()
        if rules
    ]
    return f"the default rules decide: {'; '.join(rules)}" if rules else "no rule decides"
