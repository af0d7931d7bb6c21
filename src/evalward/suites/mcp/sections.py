"""What people see of an mcp run: which tools are taken for which, what became of each tool and category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evalward.records.baseline import BaselineRun
from evalward.records.metric import Metric
from evalward.records.report import Run
from evalward.records.result import Result
from evalward.records.sections import GridRow, Note, RunListing, Section
from evalward.render.numbers import NOT_AVAILABLE
from evalward.suites.mcp.confusion import (
    NO_TOOL,
    ConfusedPair,
    ToolTotal,
    confused_pairs,
    is_pattern,
    is_silent,
    tool_uses,
)
from evalward.suites.mcp.metrics import details_of, measure

NOTHING = "–"
_BY_CATEGORY = {"right tool": "tool_selection_accuracy", "calls matched": "call_recall", "passed": "pass_rate"}
"""Columns, and the metrics in them."""
_REPLAY = {
    "select": "Replay: recorded calls, judged again. Changed descriptions make no difference to them.",
    "run": "Replay: recorded calls, executed again by today's server. Changed descriptions make no difference to them.",
}
_PAIRS = "Trials whose first call was of another tool than the one that was asked for, of all that asked for it."
_TOOLS = (
    "Matched: expected calls that were made, with the expected arguments. Taken wrongly: trials whose first call it "
    "was, where another tool was expected, or none."
)


def sections(run: Run, base: BaselineRun | None) -> list[Section]:
    """Confused pairs, tools and categories of a run, beside the same cases of its base; what a replay is."""
    now = [result for result in run.cases if result.valid]
    before = _same_cases(now, base)
    found = [_pairs(now, before), _tools(now, before), _categories(now, before)]
    return [*(each for each in found if each.rows), *_replay(now)]


def _same_cases(now: Sequence[Result], base: BaselineRun | None) -> list[Result]:
    """The base's trials of the cases that are measured now, as far as their definitions are equal."""
    known = {(result.id, result.definition) for result in now}
    cases = [case for case in base.cases if (case.id, case.definition) in known] if base else []
    return [result for case in cases for result in case.results() if result.valid]


def _pairs(now: Sequence[Result], before: Sequence[Result]) -> RunListing:
    was = {(pair.wanted, pair.taken): pair for pair in confused_pairs(before)}
    asked, pairs = _trials_by_tool(before), [] if is_silent(now) else confused_pairs(now)
    rows = [
        GridRow(
            label=f"{pair.wanted} → {pair.taken}",
            values=[_of(pair.trials, pair.of), *_compared(before, _was(pair, was, asked))],
        )
        for pair in pairs
    ]
    return RunListing(
        title="Confused tools",
        head="asked for → taken",
        columns=["trials", *_compared(before, "baseline")],
        rows=rows,
        note=_PAIRS,
        open=any(is_pattern(pair) for pair in pairs),
    )


def _was(pair: ConfusedPair, was: Mapping[tuple[str, str], ConfusedPair], asked: Mapping[str, int]) -> str:
    """How often that was so in the base."""
    known = was.get((pair.wanted, pair.taken))
    if known is not None:
        return _of(known.trials, known.of)
    return _of(0, asked[pair.wanted]) if pair.wanted in asked else NOTHING


def _trials_by_tool(results: Iterable[Result]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for result in results:
        judged = details_of(result).judged
        if judged.expects != "neither":
            name = judged.wanted or NO_TOOL
            counts[name] = counts.get(name, 0) + 1
    return counts


def _tools(now: Sequence[Result], before: Sequence[Result]) -> RunListing:
    was = {use.name: use for use in tool_uses(before)}
    rows = [_tool(use, was.get(use.name), bool(before)) for use in tool_uses(now)]
    note = " ".join(part for part in (_TOOLS, _tokens(now, before)) if part)
    heads = _heads(("matched", "taken wrongly"), before)
    return RunListing(title="Tools", head="tool", columns=heads, rows=rows, note=note)


def _tool(use: ToolTotal, was: ToolTotal | None, compared: bool) -> GridRow:
    matched, wrong = [_matched(use)], [f"{use.wrong:,}"]
    if compared:
        matched.append(NOTHING if was is None else _matched(was))
        wrong.append("0" if was is None else f"{was.wrong:,}")
    return GridRow(label=use.name, values=[*matched, *wrong])


def _matched(use: ToolTotal) -> str:
    return _of(use.matched, use.expected) if use.expected else NOTHING


def _tokens(now: Sequence[Result], before: Sequence[Result]) -> str:
    """About what the tools take in every request, and whether they took more or less before."""
    size, was = (_catalogue(results) for results in (now, before))
    if size is None:
        return ""
    said = f"The server's tools take ≈ {size:,} tokens in every request"
    if was is None or was == size:
        return f"{said}."
    change = f"{said}, ≈ {was:,} in the baseline"
    return f"{change}; {_effect(now, before)}." if size > was else f"{change}."


def _catalogue(results: Sequence[Result]) -> int | None:
    known = [size for result in results if (size := details_of(result).catalogue_tokens) is not None]
    return max(known, default=None)


def _effect(now: Sequence[Result], before: Sequence[Result]) -> str:
    """What longer descriptions came with: how many trials took the right tool first, then and now."""
    chosen, was = (measure(results).metrics["tool_selection_accuracy"] for results in (now, before))
    if not (chosen.denominator and was.denominator):
        return "no case expects a call"
    return f"the right tool was taken in {_share(chosen)} trials, in the baseline in {_share(was)}"


def _categories(now: Sequence[Result], before: Sequence[Result]) -> RunListing:
    groups, was = _by_category(now), _by_category(before)
    rows = []
    for name in sorted(groups) if len(groups) > 1 else ():
        cells, old = _category(groups[name]), _category(was[name]) if name in was else [NOTHING] * len(_BY_CATEGORY)
        values = [value for cell, past in zip(cells, old, strict=True) for value in (cell, *_compared(before, past))]
        rows.append(GridRow(label=name, values=values))
    return RunListing(
        title="Categories by tool choice", head="category", columns=_heads(_BY_CATEGORY, before), rows=rows
    )


def _by_category(results: Iterable[Result]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.category, []).append(result)
    return groups


def _category(results: Sequence[Result]) -> list[str]:
    found = measure(results).metrics
    return [_share(found[name]) if found[name].denominator else NOT_AVAILABLE for name in _BY_CATEGORY.values()]


def _replay(now: Sequence[Result]) -> list[Section]:
    modes = [details_of(result).mode for result in now if details_of(result).replayed]
    return [Note(about="replay", text=_REPLAY[modes[0]])] if modes else []


def _heads(columns: Iterable[str], before: Sequence[Result]) -> list[str]:
    """Each column, with that of the base behind it."""
    return [head for column in columns for head in (column, *_compared(before, f"{column}, baseline"))]


def _compared(before: Sequence[Result], text: str) -> list[str]:
    """A cell or head of the base, where there is one."""
    return [text] if before else []


def _share(metric: Metric) -> str:
    return _of(round(metric.numerator or 0), round(metric.denominator or 0))


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}"
