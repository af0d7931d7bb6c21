"""Which tools were taken for which, and what became of each tool, over the trials of a run. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from evalward.records.result import Result
from evalward.suites.mcp.details import UNDECLARED, JudgedCalls
from evalward.suites.mcp.metrics import details_of

NO_TOOL = "(nothing)"
"""What stands for a tool where no call was made, or none was expected."""
LEAST_TRIALS, CONFUSED_SHARE = 2, 0.2
"""From how many trials on, and from which share of those that expected the tool, a pair is a pattern."""


@dataclass(frozen=True)
class ConfusedPair:
    """Trials that were to take one tool first, and took another: `trials` of the `of` that expected it.

    `wanted` and `taken` are `NO_TOOL` where none was expected, or none was called. `cases` are theirs.
    """

    wanted: str
    taken: str
    trials: int
    of: int
    cases: tuple[str, ...] = ()


@dataclass
class ToolTotal:
    """One tool over all trials: calls that were expected, those of them that were made, and where it was taken wrongly.

    `wrong` counts trials whose first call it was, where another tool was expected, or none.
    """

    name: str
    expected: int = 0
    matched: int = 0
    called: int = 0
    wrong: int = 0


@dataclass
class _Wanted:
    trials: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    cases: dict[str, dict[str, None]] = field(default_factory=dict)


def is_silent(results: Iterable[Result]) -> bool:
    """Whether no tool was called in any valid trial: as by a target that does nothing."""
    return not any(details_of(result).total for result in results if result.valid)


def confused_pairs(results: Iterable[Result]) -> list[ConfusedPair]:
    """The pairs of the valid trials, the most frequent first."""
    found: dict[str, _Wanted] = {}
    for result in results:
        judged = details_of(result).judged
        if not result.valid or judged.expects == "neither":
            continue
        wanted = found.setdefault(judged.wanted or NO_TOOL, _Wanted())
        wanted.trials += 1
        if not chosen_rightly(judged):
            taken = taken_name(judged)
            wanted.taken[taken] += 1
            wanted.cases.setdefault(taken, {})[result.id] = None
    pairs = [
        ConfusedPair(name, taken, trials, wanted.trials, tuple(wanted.cases[taken]))
        for name, wanted in found.items()
        for taken, trials in wanted.taken.items()
    ]
    return sorted(pairs, key=lambda pair: (-pair.trials, pair.wanted, pair.taken))


def is_pattern(pair: ConfusedPair) -> bool:
    """Whether it happens often enough to be more than a slip."""
    return pair.trials >= LEAST_TRIALS and pair.trials >= CONFUSED_SHARE * pair.of


def chosen_rightly(judged: JudgedCalls) -> bool:
    """Whether the first choice is right: an expected tool, or no call where none is expected."""
    return judged.counted == 0 if judged.expects == "none" else judged.selected is True


def taken_name(judged: JudgedCalls) -> str:
    """The tool that was taken first, as people read it. Names that models made up are one: a baseline has none."""
    if judged.taken is None:
        return NO_TOOL
    if not judged.taken_known:
        return UNDECLARED
    return tool_name(judged.taken, judged.taken_from)


def tool_name(tool: str, server: str) -> str:
    """A tool as people read it: one of another server says whose it is."""
    return f"{tool} of {server}" if server else tool


def tool_uses(results: Iterable[Result]) -> list[ToolTotal]:
    """Every tool that was expected or called in a valid trial: those that were missed, those taken wrongly, others."""
    found: dict[str, ToolTotal] = {}
    for result in results:
        for tally in details_of(result).judged.tools if result.valid else ():
            name = tool_name(tally.tool, tally.server)
            use = found.setdefault(name, ToolTotal(name))
            use.expected += tally.expected
            use.matched += tally.matched
            use.called += tally.called
            use.wrong += tally.wrong
    return sorted(found.values(), key=lambda use: (use.matched - use.expected, -use.wrong, use.name))
