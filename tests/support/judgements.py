"""Example judgements and reports, as real runs would produce them, for the tests of whoever reads them."""

from __future__ import annotations

from evalward.records.comparison import (
    CaseChange,
    CategoryChange,
    Comparison,
    MetricChange,
    RunComparison,
    SubjectChange,
    Tally,
)
from evalward.records.metric import CategorySummary, Metric, amount, ratio
from evalward.records.policy import Rule
from evalward.records.report import Finding, Provenance, Report, Run, Subject, Tool
from evalward.records.result import BashDetails, CheckResult, Result, Status
from evalward.records.trace import Usage
from evalward.records.verdict import Judgement, Outcome, Reason, RuleOutcome, RuleStatus, Verdict
from evalward.render.context import Context

BASE_COMMIT = "3f2a9c1d5e7b80412233445566778899aabbccdd"
HEAD_COMMIT = "9e8d7c6b5a493827160504030201f0e1d2c3b4a5"
SUITE, TARGET = "bash-tools", "replay:haiku"


def context(**changes: object) -> Context:
    """A pull request's context, with everything that can be set."""
    values: dict[str, object] = {
        "head_sha": HEAD_COMMIT,
        "base_sha": BASE_COMMIT,
        "run_url": "https://github.com/acme/tools/actions/runs/123456",
        "report_path": "evalward-out/report.json",
        "command": f"evalward check --suite {SUITE} --target {TARGET}",
        "accept": "If the change is meant, run `evalward baseline update evalward-out/report.json` on this branch "
        "and commit `.evalward/baseline.json`; the base branch's policy still decides.",
        "repository": "acme/tools",
        "marker": "<!-- evalward:comment schema=1 id=default -->",
    }
    return Context(**{**values, **changes})  # type: ignore[arg-type]  # a test's own keywords


def change(metric_id: str, before: Metric | None, now: Metric | None, whole: Metric | None = None) -> MetricChange:
    """One metric on both sides; the whole is `now` unless given."""
    known = before is not None and now is not None and before.value is not None and now.value is not None
    delta = now.value - before.value if known else None  # type: ignore[union-attr, operator]
    some = now or before
    return MetricChange(
        id=metric_id,
        before=before,
        now=now,
        whole=whole or now,
        delta=delta,
        better=some.better if some else "higher",
    )


def outcome(
    rule: Rule,
    metric: MetricChange,
    status: RuleStatus,
    *,
    suite: str = SUITE,
    target: str = TARGET,
    default: bool = False,
) -> RuleOutcome:
    """A rule applied to a metric."""
    return RuleOutcome(
        rule=rule,
        default=default,
        suite=suite,
        target=target,
        value=metric.whole,
        before=metric.before,
        now=metric.now,
        delta=metric.delta,
        status=status,
        message=f"{rule.metric} is {status}",
    )


def rate(numerator: float, denominator: float) -> Metric:
    """A ratio that has a denominator."""
    return ratio(numerator, denominator, "no trials")


def broken_case(case_id: str = "json_nested_keys", number: int = 1) -> CaseChange:
    """A case that passed and fails now."""
    return CaseChange(
        id=case_id,
        category="json_processing",
        change="broken",
        before=Tally(passed=1, trials=1, score=1.0),
        now=Tally(passed=0, trials=1, score=0.5),
        checks=[
            CheckResult(check="exit_code:0", passed=False, detail="expected 0, got 5"),
            CheckResult(check="stdout_contains:hobbies", passed=False, detail="stdout is empty"),
        ],
        command="cat user.json | jq -r '.user.hobbies[] | @csv' | sort -u",
        stderr="jq: error (at user.json:4): Cannot iterate over null (null)",
        trace=f"trials/{case_id}.{number}.json",
    )


def metric_changes() -> list[MetricChange]:
    """What a `bash` run measures, on both sides."""
    return [
        change("total_passed", amount(34.0, "count", better="higher"), amount(32.0, "count", better="higher")),
        change("overall_rate", rate(174, 184), rate(169, 184)),
        change("pass_rate", rate(34, 37), rate(32, 37)),
        change("tool_call_success_rate", rate(78, 96), rate(70, 96)),
        change("total_tool_calls", amount(96.0, "count"), amount(96.0, "count")),
        change("avg_turns_per_task", amount(3.4324, "count"), amount(3.5135, "count")),
        change("total_input_tokens", amount(184_220.0, "tokens"), amount(191_034.0, "tokens")),
        change("total_output_tokens", amount(41_870.0, "tokens"), amount(42_911.0, "tokens")),
        change("total_duration_ms", amount(318_000.0, "ms"), amount(384_000.0, "ms")),
        change(
            "cost_usd",
            amount(None, "usd", "a replay costs nothing"),
            amount(None, "usd", "a replay costs nothing"),
        ),
    ]


def category(name: str, passed: int, tasks: int, now_passed: int) -> CategoryChange:
    """One category whose score is its number of passed tasks."""
    return CategoryChange(name=name, before=_summary(passed, tasks), now=_summary(now_passed, tasks))


def _summary(passed: int, tasks: int) -> CategorySummary:
    return CategorySummary(
        tasks=tasks, passed=passed, score=passed, max_score=tasks, rate=passed / tasks if tasks else None
    )


def categories() -> list[CategoryChange]:
    """Categories of a `bash` suite."""
    return [
        category("archive_operations", 3, 3, 3),
        category("data_transformation", 5, 6, 6),
        category("file_operations", 6, 6, 6),
        category("json_processing", 8, 8, 5),
        category("pipelines", 6, 7, 6),
        category("text_processing", 6, 7, 6),
    ]


def run(suite: str = SUITE, target: str = TARGET, **changes: object) -> RunComparison:
    """One run, unchanged but for `changes`."""
    values: dict[str, object] = {
        "suite": suite,
        "kind": "bash",
        "target": target,
        "random": False,
        "baseline_trials": 1,
        "trials": 1,
        "comparable": 37,
        "total": 37,
        "errors": 0,
        "planned": 37,
        "metrics": metric_changes(),
        "categories": categories(),
    }
    return RunComparison.model_validate({**values, **changes})


def comparison(*runs: RunComparison, **changes: object) -> Comparison:
    """A comparison with a committed baseline."""
    values: dict[str, object] = {
        "baseline": ".evalward/baseline.json",
        "baseline_commit": BASE_COMMIT,
        "baseline_created_at": "2026-11-18T09:30:00Z",
        "runs": list(runs),
    }
    return Comparison.model_validate({**values, **changes})


def rules(*statuses: RuleStatus, suite: str = SUITE, target: str = TARGET) -> list[RuleOutcome]:
    """Three rules over `metric_changes`, each with its status; `ok` where none is given."""
    metrics = {item.id: item for item in metric_changes()}
    all_rules = [
        Rule(metric="tool_call_success_rate", floor=0.70, max_drop=0.05),
        Rule(metric="pass_rate", floor=0.80, goal=0.90, max_drop=0.06),
        Rule(metric="overall_rate", floor=0.90),
    ]
    given: list[RuleStatus] = [*statuses, "ok", "ok", "ok"]
    return [
        outcome(rule, metrics[rule.metric], status, suite=suite, target=target, default=rule.metric == "overall_rate")
        for rule, status in zip(all_rules, given, strict=False)
    ]


def changed_cases() -> list[CaseChange]:
    """One or more of every change that a case can have."""
    passed, failed = Tally(passed=1, trials=1, score=1.0), Tally(passed=0, trials=1, score=0.0)
    return [
        broken_case("json_nested_keys"),
        CaseChange(
            id="json_to_csv",
            category="json_processing",
            change="broken",
            before=Tally(passed=5, trials=5, score=1.0),
            now=Tally(passed=1, trials=3, score=0.4),
            checks=[CheckResult(check="stdout_regex:^Alice,.*$", passed=False, detail="got '\"Alice\",30'")],
            command="jq -r '.[] | [.name, .age] | @csv' people.json > out.csv\nsed -i 's/\"//g' out.csv\ncat out.csv",
        ),
        broken_case("json_merge", 3).model_copy(
            update={"checks": [CheckResult(check="file_exists:/out/merged.json", passed=False, detail="no such file")]}
        ),
        CaseChange(
            id="csv_revenue", category="data_transformation", change="fixed", before=failed, now=passed, checks=[]
        ),
        CaseChange(
            id="log_top_errors",
            category="text_processing",
            change="worse",
            before=Tally(passed=2, trials=3, score=0.8),
            now=Tally(passed=1, trials=3, score=0.55),
        ),
        CaseChange(
            id="pipe_dedup",
            category="pipelines",
            change="better",
            before=Tally(passed=1, trials=3, score=0.5),
            now=Tally(passed=2, trials=3, score=0.75),
        ),
        CaseChange(id="zip_roundtrip", category="archive_operations", change="added", now=passed),
        CaseChange(id="tar_list", category="archive_operations", change="missing", before=passed),
        CaseChange(
            id="sed_inplace",
            category="text_processing",
            change="redefined",
            before=passed,
            now=passed,
            note="prompt and checks changed",
        ),
        CaseChange(
            id="awk_join",
            category="text_processing",
            change="not_valid",
            before=passed,
            note="provider overloaded (529) in all 3 tries",
        ),
        CaseChange(id="find_large", category="file_operations", change="same", before=passed, now=passed),
    ]


def failed() -> Judgement:
    """A replay whose tool calls succeed less often: one deciding reason, two others, a warning."""
    message = "tool_call_success_rate fell 8.3 points (81.2 % → 72.9 %), more than the 5 allowed"
    replay = run(
        replay=True,
        diverged=4,
        comparable=35,
        errors=1,
        cases=changed_cases(),
        subject=[
            SubjectChange(part="bashkit", before="0.20.0", now="0.20.1"),
            SubjectChange(part="tool", before="sha256:" + "1a" * 32, now="sha256:" + "2b" * 32),
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
        run(cases=changed_cases(), replay=True, diverged=2, subject=[SubjectChange(part="b", before=None, now="2")]),
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


def huge(runs: int = 40, cases: int = 400, text: str = "x" * 3000) -> Judgement:
    """Far more than any page can show, and long texts in it."""
    long = broken_case().model_copy(update={"command": text, "stderr": text, "note": text})
    many = [long.model_copy(update={"id": f"case_{number:04}_{text[:100]}"}) for number in range(cases)]
    reasons = [
        Reason(stage="drop", outcome=Outcome.FAIL, message=text, remedy=text, cases=[text] * 50) for _ in range(50)
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


def result(case_id: str, status: Status, **changes: object) -> Result:
    """One trial."""
    values: dict[str, object] = {
        "id": case_id,
        "category": "json_processing",
        "definition": "sha256:" + "ab" * 32,
        "status": status,
        "score": 2.0 if status is Status.PASSED else 1.0,
        "max_score": 2.0,
        "checks": [
            CheckResult(check="exit_code:0", passed=True, detail="exit code is 0"),
            CheckResult(
                check="stdout_contains:42", passed=status is Status.PASSED, detail="stdout is '41\\n'", weight=1.0
            ),
        ],
        "usage": Usage(input_tokens=1200, output_tokens=310),
        "duration_ms": 8120,
        "details": BashDetails(
            tool_calls=3, tool_calls_ok=2, turns=4, natural_stop=True, failing_command="echo 41 | tee out.txt"
        ),
    }
    return Result.model_validate({**values, **changes})


def report(target: str = TARGET, **changes: object) -> Report:
    """A report of one run."""
    metrics = {item.id: item.now for item in metric_changes() if item.now is not None}
    summaries = {item.name: item.now for item in categories() if item.now is not None}
    one = Run(
        suite=SUITE,
        kind="bash",
        target=target,
        trials=1,
        planned=4,
        subject=Subject(hash="sha256:" + "cd" * 32),
        metrics=metrics,
        categories=summaries,
        findings=[
            Finding(
                id="weak_category",
                level="warning",
                message="json_processing is the weakest category",
                evidence="62.5 % (5/8)",
                threshold="80 %",
                advice="Read the traces of its failed cases: most fail in jq filters.",
                cases=["json_nested_keys"],
            )
        ],
        cases=[
            result("json_nested_keys", Status.FAILED, reason="checks_failed"),
            result("json_to_csv", Status.PASSED),
            result("awk_join", Status.ERROR, score=0.0, reason="rate_limit", message="429 after 5 tries", checks=[]),
            result("csv_revenue", Status.SKIPPED, score=0.0, reason="budget", checks=[]),
        ],
    )
    values: dict[str, object] = {
        "tool": Tool(version="0.1.0"),
        "created_at": "2026-11-21T08:00:00Z",
        "provenance": Provenance(commit=HEAD_COMMIT, platform="linux"),
        "runs": [one],
    }
    return Report.model_validate({**values, **changes})
