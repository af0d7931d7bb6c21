"""What to do about a reason."""

from __future__ import annotations

from evalward.records.codes import advice as codes
from evalward.render.numbers import plural
from evalward.render.sentences.dispatch import says

_SEE = "see the report"
_PLAIN: dict[codes.Plain, str] = {
    "advice.check_selection": "Check `suites`, `cases` and the selection.",
    "advice.raise_budget": "Raise `budget_usd` or `budget_tokens`, or run less; `--resume` keeps what is done.",
    "advice.resume": "Run it again; `--resume` keeps what is done.",
    "advice.fix_and_resume": "Mend that and run it again; `--resume` keeps what is done.",
    "advice.run_again": "Run it again.",
    "advice.base_errors": "Not the target's fault. Run it again.",
    "advice.look_at_errors": (
        "Look at why they broke, and run it again: what breaks its own trial may have been failing."
    ),
    "advice.look_at_scores": (
        "Look at why these cases have no score now. Restore the scorer, or change the rule first, in a change of its "
        "own."
    ),
    "advice.run_or_waive": (
        "Run it; say what takes its place, with `replaces:`; or waive it in the config, with a reason."
    ),
    "advice.restore_cases": "Bring them back, update the baseline, or waive them in the config, each with a reason.",
    "advice.restore_category": "Bring it back, update the baseline, or waive it in the config, with a reason.",
    "advice.restore_metric": "Measure it again; or remove the rule from the policy first, in a change of its own.",
    "advice.run_with_key": "A maintainer can run it with the key.",
    "advice.merge_commands": (
        "A pull request's own commands are not run. Read them and merge them: the suite is measured from then on. To "
        "see its results before, run `evalward run` in a checkout that you trust."
    ),
    "advice.update_when_right": "Update the baseline once the new cases are right.",
    "advice.read_redefined": (
        "Look at what changed in them; update the baseline once they are right, or waive them with a reason."
    ),
    "advice.redefined_blocks": (
        "It blocks because most of the known cases were redefined here. Who has read them accepts the new results "
        "(`/evalward accept`), waives the cases in the base's configuration, or sets `fail-on: regression` in the "
        "workflow."
    ),
    "advice.measure_live": "Measure it with a live target.",
    "advice.compare_recordings": "Compare the recordings; update the baseline with the new one.",
    "advice.measure_base": (
        "Measure it where the base commit is: check out with `fetch-depth: 2` or more, or name it with "
        "`evalward check --base COMMIT`. Or compare the suite with a committed baseline: `compare_with: baseline`."
    ),
    "advice.keep_old_name": (
        "Keep the old name beside the new one in this pull request and remove it in the next; or waive it in the "
        "config, with a reason: a pull request is judged by its base's."
    ),
    "advice.bootstrap": (
        "Where this pull request brings the configuration, or mends the base's, set the input `bootstrap: true` in the "
        "workflow until it is merged. For every other base, propose it against a branch that has a configuration."
    ),
    "advice.worst_case": "Look at why, and run it again: a trial that ended in an error may have been about to fail.",
    "advice.new_commit": (
        "Look at what failed then. A new commit starts anew; if nothing of this change can have done it, a maintainer "
        "can merge past it, or accept it."
    ),
    "advice.no_rerun": "Running it again doesn't mend it. Look at the cases that fail, mend them, and push that.",
    "advice.anchor": (
        "It went bit by bit, so no single change need have done it: look at the cases that lost most. To take the loss "
        "on purpose, release, or name a later release in `anchor`."
    ),
    "advice.more_samples": "More samples of each benchmark tell more.",
}


@says.register
def _(found: codes.Advice) -> str:
    return _PLAIN[found.code]


@says.register
def _(found: codes.AfterErrors) -> str:
    return f"Not the target's fault: {found.why or _SEE}. Run it again."


@says.register
def _(found: codes.AfterUnjudged) -> str:
    return f"Not the target's fault: {found.why or _SEE}. See `judge` in the config."


@says.register
def _(found: codes.ChangeLimit) -> str:
    own = f"give {found.metric} a rule of its own" if found.metric else f"change its {found.limit}"
    return (
        f"Mend what fails, or {own} in the policy: a new baseline doesn't change a {found.limit}. A pull request is "
        "judged by its base's policy, so the policy has to be changed there first."
    )


@says.register
def _(found: codes.LookAtCases) -> str:
    return "Look at the broken cases." if found.broken else "Look at what changed."


@says.register
def _(found: codes.LookOrAccept) -> str:
    what = "the broken cases: mend them" if found.broken else "what changed: mend it"
    return f"Look at {what}, or accept the change, which updates the baseline."


@says.register
def _(found: codes.LookAgainstBase) -> str:
    what = "the broken cases and mend them" if found.broken else "what changed and mend it"
    return f"Look at {what}. The suite is compared with the base commit, so no baseline can accept it."


@says.register
def _(found: codes.MoreTrials) -> str:
    cost = plural(found.cost, "more trial")
    match found.of:
        case "baseline":
            return f"A baseline of {found.trials} trials per case tells more; it has {found.has}. That takes {cost}."
        case "planned" if found.harness:
            how = f"by its epochs or repeats, or `--trials {found.trials}` where `run` has `{{trials}}`"
            return f"{found.trials} trials of each case by the harness tell more: {how}. That takes {cost}."
        case "planned":
            return f"`--trials {found.trials}` tells more. That takes {cost}."
        case "fresh":
            key = f"`confirm: {{trials: {found.trials}}}` in the config"
            return f"More fresh tries tell more: {key} takes {cost}."
        case "both_sides":
            key = f"`confirm: {{base_trials: {found.trials}}}` in the config"
            return f"More trials of both sides tell more: {key} takes {cost}."
