"""One scenario in one line: what its trials gave together, for the tables that people read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalward.records.base import Count, Record
from evalward.records.result import NOT_RUN, Result, Status
from evalward.suites.scenario.details import ScenarioDetails


class ScenarioLine(Record):
    """The trials of one scenario by one agent. All numbers but `trials` are sums over the valid ones.

    `valid` of `trials` said something about the agent, `passed` of them passed; of a scenario without a valid trial
    `skipped` says whether the agent could not do it at all. `unknown_commands` are those whose own exit code is
    unknown, `failed_commands` is `None` where no exit code is known. `first_tries`: of `identities` subcommands, of
    which it is known how the first use ended, those where it succeeded; `None` where nobody can tell. `completed` are
    the trials that ended by themselves, `None` where no trial tells it. `judged` trials have a judge's score, and
    `judge_score` is the mean of these. `approximate`: read from a transcript. `isolation`: the walls that the last
    trial had.
    """

    id: str
    trials: Count
    valid: Count = 0
    passed: Count = 0
    skipped: bool = False
    gates_passed: Count = 0
    gates_total: Count = 0
    commands: Count = 0
    unknown_commands: Count = 0
    failed_commands: Count | None = None
    identities: Count = 0
    first_tries: Count | None = None
    completed: Count | None = None
    judged: Count = 0
    judge_score: float | None = None
    composite_score: float | None = None
    approximate: bool = False
    isolation: str = ""


def scenario_lines(results: Iterable[Result]) -> list[ScenarioLine]:
    """A line per scenario of these results, in the order in which they come; what was left out has none."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        if result.reason != NOT_RUN:
            groups.setdefault(result.id, []).append(result)
    return [_line(case, group) for case, group in groups.items()]


def _line(case: str, group: Sequence[Result]) -> ScenarioLine:
    valid = [result for result in group if result.valid]
    details = [result.details for result in valid if isinstance(result.details, ScenarioDetails)]
    used = [one.interaction for one in details]
    known = [one for one in used if one.total_commands and one.exit_codes_known]
    tried = [one.first_tries for one in used if one.first_tries is not None]
    ended = [one.completed for one in details if one.completed is not None]
    return ScenarioLine(
        id=case,
        trials=len(group),
        valid=len(valid),
        passed=sum(result.status is Status.PASSED for result in valid),
        skipped=not valid and any(result.status is Status.SKIPPED for result in group),
        gates_passed=sum(one.gates_passed for one in details),
        gates_total=sum(one.gates_total for one in details),
        commands=sum(one.total_commands for one in used),
        unknown_commands=sum(one.unknown_count for one in used),
        failed_commands=sum(one.error_count for one in known) if known else None,
        identities=sum(known for _, known in tried),
        first_tries=sum(worked for worked, _ in tried) if tried else None,
        completed=sum(ended) if ended else None,
        judged=sum(one.judge_score is not None for one in details),
        judge_score=_mean([one.judge_score for one in details]),
        composite_score=_mean([one.composite_score for one in details]),
        approximate=any(one.approximate for one in details),
        isolation=next((one.isolation for one in reversed(details) if one.isolation), ""),
    )


def _mean(scores: Sequence[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None
