"""What concerns several suites at once, whatever their kinds."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from evalward.config import LoadedConfig
from evalward.records.policy import Rule
from evalward.records.problem import Place, Problem
from evalward.records.report import Finding, Run
from evalward.records.words import near_or_known
from evalward.suites.base import kind_named, kinds


def unfed_rules(loaded: LoadedConfig) -> list[Problem]:
    """Rules whose metric none of their suites has: nobody shall believe to be protected who is not."""
    found: list[Problem] = []
    config = loaded.config
    groups: list[tuple[tuple[str | int, ...], Sequence[Rule]]] = [(("policy",), config.policy)]
    groups += [(("profiles", name, "policy"), profile.policy) for name, profile in config.profiles.items()]
    for path, rules in groups:
        for index, rule in enumerate(rules):
            suites = [s for s in config.suites if any(rule.holds_for(s.name, t) for t in s.targets or _any_of(rule))]
            known = list(dict.fromkeys(m for s in suites for m in kind_named(s.kind).metric_ids))
            if known and not any(fnmatchcase(rule.metric, metric) for metric in known):
                place = Place(file=loaded.file, line=loaded.line(*path, index, "metric"))
                message = f"no suite that this rule holds for has the metric {rule.metric!r}"
                remedy = near_or_known(rule.metric, known, "Metrics")
                field = f"{'.'.join(map(str, path))}[{index}].metric"
                found.append(Problem(place=place, field=field, message=message, remedy=remedy))
    return found


def _any_of(rule: Rule) -> list[str]:
    """A target that the rule holds for: that of a suite whose results say who it is."""
    return [rule.target or "*"]


def diagnose(runs: Sequence[Run]) -> list[Finding]:
    """What several targets on one suite show together, suite by suite. Kinds that this version lacks say nothing."""
    suites = dict.fromkeys((run.suite, run.kind) for run in runs if run.kind in kinds())
    return [
        finding
        for suite, kind in suites
        for finding in kind_named(kind).diagnose([run for run in runs if (run.suite, run.kind) == (suite, kind)])
    ]
