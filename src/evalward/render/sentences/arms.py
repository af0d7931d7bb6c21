"""What rules say of the other arm of the same trials."""

from __future__ import annotations

from evalward.records.codes import arms as codes
from evalward.render.numbers import format_delta, format_size, plural
from evalward.render.sentences.dispatch import says, where
from evalward.render.sentences.words import chance

_WHY: dict[codes.WhyUncompared, str] = {
    "part": "only some cases were run",
    "says_nothing": "the target isn't run there",
    "broke": "no trial is valid in both arms",
    "never_run": "no trial was run there",
}


@says.register
def _(found: codes.ArmUncompared) -> str:
    return f"{where(found)}{found.metric} is not compared with the arm {found.arm}: {_WHY[found.why]}"


@says.register
def _(found: codes.ArmBeaten) -> str:
    odds = f"; {chance(found.p)}" if found.p is not None else ""
    return f"{_value(found)}, better than {found.arm} ({_seen_in(found)}{odds})"


@says.register
def _(found: codes.ArmNotBeaten) -> str:
    return f"{_value(found)}, not better than {found.arm} ({_seen_in(found)})"


@says.register
def _(found: codes.ArmWorse) -> str:
    return f"{_value(found)}, worse than {found.arm} ({_seen_in(found)}; {chance(found.p)})"


@says.register
def _(found: codes.ArmUnproven) -> str:
    text = f"{_value(found)}, which does not prove that it is better than {found.arm}: {chance(found.p)}"
    if found.hopeless:
        return f"{text}, and {_seen_in(found)} can't prove any difference"
    if found.detectable is None:
        return f"{text} ({_seen_in(found)})"
    size = format_size(found.detectable, found.unit)
    return f"{text}; {_seen_in(found)} would prove {size} four times out of five"


def _value(found: codes.AgainstArm) -> str:
    return f"{where(found)}{found.metric} is {format_delta(found.value, found.unit)}"


def _seen_in(found: codes.AgainstArm) -> str:
    """`8 cases, 24 trials in each arm`."""
    return f"{plural(found.cases, 'case')}, {plural(found.trials, 'trial')} in each arm"
