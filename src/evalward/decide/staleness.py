"""When a baseline says little about today: for the report's warnings and for `baseline show`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from evalward.decide.evidence import LOOK
from evalward.decide.statistics.power import fewest_broken_cases
from evalward.decide.succession import RunPair
from evalward.records.baseline import Baseline, BaselineRun
from evalward.records.codes.notices import (
    FewTrials,
    ManyRedefined,
    ManyUnknown,
    OldBaseline,
    OtherVersion,
    OtherVersions,
)
from evalward.records.policy import Confirm
from evalward.records.report import Run

FEW_TRIALS = 5
"""With fewer baseline trials of a random target a small drop can never be told from chance."""

ALPHA = 0.05  # a rule's, by default

VERSION_PARTS = ("bashkit", "safety", "shellcheck", "model", "model_version", "host")
"""Parts of a subject that change under a repository rather than in it."""

Stale = FewTrials | OldBaseline | OtherVersions | ManyRedefined | ManyUnknown
"""What can be stale about a baseline."""


class StaleLimits(Struct, frozen=True):
    """From when on a baseline is called stale. Shares are of the run's cases, 0 to 1."""

    age_days: int = 90
    redefined: float = 0.2
    unknown: float = 0.2
    trials: int = FEW_TRIALS


LIMITS = StaleLimits()


def stale(baseline: Baseline, pairs: Sequence[RunPair] | None, now: str, limits: StaleLimits = LIMITS) -> list[Stale]:
    """What is stale about a baseline. `now` is ISO 8601; a time that can't be read makes nothing old.

    With `pairs`: as far as these runs are concerned, which may take the place of others, and what they show to have
    changed since. Age counts for random targets only: what always does the same does not age.
    """
    now_of = [(pair.base, pair) for pair in pairs if pair.base is not None] if pairs is not None else []
    runs = [base for base, _ in now_of] if pairs is not None else baseline.runs
    found: list[Stale] = [*_age(baseline, runs, now, limits)]
    since = {id(base): pair.run for base, pair in now_of if pair.old is None}
    for run in runs:
        few = few_trials(run, limits.trials)
        found += [few] if few else []
        if id(run) in since:
            found += _drift(run, since[id(run)], limits)
    return found


def few_trials(run: BaselineRun, least: int = FEW_TRIALS) -> FewTrials | None:
    """That a random target has too few trials per case to distinguish a small drop from chance."""
    fewest, most = run.trial_counts
    if not run.random or fewest >= least:
        return None
    return FewTrials(
        suite=run.suite,
        target=run.target,
        fewest=fewest,
        most=most,
        least=least,
        fewest_cases=_fewest_cases(run),
        harness=run.subject.measured_by_harness,
    )


def _fewest_cases(run: BaselineRun) -> int | None:
    """How many cases have to break before so few trials prove it, where the base is not measured again, even where a
    confirm stage tries each failed case as often as it does by default. More questions than one would ask for more.
    """
    trials = [count for case in run.cases if (count := case.valid_trials)]
    return fewest_broken_cases(trials, Confirm().trials, ALPHA * LOOK)


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


def _age(baseline: Baseline, runs: Iterable[BaselineRun], now: str, limits: StaleLimits) -> list[OldBaseline]:
    days = age_days(baseline.provenance.created_at, now)
    ages = any(run.random for run in runs)
    return [OldBaseline(days=days)] if days is not None and days > limits.age_days and ages else []


def _drift(run: BaselineRun, now: Run, limits: StaleLimits) -> Iterator[Stale]:
    if not now.cases:
        return
    changes = tuple(_versions(run.subject.parts, now.subject.parts))
    if changes:
        yield OtherVersions(suite=run.suite, target=run.target, changes=changes)
    yield from _definitions(run, now, limits)


def _versions(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[OtherVersion]:
    for part in VERSION_PARTS:
        if part in before and part in now and before[part] != now[part]:
            yield OtherVersion(part=part, before=before[part], now=now[part])


def _definitions(run: BaselineRun, now: Run, limits: StaleLimits) -> Iterator[Stale]:
    known = {case.id: case.definition for case in run.cases}
    there = {result.id: result.definition for result in now.cases}
    redefined = sum(known[case_id] != definition for case_id, definition in there.items() if case_id in known)
    unknown = len(there.keys() - known.keys())
    if known and redefined > limits.redefined * len(known):
        yield ManyRedefined(suite=run.suite, target=run.target, count=redefined, known=len(known))
    if there and unknown > limits.unknown * len(there):
        yield ManyUnknown(suite=run.suite, target=run.target, count=unknown, cases=len(there))
