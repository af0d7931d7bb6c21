"""What may take the place of what, and how it is judged then; and what a new name can't hide."""

from __future__ import annotations

import pytest

from evalward.commands.pipeline import Criteria
from evalward.decide.baseline import update_baseline
from evalward.decide.pooling import NamedReport
from evalward.decide.staleness import stale
from evalward.decide.succession import align, form_of
from evalward.records.comparison import RunComparison
from evalward.records.metric import Metric
from evalward.records.policy import Policy, Rule
from evalward.records.report import ChosenCases, Partial, Report, Run
from evalward.records.result import Result
from evalward.records.succession import PerCase, Predecessor
from evalward.records.verdict import Outcome
from evalward.render import sentences as english
from support.results import KINDS, baseline, case_change, compared, passes, report, result, run, verdict_of

OLD, NEW, THIRD = "anthropic/claude-haiku-4-5", "anthropic/claude-haiku-5", "openai/gpt-5.5"
DROP = Rule(metric="pass_rate", max_drop=0.02)


def of(target: str, cases: list[Result], replaces: str | None = None, **more: object) -> Run:
    said = Predecessor(target=replaces) if replaces else None
    return run(cases, target=target, replaces=said, **more)  # type: ignore[arg-type]


def runs(now: Report, *before: Run) -> list[tuple[str, str | None, bool, bool]]:
    """Each run: its target, whom it replaces, new or not, missing or not."""
    found = compared(now, baseline(*before)).runs
    return [(r.target, r.replaced.target if r.replaced else None, r.added, r.missing) for r in found]


def only(now: Report, *before: Run) -> RunComparison:
    (found,) = compared(now, baseline(*before)).runs
    return found


# --- targets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replaces", [OLD, None], ids=["named", "the only one that went and came"])
def test_a_model_is_compared_with_its_predecessor(replaces: str | None) -> None:
    now = of(NEW, [*passes("a"), result("b", "failed"), *passes("c")], replaces)
    found = only(report(now), of(OLD, [*passes("a", "b"), result("c", "failed")]))
    assert found.replaced is not None
    assert (found.target, found.replaced.target, found.replaced.named) == (NEW, OLD, replaces is not None)
    assert [(case.id, case.change) for case in found.cases] == [("a", "same"), ("b", "broken"), ("c", "fixed")]


def test_it_fails_by_the_same_rules_and_its_predecessor_is_not_missing() -> None:
    now = report(of(NEW, [*passes("a"), result("b", "failed")], OLD))
    verdict = verdict_of(now, baseline(of(OLD, passes("a", "b"))), DROP)
    assert (verdict.outcome, [reason.stage for reason in verdict.reasons]) == (Outcome.FAIL, ["drop"])


def test_what_the_base_protects_of_the_old_one_is_protected_of_the_new_one() -> None:
    rule = Rule(metric="pass_rate", floor=0.9, target=OLD)
    before = baseline(of(OLD, passes("a", "b")))
    low = report(of(NEW, [*passes("a"), result("b", "failed")], OLD))
    assert verdict_of(low, before, rule).reasons[0].stage == "limit"
    assert verdict_of(report(of(NEW, passes("a", "b"), OLD)), before, rule).outcome is Outcome.PASS


def test_a_new_one_that_was_not_measured_is_inconclusive_and_its_rules_are_not_idle() -> None:
    rule = Rule(metric="pass_rate", floor=0.9, target=OLD)
    now = report(of(NEW, [], OLD, not_measured="there is no key here"))
    verdict = verdict_of(now, baseline(of(OLD, passes("a"))), rule)
    assert (verdict.outcome, len(verdict.reasons)) == (Outcome.INCONCLUSIVE, 1)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ([(NEW, None), (THIRD, None)], [(NEW, None, True, False), (THIRD, None, True, False)]),
        ([(NEW, OLD), (THIRD, OLD)], [(NEW, None, True, False), (THIRD, None, True, False)]),
        ([("oracle", OLD)], [("oracle", None, True, False)]),
        ([("oracle", None)], [("oracle", None, True, False)]),
        ([("replay:good", OLD)], [("replay:good", None, True, False)]),
        ([("agent:mine", OLD)], [("agent:mine", None, True, False)]),
        ([("claude-code/claude-opus-5", OLD)], [("claude-code/claude-opus-5", None, True, False)]),
    ],
    ids=["two came", "two claim it", "the solution", "the solution, unsaid", "a recording", "a program", "an agent"],
)
def test_what_is_not_its_like_or_not_the_only_one_leaves_it_missing(
    now: list[tuple[str, str | None]], expected: list[object]
) -> None:
    taken = report(*(of(target, passes("a"), replaces) for target, replaces in now))
    before = of(OLD, passes("a"))
    assert runs(taken, before) == [*expected, (OLD, None, False, True)]
    assert verdict_of(taken, baseline(before)).outcome is Outcome.FAIL


def test_who_is_still_there_is_not_replaced() -> None:
    now = report(of(OLD, [result("a", "failed")]), of(NEW, passes("a"), OLD))
    before = of(OLD, passes("a"))
    assert runs(now, before) == [(OLD, None, False, False), (NEW, None, True, False)]
    verdict = verdict_of(now, baseline(before), DROP)
    assert verdict.outcome is Outcome.FAIL
    assert "does not take the place" in english.warnings(verdict.notices)[0]


def test_a_run_of_another_kind_takes_no_place() -> None:
    now = report(of(NEW, passes("a"), OLD, kind="command"))
    assert runs(now, of(OLD, passes("a"))) == [(NEW, None, True, False), (OLD, None, False, True)]


def test_one_predecessor_has_one_successor_and_the_rest_stays_missing() -> None:
    now = report(of(NEW, passes("a"), OLD))
    found = runs(now, of(OLD, passes("a")), of(THIRD, passes("a")))
    assert found == [(NEW, OLD, False, False), (THIRD, None, False, True)]


def test_a_name_that_the_baseline_has_forgotten_is_nothing_to_tell() -> None:
    found = compared(report(of(NEW, passes("a"), OLD)), baseline(of(NEW, passes("a"))))
    assert (english.warnings(found.notices), found.runs[0].replaced) == ([], None)


def test_two_upgrades_since_a_release_are_one_to_its_baseline() -> None:
    assert runs(report(of(THIRD, passes("a"), NEW)), of(OLD, passes("a"))) == [(THIRD, OLD, False, False)]


def test_in_a_part_nothing_is_guessed_of_what_was_not_selected() -> None:
    before = of(OLD, passes("a"))
    part = report(of(NEW, passes("a")), partial=Partial(targets=[NEW]))
    assert runs(part, before) == [(NEW, None, True, False)]
    named = report(of(NEW, passes("a"), OLD), partial=Partial(targets=[NEW]))
    assert runs(named, before) == [(NEW, OLD, False, False)]
    failed = Partial(only=[ChosenCases(suite="bash-tools", target=NEW, cases=["a"])])
    assert runs(report(of(NEW, passes("a"), OLD), partial=failed), before) == [(NEW, OLD, False, False)]


@pytest.mark.parametrize(
    ("target", "form"),
    [
        ("anthropic/claude-haiku-5", "model"),
        ("openai/org/llama-3.1:8b", "model"),
        ("openai-responses/gpt-5.2", "model"),
        ("claude-code/claude-opus-5", "agent"),
        ("opencode/openai/gpt-5.5", "agent"),
        ("agent:mine", "agent:"),
        ("replay:a/b", "replay:"),
        ("oracle", "fixed"),
        ("", "fixed"),
    ],
)
def test_sorts_of_targets(target: str, form: str) -> None:
    assert form_of(target) == form


# --- what both come to ----------------------------------------------------------------------------------------------


def test_passes_cost_and_time_are_per_case_and_over_the_comparable_ones() -> None:
    before = of(OLD, [result("a", cost=0.01, duration_ms=100), result("gone", cost=9.0)])
    now = of(
        NEW,
        [
            result("a", cost=0.25, duration_ms=300),
            result("a", "failed", cost=0.75, duration_ms=100, trial=2),
            result("x", cost=9.0),
        ],
        OLD,
    )
    replaced = only(report(now), before).replaced
    assert replaced is not None
    assert replaced.before == PerCase(passed=1, trials=1, cost_usd=0.01, duration_ms=100)
    assert replaced.now == PerCase(passed=1, trials=2, cost_usd=0.5, duration_ms=200)


def test_an_unknown_price_is_unknown_and_a_replay_says_nothing_about_it() -> None:
    now = of(NEW, [result("a", cost=None, duration_ms=0), result("b", cost=0.1, duration_ms=0)], OLD)
    replaced = only(report(now), of(OLD, [result("a", cost=0.1, replayed=True), result("b", cost=0.1)])).replaced
    assert replaced is not None
    assert replaced.now == PerCase(passed=2, trials=2)
    assert replaced.before == PerCase(passed=2, trials=2, duration_ms=50)


# --- suites ---------------------------------------------------------------------------------------------------------


def renamed_suite(cases: list[Result], target: str = OLD, replaces: str | None = None) -> Run:
    return run(cases, suite="shell", target=target, replaces=Predecessor(suite="bash-tools", target=replaces))


def test_a_renamed_suite_is_compared_and_its_rules_hold() -> None:
    rule = Rule(metric="pass_rate", max_drop=0.02, suite="bash-*")
    before = baseline(of(OLD, passes("a", "b")))
    verdict = verdict_of(report(renamed_suite([*passes("a"), result("b", "failed")])), before, rule)
    assert (verdict.outcome, verdict.reasons[0].stage) == (Outcome.FAIL, "drop")
    assert verdict_of(report(renamed_suite(passes("a", "b"))), before, rule).outcome is Outcome.PASS


@pytest.mark.parametrize("replaces", [OLD, None])
def test_a_suite_can_be_renamed_with_its_model(replaces: str | None) -> None:
    found = only(report(renamed_suite(passes("a"), NEW, replaces)), of(OLD, passes("a")))
    assert found.replaced is not None
    assert (found.name, found.replaced.name) == (f"shell × {NEW}", f"bash-tools × {OLD}")


def test_a_suite_that_is_still_there_keeps_its_baseline() -> None:
    now = report(of(OLD, [result("a", "failed")]), renamed_suite(passes("a")))
    verdict = verdict_of(now, baseline(of(OLD, passes("a"))), DROP)
    assert verdict.outcome is Outcome.FAIL


def test_without_a_word_a_renamed_suite_is_missing() -> None:
    now = report(run(passes("a"), suite="shell", target=OLD))
    assert verdict_of(now, baseline(of(OLD, passes("a")))).outcome is Outcome.FAIL


# --- cases ----------------------------------------------------------------------------------------------------------


def test_a_case_of_equal_definition_under_another_id_is_the_same_case() -> None:
    now = report(run([*passes("a"), result("b2", "failed", definition="sha256:b")]))
    before = baseline(run(passes("a", "b")))
    broken = case_change(compared(now, before), "b2")
    assert (broken.change, broken.was) == ("broken", "b")
    assert [case.id for case in compared(now, before).runs[0].cases] == ["a", "b2"]
    verdict = verdict_of(now, before, DROP)
    assert [reason.stage for reason in verdict.reasons] == ["drop"]


def test_the_tests_of_a_drop_see_a_renamed_case() -> None:
    before = baseline(of(OLD, [result("b", trial=n) for n in range(1, 6)]))
    now = report(of(NEW, [result("b2", "failed", definition="sha256:b")], OLD, random=True))
    sample = Criteria(before, Policy()).compared(now).samples["bash-tools", NEW].of("pass_rate")
    assert sample is not None
    assert [(pair.id, pair.before.trials, pair.now.trials) for pair in sample.pairs] == [("b2", 5, 1)]


@pytest.mark.parametrize(
    ("came", "went"),
    [(["x", "y"], ["b"]), (["x"], ["b", "c"]), (["x", "y"], ["b", "c"])],
)
def test_cases_that_cannot_be_told_apart_are_missing_and_new(came: list[str], went: list[str]) -> None:
    now = report(run([*passes("a"), *(result(case, definition="sha256:twin") for case in came)]))
    before = baseline(run([*passes("a"), *(result(case, definition="sha256:twin") for case in went)]))
    verdict = verdict_of(now, before)
    assert (verdict.outcome, verdict.reasons[0].cases) == (Outcome.FAIL, went)
    assert "which replaced which is unknown" in english.warnings(verdict.notices)[0]


def test_a_copy_of_a_case_that_is_still_there_is_new() -> None:
    found = compared(report(run([*passes("a"), result("b", definition="sha256:a")])), baseline(run(passes("a"))))
    assert (case_change(found, "b").change, case_change(found, "b").was) == ("added", None)


def test_another_definition_is_another_case() -> None:
    now = report(run([*passes("a"), result("b2", definition="sha256:easier")]))
    verdict = verdict_of(now, baseline(run(passes("a", "b"))))
    assert (verdict.outcome, verdict.reasons[0].cases) == (Outcome.FAIL, ["b"])


# --- whoever else reads both sides -----------------------------------------------------------------------------------


def test_aligning_twice_is_aligning_once() -> None:
    now = report(of(NEW, [*passes("a"), result("b2", definition="sha256:b")], OLD))
    before = baseline(of(OLD, passes("a", "b")), run(passes("z"), suite="gone"))
    once = align(now, before)
    again = align(now, before.model_copy(update={"runs": once.runs()}))
    assert again.runs() == once.runs()
    assert [case.id for case in once.runs()[0].cases] == ["a", "b2"]


def test_the_updated_baseline_has_the_new_name_and_the_new_trials() -> None:
    before = baseline(of(OLD, passes("a")))
    after = baseline(of(NEW, [result("a", "failed")], OLD), previous=before)
    assert [each.name for each in after.runs] == [f"bash-tools × {NEW}"]
    assert after.runs[0].metrics["pass_rate"] == Metric(value=0.0, numerator=0.0, denominator=1.0)


def test_trials_are_pooled_under_the_new_names_where_only_names_changed() -> None:
    before = baseline(run(passes("a", "b"), random=True))
    now = [result("a"), result("b2", "failed", definition="sha256:b")]
    renamed = run(now, suite="shell", random=True, replaces=Predecessor(suite="bash-tools"))
    measured = [NamedReport(report(renamed), "report.json")]
    pooled = update_baseline(measured, before, KINDS, pool=True).baseline.runs
    assert [(each.suite, [(c.id, len(c.trials)) for c in each.cases]) for each in pooled] == [
        ("shell", [("a", 2), ("b2", 2)])
    ]


def test_another_models_trials_are_not_pooled() -> None:
    before = baseline(of(OLD, passes("a"), random=True, parts={"model": OLD}))
    measured = [NamedReport(report(of(NEW, passes("a"), OLD, random=True, parts={"model": NEW})), "report.json")]
    done = update_baseline(measured, before, KINDS, pool=True)
    assert [len(case.trials) for case in done.baseline.runs[0].cases] == [1]
    assert "its subject changed (model)" in done.notes[0]


def test_the_thin_baseline_of_a_predecessor_is_told_and_its_other_model_is_not() -> None:
    before = baseline(of(OLD, passes("a"), random=True, parts={"model": OLD}))
    told = english.warnings(
        stale(
            before, align(report(of(NEW, passes("a"), OLD, parts={"model": NEW})), before).pairs, "2026-11-21T08:00:00Z"
        )
    )
    assert len(told) == 1
    assert told[0].startswith(f"bash-tools × {NEW}: the baseline has 1 trial per case")
