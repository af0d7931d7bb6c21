"""The parts of example judgements: metrics, cases, runs and rules, each with something that changed."""

from __future__ import annotations

from evalward.records.codes import Statement
from evalward.records.codes.rules import GoalMissed, GoalUnavailable, LimitBroken, LimitUnjudged, UnseenDrop
from evalward.records.comparison import (
    CaseChange,
    CategoryChange,
    Comparison,
    MetricChange,
    RunComparison,
    Tally,
)
from evalward.records.metric import CategorySummary, Metric, amount, ratio
from evalward.records.policy import Rule
from evalward.records.result import CheckResult
from evalward.records.verdict import RuleOutcome, RuleStatus

BASE_COMMIT = "3f2a9c1d5e7b80412233445566778899aabbccdd"
HEAD_COMMIT = "9e8d7c6b5a493827160504030201f0e1d2c3b4a5"
SUITE, TARGET = "bash-tools", "replay:haiku"


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
        statements=_statements(rule, metric, status),
    )


def _statements(rule: Rule, metric: MetricChange, status: RuleStatus) -> list[Statement]:
    """What a rule of this status says."""
    whole = metric.whole or metric.now or metric.before
    value, unit = (whole.value or 0.0, whole.unit) if whole else (0.0, "ratio")
    said: dict[RuleStatus, Statement] = {
        "fail": LimitBroken(metric=rule.metric, limit="floor", unit=unit, value=value, allowed=1.0),
        "inconclusive": UnseenDrop(
            metric=rule.metric, unit=unit, delta=-0.1, allowed=0.05, tested=1, suspected=1, untestable=0, doubt=True
        ),
        "warn": GoalMissed(metric=rule.metric, unit=unit, value=value, goal=1.0),
        "not_available": GoalUnavailable(metric=rule.metric, why="no trials"),
        "not_judged": LimitUnjudged(metric=rule.metric, limits=("floor",), chosen=2, cases=37),
    }
    return [said[status]] if status in said else []


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
