"""What decides nothing, and people should know."""

from __future__ import annotations

from evalward.records.codes import notices as codes
from evalward.render.numbers import plural
from evalward.render.sentences.dispatch import says, where
from evalward.render.sentences.reasons import earlier_tries, ended_in_error
from evalward.render.sentences.words import joined, number_word, ordinal, some_of

_VERSIONS = {
    "safety": "safety validator",
    "model_version": "version of the model",
}
"""Parts of a subject in people's words, where these are others."""

_THE = frozenset({"safety", "model", "model_version", "host"})

_REFUSALS: dict[codes.Refusal, str] = {
    "still_run": "that one is still run, or of another kind",
    "other_form": "their targets are of different kinds",
}


@says.register
def _(found: codes.SkippedTrials) -> str:
    are = "is" if found.count == 1 else "are"
    return f"{where(found)}{found.count} of {found.planned} trials could not be run and {are} not counted"


@says.register
def _(found: codes.RedefinedCases) -> str:
    cases = "1 case" if found.count == 1 else f"{found.count} cases"
    return f"{where(found)}{cases} changed and can't be compared with the baseline"


@says.register
def _(found: codes.WaivedCase) -> str:
    return f"{where(found)}{found.case} is missing, waived: {found.reason}"


@says.register
def _(found: codes.WaivedRun) -> str:
    return f"{found.run} was not run, waived: {found.reason}"


@says.register
def _(found: codes.StandIns) -> str:
    every = "every planned trial" if found.each > 1 else "the planned trial"
    of = some_of(found) if found.count == 1 else f"{found.count} cases ({some_of(found)})"
    return f"{where(found)}{every} of {of} ended in an error; a retrial counts in its place"


@says.register
def _(found: codes.BaseUnusable) -> str:
    return f"{where(found)}the base was not measured alongside the head: {found.why}"


@says.register
def _(found: codes.BaseIncomplete) -> str:
    return f"{where(found)}not everything in doubt was measured on both sides: {found.why}"


@says.register
def _(found: codes.BaseDrifted) -> str:
    when = f" of {found.since[:10]}" if found.since else ""
    passed = f" ({found.passed} of {found.trials} trials passed)"
    return (
        f"{where(found)}the base itself does worse now than in the baseline{when}{passed}; no pull request caused "
        "that: "
        "the provider or the environment has changed since. Renew the baseline"
    )


@says.register
def _(found: codes.BaseCasesLost) -> str:
    return f"{where(found)}the base has no valid trial of {some_of(found)}, so nothing was compared there"


@says.register
def _(found: codes.SameInWorstCase) -> str:
    had = "it" if found.trials == 1 else "they"
    count = ended_in_error(found.trials)
    return f"{count} that no outage explains; had {had} failed, the verdict would be the same"


@says.register
def _(found: codes.EarlierTries) -> str:
    return earlier_tries(found.tries)


@says.register
def _(found: codes.UnknownTries) -> str:
    attempt = f"this is the {ordinal(found.attempt)} attempt of this workflow run"
    return f"{attempt}; the results of the earlier ones are not known here"


# --- a baseline that says little about today ------------------------------------------------------------------------


@says.register
def _(found: codes.FewTrials) -> str:
    counted = f"{found.fewest}" if found.fewest == found.most else f"{found.fewest} to {found.most}"
    trials = "trial" if found.most == 1 else "trials"
    return (
        f"{where(found)}the baseline has {counted} {trials} per case: by itself it can't "
        f"{_cannot(found.fewest_cases)}. {_more_trials(found)} and update it"
    )


def _more_trials(found: codes.FewTrials) -> str:
    if not found.harness:
        return f"Run with `--trials {found.least}`"
    return (
        f"Have the harness run {found.least} of each case (its epochs or repeats, or `--trials {found.least}` where "
        "`run` has `{trials}`)"
    )


def _cannot(cases: int | None) -> str:
    if cases is None:
        return "prove any drop"
    if cases == 1:
        return "distinguish a small drop from chance"
    return f"prove a drop of fewer than {number_word(cases)} cases"


@says.register
def _(found: codes.OldBaseline) -> str:
    return f"the baseline is {found.days} days old, and a model can change under the same name: measure it again"


@says.register
def _(found: codes.OtherVersions) -> str:
    first, *others = (f"{_VERSIONS.get(one.part, one.part)} ({one.before}, now {one.now})" for one in found.changes)
    the = ["the " if one.part in _THE else "" for one in found.changes[1:]]
    changed = ", ".join([first, *(f"{article}{other}" for article, other in zip(the, others, strict=True))])
    return f"{where(found)}the baseline was measured with another {changed}"


@says.register
def _(found: codes.ManyRedefined) -> str:
    have = "has" if found.count == 1 else "have"
    return f"{where(found)}{found.count} of the baseline's {found.known} cases {have} been redefined: update it"


@says.register
def _(found: codes.ManyUnknown) -> str:
    them = "it" if found.count == 1 else "them"
    lacks = f"the baseline lacks {found.count} of {found.cases} cases, so nothing protects {them}"
    return f"{where(found)}{lacks}: update the baseline"


# --- what takes the place of what -----------------------------------------------------------------------------------


@says.register
def _(found: codes.NotReplaced) -> str:
    place = f"{found.old_suite} × {found.old_target}"
    return f"{found.run} does not take the place of {place}: {_REFUSALS[found.why]}"


@says.register
def _(found: codes.SeveralReplace) -> str:
    return f"{found.run} has several replacements, so none of them counts: {joined(found.runs)}"


@says.register
def _(found: codes.AmbiguousNames) -> str:
    went, came = ", ".join(found.went), ", ".join(found.came)
    return (
        f"{where(found)}{went} disappeared and {came} appeared with the same definition: which replaced which is "
        "unknown"
    )


# --- benchmarks -----------------------------------------------------------------------------------------------------


@says.register
def _(found: codes.SlowerTiming) -> str:
    name = " ".join(found.benchmark.split())[:80]
    size = f"{found.factor:.2f}× (Mann-Whitney p = {found.p:.2g})"
    return f"{where(found)}{name} of {found.case} is slower: {size}"


@says.register
def _(found: codes.MoreSlower) -> str:
    return f"{where(found)}{plural(found.count, 'further benchmark is', 'further benchmarks are')} slower"
