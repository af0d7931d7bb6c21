"""What rules say: of limits over all cases, and of drops over those that can be compared."""

from __future__ import annotations

from evalward.records.codes import rules as codes
from evalward.records.metric import Unit
from evalward.render.numbers import format_count, format_delta, format_limit, format_number, format_size
from evalward.render.sentences.dispatch import says, where
from evalward.render.sentences.words import chance, joined, moved, number_word, some_of

_BASE = "the base, measured alongside"
_LIMITS = {"floor": "below", "ceiling": "above"}
_ABSENT = "the run doesn't have it"


@says.register
def _(found: codes.LimitUnavailable) -> str:
    why = found.why or _ABSENT
    return f"{where(found)}{found.metric} is not available ({why}), so its {found.limit} can't be checked"


@says.register
def _(found: codes.LimitBroken) -> str:
    value = format_number(found.value, found.unit, [found.allowed])
    allowed = format_limit(found.allowed, found.unit)
    return (
        f"{where(found)}{found.metric} is {value}{counts(found)}, {_LIMITS[found.limit]} its {found.limit} of {allowed}"
    )


def counts(found: codes.LimitBroken) -> str:
    """` (33 of 37)` for a ratio of whole numbers."""
    if found.unit != "ratio" or found.numerator is None or found.denominator is None:
        return ""
    return f" ({format_count(found.numerator)} of {format_count(found.denominator)})"


@says.register
def _(found: codes.LimitUnjudged) -> str:
    limits = f"{found.metric}'s {joined(found.limits)} {'is' if len(found.limits) == 1 else 'are'} not judged"
    return f"{where(found)}{limits}: only {part(found.chosen, found.cases)}"


def part(chosen: int, cases: int) -> str:
    """`1 of 12 cases was run`."""
    return f"{chosen:,} of {cases:,} cases {'was' if chosen == 1 else 'were'} run"


@says.register
def _(found: codes.GoalUnavailable) -> str:
    return f"{where(found)}{found.metric} is not available ({found.why or _ABSENT})"


@says.register
def _(found: codes.GoalMissed) -> str:
    value, goal = format_number(found.value, found.unit, [found.goal]), format_limit(found.goal, found.unit)
    beside = "short of" if found.value < found.goal else "above"
    return f"{where(found)}{found.metric} is {value}, {beside} its goal of {goal}"


# --- differences ----------------------------------------------------------------------------------------------------


def _verb(delta: float) -> str:
    return "fell" if delta < 0 else "rose"


def _size_and_limit(lost: codes.Lost) -> tuple[str, str]:
    """A difference and what of it is allowed, with as many digits as tell them apart."""
    return _limited(lost.delta, lost.allowed, lost.unit)


def _limited(delta: float, allowed: float, unit: Unit) -> tuple[str, str]:
    return format_size(delta, unit, [allowed]), format_limit(allowed, unit, difference=True)


def _size(found: codes.Difference) -> str:
    return format_size(found.delta, found.unit)


def _too_much(found: codes.BareDrop | codes.TestedDrop) -> str:
    size, most = _size_and_limit(found)
    values = moved(found.before, found.now, found.unit)
    return f"{where(found)}{found.metric} {_verb(found.delta)} {size} ({values}), more than the {most} allowed"


@says.register
def _(found: codes.MetricGone) -> str:
    was = format_number(found.before, found.unit)
    return f"{where(found)}{found.metric} was {was} and is not available now ({found.why or _ABSENT})"


@says.register
def _(found: codes.ExactDrop) -> str:
    return _too_much(found)


@says.register
def _(found: codes.ReferenceDrop) -> str:
    return f"{_too_much(found)}; {found.reference} is what others are measured by"


@says.register
def _(found: codes.SlowerDrop) -> str:
    return f"{_too_much(found)}; a benchmark of {found.case} is slower: {found.factor:.2f}× (p = {found.p:.2g})"


@says.register
def _(found: codes.UnseenDrop) -> str:
    counts = [f"{found.tested} tested"]
    counts += [f"{found.suspected} perhaps"] if found.suspected else []
    counts += [f"{found.untestable} with too few samples"] if found.untestable else []
    text = f"{_too_much(found)}; no benchmark is slower beyond chance ({', '.join(counts)})"
    return text + (_no_proof(found.elsewhere) if found.doubt else "")


def _no_proof(elsewhere: bool) -> str:
    return ", which by itself is not proof; another metric of this run has it" if elsewhere else ", so it is not proof"


@says.register
def _(found: codes.CertainDrop) -> str:
    size, most = _size_and_limit(found)
    return (
        f"{where(found)}{found.metric} {_verb(found.delta)} {size} in cases that always give the same result, more "
        f"than the {most} allowed: chance plays no part"
    )


@says.register
def _(found: codes.OpenDrop) -> str:
    """Fresh trials that broke, or were never made, are no proof that all is well."""
    cases = f"{found.first[0]} failed" if found.count == 1 else f"{found.count} cases failed ({some_of(found)})"
    size, most = _size_and_limit(found)
    verb = "fallen" if found.moved < 0 else "risen"
    return (
        f"{where(found)}{found.metric} may have {verb} {size}, more than the {most} allowed: {cases} and could not be "
        "retried"
    )


# --- what a test says -----------------------------------------------------------------------------------------------


@says.register
def _(found: codes.ProvenDrop) -> str:
    head = _tested(found, "confirmed by retrials")
    return _because(found, head, chance(found.p))


@says.register
def _(found: codes.UnprovenDrop) -> str:
    head = _tested(found, "as far as retrials show")
    limit = _thin(found.thin) if found.thin else ""
    return _because(found, head, f"{chance(found.p)}{_no_proof(found.elsewhere)}{limit}")


def _because(found: codes.TestedDrop, head: str, chance_of_it: str) -> str:
    """The trials that show it and how probable that is; of the same trials as before only what differs."""
    if found.same_as is None:
        return f"{head}: {'; '.join(part for part in (_shown(found.shown), chance_of_it) if part)}"
    outcome = "fail" if isinstance(found, codes.ProvenDrop) else "inconclusive"
    alone = "" if found.same_as == outcome else f"; for this metric alone, {chance_of_it}"
    return f"{head}, by the same failures{alone}"


def _tested(found: codes.TestedDrop, by_tries: str) -> str:
    """By how much the metric got worse: as the planned trials show it, or, where they were tried, the fresh ones.

    Only what is proven is called confirmed.
    """
    size, most = _size_and_limit(found)
    start, beyond = f"{where(found)}{found.metric}", f"more than the {most} allowed"
    match found.measured:
        case "planned":
            return _too_much(found)
        case "base":
            return f"{start} {_verb(found.delta)} {size} against {_BASE}, {beyond}"
        case "fresh":
            return f"{start} {_verb(found.delta)} {size}, {by_tries}, {beyond}"
        case "failed_cases":  # what others won may be chance: no fresh trial confirmed it
            lost = f"but {_verb(found.delta)} {size} in the cases that failed, {by_tries}"
            return f"{start} {_in_all(found)}, {lost}, {beyond}"


def _in_all(found: codes.TestedDrop) -> str:
    if found.overall == 0:
        return "is unchanged over all cases"
    size = format_size(found.overall, found.unit)
    return f"{_verb(found.overall)} {size} over all cases, which may be chance"


def _shown(shown: codes.Shown | None) -> str:
    match shown:
        case codes.CasesFailed():
            return _cases_failed(shown)
        case codes.FailedAgain():
            return f"{shown.failed} of {shown.trials} retrials of {_failed_cases(shown.cases)} failed again"
        case codes.BothSides():
            return _both_sides(shown)
        case None:
            return ""


def _cases_failed(shown: codes.CasesFailed) -> str:
    """`three of 37 cases that always passed now fail in 11 of 12 retrials`."""
    tries = shown.before
    always = (
        "always passed" if shown.passed == tries and tries > shown.cases else f"passed {shown.passed} of {tries} times"
    )
    if tries == shown.cases:
        always = "passed once" if shown.cases == 1 else "passed"
    tried = ("retrial" if shown.fresh else "trial") + ("" if shown.trials == 1 else "s")
    cases = f"{number_word(shown.cases)} of {shown.total:,} cases that {always}"
    if shown.total == 1:
        cases = f"the only case, which {always},"
    return f"{cases} now {'fails' if shown.cases == 1 else 'fail'} in {shown.failed} of {shown.trials} {tried}"


def _failed_cases(count: int) -> str:
    return "the failed case" if count == 1 else f"the {count} failed cases"


def _both_sides(found: codes.BothSides) -> str:
    """`in 3 of 37 cases, 8 of 24 trials passed here and 24 of 24 on the base, run side by side`."""
    some = f"in {found.cases} of {found.total:,} cases" if found.total > 1 else "in the only case"
    here, there = (f"{found.head_passed} of {found.head_trials}", f"{found.base_passed} of {found.base_trials}")
    return f"{some}, {here} trials passed here and {there} on the base, run side by side"


def _thin(thin: codes.Thin) -> str:
    baseline = f"; this baseline ({format_count(thin.trials)} trial{'' if thin.trials == 1 else 's'} per case)"
    if thin.fewest is None:
        return f"{baseline} can't prove any drop"
    return f"{baseline} can't prove a drop of fewer than {number_word(thin.fewest)} cases"


# --- what is as it should be ----------------------------------------------------------------------------------------


@says.register
def _(found: codes.WithinAllowed) -> str:
    size, most = _size_and_limit(found)
    how = "as far as retrials show"
    return f"{where(found)}{found.metric} {_verb(found.delta)} {size}, {how}, within the {most} allowed"


@says.register
def _(found: codes.NotRepeated) -> str:
    again = "it didn't repeat"
    if found.cases is not None:
        tries = f"{found.trials} retrials of {_failed_cases(found.cases)}"
        again = f"the failures didn't repeat ({found.passed} of {tries} passed)"
    return f"{where(found)}{found.metric} {_verb(found.delta)} {_size(found)} at first: {again}"


@says.register
def _(found: codes.NotWorse) -> str:
    what = "is unchanged" if found.delta == 0 else f"{_verb(found.delta)} {_size(found)}"
    known = found.low is not None and found.high is not None
    ends = [format_delta(end, found.unit) for end in (found.low, found.high)]
    margin = f" (95 %: {' to '.join(ends)})" if known else ""
    return f"{where(found)}{found.metric} {what}{margin}{_detectable(found)}"


def _detectable(found: codes.NotWorse) -> str:
    if found.detectable is None:
        return ""
    over = " over all cases" if found.unit == "ratio" else ""
    size = format_size(found.detectable, found.unit)
    return f"; a {found.worse} of {size}{over} would have been detected at least four times out of five"


@says.register
def _(found: codes.WonMore) -> str:
    although = f", although {_cases_failed(found.shown)}" if found.shown else ""
    return f"{where(found)}{found.metric} {_verb(found.delta)} {_size(found)}, more than chance explains{although}"


@says.register
def _(found: codes.NotWorseThanBase) -> str:
    size = "is unchanged" if found.delta == 0 else f"{_verb(found.delta)} {_size(found)}"
    first = f"{where(found)}{found.metric} {size} against the baseline"
    sides = _both_sides(found.shown) if found.shown else ""
    if found.lost is None:
        return f"{first}, and is no worse than {_BASE}: {sides}"
    less, allowed = _limited(found.lost, found.allowed, found.unit)
    return f"{first}; {less} against {_BASE}, within the {allowed} allowed: {sides}"
