"""What several agents on one suite show together: what one meets is its own trouble, what all meet the tool's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from evalward.records.report import Finding, Run
from evalward.records.result import Result, Status
from evalward.render.names import quoted
from evalward.render.numbers import percent, percent_limit
from evalward.suites.alike import CommonMessage, messages_in, shared_checks, shared_messages
from evalward.suites.pooling import by_case
from evalward.suites.scenario.interaction import OTHERS
from evalward.suites.scenario.metrics import details_of

LEAST_RUNS = 2
FAILS_OFTEN = 0.25  # share of a subcommand's uses, with every agent that uses it
SHOWN = 3  # gates and messages that a finding names
LEAST_USES = 2  # of each agent, before a subcommand is blamed

Table = Mapping[str, Sequence[Result]]


def diagnose(runs: Sequence[Run]) -> list[Finding]:
    """Findings over the runs of one suite; none for fewer than two measured ones."""
    tables = {run.target: by_case(run.cases) for run in runs if any(result.valid for result in run.cases)}
    if len(tables) < LEAST_RUNS:
        return []
    return [*_failed_by_all(tables), *_hard_subcommands(tables)]


def _failed_by_all(tables: Mapping[str, Table]) -> Iterator[Finding]:
    """Scenarios that nobody passed, of those that at least two agents worked on."""
    for case_id in sorted({case_id for table in tables.values() for case_id in table}):
        tried = [table[case_id] for table in tables.values() if case_id in table]
        results = [result for trials in tried for result in trials]
        if len(tried) < LEAST_RUNS or any(result.status is Status.PASSED for result in results):
            continue
        yield Finding(
            id="failed_by_all",
            level="warning",
            message=f"All {len(tried)} targets fail {quoted(case_id)}: check the tool, its docs and the scenario",
            evidence=_alike(tried),
            threshold="not one trial passed",
            advice="Run the solution (target oracle); if it passes, read the guidance as the agents had to.",
            cases=[case_id],
        )


def _alike(tried: Sequence[Sequence[Result]]) -> str:
    """The gates that fail with every agent in some trial, and what the tool said to every one of them."""
    gates = shared_checks(tried) or _shared_types(tried)
    named = ", ".join(gates[:SHOWN]) + (f" and {len(gates) - SHOWN} more" if len(gates) > SHOWN else "")
    shared = shared_messages([[m for r in results for m in _messages(r)] for results in tried])
    words = "; ".join(f"{text} ({times} times)" for text, times in shared[:SHOWN])
    parts = [f"gates that fail for all: {named}" if gates else "they fail different gates"]
    return "; ".join([*parts, *([f"the tool says to all: {words}"] if words else [])])


def _shared_types(tried: Sequence[Sequence[Result]]) -> list[str]:
    """The types of gates that fail with every agent: of results that name no checks."""
    types = [{g.gate_type for r in results for g in details_of(r).gates if not g.passed} for results in tried]
    return sorted(set.intersection(*types))


def _messages(result: Result) -> list[CommonMessage]:
    return [message for one in details_of(result).interaction.failed for message in messages_in(one.said)]


def _hard_subcommands(tables: Mapping[str, Table]) -> Iterator[Finding]:
    """Subcommands that fail often with every agent that uses them."""
    shares: dict[str, list[float]] = defaultdict(list)
    for table in tables.values():
        for name, (errors, total) in _uses(table).items():
            if name != OTHERS and total >= LEAST_USES:
                shares[name].append(errors / total)
    for name, found in sorted(shares.items()):
        if len(found) >= LEAST_RUNS and min(found) > FAILS_OFTEN:
            yield Finding(
                id="hard_subcommand",
                level="warning",
                message=f"`{name}` fails often with all {len(found)} targets that use it",
                evidence=f"{percent(min(found))} to {percent(max(found))} of its uses",
                threshold=f"> {percent_limit(FAILS_OFTEN)} with each, at least {LEAST_USES} uses",
                advice="Fix the command's arguments, its messages or its example in the guidance.",
            )


def _uses(table: Table) -> dict[str, tuple[int, int]]:
    pooled: dict[str, tuple[int, int]] = {}
    for results in table.values():
        for result in results:
            for name, stats in details_of(result).interaction.per_subcommand.items():
                errors, total = pooled.get(name, (0, 0))
                pooled[name] = (errors + stats.errors, total + stats.total)
    return pooled
