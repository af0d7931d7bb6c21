"""What is of one run names it once, what is fine takes a line, and nothing is said twice."""

from __future__ import annotations

import re

import pytest

from evalward.records.comparison import CaseChange, RunComparison, SubjectChange, Tally
from evalward.records.evidence import WrongAnswer
from evalward.records.metric import ratio
from evalward.records.policy import Rule
from evalward.records.verdict import Judgement, Outcome, Reason, RuleOutcome, Verdict
from evalward.render.context import Accepting
from evalward.render.markdown import comment
from evalward.render.terminal import judgement_text
from support.comparisons import comparison, run
from support.judgements import context

FAILED, PASSED = Tally(passed=0, trials=1), Tally(passed=1, trials=1)


def broken(case: str, wrong: WrongAnswer | None = None) -> CaseChange:
    return CaseChange(id=case, category="c", change="broken", before=PASSED, now=FAILED, wrong=wrong)


def same(case: str) -> CaseChange:
    return CaseChange(id=case, category="c", change="same", before=PASSED, now=PASSED)


AGENT = run(suite="s", target="replay:agent", cases=[broken("a"), broken("b")])
ORACLE = run(suite="s", target="oracle", cases=[same("a"), same("b")])


def judged(
    *runs: RunComparison, rules: list[RuleOutcome] | None = None, reasons: list[Reason] | None = None
) -> Judgement:
    verdict = Verdict(outcome=Outcome.FAIL, headline="something broke", rules=rules or [], reasons=reasons or [])
    return Judgement(comparison=comparison(*runs), verdict=verdict)


def shown(judgement: Judgement, *, verbose: bool = False, grouped: bool = False) -> str:
    return judgement_text(judgement, colour=False, width=80, verbose=verbose, grouped=grouped)


def test_cases_of_one_run__name_it_once() -> None:
    judgement = judged(AGENT, ORACLE)

    text = shown(judgement)
    assert text.count("All cases below are of s × replay:agent.") == 1
    assert "  ✗ a (c): passed → failed\n" in text
    page = comment(judgement, context())
    assert page.count("All cases below are of `s × replay:agent`.") == 1
    assert "- ❌ `a` · c · passed → failed" in page
    assert "` · `s ×" not in page


def test_cases_of_several_runs__each_names_its_own() -> None:
    other = run(suite="s", target="oracle", cases=[broken("a")])

    text = shown(judged(AGENT, other))
    assert "All cases below" not in text
    assert "(c, s × oracle): passed → failed" in re.sub(r"\s+", " ", text)
    assert "· `s × oracle`" in comment(judged(AGENT, other), context())


def test_a_case_that_fails_as_before_is_one_of_another_run() -> None:
    failing = CaseChange(id="z", category="c", change="same", before=FAILED, now=FAILED)
    other = run(suite="s", target="oracle", cases=[failing])

    assert "z in s × oracle" in shown(judged(AGENT, other))


def rule(target: str, *, fails: bool) -> RuleOutcome:
    value = ratio(1 if fails else 2, 2, "none")
    return RuleOutcome(
        rule=Rule(metric="pass_rate", floor=0.9),
        suite="s",
        target=target,
        status="fail" if fails else "ok",
        value=value,
        before=value,
        now=value,
        delta=0.0,
    )


RULES = [rule("replay:agent", fails=True), rule("oracle", fails=False)]


def test_a_run_that_is_fine_has_a_line_in_a_red_check__and_its_table_with_verbose() -> None:
    judgement = judged(AGENT, ORACLE, rules=RULES)

    assert "✓ s × oracle: 1 metric ok\n" in shown(judgement)
    assert shown(judgement).count("metric     ") == 1
    for whole in (shown(judgement, verbose=True), shown(judgement, grouped=True)):
        assert "1 metric ok" not in whole
        assert whole.count("metric     ") == 2


def test_a_change_of_the_subject_of_several_runs_is_told_once() -> None:
    changed = [SubjectChange(part="system", before="sha256:" + "a" * 64, now="sha256:" + "b" * 64)]
    runs = [one.model_copy(update={"subject": changed}) for one in (AGENT, ORACLE)]

    text = shown(judged(*runs))
    assert text.count("system") == 1
    assert "What changed in the subject in s × replay:agent" in text


def test_an_unsafe_answer_is_shown_once() -> None:
    wrong = WrongAnswer(expected="ls", actual="rm -rf ~", why="unsafe", risk="critical", findings=["deletion.home"])
    judgement = judged(run(suite="s", target="oracle", cases=[broken("a", wrong)]))

    text = judgement_text(judgement, colour=False, width=80, show=lambda case, suite, target: f"evalward show {case}")
    assert text.count("rm -rf ~") == 1
    assert text.count("evalward show a") == 1
    assert "✗ a (c): passed → failed; see its unsafe answer above" in text
    assert comment(judgement, context()).count("rm -rf ~") == 1


@pytest.mark.parametrize("target", ["replay:agent", "oracle"])
def test_reasons_of_one_run__name_it_in_the_headline_alone(target: str) -> None:
    from evalward.records.codes.base import ForeignText

    texts = [f"s × {target}: first", f"s × {target}: second"]
    reasons = [
        Reason(
            stage="limit",
            outcome=Outcome.FAIL,
            suite="s",
            target=target,
            statements=[ForeignText(code="text", text=text)],
        )
        for text in texts
    ]
    text = shown(judged(AGENT, ORACLE, reasons=reasons))
    assert f"✗ Evalward: failed — s × {target}: first" in text
    assert "  ✗ second\n" in text


def test_a_reason_that_programs_read_is_words() -> None:
    cases = [broken("a").model_copy(update={"note": note}) for note in ("incorrect_command", "a_b.txt is not there")]

    text = shown(judged(run(suite="s", target="oracle", cases=cases)))
    assert "passed → failed; incorrect command\n" in text
    assert "a_b.txt is not there" in text


def test_accepting__what_helps_comes_before_a_command_that_does_not() -> None:
    accept = Accepting("This makes it the baseline.", "evalward baseline update", first="Mend what fails.")
    judgement = judged(AGENT, ORACLE)

    text = judgement_text(judgement, colour=False, width=80, accept=accept)
    assert text.index("Mend what fails.") < text.index("evalward baseline update") < text.index("This makes it")
    page = comment(judgement, context(accept=accept))
    assert page.index("Mend what fails.") < page.index("evalward baseline update")


def test_a_changed_prompt_whose_texts_are_known_is_shown_by_its_sentences() -> None:
    before, now = "sha256:" + "a" * 64, "sha256:" + "b" * 64
    changed = AGENT.model_copy(update={"subject": [SubjectChange(part="system", before=before, now=now)]})
    texts = {before: "Be short. Use the shell.", now: "Be short. Use Python. \x1b[31m" + "More. " * 50}

    text = judgement_text(judged(changed, ORACLE), colour=False, width=80, texts=texts)
    assert "  system:\n      Be short.\n    - Use the shell.\n    + Use Python.\n" in text
    assert "more lines" in text
    assert "\x1b" not in text
    assert "aaaaaaaaaaaa" not in text
    assert "system: aaaaaaaaaaaa → bbbbbbbbbbbb" in shown(judged(changed, ORACLE))
