"""When a baseline says little about today: pure sentences, for the report's warnings and for `baseline show`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from evalward.decide.evidence import LOOK
from evalward.decide.sentences import number_word
from evalward.decide.statistics.power import fewest_broken_cases
from evalward.decide.succession import Pair
from evalward.records.baseline import Baseline, BaselineRun
from evalward.records.policy import Confirm
from evalward.records.report import Run

FEW_TRIALS = 5
"""With fewer baseline trials of a random target a small drop can never be told from chance."""

ALPHA = 0.05  # a rule's, by default

VERSION_PARTS = {
    "bashkit": "bashkit",
    "safety": "the safety validator",
    "shellcheck": "shellcheck",
    "model": "the model",
    "model_version": "the model's version",
    "host": "the host",
}
"""Parts of a subject that change under a repository rather than in it, in people's words."""


@dataclass(frozen=True)
class StaleLimits:
    """From when on a baseline is called stale. Shares are of the run's cases, 0 to 1."""

    age_days: int = 90
    redefined: float = 0.2
    unknown: float = 0.2
    trials: int = FEW_TRIALS


LIMITS = StaleLimits()


def stale(baseline: Baseline, pairs: Sequence[Pair] | None, now: str, limits: StaleLimits = LIMITS) -> list[str]:
    """What is stale about a baseline, in sentences. `now` is ISO 8601; a time that can't be read makes nothing old.

    With `pairs`: as far as these runs are concerned, which may take the place of others, and what they show to have
    changed since. Age counts for random targets only: what always does the same does not age.
    """
    now_of = [(pair.base, pair) for pair in pairs if pair.base is not None] if pairs is not None else []
    runs = [base for base, _ in now_of] if pairs is not None else baseline.runs
    told = _age(baseline, runs, now, limits)
    since = {id(base): pair.run for base, pair in now_of if pair.old is None}
    for run in runs:
        few = few_trials(run, limits.trials)
        told += [few] if few else []
        if id(run) in since:
            told += _drift(run, since[id(run)], limits)
    return told


def few_trials(run: BaselineRun, least: int = FEW_TRIALS) -> str | None:
    """That a random target has too few trials per case to tell a small drop from chance."""
    fewest, most = run.trial_counts
    if not run.random or fewest >= least:
        return None
    counted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return (
        f"{run.name}: the baseline has {counted} {'trial' if most == 1 else 'trials'} per case: {_cannot(run)}. "
        f"Run with `--trials {least}` and update it"
    )


def _cannot(run: BaselineRun) -> str:
    """What so few trials can't do where the base is not measured again, even where a confirm stage tries each failed
    case as often as it does by default. More questions than one would ask for more still.
    """
    trials = [case.tally.trials for case in run.cases if case.tally]
    cases = fewest_broken_cases(trials, Confirm().trials, ALPHA * LOOK)
    if cases is None:
        return "by itself it can't convict any drop"
    if cases == 1:
        return "by itself it can't tell a small drop from chance"
    return f"by itself it can't convict a drop of fewer than {number_word(cases)} cases"


def age_days(created_at: str, now: str) -> int | None:
    """Whole days between two times; `None` when one of them can't be read."""
    before, after = _time(created_at), _time(now)
    return None if before is None or after is None else (after - before).days


def _time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _age(baseline: Baseline, runs: Iterable[BaselineRun], now: str, limits: StaleLimits) -> list[str]:
    days = age_days(baseline.provenance.created_at, now)
    ages = any(run.random for run in runs)
    if days is None or days <= limits.age_days or not ages:
        return []
    return [f"the baseline is {days} days old, and models change under their names: measure it anew"]


def _drift(run: BaselineRun, now: Run, limits: StaleLimits) -> list[str]:
    return [*_versions(run, now), *_definitions(run, now, limits)] if now.cases else []


def _versions(run: BaselineRun, now: Run) -> list[str]:
    before, after = run.subject.parts, now.subject.parts
    changed = [
        f"{words} ({before[part]}, now {after[part]})"
        for part, words in VERSION_PARTS.items()
        if part in before and part in after and before[part] != after[part]
    ]
    return [f"{run.name}: the baseline was measured with another {_bare(', '.join(changed))}"] if changed else []


def _bare(words: str) -> str:
    return words.removeprefix("the ")


def _definitions(run: BaselineRun, now: Run, limits: StaleLimits) -> list[str]:
    known = {case.id: case.definition for case in run.cases}
    there = {result.id: result.definition for result in now.cases}
    redefined = sum(known[case_id] != definition for case_id, definition in there.items() if case_id in known)
    unknown = len(there.keys() - known.keys())
    told = []
    if known and redefined > limits.redefined * len(known):
        told.append(f"{run.name}: {redefined} of the baseline's {len(known)} cases ask something else now: update it")
    if there and unknown > limits.unknown * len(there):
        told.append(
            f"{run.name}: the baseline lacks {unknown} of {len(there)} cases, which nothing protects: update it"
        )
    return told
