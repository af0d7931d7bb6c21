"""The verdict: validity, then what is missing, then limits, then drops; and what the exit code makes of it."""

from __future__ import annotations

import pytest

from evalward.records.baseline import Baseline
from evalward.records.policy import FailOn, Limits, Rule, Waiver
from evalward.records.report import Partial, Report, Run
from evalward.records.result import Result
from evalward.records.verdict import Outcome, Reason, Verdict
from evalward.render import sentences as english
from support.results import TARGET, baseline, passes, report, result, run, verdict_of

FLOOR = Rule(metric="pass_rate", floor=0.9)
DROP = Rule(metric="pass_rate", max_drop=0.05)
IDS = [f"c{n:03}" for n in range(100)]


def hundred(failed: int = 0, errors: int = 0, skipped: int = 0, gone: int = 0, **more: str) -> list[Result]:
    """A hundred cases, of which so many fail, break, are skipped, or aren't there, in this order."""
    words = ["failed"] * failed + ["error"] * errors + ["skipped"] * skipped + ["gone"] * gone
    words += ["passed"] * (100 - len(words))
    return [result(name, word, **more) for name, word in zip(IDS, words, strict=True) if word != "gone"]  # type: ignore[arg-type]


def base() -> Baseline:
    return baseline(run(hundred()))


def stages(verdict: Verdict) -> list[tuple[str, str]]:
    return [(reason.stage, reason.outcome.value) for reason in verdict.reasons]


def one(verdict: Verdict) -> Reason:
    (reason,) = verdict.reasons
    return reason


# --- pass -----------------------------------------------------------------------------------------------------------


def test_nothing_worse_passes() -> None:
    verdict = verdict_of(report(run(hundred())), base(), FLOOR, DROP)
    assert (verdict.outcome, verdict.reasons, verdict.exit_code) == (Outcome.PASS, [], 0)
    assert english.headline(verdict) == "nothing got worse"


@pytest.mark.parametrize(
    ("now", "before", "headline"),
    [
        (hundred(), hundred(failed=2), "nothing got worse, 2 cases got fixed"),
        (hundred(failed=1), hundred(), "nothing got worse by more than the policy allows: 1 of 100 cases broke"),
        (
            [*hundred(failed=1)[:99], result("c099")],
            [*hundred()[:99], result("c099", "failed")],
            "nothing got worse by more than the policy allows: 1 of 100 cases broke and 1 got fixed",
        ),
        ([result("a", "failed", score=1, most=4)], [result("a", "failed", score=2, most=4)],
         "nothing got worse by more than the policy allows: 1 of 1 case got worse"),
        ([result("a", turns=3)], [result("a", turns=2)], "nothing got worse by more than the policy allows"),
    ],
)  # fmt: skip
def test_the_headline_of_a_pass_hides_nothing(now: list[Result], before: list[Result], headline: str) -> None:
    verdict = verdict_of(report(run(now)), baseline(run(before)), DROP, Rule(metric="total_turns", max_rise=5))
    assert (verdict.outcome, english.headline(verdict)) == (Outcome.PASS, headline)


def test_a_first_run_passes_and_says_that_nothing_was_compared() -> None:
    verdict = verdict_of(report(run(hundred(failed=5))), None, FLOOR, DROP)
    assert (verdict.outcome, english.headline(verdict)) == (
        Outcome.PASS,
        "there is no baseline yet; every floor and ceiling is met; 5 of 100 cases fail",
    )


def test_a_first_run_below_its_floor_fails() -> None:
    assert verdict_of(report(run(hundred(failed=11))), None, FLOOR).outcome is Outcome.FAIL


# --- the order of judgement -----------------------------------------------------------------------------------------


def test_all_stages_are_told_and_the_first_decides() -> None:
    now = report(run(hundred(failed=20, errors=10, gone=5)))
    verdict = verdict_of(now, base(), FLOOR, DROP)
    assert stages(verdict) == [("validity", "error"), ("missing", "fail"), ("limit", "fail"), ("drop", "fail")]
    assert (verdict.outcome, english.headline(verdict)) == (Outcome.ERROR, english.message(verdict.reasons[0]))


def test_what_is_missing_comes_before_limits_and_drops() -> None:
    verdict = verdict_of(report(run(hundred(failed=20, gone=5))), base(), DROP, FLOOR)
    assert stages(verdict) == [("missing", "fail"), ("limit", "fail"), ("drop", "fail")]
    assert verdict.outcome is Outcome.FAIL


def test_a_failure_comes_before_what_is_inconclusive() -> None:
    now = report(run(hundred(failed=20)), run([], suite="live", not_measured="no key"))
    verdict = verdict_of(now, base(), FLOOR)
    assert stages(verdict) == [("limit", "fail"), ("validity", "inconclusive")]


@pytest.mark.parametrize("fail_on", ["regression", "inconclusive", "never"])
@pytest.mark.parametrize(
    ("now", "outcome", "codes"),
    [
        (run(hundred()), Outcome.PASS, (0, 0, 0)),
        (run(hundred(failed=50)), Outcome.FAIL, (1, 1, 0)),
        (run([], not_measured="no key"), Outcome.INCONCLUSIVE, (0, 1, 0)),
        (run(hundred(errors=50)), Outcome.ERROR, (3, 3, 3)),
    ],
    ids=lambda value: str(value) if isinstance(value, Outcome) else None,
)
def test_exit_codes(now: Run, outcome: Outcome, codes: tuple[int, int, int], fail_on: FailOn) -> None:
    verdict = verdict_of(report(now), base(), FLOOR, fail_on=fail_on)
    assert verdict.outcome is outcome
    assert verdict.exit_code == codes[["regression", "inconclusive", "never"].index(fail_on)]
    assert verdict.fail_on == fail_on


# --- validity -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("errors", "outcome"), [(0, Outcome.PASS), (5, Outcome.INCONCLUSIVE), (6, Outcome.ERROR)])
def test_errors_within_the_limit_are_neither_missing_nor_failed_nor_a_pass(errors: int, outcome: Outcome) -> None:
    verdict = verdict_of(report(run(hundred(errors=errors))), base(), FLOOR, Rule(metric="pass_rate", max_drop=0.0))
    assert verdict.outcome is outcome
    if outcome is Outcome.ERROR:
        assert verdict.exit_code == 3
        assert "6 of 100 trials ended in an error (6.0 %), more than the 5 % allowed" in english.headline(verdict)
        assert one(verdict).cases == IDS[:6]
    if outcome is Outcome.INCONCLUSIVE:
        assert "5 of 100 known cases gave no result (" in english.headline(verdict)
        assert one(verdict).cases == IDS[:5]


def test_errors_of_new_cases_leave_nothing_unknown_of_the_old_ones() -> None:
    now = report(run([*hundred(), result("new", "error")]))
    assert verdict_of(now, base(), FLOOR).outcome is Outcome.PASS


def test_a_known_case_that_broke_can_be_waived() -> None:
    waive = [Waiver(id=IDS[0], reason="its server is down")]
    assert verdict_of(report(run(hundred(errors=1))), base(), FLOOR, waive=waive).outcome is Outcome.PASS


def unjudged(count: int, errors: int = 0) -> list[Result]:
    """A hundred cases, of which so many could not be judged, and so many broke otherwise."""
    cases = hundred(errors=count + errors)
    return [
        case.model_copy(update={"reason": "judge_error", "message": "m could not judge: no answer"})
        if n < count
        else case
        for n, case in enumerate(cases)
    ]


@pytest.mark.parametrize(("count", "outcome"), [(0, Outcome.PASS), (10, Outcome.PASS), (11, Outcome.ERROR)])
def test_judge_errors_have_a_limit_of_their_own(count: int, outcome: Outcome) -> None:
    verdict = verdict_of(report(run(unjudged(count))), base(), FLOOR, Rule(metric="pass_rate", max_drop=0.0))
    assert verdict.outcome is outcome
    if outcome is Outcome.ERROR:
        assert english.message(one(verdict)).endswith(
            f"{count} of 100 trials could not be judged (11.0 %), more than the 10 % allowed"
        )
        assert "m could not judge: no answer" in english.remedy(one(verdict))


@pytest.mark.parametrize(("errors", "outcome"), [(0, Outcome.PASS), (5, Outcome.INCONCLUSIVE), (6, Outcome.ERROR)])
def test_judge_errors_dont_use_up_the_limit_of_errors(errors: int, outcome: Outcome) -> None:
    assert verdict_of(report(run(unjudged(10, errors))), base(), FLOOR).outcome is outcome


def test_the_limit_of_judge_errors_is_the_policys() -> None:
    now = report(run(unjudged(20)))
    assert verdict_of(now, base(), max_judge_error_rate=0.2).outcome is Outcome.PASS
    assert verdict_of(report(run(unjudged(1))), base(), max_judge_error_rate=0.0).outcome is Outcome.ERROR


def test_the_limit_of_errors_is_the_policys() -> None:
    now = report(run(hundred(errors=10)))
    assert verdict_of(now, base(), limits=Limits(max_error_rate=0.1, min_valid=0.9)).outcome is Outcome.INCONCLUSIVE
    assert verdict_of(now, base(), limits=Limits(max_error_rate=0.09, min_valid=0.9)).outcome is Outcome.ERROR


@pytest.mark.parametrize(
    ("min_valid", "outcome"), [(0.95, Outcome.ERROR), (0.9, Outcome.INCONCLUSIVE), (0.91, Outcome.ERROR)]
)
def test_most_comparable_cases_need_a_valid_trial(min_valid: float, outcome: Outcome) -> None:
    limits = Limits(max_error_rate=1.0, min_valid=min_valid)
    verdict = verdict_of(report(run(hundred(errors=10))), base(), limits=limits)
    assert verdict.outcome is outcome
    if outcome is Outcome.ERROR:
        assert "only 90 of 100 comparable cases have a valid trial (90.0 %), fewer than the 9" in english.headline(
            verdict
        )


def test_trials_that_left_no_result_are_no_survivors() -> None:
    """One published run reads 23/23, because the others were dropped when the credit was exhausted."""
    verdict = verdict_of(report(run(passes(*IDS[:23]), planned=37)), None)
    assert verdict.outcome is Outcome.ERROR
    assert "14 of 37 trials ended in an error" in english.headline(verdict)


def test_an_interrupted_run_can_not_be_judged() -> None:
    verdict = verdict_of(report(run(hundred()), interrupted="the budget was spent"), base())
    assert (verdict.outcome, english.headline(verdict)) == (Outcome.ERROR, "the budget was spent")


@pytest.mark.parametrize("now", [report(), report(run([]))])
@pytest.mark.parametrize("before", [None, baseline(run(passes("a")))])
def test_no_case_is_an_error(now: Report, before: Baseline | None) -> None:
    verdict = verdict_of(now, before)
    assert (verdict.outcome, english.headline(verdict)) == (Outcome.ERROR, "no case was run")


def test_when_all_broke_nobody_says_that_definitions_differ() -> None:
    verdict = verdict_of(report(run(hundred(errors=100))), base())
    assert stages(verdict) == [("validity", "error")]


def test_errors_are_counted_run_by_run() -> None:
    now = report(run(hundred()), run(hundred(errors=6), target="oracle"))
    verdict = verdict_of(now, None)
    assert (one(verdict).target, verdict.outcome) == ("oracle", Outcome.ERROR)


# --- missing --------------------------------------------------------------------------------------------------------


def test_a_missing_case_blocks() -> None:
    verdict = verdict_of(report(run(hundred(gone=1))), base())
    assert (verdict.outcome, verdict.exit_code) == (Outcome.FAIL, 1)
    assert english.headline(verdict) == "bash-tools × replay:haiku: the case c000 of the baseline is missing"


def test_many_missing_cases_are_counted_and_some_named() -> None:
    reason = one(verdict_of(report(run(hundred(gone=5))), base()))
    assert reason.cases == IDS[:5]
    assert "5 cases (c000, c001, c002, …) of the baseline are missing" in english.message(reason)


def test_a_skipped_case_is_missing_with_its_reason() -> None:
    now = run([result("a", "skipped", reason="not_recorded", message="the recording has no trial 1"), result("b")])
    verdict = verdict_of(report(now), baseline(run(passes("a", "b"))))
    assert stages(verdict) == [("missing", "fail")]
    assert "could not be run: the recording has no trial 1" in english.headline(verdict)


def test_a_missing_run_blocks() -> None:
    before = baseline(run(passes("a")), run(passes("a"), suite="other"))
    verdict = verdict_of(report(run(passes("a"))), before)
    assert english.headline(verdict) == f"other × {TARGET} is in the baseline and was not run"
    assert verdict.outcome is Outcome.FAIL


def test_a_missing_category_blocks() -> None:
    before = baseline(run([result("a", category="x"), result("b", category="y")]))
    verdict = verdict_of(report(run([result("a", category="x"), result("b", category="x")])), before)
    assert "the baseline's category y has no case left" in english.message(one(verdict))
    assert verdict.outcome is Outcome.FAIL


def test_missing_cases_speak_for_their_category() -> None:
    before = baseline(run([result("a", category="x"), result("b", category="y")]))
    now = report(run([result("a", category="x")]))
    assert one(verdict_of(now, before)).cases == ["b"]
    assert verdict_of(now, before, waive=[Waiver(id="b", reason="obsolete")]).outcome is Outcome.PASS


def test_new_cases_and_runs_are_welcome() -> None:
    now = report(run(passes("a", "b")), run(passes("a"), suite="new"))
    assert verdict_of(now, baseline(run(passes("a")))).outcome is Outcome.PASS


def test_a_partial_run_misses_only_what_it_was_asked_for() -> None:
    before = baseline(run(hundred()), run(passes("a"), suite="other"))
    part = Partial(suites=["bash-*"], cases=["c00*"])
    assert verdict_of(report(run(passes(*IDS[:10])), partial=part), before).outcome is Outcome.PASS
    assert verdict_of(report(run(passes(*IDS[:9])), partial=part), before).outcome is Outcome.FAIL


@pytest.mark.parametrize("waived", ["other", TARGET, f"other × {TARGET}"])
def test_a_waived_run_may_be_missing_and_is_told(waived: str) -> None:
    before = baseline(run(passes("a"), target="oracle"), run(passes("a"), suite="other"))
    verdict = verdict_of(
        report(run(passes("a"), target="oracle")), before, waive=[Waiver(id=waived, reason="moved away")]
    )
    assert verdict.outcome is Outcome.PASS
    assert english.warnings(verdict.notices) == [f"other × {TARGET} was not run, waived: moved away"]


@pytest.mark.parametrize("status", ["gone", "skipped"])
def test_a_waived_case_may_be_missing_and_is_told(status: str) -> None:
    now = passes("b") + ([result("a", "skipped")] if status == "skipped" else [])
    verdict = verdict_of(report(run(now)), baseline(run(passes("a", "b"))), waive=[Waiver(id="a", reason="too slow")])
    assert verdict.outcome is Outcome.PASS
    assert english.warnings(verdict.notices) == ["bash-tools × replay:haiku: a is missing, waived: too slow"]


def test_a_waiver_is_for_its_own_id_only() -> None:
    before = baseline(run(passes("a", "b", "c")))
    verdict = verdict_of(report(run(passes("c"))), before, waive=[Waiver(id="a", reason="x")])
    assert one(verdict).cases == ["b"]


def test_a_waiver_excuses_no_floor() -> None:
    verdict = verdict_of(report(run(hundred(failed=50))), base(), FLOOR, waive=[Waiver(id="bash-tools", reason="x")])
    assert verdict.outcome is Outcome.FAIL


# --- what a pass may not hide ---------------------------------------------------------------------------------------


def test_what_was_not_measured_is_no_pass() -> None:
    verdict = verdict_of(report(run([], not_measured="no key on a fork's pull request")), base())
    assert (verdict.outcome, verdict.exit_code) == (Outcome.INCONCLUSIVE, 0)
    assert english.headline(verdict) == "bash-tools × replay:haiku was not measured: no key on a fork's pull request"


@pytest.mark.parametrize(
    ("withheld", "advice"),
    [
        (False, "A maintainer can run it with the key."),
        (True, "A pull request's own commands are not run. Review and merge them"),
    ],
)
def test_what_was_not_measured__can_be_with_the_key__or_once_its_commands_are_merged(
    withheld: bool, advice: str
) -> None:
    now = report(run([], not_measured="why").model_copy(update={"withheld": withheld}))
    (reason,) = verdict_of(now, base()).reasons
    assert english.says(reason.advice[0]).startswith(advice)


def test_when_everything_is_redefined_nothing_was_compared() -> None:
    now = report(run(hundred(definition="sha256:new")))
    verdict = verdict_of(now, base(), DROP)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no case has the same definition as in the baseline" in english.headline(verdict)
    assert any("100 cases changed and can't be compared" in warning for warning in english.warnings(verdict.notices))


def test_redefined_cases_are_no_silent_pass_and_a_drop_still_decides() -> None:
    redefined = result("c099", "failed", definition="sha256:new")
    verdict = verdict_of(report(run([*hundred()[:99], redefined])), base(), Rule(metric="pass_rate", max_drop=0.0))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert english.headline(verdict).endswith("1 of 100 known cases was redefined and could not be compared")
    assert verdict.reasons[0].cases == ["c099"]
    worse = [result("c000", "failed"), *hundred()[1:99], redefined]
    assert verdict_of(report(run(worse)), base(), Rule(metric="pass_rate", max_drop=0.0)).outcome is Outcome.FAIL


def test_a_waived_redefined_case_is_only_told() -> None:
    now = [*hundred()[:99], result("c099", definition="sha256:new")]
    waive = [Waiver(id="c099", reason="asks for more now")]
    verdict = verdict_of(report(run(now)), base(), waive=waive)
    assert verdict.outcome is Outcome.PASS
    assert english.warnings(verdict.notices) == [
        "bash-tools × replay:haiku: 1 case changed and can't be compared with the baseline"
    ]


def test_another_recording_is_no_silent_pass() -> None:
    before = baseline(run([result("a", replayed=True)], parts={"recording": "old", "bashkit": "1"}))
    verdict = verdict_of(report(run([result("a", replayed=True)], parts={"recording": "new", "bashkit": "1"})), before)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "the recording changed" in english.headline(verdict)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("system", "the system prompt"),
        ("tool_description", "the tool description"),
        ("tools", "the list of tools"),
        ("tool:search", "the tool search"),
        ("instructions", "the server's instructions"),
        ("other_tools", "the tools of other servers"),
    ],
)
def test_a_changed_prompt_that_only_a_replay_saw_is_inconclusive(part: str, words: str) -> None:
    before = baseline(run([result("a", replayed=True)], parts={part: "old", "bashkit": "1"}))
    now = run([result("a", replayed=True)], parts={part: "new", "bashkit": "1"})
    verdict = verdict_of(report(now), before)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert f"{words} of bash-tools changed, and a replay can't measure that" in english.headline(verdict)


def test_a_changed_sandbox_is_what_a_replay_measures() -> None:
    before = baseline(run([result("a", replayed=True)], parts={"bashkit": "1"}))
    assert verdict_of(report(run([result("a", replayed=True)], parts={"bashkit": "2"})), before).outcome is Outcome.PASS


def test_a_live_target_of_the_same_suite_sees_the_changed_prompt() -> None:
    old, new = {"system": "old"}, {"system": "new"}
    before = baseline(
        run([result("a", replayed=True)], parts=old), run(passes("a"), target="live", random=True, parts=old)
    )
    replayed, live = (
        run([result("a", replayed=True)], parts=new),
        run(passes("a"), target="live", random=True, parts=new),
    )
    assert verdict_of(report(replayed, live), before).outcome is Outcome.PASS
    unmeasured = live.model_copy(update={"cases": [], "planned": 0, "not_measured": "no key"})
    assert verdict_of(report(replayed, unmeasured), before).outcome is Outcome.INCONCLUSIVE
    elsewhere = live.model_copy(update={"suite": "other"})
    assert verdict_of(report(replayed, elsewhere), before).outcome is not Outcome.PASS


# --- rules that nothing feeds ---------------------------------------------------------------------------------------


def test_a_rule_that_no_run_feeds_blocks() -> None:
    rule = Rule(metric="pass_rate", floor=0.5, suite="gone-*")
    verdict = verdict_of(report(run(passes("a"))), None, rule)
    assert (verdict.outcome, one(verdict).stage) == (Outcome.FAIL, "missing")
    assert verdict_of(report(run(passes("a")), partial=Partial(cases=["a"])), None, rule).outcome is Outcome.PASS


def test_goals_and_warnings_of_the_report_are_warnings() -> None:
    verdict = verdict_of(
        report(run(hundred(failed=20)), warnings=["the clock went backwards"]), None, Rule(metric="pass_rate", goal=0.9)
    )
    assert verdict.outcome is Outcome.PASS
    assert english.warnings(verdict.notices) == [
        "the clock went backwards",
        "bash-tools × replay:haiku: pass_rate is 80.0 %, short of its goal of 90 %",
    ]


def test_a_reason_names_the_run_where_there_are_several() -> None:
    now = report(run(hundred(failed=20)), run(hundred(), target="oracle"))
    assert english.headline(verdict_of(now, None, FLOOR)).startswith("bash-tools × replay:haiku: pass_rate is 80.0 %")
    assert english.headline(verdict_of(report(run(hundred(failed=20))), None, FLOOR)).startswith("pass_rate is 80.0 %")


def test_an_early_end_is_told_once_and_not_as_missing_cases() -> None:
    now = [*hundred()[:50], *[result(f"c{n:03}", "skipped", reason="not_run") for n in range(50, 100)]]
    verdict = verdict_of(report(run(now), interrupted="budget: $1 of $1 is spent"), base())
    assert verdict.outcome is Outcome.ERROR
    assert [reason.stage for reason in verdict.reasons if reason.stage == "missing"] == []
    assert english.remedy(verdict.reasons[0]).startswith("Raise `budget_usd`")
