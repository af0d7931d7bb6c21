"""What a case expects and the calls that were tried, held against each other: checks and counts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalward.records.result import CheckResult
from evalward.suites.mcp.case import ExpectedCall, ForbiddenCall, McpCase
from evalward.suites.mcp.catalogue import Catalogue
from evalward.suites.mcp.details import (
    AttemptedCall,
    Expects,
    InventedArgument,
    JudgedCalls,
    McpDetails,
    ToolTally,
    kept_calls,
    written_arguments,
)
from evalward.suites.mcp.matching import (
    Pairs,
    any_order,
    arguments_match,
    in_order,
    is_forbidden,
    one_after_the_other,
)

NO_CALLS = "(no call)"
NOT_CALLED = "not called"
_SHOWN_ARGUMENTS = 200  # characters
_SHOWN_CALLS = 5
_SHOWN_NAME = 256  # characters of a name that a model made up
_MOST_INVENTED = 20


@dataclass(frozen=True)
class ScoredCalls:
    """A trial's calls, judged: the checks of the expectation and everything that the details say of calls."""

    checks: list[CheckResult]
    details: McpDetails

    @property
    def passed(self) -> bool:
        """All of the expectation holds."""
        return all(check.passed for check in self.checks)


def score_calls(case: McpCase, calls: Sequence[AttemptedCall], catalogue: Catalogue) -> ScoredCalls:
    """What the case's expectation says of all attempted calls, in their order. `catalogue` is the suite's own server's.

    The caller adds what it knows beside the calls: turns, the answer, whether it is a replay.
    """
    judgement = _Judgement.of(case, calls, catalogue.server)
    judged = judgement.judged()
    declared = [call for call in calls if call.known]
    checked = [call for call in declared if call.valid is not None]
    executed = [call for call in calls if call.executed]
    details = McpDetails(
        mode=case.mode,
        server=catalogue.server,
        calls=kept_calls(calls),
        judged=judged,
        total=len(calls),
        unknown=len(calls) - len(declared),
        checked=len(checked),
        valid=sum(call.valid is True for call in checked),
        executed=len(executed),
        failed=sum(call.error is True for call in executed),
        catalogue_tokens=catalogue.tokens,
        unjudged=_names(call for call in declared if call.valid is None),
        invented=_invented(declared),
        asked=asked_text(case),
    )
    return ScoredCalls(list(judgement.checks()), details)


def asked_text(case: McpCase) -> str:
    """What was asked for, a call a line."""
    expect = case.expect
    if expect.none:
        return NO_CALLS
    lines = [_call_text(call.tool, call.args) for call in expect.calls]
    return "\n".join(lines or [f"(no call of {', '.join(_names(expect.forbid))})"])


def made_text(calls: Sequence[AttemptedCall], server: str) -> str:
    """The calls that were tried, one a line; of other servers' tools than `server`'s it says whose they are."""
    return "\n".join(_made(call, server) for call in calls) or NO_CALLS


def _names(calls: Iterable[AttemptedCall] | Iterable[ForbiddenCall]) -> list[str]:
    return list(dict.fromkeys(call.tool for call in calls))


def _invented(calls: Iterable[AttemptedCall]) -> list[InventedArgument]:
    pairs = dict.fromkeys((call.tool, name) for call in calls for name in call.invented)
    return [InventedArgument(tool=tool, argument=name) for tool, name in list(pairs)[:_MOST_INVENTED]]


# --- one expectation and one trial's calls --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Judgement:
    """`pairs` says of each expected call with which of the counted ones it is paired."""

    case: McpCase
    server: str
    calls: Sequence[AttemptedCall]
    counted: Sequence[AttemptedCall]
    pairs: Pairs

    @classmethod
    def of(cls, case: McpCase, calls: Sequence[AttemptedCall], server: str) -> _Judgement:
        counted = [call for call in calls if call.tool not in case.expect.allow]
        judgement = cls(case, server, calls, counted, ())
        pairing = any_order if case.expect.order == "any" else in_order
        return cls(case, server, calls, counted, pairing(len(case.expect.calls), len(counted), judgement.fits))

    def fits(self, expected: int, made: int) -> bool:
        """Tool and arguments are the expected ones."""
        call = self.counted[made]
        return self.is_of(self.case.expect.calls[expected], call) and arguments_match(
            self.case.expect.calls[expected], call
        )

    def is_of(self, expected: ExpectedCall, call: AttemptedCall) -> bool:
        """The tool is the expected one, of the suite's own server."""
        return call.known and call.server == self.server and call.tool == expected.tool

    @property
    def matched(self) -> int:
        """How many of the expected calls were made."""
        return sum(partner is not None for partner in self.pairs)

    @property
    def extra(self) -> int:
        """How many of the counted calls were not expected."""
        return len(self.counted) - self.matched

    def judged(self) -> JudgedCalls:
        """The counts."""
        expect = self.case.expect
        first = self.counted[0] if self.counted else None
        tried, matched = self._arguments()
        return JudgedCalls(
            expects=self._expects(),
            wanted=expect.calls[0].tool if expect.calls else None,
            taken=first.tool[:_SHOWN_NAME] if first else None,
            taken_from=self._elsewhere(first) if first else "",
            taken_known=first is None or first.known,
            selected=self._selected(),
            expected=len(expect.calls),
            matched=self.matched,
            counted=len(self.counted),
            args_tried=tried,
            args_matched=matched,
            forbidden=sum(self._is_forbidden(call) for call in self.calls) if expect.forbid else None,
            tools=list(self._tallies().values()),
        )

    def _expects(self) -> Expects:
        if self.case.expect.none:
            return "none"
        return "calls" if self.case.expect.calls else "neither"

    def _selected(self) -> bool | None:
        """Whether the first counted call is of an expected tool: of the first one, where there is an order."""
        expect = self.case.expect
        if not expect.calls:
            return None
        candidates = expect.calls if expect.order == "any" else expect.calls[:1]
        return bool(self.counted) and any(self.is_of(each, self.counted[0]) for each in candidates)

    def _arguments(self) -> tuple[int, int]:
        """Of the expected calls with arguments: those whose tool was called, and those that match. In any order."""
        wanted = [each for each in self.case.expect.calls if each.args is not None]

        def same_tool(expected: int, made: int) -> bool:
            return self.is_of(wanted[expected], self.counted[made])

        def same(expected: int, made: int) -> bool:
            return same_tool(expected, made) and arguments_match(wanted[expected], self.counted[made])

        sizes = len(wanted), len(self.counted)
        tried, matched = (any_order(*sizes, fits) for fits in (same_tool, same))
        return sum(each is not None for each in tried), sum(each is not None for each in matched)

    def _is_forbidden(self, call: AttemptedCall) -> bool:
        return any(is_forbidden(each, call) for each in self.case.expect.forbid)

    def _elsewhere(self, call: AttemptedCall) -> str:
        """The distractor whose tool it is; empty for the suite's own server, and for names of none."""
        return call.server if call.server != self.server else ""

    def _tallies(self) -> Mapping[tuple[str, str], ToolTally]:
        """What became of each declared tool that was expected or called."""
        paired = [self.case.expect.calls[at].tool for at, partner in enumerate(self.pairs) if partner is not None]
        wanted = [(call.tool, "") for call in self.case.expect.calls]
        made = [(call.tool, self._elsewhere(call)) for call in self.counted if call.known]
        first = self.counted[0] if self.counted else None
        wrong = (first.tool, self._elsewhere(first)) if first and first.known and self._first_is_wrong() else None
        return {
            key: ToolTally(
                tool=key[0],
                server=key[1],
                expected=wanted.count(key),
                called=made.count(key),
                matched=0 if key[1] else paired.count(key[0]),
                wrong=int(key == wrong),
            )
            for key in dict.fromkeys([*wanted, *made])
        }

    def _first_is_wrong(self) -> bool:
        return self.case.expect.none or self._selected() is False

    # --- the checks -------------------------------------------------------------------------------------------------

    def checks(self) -> Iterator[CheckResult]:
        """One for each expected and each forbidden call, then those over all. Their names are the case's alone."""
        expect = self.case.expect
        named: Counter[str] = Counter()
        for number, call in enumerate(expect.calls):
            check = self._expected_check(number, call)
            named[check.check] += 1
            again = named[check.check]
            yield check if again == 1 else check.model_copy(update={"check": f"{check.check} (number {again})"})
        if expect.order == "exact" and len(expect.calls) > 1:
            yield self._exact_check()
        for forbidden in expect.forbid:
            yield self._forbidden_check(forbidden)
        if expect.none:
            said = "" if not self.counted else f"called {_listed(self.counted)}"
            yield CheckResult(check="no call", passed=not self.counted, detail=said)
        elif self._most_extra() is not None:
            yield self._extra_check(self._most_extra() or 0)

    def _most_extra(self) -> int | None:
        """Where no call is expected, others are bounded only if the case says so itself."""
        return self.case.max_extra if self.case.expect.calls else self.case.expect.max_extra

    def _expected_check(self, number: int, expected: ExpectedCall) -> CheckResult:
        held = self.pairs[number] is not None
        name = f"call {_call_text(expected.tool, expected.args)}" + (
            " with valid arguments" if expected.match == "schema" else ""
        )
        return CheckResult(check=name, passed=held, detail="" if held else self._why_missing(expected))

    def _why_missing(self, expected: ExpectedCall) -> str:
        """What was there instead: the tool with other arguments, other tools, or nothing."""
        if not self.counted:
            return NOT_CALLED if not self.calls else f"{NOT_CALLED}, only {_listed(self.calls)}"
        taken = {partner for partner in self.pairs if partner is not None}
        left = [call for at, call in enumerate(self.counted) if at not in taken]
        same = [call for call in left if self.is_of(expected, call)]
        if any(arguments_match(expected, call) for call in same):
            return "called, but not in this order"
        if same:
            return f"called with {_arguments_text(same[0])}" + _because(same[0])
        if any(self.is_of(expected, call) for call in self.counted):
            return "not called once more"
        return f"not called; called instead: {_listed(self.counted)}"

    def _exact_check(self) -> CheckResult:
        held = one_after_the_other(len(self.case.expect.calls), len(self.counted), self.fits)
        detail = "" if held else f"called {_listed(self.counted)}" if self.counted else NOT_CALLED
        return CheckResult(check="these calls one after the other", passed=held, detail=detail)

    def _forbidden_check(self, forbidden: ForbiddenCall) -> CheckResult:
        found = [call for call in self.calls if is_forbidden(forbidden, call)]
        detail = f"called with {_arguments_text(found[0])}" if found else ""
        name = f"no call of {_call_text(forbidden.tool, forbidden.args)}"
        return CheckResult(check=name, passed=not found, detail=detail)

    def _extra_check(self, most: int) -> CheckResult:
        held = self.extra <= most
        name = "no other call" if most == 0 else f"at most {most} other call{'s' if most > 1 else ''}"
        taken = {partner for partner in self.pairs if partner is not None}
        others = [call for at, call in enumerate(self.counted) if at not in taken]
        return CheckResult(
            check=name, passed=held, detail="" if held else f"called beyond what is expected: {_listed(others)}"
        )


# --- words ----------------------------------------------------------------------------------------------------------


def _call_text(tool: str, arguments: Mapping[str, Any] | None) -> str:
    return tool if arguments is None else f"{tool} {_cut(written_arguments(arguments))}"


def _made(call: AttemptedCall, server: str) -> str:
    of = "" if call.server == server else f" of {call.server}"
    return f"{call.tool}{of if call.known else ' (not declared)'} {_arguments_text(call)}"


def _arguments_text(call: AttemptedCall) -> str:
    return _cut(written_arguments(call.arguments) if call.arguments is not None else call.raw or "no arguments")


def _because(call: AttemptedCall) -> str:
    return f" ({call.why})" if call.why and call.valid is False else ""


def _listed(calls: Sequence[AttemptedCall]) -> str:
    """The tools, each once, in the order of their first calls."""
    names = _names(calls)
    more = f" and {len(names) - _SHOWN_CALLS} more" if len(names) > _SHOWN_CALLS else ""
    return ", ".join(name[:_SHOWN_ARGUMENTS] for name in names[:_SHOWN_CALLS]) + more


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_ARGUMENTS else text[:_SHOWN_ARGUMENTS] + "…"
