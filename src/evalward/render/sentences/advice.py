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
    "advice.fix_and_resume": "Fix that and run it again; `--resume` keeps what is done.",
    "advice.run_again": "Run it again.",
    "advice.base_errors": "Not the target's fault. Run it again.",
    "advice.look_at_errors": (
        "Find out why trials ended in an error, then run it again: a target that breaks its own trial may have been "
        "failing."
    ),
    "advice.look_at_scores": (
        "Find out why the score is missing now. Restore the scorer, or change the rule first, in a separate change."
    ),
    "advice.run_or_waive": ("Run it, name its replacement with `replaces:`, or waive it in the config with a reason."),
    "advice.restore_cases": (
        "Restore what is missing, update the baseline, or waive each case in the config, with a reason."
    ),
    "advice.restore_category": "Bring it back, update the baseline, or waive it in the config, with a reason.",
    "advice.restore_metric": "Measure it again; or remove the rule from the policy first, in a separate change.",
    "advice.run_with_key": "A maintainer can run it with the key.",
    "advice.merge_commands": (
        "A pull request's own commands are not run. Review and merge them: the suite is measured from then on. To "
        "see results before that, run `evalward run` in a checkout that you trust."
    ),
    "advice.update_when_right": "Update the baseline once the new cases are right.",
    "advice.read_redefined": (
        "Look at what was redefined; update the baseline once it is right, or waive each case, with a reason."
    ),
    "advice.redefined_blocks": (
        "It blocks because most of the known cases were redefined here. Once you have reviewed them, accept the new "
        "results (`/evalward accept`), waive the cases in the base's configuration, or set `fail-on: regression` in "
        "the "
        "workflow."
    ),
    "advice.measure_live": "Measure it with a live target.",
    "advice.compare_recordings": "Compare the recordings; update the baseline with the new one.",
    "advice.measure_base": (
        "Make the base commit available: check out with `fetch-depth: 2` or more, or name it with "
        "`evalward check --base COMMIT`. Or compare the suite with a committed baseline: `compare_with: baseline`."
    ),
    "advice.keep_old_name": (
        "Keep the old name next to the new one in this pull request and remove it in the next; or waive it, with a "
        "reason, in the base's config, which judges this pull request."
    ),
    "advice.bootstrap": (
        "If this pull request adds the configuration, or fixes the base's, set the input `bootstrap: true` in the "
        "workflow until it is merged. Otherwise, open it against a branch that has a configuration."
    ),
    "advice.worst_case": "Find out why, and run it again: a trial that ended in an error might have failed.",
    "advice.new_commit": (
        "Look at what failed then. A new commit starts over; if this change can't have caused it, a maintainer "
        "can merge anyway, or accept it."
    ),
    "advice.no_rerun": "Running it again won't fix it. Fix the failing cases and push.",
    "advice.anchor": (
        "The loss built up gradually, so no single change need be the cause: look at the cases that lost most. To "
        "accept the loss, release, or name a later release in `anchor`."
    ),
    "advice.more_samples": "Take more samples of each benchmark.",
    "advice.look_at_arms": "Look at the cases that do no better than in the other arm.",
}


@says.register
def _(found: codes.Advice) -> str:
    return _PLAIN[found.code]


def _why(text: str | None) -> str:
    """What a trial said, which may be a sentence with its full stop."""
    return (text or _SEE).rstrip(". ")


@says.register
def _(found: codes.AfterErrors) -> str:
    return f"Not the target's fault: {_why(found.why)}. Run it again."


@says.register
def _(found: codes.AfterUnjudged) -> str:
    return f"Not the target's fault: {_why(found.why)}. See `judge` in the config."


@says.register
def _(found: codes.ChangeLimit) -> str:
    own = f"give {found.metric} a rule of its own" if found.metric else f"change its {found.limit}"
    return (
        f"Fix what fails, or {own} in the policy: a new baseline doesn't change a {found.limit}. A pull request is "
        "judged by its base's policy, so change the policy there first."
    )


@says.register
def _(found: codes.LookAtCases) -> str:
    return "Look at the broken cases." if found.broken else "Look at what changed."


@says.register
def _(found: codes.LookOrAccept) -> str:
    what = "the broken cases: fix them" if found.broken else "what changed: fix it"
    return f"Look at {what}, or accept the change, which updates the baseline."


@says.register
def _(found: codes.LookAgainstBase) -> str:
    what = "the broken cases and fix them" if found.broken else "what changed and fix it"
    return f"Look at {what}. The suite is compared with the base commit, so no baseline can accept it."


@says.register
def _(found: codes.MoreTrials) -> str:
    cost = plural(found.cost, "more trial")
    match found.of:
        case "baseline":
            return (
                f"A baseline of {found.trials} trials per case gives more evidence; it has {found.has}. That takes "
                f"{cost}."
            )
        case "planned" if found.harness:
            how = f"by its epochs or repeats, or `--trials {found.trials}` where `run` has `{{trials}}`"
            return f"{found.trials} trials of each case by the harness give more evidence: {how}. That takes {cost}."
        case "planned":
            return f"`--trials {found.trials}` gives more evidence. That takes {cost}."
        case "fresh":
            key = f"`confirm: {{trials: {found.trials}}}` in the config"
            return f"More retrials give more evidence: {key} takes {cost}."
        case "both_sides":
            key = f"`confirm: {{base_trials: {found.trials}}}` in the config"
            return f"More trials of both sides give more evidence: {key} takes {cost}."
