"""What the numbers of an mcp run show: tools that are taken for each other, arguments that no schema knows, gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from evalward.records.comparison import TOOL_OF
from evalward.records.report import Finding, Run
from evalward.records.result import Result
from evalward.render.names import quoted
from evalward.render.numbers import percent_limit, plural
from evalward.suites.mcp.confusion import (
    CONFUSED_SHARE,
    LEAST_TRIALS,
    NO_TOOL,
    ConfusedPair,
    confused_pairs,
    is_pattern,
    is_silent,
    tool_uses,
)
from evalward.suites.mcp.details import UNDECLARED, AttemptedCall, McpDetails
from evalward.suites.mcp.metrics import details_of
from evalward.suites.trial_findings import trial_finding

ERRORS_SHARE, LEAST_ERRORS = 0.25, 2
SHOWN_PAIRS = 5
SHOWN_NAMES = 8
_WORDS = 160


def interpret(results: Sequence[Result]) -> list[Finding]:
    """The findings of one run, what must not happen first."""
    valid = [result for result in results if result.valid]
    return [
        *_forbidden(valid),
        *_confusions(valid),
        *_undeclared(valid),
        *_invalid(valid),
        *_invented(valid),
        *_failing(valid),
        *_unjudged(valid),
        *_refused(valid),
    ]


def diagnose(runs: Sequence[Run]) -> list[Finding]:
    """Over all targets of a suite: tools that cases expect and no model ever takes, and those that no case expects."""
    measured = [run for run in runs if run.not_measured is None]
    return [*_never_taken([run for run in measured if run.random]), *_unexpected(measured)]


def _never_taken(models: Sequence[Run]) -> Iterator[Finding]:
    trials = [result for run in models for result in run.cases if result.valid]
    never = {use.name: use.expected for use in tool_uses(trials) if use.expected and not use.called}
    if never:
        who = "The model never takes" if len(models) == 1 else f"None of {len(models)} models ever takes"
        yield trial_finding(
            "never_taken",
            "warning",
            f"{who} {_listed(never)}",
            evidence=f"{plural(sum(never.values()), 'call')} expected",
            advice="Say in the description which requests the tool answers, in the words that people use.",
            of=[each for each in trials if any(use.tool in never for use in details_of(each).judged.tools)],
        )


def _unexpected(measured: Sequence[Run]) -> Iterator[Finding]:
    """What no case expects may get worse unseen. Which tools there are, the subject says."""
    parts = (part for run in measured for part in run.subject.parts if part.startswith(TOOL_OF))
    offered = dict.fromkeys(part.removeprefix(TOOL_OF) for part in parts)
    trials = [result for run in measured for result in run.cases if result.valid]
    expected = {each.name for each in tool_uses(trials) if each.expected}
    unused = [name for name in offered if name not in expected]
    if unused and expected:
        yield trial_finding(
            "unused_tools",
            "info",
            f"No measured case expects {len(unused):,} of {plural(len(offered), 'tool')}: {_listed(unused)}",
            advice="Write a case for each: what happens to a tool without one goes unseen.",
            of=[],
        )


def _forbidden(valid: Sequence[Result]) -> Iterator[Finding]:
    forbidding = [result for result in valid if details_of(result).judged.forbidden is not None]
    found = [result for result in forbidding if details_of(result).judged.forbidden]
    if found:
        yield trial_finding(
            "forbidden_calls",
            "warning",
            f"{plural(len(found), 'trial')} tried a call that the case forbids",
            evidence=f"{len(found):,} of {plural(len(forbidding), 'trial')} of cases that forbid calls",
            advice="Look at these first. Say in the description when the tool must not be used.",
            of=found,
        )


def _confusions(valid: Sequence[Result]) -> Iterator[Finding]:
    """The pairs that are a pattern, the most frequent first."""
    pairs = [pair for pair in confused_pairs(valid) if is_pattern(pair)]
    if pairs and is_silent(valid):
        yield trial_finding(
            "no_call_at_all",
            "warning",
            f"No tool was called in {plural(len(valid), 'trial')}",
            evidence=f"{sum(pair.trials for pair in pairs):,} expected a call",
            advice="Look at one: were the tools sent, and does the prompt of the suite let the model use them?",
            of=[],
        )
        return
    for pair in pairs[:SHOWN_PAIRS]:
        message, advice = _confused(pair)
        expected = "that expected no call" if pair.wanted == NO_TOOL else "that asked for it"
        yield trial_finding(
            "confused_tools",
            "warning",
            message,
            evidence=f"{pair.trials:,} of {plural(pair.of, 'trial')} {expected}",
            threshold=f"{LEAST_TRIALS} trials and {percent_limit(CONFUSED_SHARE)} of them",
            advice=advice,
            of=[result for result in valid if result.id in pair.cases],
        )


def _confused(pair: ConfusedPair) -> tuple[str, str]:
    if pair.wanted == NO_TOOL:
        advice = "Say in the description which requests the tool does not answer."
        return f"No tool was needed, and {_taken(pair)} was called", advice
    if pair.taken == NO_TOOL:
        advice = "Say in the description which requests the tool answers, in the words that people use."
        return f"Asked for {_name(pair.wanted)}, and no tool was called", advice
    message = f"Asked for {_name(pair.wanted)}, took {_taken(pair)}"
    return message, "Say in both descriptions when to use this one and when the other."


def _taken(pair: ConfusedPair) -> str:
    return "one that no server declares" if pair.taken == UNDECLARED else _name(pair.taken)


def _undeclared(valid: Sequence[Result]) -> Iterator[Finding]:
    found = [result for result in valid if details_of(result).unknown]
    if found:
        names = [call.tool for result in found for call in details_of(result).calls if not call.known]
        count = sum(details_of(result).unknown for result in found)
        yield trial_finding(
            "undeclared_tools",
            "warning",
            f"{plural(count, 'call')} named a tool that no server declares",
            evidence=_listed(names).replace("`", "") or f"in {plural(len(found), 'trial')}",
            advice="A name that models expect is a good name for the tool that does it.",
            of=found,
        )


def _invalid(valid: Sequence[Result]) -> Iterator[Finding]:
    found = [result for result in valid if details_of(result).valid < details_of(result).checked]
    if found:
        wrong = sum(details_of(result).checked - details_of(result).valid for result in found)
        checked = sum(details_of(result).checked for result in valid)
        reasons = _of_calls(found, lambda call: f"{call.tool}: {call.why}" if call.valid is False else "")
        yield trial_finding(
            "invalid_arguments",
            "warning",
            f"{plural(wrong, 'call')} had arguments that don't fit the tool's input schema",
            evidence="; ".join([f"{wrong:,} of {plural(checked, 'call')}", *reasons[:3]]),
            advice="Describe each parameter with an example, and allow what models send where it does no harm.",
            of=found,
        )


def _invented(valid: Sequence[Result]) -> Iterator[Finding]:
    by_tool: dict[str, dict[str, list[Result]]] = {}
    for result in valid:
        for each in details_of(result).invented:
            by_tool.setdefault(each.tool, {}).setdefault(each.argument, []).append(result)
    for tool, arguments in list(by_tool.items())[:SHOWN_PAIRS]:
        trials = {id(result): result for results in arguments.values() for result in results}
        yield trial_finding(
            "invented_arguments",
            "warning",
            f"Models send {_name(tool)} arguments that its input schema doesn't have: {_listed(arguments)}",
            evidence=f"in {plural(len(trials), 'trial')}",
            advice="Servers mostly ignore them. Add them, or say in the description how to ask for the same.",
            of=list(trials.values()),
        )


def _failing(valid: Sequence[Result]) -> Iterator[Finding]:
    found = [result for result in valid if details_of(result).failed]
    failed, executed = (sum(number(details_of(result)) for result in valid) for number in (_failed, _executed))
    if failed >= LEAST_ERRORS and failed > ERRORS_SHARE * executed:
        reasons = _of_calls(found, lambda call: f"{call.tool}: {call.why}" if call.error else "")
        yield trial_finding(
            "failing_calls",
            "warning",
            "Many calls end in an error of the server",
            evidence="; ".join([f"{failed:,} of {plural(executed, 'call')}", *reasons[:3]]),
            threshold=f"> {percent_limit(ERRORS_SHARE)}",
            advice="Let the message say what was wrong and what a right call looks like.",
            of=found,
        )


def _failed(details: McpDetails) -> int:
    return details.failed


def _executed(details: McpDetails) -> int:
    return details.executed


def _unjudged(valid: Sequence[Result]) -> Iterator[Finding]:
    found = [result for result in valid if details_of(result).unjudged]
    if found:
        names = [name for result in found for name in details_of(result).unjudged]
        reasons = _of_calls(found, lambda call: call.why if call.known and call.valid is None else "")
        yield trial_finding(
            "unjudged_arguments",
            "warning",
            f"Arguments of {_listed(names)} can't be judged by the input schema",
            evidence="; ".join(reasons[:3]),
            advice="Correct the schema: these calls count in no argument_validity_rate.",
            of=found,
        )


def _refused(valid: Sequence[Result]) -> Iterator[Finding]:
    counts: dict[str, int] = {}
    for result in valid:
        for method, count in details_of(result).refused.items():
            counts[method] = counts.get(method, 0) + count
    if counts:
        yield trial_finding(
            "refused_requests",
            "info",
            "The server asked for what is refused to it",
            evidence=", ".join(f"{_line(method)} {plural(count, 'time')}" for method, count in counts.items()),
            of=[result for result in valid if details_of(result).refused],
        )


# --- words ----------------------------------------------------------------------------------------------------------


def _of_calls(results: Iterable[Result], words: Callable[[AttemptedCall], str]) -> list[str]:
    """What is to be said of calls, each text once."""
    every = (_line(words(call)) for result in results for call in details_of(result).calls)
    return [text for text in dict.fromkeys(every) if text]


def _listed(names: Iterable[str]) -> str:
    """Names as code, each once; the first ones of many."""
    every = list(dict.fromkeys(names))
    more = f" and {len(every) - SHOWN_NAMES:,} more" if len(every) > SHOWN_NAMES else ""
    return ", ".join(map(_name, every[:SHOWN_NAMES])) + more


def _name(name: str) -> str:
    return quoted(_line(name))


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _WORDS else words[:_WORDS] + "…"
