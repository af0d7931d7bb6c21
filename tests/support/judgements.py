"""Example judgements, as real runs would produce them, for the tests of whoever reads them."""

from __future__ import annotations

from evalward.commands.spelling import show_case
from evalward.records.codes.advice import Advice, AfterErrors, LookAtCases, LookOrAccept, MoreTrials
from evalward.records.codes.base import ForeignText
from evalward.records.codes.notices import FewTrials
from evalward.records.codes.passing import FirstRun, NothingWorse
from evalward.records.codes.reasons import MissingCases, NotMeasured, TooManyErrors
from evalward.records.codes.rules import CasesFailed, ExactDrop, UnprovenDrop
from evalward.records.comparison import SubjectChange
from evalward.records.succession import PerCase, Replacement
from evalward.records.verdict import Judgement, Outcome, Reason, Verdict
from evalward.render.context import Accepting, PageContext
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


def context(**changes: object) -> PageContext:
    """A pull request's context, with everything that can be set."""
    values: dict[str, object] = {
        "head_sha": HEAD_COMMIT,
        "base_sha": BASE_COMMIT,
        "run_url": "https://github.com/acme/tools/actions/runs/123456",
        "report_path": "evalward-out/report.json",
        "command": f"evalward check --suite {SUITE} --target {TARGET}",
        "accept": Accepting(
            "This makes these results the baseline. Commit `.evalward/baseline.json` with the change.",
            "evalward baseline update --report evalward-out/report.json --keep --accept intended",
            "/evalward accept intended",
        ),
        "repository": "acme/tools",
        "marker": "<!-- evalward:comment schema=1 id=default -->",
        "show": show_case,
        "download": "gh run download 123456 --repo acme/tools --name evalward --dir evalward-out",
    }
    return PageContext(**{**values, **changes})  # type: ignore[arg-type]  # a test's own keywords


def failed() -> Judgement:
    """A replay whose tool calls succeed less often: one deciding reason, two others, a warning."""
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
            statements=[
                ExactDrop(
                    metric="tool_call_success_rate",
                    unit="ratio",
                    before=78 / 96,
                    now=70 / 96,
                    delta=-8 / 96,
                    allowed=0.05,
                )
            ],
            suite=SUITE,
            target=TARGET,
            metric="tool_call_success_rate",
            cases=["json_merge", "json_nested_keys", "json_to_csv"],
            advice=[LookOrAccept(broken=True)],
        ),
        Reason(
            stage="missing",
            outcome=Outcome.FAIL,
            statements=[MissingCases(suite=SUITE, target=TARGET, count=1, first=("tar_list",))],
            suite=SUITE,
            target=TARGET,
            cases=["tar_list"],
            advice=[Advice(code="advice.restore_cases")],
        ),
        Reason(
            stage="drop",
            outcome=Outcome.INCONCLUSIVE,
            statements=[doubted()],
            suite=SUITE,
            target=TARGET,
            metric="pass_rate",
            advice=[LookAtCases(broken=True), MoreTrials(of="baseline", trials=5, has=1, cost=148)],
        ),
    ]
    verdict = Verdict(
        outcome=Outcome.FAIL,
        reasons=reasons,
        rules=rules("fail", "inconclusive", "ok"),
        notices=[FewTrials(suite=SUITE, target=TARGET, fewest=1, most=1, least=5, fewest_cases=5)],
    )
    warned = ForeignText(text="evals/bash/json.jsonl: 2 cases have no `solution`.")
    return Judgement(comparison=comparison(replay, notices=[warned]), verdict=verdict)


def doubted() -> UnprovenDrop:
    """Two cases of 37 that failed, of which chance may be the reason."""
    return UnprovenDrop(
        metric="pass_rate",
        unit="ratio",
        before=34 / 37,
        now=32 / 37,
        delta=-2 / 37,
        overall=-2 / 37,
        allowed=0.02,
        measured="planned",
        shown=CasesFailed(cases=2, total=37, passed=2, before=2, failed=2, trials=2, fresh=False),
        p=0.25,
    )


def passed() -> Judgement:
    """Nothing got worse."""
    verdict = Verdict(outcome=Outcome.PASS, passing=[unworsened()], rules=rules("ok", "warn", "ok"))
    return Judgement(comparison=comparison(run(replay=True)), verdict=verdict)


def unworsened(runs: int = 1) -> NothingWorse:
    """What a pass says of so many runs."""
    return NothingWorse(within=False, runs=runs, cases=37 * runs)


def first_run() -> Judgement:
    """No baseline: floors only."""
    metrics = [item.model_copy(update={"before": None, "delta": None}) for item in metric_changes()]
    alone = run(baseline_trials=None, comparable=0, metrics=metrics, categories=[], added=True)
    outcomes = [
        item.model_copy(update={"before": None, "now": None, "delta": None}) for item in rules("ok", "ok", "ok")
    ]
    verdict = Verdict(outcome=Outcome.PASS, passing=[FirstRun(limited=True, failing=0, cases=37)], rules=outcomes)
    return Judgement(
        comparison=comparison(alone, baseline=None, baseline_commit=None, baseline_created_at=None), verdict=verdict
    )


def inconclusive() -> Judgement:
    """It looks worse, but chance can't be excluded; the check stays green."""
    reason = Reason(
        stage="drop",
        outcome=Outcome.INCONCLUSIVE,
        statements=[doubted()],
        suite=SUITE,
        target="anthropic/claude-haiku-4-5",
        metric="pass_rate",
        advice=[LookAtCases(broken=True), MoreTrials(of="planned", trials=5, has=3, cost=74)],
    )
    target = "anthropic/claude-haiku-4-5"
    random = run(target=target, random=True, baseline_trials=5, trials=3, planned=111, cases=changed_cases()[:2])
    verdict = Verdict(
        outcome=Outcome.INCONCLUSIVE,
        reasons=[reason],
        rules=rules("ok", "inconclusive", target=target),
    )
    return Judgement(comparison=comparison(random), verdict=verdict)


def unjudged() -> Judgement:
    """The provider was down."""
    reason = Reason(
        stage="validity",
        outcome=Outcome.ERROR,
        statements=[TooManyErrors(suite=SUITE, target="openai/gpt-5.5", errors=12, planned=37, limit=0.05)],
        suite=SUITE,
        target="openai/gpt-5.5",
        advice=[AfterErrors(why="the provider is overloaded")],
    )
    down = run(target="openai/gpt-5.5", random=True, errors=12, comparable=25)
    verdict = Verdict(outcome=Outcome.ERROR, reasons=[reason], rules=[])
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
    verdict = Verdict(outcome=Outcome.PASS, passing=[unworsened(5)], rules=outcomes)
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
    verdict = Verdict(outcome=Outcome.PASS, passing=[unworsened(2)], rules=outcomes)
    return Judgement(comparison=comparison(*runs, partial=True), verdict=verdict)


def huge(runs: int = 40, cases: int = 400, text: str = "x" * 3000) -> Judgement:
    """Far more than any page can show, and long texts in it."""
    long = broken_case().model_copy(update={"command": text, "stderr": text, "note": text})
    many = [long.model_copy(update={"id": f"case_{number:04}_{text[:100]}"}) for number in range(cases)]
    reasons = [
        Reason(
            stage="drop",
            outcome=Outcome.FAIL,
            statements=[NotMeasured(suite=text, target=text, why=text)],
            advice=[AfterErrors(why=text)],
            cases=[text] * 12,
        )
        for _ in range(50)
    ]
    names = [f"suite-{number}-{text[:200]}" for number in range(runs)]
    views = [
        run(suite=name, cases=many, subject=[SubjectChange(part=text, before=text, now=text)] * 50) for name in names
    ]
    outcomes = [item for name in names for item in rules("fail", "fail", "fail", suite=name)]
    verdict = Verdict(
        outcome=Outcome.FAIL,
        reasons=reasons,
        rules=outcomes,
        notices=[ForeignText(text=f"{n} {text}") for n in range(99)],
    )
    return Judgement(comparison=comparison(*views), verdict=verdict)
