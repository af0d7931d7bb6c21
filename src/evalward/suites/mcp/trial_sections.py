"""What people see of one mcp trial beside its checks and its conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalward.records.result import Result
from evalward.records.sections import Facts, FileText, GridRow, TrialSection
from evalward.render.numbers import NOT_AVAILABLE
from evalward.suites.mcp.confusion import NO_TOOL, taken_name
from evalward.suites.mcp.details import AttemptedCall, McpDetails, written_arguments

_NOT_SENT = "not executed"


def trial_sections(result: Result, files: Sequence[FileText]) -> list[TrialSection]:
    """Expected beside called, then each call with what became of it, then what else is known."""
    details = result.details
    if not isinstance(details, McpDetails):
        return [*files]
    return [*_choice(details), *_calls(details), *_more(details), *files]


def _choice(details: McpDetails) -> Iterator[Facts]:
    judged = details.judged
    rows = [GridRow(label="calls", values=[details.asked or NOT_AVAILABLE, _made(details)])]
    if judged.expects != "neither":
        rows.insert(0, GridRow(label="first tool", values=[judged.wanted or NO_TOOL, taken_name(judged)]))
    yield Facts(title="Calls", heads=["expected", "found"], rows=rows)


def _made(details: McpDetails) -> str:
    judged = details.judged
    return f"{judged.counted:,} counted, {judged.matched:,} of {judged.expected:,} expected ones matched"


def _calls(details: McpDetails) -> Iterator[Facts]:
    rows = [
        GridRow(label=f"{number}. {call.tool}", values=[_arguments(call), _fits(call), _ended(call), call.why or "–"])
        for number, call in enumerate(details.calls, 1)
    ]
    if rows:
        heads = ["arguments", "fit the schema", "ended", "why"]
        yield Facts(title="Each call", heads=heads, rows=rows)


def _arguments(call: AttemptedCall) -> str:
    return written_arguments(call.arguments) if call.arguments is not None else call.raw or "(none)"


def _fits(call: AttemptedCall) -> str:
    if not call.known:
        return "tool not declared"
    return NOT_AVAILABLE if call.valid is None else "yes" if call.valid else "no"


def _ended(call: AttemptedCall) -> str:
    if not call.executed:
        return _NOT_SENT
    return NOT_AVAILABLE if call.error is None else "error" if call.error else "ok"


def _more(details: McpDetails) -> Iterator[Facts]:
    left_out = details.total - len(details.calls)
    known = [
        ("calls that are not listed", _count(left_out)),
        ("arguments that no schema has", ", ".join(f"{each.tool}: {each.argument}" for each in details.invented)),
        ("differs from the recording from call", str(details.diverged_at or "")),
        ("requests of the server that were refused", ", ".join(f"{key} {n:,}" for key, n in details.refused.items())),
        ("times that the server changed its list of tools", _count(details.list_changed)),
        ("tokens of the server's tools", "" if details.catalogue_tokens is None else f"≈ {details.catalogue_tokens:,}"),
    ]
    rows = [GridRow(label=label, values=[value]) for label, value in known if value]
    if rows:
        yield Facts(title="In addition to the calls", rows=rows)


def _count(number: int) -> str:
    return f"{number:,}" if number > 0 else ""
