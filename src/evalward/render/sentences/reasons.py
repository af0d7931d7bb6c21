"""Why a verdict is no pass, beside its rules."""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.codes import WorseInWorstCase
from evalward.records.codes import reasons as codes
from evalward.records.comparison import prompt_words
from evalward.render.numbers import format_limit, format_size, plural
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
    size, least = share(found.comparable, found.expected, found.limit), format_limit(found.limit, "ratio")
    have = "has" if found.comparable == 1 else "have"
    counts = f"only {found.comparable} of {found.expected} comparable cases {have} a valid trial ({size})"
    return f"{where(found)}{counts}, fewer than the {least} required"


@says.register
def _(found: codes.TooManyUnjudged) -> str:
    counts = f"{found.errors} of {found.planned} trials could not be judged"
    return f"{where(found)}{counts}{_beyond(found)}"


def _beyond(found: codes.TooManyErrors | codes.TooManyUnjudged) -> str:
    size = share(found.errors, found.planned, found.limit)
    return f" ({size}), more than the {format_limit(found.limit, 'ratio')} allowed"


@says.register
def _(found: codes.NoResult) -> str:
    tried = ", even when retried" if found.again else ""
    why = f": {found.why}" if found.why else ""
    return f"{where(found)}{found.count} of {found.known} known cases gave no result{tried} ({some_of(found)}){why}"


@says.register
def _(found: codes.LostMetric) -> str:
    cases = f"{found.count} of {found.known} known cases"
    return f"{where(found)}{found.metric} is missing in {cases} that had it in the baseline ({some_of(found)})"


@says.register
def _(found: codes.FreshErrors) -> str:
    return (
        f"{where(found)}{found.again_errors} of {found.again} retrials ended in an error; of all {found.trials} "
        "trials, "
        f"{found.errors} did ({share(found.errors, found.trials, found.limit)}), and at most "
        f"{format_limit(found.limit, 'ratio')} may"
    )


@says.register
def _(found: codes.NotMeasured) -> str:
    return f"{found.run} was not measured: {found.why}"


@says.register
def _(found: codes.Incomparable) -> str:
    return f"{where(found)}no case has the same definition as in the baseline, so nothing was compared"


@says.register
def _(found: codes.Redefined) -> str:
    were = "was" if found.count == 1 else "were"
    return f"{where(found)}{found.count} of {found.known} known cases {were} redefined and could not be compared"


@says.register
def _(found: codes.PromptReplayed) -> str:
    parts = joined([prompt_words(part) or part for part in found.parts])
    return f"{parts} of {found.suite} changed, and a replay can't measure that"


@says.register
def _(found: codes.RecordingChanged) -> str:
    return f"{where(found)}the recording changed, so the change in the numbers may come from the recording"


@says.register
def _(found: codes.BaseNotMeasured) -> str:
    why = "this report has no measurement of the base" if found.why is None else found.why
    return f"{found.name} was not compared with the base: {why}"


@says.register
def _(found: codes.BaseErrors) -> str:
    counts = f"{found.errors} of {found.trials} trials of the base ended in an error"
    return f"{where(found)}{counts}, so {some_of(found)} can't be compared"


@says.register
def _(_found: codes.NoRules) -> str:
    return "the base has no configuration that could judge this change, so its own rules were applied"


@says.register
def _(found: codes.EarlierFailure) -> str:
    return f"{earlier_tries(found.tries)}, so one attempt without a failure is not enough to pass"


def earlier_tries(tries: Sequence[codes.OutcomeName]) -> str:
    """`this is the third attempt at this commit: the first failed, the second failed`."""
    gave = ", ".join(f"the {ordinal(at)} {_GAVE[outcome]}" for at, outcome in enumerate(tries, 1))
    return f"this is the {ordinal(len(tries) + 1)} attempt at this commit: {gave}"


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
    return f"{found.run} was renamed, so it was not compared: {why}"


@says.register
def _(found: codes.TriesTogether) -> str:
    cases = "one case" if found.cases == 1 else f"{number_word(found.cases)} cases"
    loss = format_size(found.loss, "ratio", [found.allowed])
    beyond = f", more than the {_allowed(found.allowed)} allowed: {chance(found.p)}"
    return (
        f"{where(found)}over {number_word(found.tries)} attempts at this commit, {found.failed} of {found.trials} "
        "retrials "
        f"of {cases} failed, a loss of {loss}"
        + (beyond if found.proven else ": that doesn't refute the attempt that failed")
    )


@says.register
def _(found: codes.AnchorLost) -> str:
    lost = format_size(found.before - found.now, "ratio", [found.allowed])
    commits = "1 measured commit" if found.commits == 1 else f"{found.commits} measured commits"
    sure = f": {chance(found.p)}" if found.p is not None else ""
    cases = plural(found.cases, "case")
    return (
        f"since {found.label} {found.run} lost {lost} over {commits} ({moved(found.before, found.now, 'ratio')} in "
        f"{cases} with the same definition), more than the {_allowed(found.allowed)} allowed{sure}"
    )


def _allowed(drop: float) -> str:
    return format_limit(drop, "ratio", difference=True)
