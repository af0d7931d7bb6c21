"""What an edit of policy or baseline changes, old → new, for whoever has to agree to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalward.records.baseline import Baseline, BaselineRun
from evalward.records.policy import Confirm, Policy, Rule
from evalward.records.result import Status

_WAYS = ("test", "alpha", "floor_test", "confirm")


def policy_edits(old: Policy, new: Policy) -> list[str]:
    """One line per rule, limit or waiver that differs, and for the confirm stage, `fail-on` and the anchor."""
    before, now = _rules(old), _rules(new)
    lines = [f"{name}: {_pair(before.get(name), now.get(name))}" for name in _different(before, now)]
    limits = old.limits.model_dump(), new.limits.model_dump()
    lines += [f"limits: {name} {limits[0][name]:g} → {limits[1][name]:g}" for name in _different(*limits)]
    shares = {"": old.max_judge_error_rate}, {"": new.max_judge_error_rate}
    lines += [f"judge: max_error_rate {shares[0][n]:g} → {shares[1][n]:g}" for n in _different(*shares)]
    waived = {w.id: w.reason for w in old.waive}, {w.id: w.reason for w in new.waive}
    lines += [f"waive {name!r}: {_pair(waived[0].get(name), waived[1].get(name))}" for name in _different(*waived)]
    if old.confirm != new.confirm:
        lines.append(f"confirm: {_confirm(old.confirm)} → {_confirm(new.confirm)}")
    if sorted(old.with_base) != sorted(new.with_base):
        lines.append(f"compared with the base: {_list(old.with_base)} → {_list(new.with_base)}")
    if old.fail_on != new.fail_on:
        lines.append(f"fail-on: {old.fail_on} → {new.fail_on}")
    if old.anchor != new.anchor:
        lines.append(f"anchor: {old.anchor} → {new.anchor}")
    return lines


def _list(names: Sequence[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def baseline_edits(old: Baseline | None, new: Baseline | None) -> list[str]:
    """One line per run whose content differs: how many of its cases passed."""
    before, now = _runs(old), _runs(new)
    return [f"{name}: {_pair(_passed(before.get(name)), _passed(now.get(name)))}" for name in _different(before, now)]


def _different(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    names = dict.fromkeys([*before, *now])
    return [name for name in names if before.get(name) != now.get(name)]


def _pair(before: str | None, now: str | None) -> str:
    return f"{before or 'none'} → {now or 'none'}"


def _rules(policy: Policy) -> dict[str, str]:
    found: dict[str, str] = {}
    for rule in policy.rules:
        found[_name(rule)] = "; ".join(filter(None, [found.get(_name(rule)), _numbers(rule)]))
    return found


def _name(rule: Rule) -> str:
    where = "" if (rule.suite, rule.target) == ("*", "*") else f" of {rule.suite} × {rule.target}"
    return f"{rule.metric}{where}"


def _numbers(rule: Rule) -> str:
    """What a rule says; how it tells chance from change only where that is not the usual way."""
    parts = [rule.in_words]
    changed = rule.model_dump(include=set(_WAYS), exclude_defaults=True)
    parts += [f"{name} {_shown(changed[name])}" for name in _WAYS if name in changed]
    return ", ".join(parts)


def _shown(value: object) -> str:
    return "off" if value is False else f"{value}"


def _confirm(confirm: Confirm | None) -> str:
    if confirm is None:
        return "off"
    base = f"base {confirm.base_trials} trials" if confirm.base == "auto" else "base off"
    return f"trials {confirm.trials}, at_most {confirm.at_most:g}, {base}"


def _runs(baseline: Baseline | None) -> dict[str, BaselineRun]:
    return {run.name: run for run in baseline.runs} if baseline else {}


def _passed(run: BaselineRun | None) -> str | None:
    if run is None:
        return None
    trials = [trial for case in run.cases for trial in case.trials]
    return f"{sum(trial.status is Status.PASSED for trial in trials)} of {len(trials)} trials passed"
