"""Why a verdict is no pass, beside its rules."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.codes import WorseInWorstCase
from evalward.records.codes import reasons as codes
from evalward.records.comparison import prompt_words
from evalward.render.numbers import format_limit, format_size
from evalward.render.sentences.dispatch import says, sentences, where
from evalward.render.sentences.words import (
    chance,
    joined,
    moved,
    number_word,
    ordinal,
    share,
    some_of,
)

_GAVE = {"pass": "passed", "fail": "failed", "inconclusive": "was inconclusive", "error": "could not be judged"}


@says.register
def _(_found: codes.NothingRun) -> str:
    return "no case was run"


@says.register
def _(found: codes.Interrupted) -> str:
    return found.text


@says.register
def _(found: codes.TooManyErrors) -> str:
    counts = f"{found.errors} of {found.planned} trials ended in an error"
    return f"{where(found)}{counts}{_beyond(found)}"


@says.register
def _(found: codes.TooFewValid) -> str:
    size, least = share(found.measured, found.expected, found.limit), format_limit(found.limit, "ratio")
    counts = f"only {found.comparable} of {found.expected} comparable cases have a valid trial ({size})"
    return f"{where(found)}{counts}, fewer than the {least} that it takes"


@says.register
def _(found: codes.TooManyUnjudged) -> str:
    counts = f"{found.errors} of {found.planned} trials could not be judged"
    return f"{where(found)}{counts}{_beyond(found)}"


def _beyond(found: codes.TooManyErrors | codes.TooManyUnjudged) -> str:
    size = share(found.errors, found.planned, found.limit)
    return f" ({size}), more than the {format_limit(found.limit, 'ratio')} allowed"


@says.register
def _(found: codes.NoResult) -> str:
    tried = ", also when tried again" if found.again else ""
    why = f": {found.why}" if found.why else ""
    return f"{where(found)}{found.count} of {found.known} known cases gave no result{tried} ({some_of(found)}){why}"


@says.register
def _(found: codes.LostMetric) -> str:
    cases = f"{found.count} of {found.known} known cases"
    return f"{where(found)}{found.metric} is missing in {cases} that had it in the baseline ({some_of(found)})"


@says.register
def _(found: codes.FreshErrors) -> str:
    return (
        f"{where(found)}{found.again_errors} of {found.again} fresh trials broke; of all {found.trials} trials it were "
        f"{found.errors} ({share(found.errors, found.trials, found.limit)}), at most "
        f"{format_limit(found.limit, 'ratio')} may"
    )


@says.register
def _(found: codes.NotMeasured) -> str:
    return f"{found.run} was not measured: {found.why}"


@says.register
def _(found: codes.Incomparable) -> str:
    return f"{where(found)}no case has the definition that the baseline knows, so nothing was compared"


@says.register
def _(found: codes.Redefined) -> str:
    return f"{where(found)}{found.count} of {found.known} known cases were redefined and could not be compared"


@says.register
def _(found: codes.PromptReplayed) -> str:
    parts = joined([prompt_words(part) or part for part in found.parts])
    return f"{parts} of {found.suite} changed, and a replay does not measure that"


@says.register
def _(found: codes.RecordingChanged) -> str:
    return f"{where(found)}the recording changed, so what changed in the numbers may be the recording's doing"


@says.register
def _(found: codes.BaseNotMeasured) -> str:
    why = "this report holds no measurement of the base" if found.why is None else found.why
    return f"{found.name} was not compared with the base: {why}"


@says.register
def _(found: codes.BaseErrors) -> str:
    counts = f"{found.errors} of {found.trials} trials of the base broke"
    return f"{where(found)}{counts}, so {some_of(found)} can't be compared"


@says.register
def _(_found: codes.NoRules) -> str:
    return "the base has no configuration that could judge this change, so its own rules were applied"


@says.register
def _(found: codes.EarlierFailure) -> str:
    return f"{earlier_tries(found.tries)}, so that a try without a failure is no plain pass"


def earlier_tries(tries: Sequence[codes.OutcomeName]) -> str:
    """`this is the third try of this commit: the first failed, the second failed`."""
    gave = ", ".join(f"the {ordinal(at)} {_GAVE[outcome]}" for at, outcome in enumerate(tries, 1))
    return f"this is the {ordinal(len(tries) + 1)} try of this commit: {gave}"


@says.register
def _(found: WorseInWorstCase) -> str:
    had = "it" if found.trials == 1 else "they"
    then = f"the verdict would be {found.outcome}: {sentences(found.statements)}"
    return f"{ended_in_error(found.trials)}; had {had} failed, {then}"


def ended_in_error(trials: int) -> str:
    """`2 trials ended in an error`."""
    return f"{trials} trial{'' if trials == 1 else 's'} ended in an error"


@says.register
def _(found: codes.MissingRun) -> str:
    return f"{found.run} is in the baseline and was not run"


@says.register
def _(found: codes.MissingCases) -> str:
    one = found.count == 1
    named = f"the case {some_of(found)}" if one else f"{found.count} cases ({some_of(found)})"
    why = (
        f"could not be run: {'; '.join(found.why)}"
        if found.why
        else f"of the baseline {'is' if one else 'are'} missing"
    )
    return f"{where(found)}{named} {why}"


@says.register
def _(found: codes.MissingCategory) -> str:
    return f"{where(found)}the baseline's category {found.category} has no case left"


@says.register
def _(found: codes.MissingMetric) -> str:
    every = (found.suite, found.target) == ("*", "*")
    of = "" if every else f" (suite {found.suite}, target {found.target})"
    return f"the policy protects {found.metric}{of}, and no run measured it"


@says.register
def _(found: codes.RenamedRun) -> str:
    why = "the base is measured under its own names"
    return f"{found.run} has another name now, so it was compared with nothing: {why}"


@says.register
def _(found: codes.TriesTogether) -> str:
    cases = "one case" if found.cases == 1 else f"{number_word(found.cases)} cases"
    loss = format_size(found.loss, "ratio", [found.allowed])
    beyond = f", more than the {_allowed(found.allowed)} allowed: {chance(found.p)}"
    return (
        f"{where(found)}over {number_word(found.tries)} tries of this commit {found.failed} of {found.trials} fresh "
        f"trials of {cases} failed, a loss of {loss}"
        + (beyond if found.proven else ": that doesn't refute the one that failed")
    )


@says.register
def _(found: codes.AnchorLost) -> str:
    lost = format_size(found.before - found.now, "ratio", [found.allowed])
    commits = "1 measured commit" if found.commits == 1 else f"{found.commits} measured commits"
    sure = f": {chance(found.p)}" if found.p is not None else ""
    return (
        f"since {found.label} {found.run} lost {lost} over {commits} ({moved(found.before, found.now, 'ratio')} in "
        f"{found.cases} cases that ask the same), more than the {_allowed(found.allowed)} allowed{sure}"
    )


def _allowed(drop: float) -> str:
    return format_limit(drop, "ratio", difference=True)
