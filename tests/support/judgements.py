"""Example judgements, as real runs would produce them, for the tests of whoever reads them."""

from __future__ import annotations

from evalward.records.comparison import SubjectChange
from evalward.records.succession import PerCase, Replacement
from evalward.records.verdict import Judgement, Outcome, Reason, Verdict
from evalward.render.context import Accepting, Context
from support.comparisons import (
    BASE_COMMIT,
    HEAD_COMMIT,
    SUITE,
    TARGET,
    broken_case,
    changed_cases,
    comparison,
    metric_changes,
    rules,
    run,
)


def context(**changes: object) -> Context:
    """A pull request's context, with everything that can be set."""
    values: dict[str, object] = {
        "head_sha": HEAD_COMMIT,
        "base_sha": BASE_COMMIT,
        "run_url": "https://github.com/acme/tools/actions/runs/123456",
        "report_path": "evalward-out/report.json",
        "command": f"evalward check --suite {SUITE} --target {TARGET}",
        "accept": Accepting(
            "This makes what was measured the baseline. Commit `.evalward/baseline.json` with the change.",
            "evalward baseline update --report evalward-out/report.json --keep --accept intended",
            "/evalward accept intended",
        ),
        "repository": "acme/tools",
        "marker": "<!-- evalward:comment schema=1 id=default -->",
    }
    return Context(**{**values, **changes})  # type: ignore[arg-type]  # a test's own keywords


def failed() -> Judgement:
    """A replay whose tool calls succeed less often: one deciding reason, two others, a warning."""
    message = "tool_call_success_rate fell 8.3 points (81.2 % → 72.9 %), more than the 5 allowed"
    replay = run(
        replay=True,
        replayed=37,
        diverged=4,
        comparable=35,
        errors=1,
        cases=changed_cases(),
        subject=[
            SubjectChange(part="bashkit", before="0.20.0", now="0.20.1"),
            SubjectChange(part="tool_description", before="sha256:" + "1a" * 32, now="sha256:" + "2b" * 32),
        ],
    )
    reasons = [
        Reason(
            stage="drop",
            outcome=Outcome.FAIL,
            message=message,
            suite=SUITE,
            target=TARGET,
            metric="tool_call_success_rate",
            cases=["json_merge", "json_nested_keys", "json_to_csv"],
            remedy="Look at the broken cases below; all of them fail in jq.",
        ),
        Reason(
            stage="missing",
            outcome=Outcome.FAIL,
            message="1 case of the baseline is missing: tar_list",
            suite=SUITE,
            target=TARGET,
            cases=["tar_list"],
            remedy="Put it back, or waive it with a reason under `waive:` on the base branch.",
        ),
        Reason(
            stage="drop",
            outcome=Outcome.INCONCLUSIVE,
            message="pass_rate fell 5.4 points (91.9 % → 86.5 %); chance can't be excluded",
            suite=SUITE,
            target=TARGET,
            metric="pass_rate",
            remedy="Run more trials.",
        ),
    ]
    verdict = Verdict(
        outcome=Outcome.FAIL,
        headline=message,
        reasons=reasons,
        rules=rules("fail", "inconclusive", "ok"),
        warnings=["The baseline has 1 trial per case: it can't convict a drop of fewer than 5 cases."],
    )
    return Judgement(
        comparison=comparison(replay, warnings=["evals/bash/json.jsonl: 2 cases have no `solution`."]), verdict=verdict
    )


def passed() -> Judgement:
    """Nothing got worse."""
    verdict = Verdict(
        outcome=Outcome.PASS, headline="3 rules hold over 37 cases, nothing got worse", rules=rules("ok", "warn", "ok")
    )
    return Judgement(comparison=comparison(run(replay=True)), verdict=verdict)


def first_run() -> Judgement:
    """No baseline: floors only."""
    metrics = [item.model_copy(update={"before": None, "delta": None}) for item in metric_changes()]
    alone = run(baseline_trials=None, comparable=0, metrics=metrics, categories=[], added=True)
    outcomes = [
        item.model_copy(update={"before": None, "now": None, "delta": None}) for item in rules("ok", "ok", "ok")
    ]
    verdict = Verdict(outcome=Outcome.PASS, headline="3 floors hold over 37 cases", rules=outcomes)
    return Judgement(
        comparison=comparison(alone, baseline=None, baseline_commit=None, baseline_created_at=None), verdict=verdict
    )


def inconclusive() -> Judgement:
    """It looks worse, but chance can't be excluded; the check stays green."""
    message = "pass_rate fell 5.4 points (91.9 % → 86.5 %), more than the 2 allowed, but chance can't be excluded"
    reason = Reason(
        stage="drop",
        outcome=Outcome.INCONCLUSIVE,
        message=message,
        suite=SUITE,
        target="anthropic/claude-haiku-4-5",
        metric="pass_rate",
        remedy="Run it with more trials: `evalward check --trials 5`.",
    )
    target = "anthropic/claude-haiku-4-5"
    random = run(target=target, random=True, baseline_trials=5, trials=3, planned=111, cases=changed_cases()[:2])
    verdict = Verdict(
        outcome=Outcome.INCONCLUSIVE,
        headline=message,
        reasons=[reason],
        rules=rules("ok", "inconclusive", target=target),
    )
    return Judgement(comparison=comparison(random), verdict=verdict)


def unjudged() -> Judgement:
    """The provider was down."""
    message = "12 of 37 trials ended in an error (32.4 %), more than the 5 % allowed"
    reason = Reason(
        stage="validity",
        outcome=Outcome.ERROR,
        message=message,
        suite=SUITE,
        target="openai/gpt-5.5",
        remedy="Run it again when the provider answers; nothing here says anything about this change.",
    )
    down = run(target="openai/gpt-5.5", random=True, errors=12, comparable=25)
    verdict = Verdict(outcome=Outcome.ERROR, headline=message, reasons=[reason], rules=[])
    return Judgement(comparison=comparison(down), verdict=verdict)


def several() -> Judgement:
    """Runs of every state: failed, fine, new, missing, not measured; partial."""
    live = "anthropic/claude-haiku-4-5"
    runs = [
        run(
            cases=changed_cases(),
            replay=True,
            replayed=2,
            diverged=2,
            subject=[SubjectChange(part="b", before=None, now="2")],
        ),
        run(target="oracle"),
        run(suite="commands", target=live, random=True, added=True, baseline_trials=None, comparable=0, categories=[]),
        run(suite="commands", target="nop", missing=True, total=0, comparable=0, metrics=[], categories=[]),
        run(
            suite="scenarios",
            target=live,
            random=True,
            metrics=[],
            categories=[],
            total=0,
            comparable=0,
            not_measured="the key ANTHROPIC_API_KEY is not available on pull requests from forks",
        ),
    ]
    judgement = failed()
    outcomes = [*rules("fail", "warn"), *rules(target="oracle")]
    return Judgement(
        comparison=comparison(*runs, partial=True, interrupted="the budget of $5.00 was spent"),
        verdict=judgement.verdict.model_copy(update={"rules": outcomes}),
    )


def all_fine() -> Judgement:
    """More runs than a page shows open, and nothing wrong with any of them."""
    targets = ["oracle", "nop", "replay:a", "replay:b", "replay:c"]
    outcomes = [outcome for target in targets for outcome in rules(target=target)]
    verdict = Verdict(outcome=Outcome.PASS, headline="15 rules hold over 185 cases", rules=outcomes)
    return Judgement(comparison=comparison(*(run(target=target) for target in targets)), verdict=verdict)


def upgraded() -> Judgement:
    """A model in another's place, with cases that broke, got fixed and have other ids; and a part of a suite."""
    new, old = "anthropic/claude-haiku-5", "anthropic/claude-haiku-4-5"
    replaced = Replacement(
        suite="shell",
        target=old,
        sort="model",
        named=False,
        before=PerCase(passed=34, trials=37, cost_usd=0.0031, duration_ms=8_100),
        now=PerCase(passed=32, trials=37, cost_usd=0.0042, duration_ms=5_200),
    )
    cases = [case.model_copy(update={"was": f"old_{case.id}"}) for case in changed_cases()]
    runs = [run(target=new, random=True, replaced=replaced, cases=cases), run(target="oracle", total=2, whole=37)]
    outcomes = [*rules(target=new), *rules("not_judged", "not_judged", "not_judged", target="oracle")]
    verdict = Verdict(outcome=Outcome.PASS, headline="nothing got worse", rules=outcomes)
    return Judgement(comparison=comparison(*runs, partial=True), verdict=verdict)


def huge(runs: int = 40, cases: int = 400, text: str = "x" * 3000) -> Judgement:
    """Far more than any page can show, and long texts in it."""
    long = broken_case().model_copy(update={"command": text, "stderr": text, "note": text})
    many = [long.model_copy(update={"id": f"case_{number:04}_{text[:100]}"}) for number in range(cases)]
    reasons = [
        Reason(stage="drop", outcome=Outcome.FAIL, message=text, remedy=text, cases=[text] * 12) for _ in range(50)
    ]
    names = [f"suite-{number}-{text[:200]}" for number in range(runs)]
    views = [
        run(suite=name, cases=many, subject=[SubjectChange(part=text, before=text, now=text)] * 50) for name in names
    ]
    outcomes = [item for name in names for item in rules("fail", "fail", "fail", suite=name)]
    verdict = Verdict(
        outcome=Outcome.FAIL,
        headline=text,
        reasons=reasons,
        rules=outcomes,
        warnings=[f"{n} {text}" for n in range(99)],
    )
    return Judgement(comparison=comparison(*views), verdict=verdict)
