"""What an accepted report leaves in the baseline: all of its trials, and no fewer of any case than before."""

from __future__ import annotations

import pytest

from evalward.commands.keeping import kept_baseline
from evalward.commands.pipeline import decide_report
from evalward.decide.pooling import NamedReport
from evalward.records.baseline import Baseline
from evalward.records.policy import Limits, Policy, Rule
from evalward.records.problem import InputError
from evalward.records.report import Beside, Report
from evalward.records.result import Result
from evalward.records.verdict import Outcome
from evalward.render import sentences as english
from support.results import baseline, report, result, run

WORDS = {"P": "passed", "F": "failed", "E": "error"}
CASES = [f"c{number:02}" for number in range(12)]
POLICY = Policy(rules=[Rule(metric=name, max_drop=0.02) for name in ("pass_rate", "overall_rate")])
TOKENS = Policy(rules=[*POLICY.rules, Rule(metric="total_input_tokens", max_rise=10)])


def before(trials: int, tokens: int = 100, random: bool = True) -> Baseline:
    cases = [result(name, trial=n, tokens=(tokens, 10)) for name in CASES for n in range(1, trials + 1)]
    return baseline(run(cases, random=random))


def now(planned: dict[str, str], fresh: dict[str, str] | None = None, tokens: int = 100, system: str = "s1") -> Report:
    """Cases pass once unless `planned` says otherwise; `fresh` are the trials of the confirm stage."""
    cases = [result(name, WORDS[planned.get(name, "P")], tokens=(tokens, 10)) for name in CASES]
    again = [
        result(name, WORDS[letter], trial=1 + n, tokens=(tokens, 10))
        for name, letters in (fresh or {}).items()
        for n, letter in enumerate(letters, 1)
    ]
    measured = run(cases, random=True, confirmation=again, parts={"system": system})
    return report(measured, created_at="2026-11-22T08:00:00Z")


def kept(measured: Report, base: Baseline | None, policy: Policy = POLICY) -> Baseline:
    return kept_baseline(NamedReport(measured, "r.json"), base, policy).update.baseline


def trials(made: Baseline, case: str) -> str:
    """`PPPPPF`: what each trial of a case did."""
    (found,) = [each for each in made.runs[0].cases if each.id == case]
    return "".join(trial.status[0].upper() for trial in found.trials)


BROKEN = now({"c00": "F", "c01": "F", "c02": "F"}, {"c00": "FFFF", "c01": "FFFF", "c02": "PPPP"})


def test_what_broke__has_the_planned_and_the_fresh_trials() -> None:
    assert trials(kept(BROKEN, before(5)), "c00") == "FFFFF"


def test_what_did_as_before__keeps_its_five_and_gets_the_new_one() -> None:
    made = kept(BROKEN, before(5))
    assert trials(made, "c05") == "PPPPPP"
    assert trials(made, "c02") == "PPPPPFPPPP"  # it failed once and not again


def test_another_prompt__thins_nothing() -> None:
    other = now({"c00": "F", "c01": "F"}, {"c00": "FFFF", "c01": "FFFF"}, system="s2")
    made = kept(other, before(5))
    assert min(len(case.trials) for case in made.runs[0].cases) == 5
    assert made.runs[0].subject.parts == {"system": "s2"}


def test_the_accepted_report__passes_against_it() -> None:
    assert decide_report(BROKEN, before(5), POLICY).verdict.outcome is Outcome.FAIL
    assert decide_report(BROKEN, kept(BROKEN, before(5)), POLICY).verdict.outcome is Outcome.PASS


def beside(base: str) -> Report:
    """Two broken cases, and the base beside them: each did what `base` says."""

    def side(letters: str) -> list[Result]:
        return [result(name, WORDS[x], trial=5 + n) for name in ("c00", "c01") for n, x in enumerate(letters, 1)]

    again = Beside(commit="b" * 40, head=side("F" * len(base)), base=side(base))
    known = now({"c00": "F", "c01": "F"}, {"c00": "FFFF", "c01": "FFFF"})
    return known.model_copy(update={"runs": [known.runs[0].model_copy(update={"beside": again})]})


def test_what_was_lost_against_the_base__is_accepted_with_it__and_thins_nothing() -> None:
    lost = beside("PPPPPPPP")
    assert decide_report(lost, before(5), POLICY).verdict.outcome is Outcome.FAIL
    done = kept_baseline(NamedReport(lost, "r.json"), before(5), POLICY)
    assert done.verdict.outcome is Outcome.PASS, english.headline(done.verdict)
    made = done.update.baseline
    assert (trials(made, "c00"), trials(made, "c05")) == ("FFFFF", "PPPPPP")


def test_a_base_that_drifted_too__still_excuses() -> None:
    assert kept_baseline(NamedReport(beside("FFFFFFFF"), "r.json"), before(5), POLICY).verdict.outcome is Outcome.PASS


def test_a_later_drop__is_seen_against_it() -> None:
    later = now(dict.fromkeys(CASES[:5], "F"), dict.fromkeys(CASES[:5], "FFFF"))
    assert decide_report(later, kept(BROKEN, before(5)), POLICY).verdict.outcome is Outcome.FAIL


def test_what_rose_as_a_whole__has_the_new_trials_only() -> None:
    more = now({}, tokens=150)
    assert decide_report(more, before(5), TOKENS).verdict.outcome is Outcome.FAIL
    made = kept(more, before(5), TOKENS)
    assert trials(made, "c00") == "P"
    assert decide_report(more, made, TOKENS).verdict.outcome is Outcome.PASS


def test_what_never_passed_and_does__has_the_new_trials_only() -> None:
    base = baseline(run([result(name, "failed", trial=n) for name in CASES for n in (1, 2, 3)], random=True))
    assert trials(kept(now({}), base), "c00") == "P"


def test_an_error__costs_its_own_trial_alone() -> None:
    policy = POLICY.model_copy(update={"limits": Limits(max_error_rate=0.2, min_valid=0.5)})
    done = kept_baseline(NamedReport(now({"c07": "E"}), "r.json"), before(5), policy).update
    assert trials(done.baseline, "c07") == "PPPPP"
    assert [note for note in done.notes if "no trial was valid: c07" in note]


def test_targets_that_give_the_same_twice__are_replaced() -> None:
    cases = [result(name, "failed" if name == "c00" else "passed") for name in CASES]
    made = kept(report(run(cases)), before(1, random=False))
    assert (trials(made, "c00"), trials(made, "c05")) == ("F", "P")


def test_the_same_report_again__is_no_news() -> None:
    made = kept(BROKEN, before(5))
    done = kept_baseline(NamedReport(BROKEN, "r.json"), made, POLICY).update
    assert (done.baseline is made, done.report) == (True, None)


def test_a_part__is_no_baseline() -> None:
    with pytest.raises(InputError, match="interrupted"):
        kept(BROKEN.model_copy(update={"interrupted": "budget: spent"}), before(5))


def test_the_first_baseline__has_all_trials_of_the_report() -> None:
    assert trials(kept(BROKEN, None), "c00") == "FFFFF"
