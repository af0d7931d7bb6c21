"""From what readers give to results: names, numbers, definitions, conversations, and what can't be read as any."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.records.problem import InputError
from evalward.records.result import Result, Status, Trial
from evalward.records.trace import Message, Text, Trace, Usage
from evalward.suites.external import results as module
from evalward.suites.external.choice import Bounds, ScoreChoice
from evalward.suites.external.details import ExternalDetails
from evalward.suites.external.formats.base import ForeignResults, ForeignTrial, Score
from evalward.suites.external.results import Reading, read_results
from support.foreign.trials import PLACE, foreign, read, results

BOT = Reading("inspect", suite="bot")
IMPORTED = Reading("inspect")


def told(*trials: object, how: Reading = BOT) -> str:
    with pytest.raises(InputError) as caught:
        read_results([ForeignResults(trials)], how, PLACE)  # type: ignore[arg-type]
    (problem,) = caught.value.problems
    return str(problem)


def ids(found: list[Result]) -> list[tuple[str, int]]:
    return [(each.id, each.trial) for each in found]


# --- names ------------------------------------------------------------------------------------------------------------


def test_the_groups_of_a_harness__are_part_of_the_names_in_one_suite() -> None:
    found = results(foreign("1", suite="math"), foreign("1", suite="shell"))
    assert [each.id for each in found] == ["math/1", "shell/1"]


def test_the_groups_of_a_harness__are_suites_of_their_own_without_one() -> None:
    found = read(foreign("1", suite="math"), foreign("1", suite="shell"), foreign("1"), how=IMPORTED)
    assert [(run.suite, run.target) for run in found.runs] == [
        ("math", "inspect"),
        ("shell", "inspect"),
        ("inspect", "inspect"),
    ]


def test_who_is_evaluated__is_the_model_of_the_file__else_the_suites__else_the_format() -> None:
    named = Reading("junit", suite="bot", target="my-bot")
    assert [run.target for run in read(foreign(target="openai/gpt-5"), foreign(), how=named).runs] == [
        "openai/gpt-5",
        "my-bot",
    ]
    assert [run.target for run in read(foreign()).runs] == ["inspect"]


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", "a\u202eb", "a\x00b", "a  b\t"])
def test_a_name_of_odd_characters__is_one_line_that_shows_all_it_has(name: str) -> None:
    (found,) = results(foreign(name, category=name))
    assert found.id.isprintable()
    assert found.category.isprintable()


@given(st.text(min_size=1), st.text(), st.text(), st.text())
def test_any_text__makes_a_result_or_is_refused(case: str, category: str, target: str, message: str) -> None:
    trial = foreign(case, "failed", category=category, target=target, message=message, asked={"prompt": case})
    try:
        (found,) = results(trial)
    except InputError:
        return
    assert Result.model_validate_json(found.model_dump_json()) == found


def test_a_case_without_a_name__is_refused() -> None:
    assert "a case has no name" in told(foreign(" \n"))


# --- trials and definitions -------------------------------------------------------------------------------------------


def test_trials__have_the_numbers_of_the_file__else_their_order() -> None:
    assert ids(results(foreign("a", number=2), foreign("a", number=1), foreign("b"), foreign("b"))) == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
    ]


def test_trials_of_several_files__are_counted_on() -> None:
    files = [ForeignResults([foreign("a", number=1)]), ForeignResults([foreign("a", number=1)])]
    (run,) = read_results(files, BOT, PLACE).runs
    assert ids(run.results) == [("a", 1), ("a", 2)]


def test_further_trials__are_numbered_on_from_those_that_there_are() -> None:
    how = BOT.again({("inspect", "a")}, {("inspect", "a"): 3})
    assert ids(results(foreign("a", number=1), foreign("b"), foreign("a", number=2), how=how)) == [("a", 4), ("a", 5)]


def test_a_definition__covers_what_is_asked_alone() -> None:
    one, other = results(foreign("a", asked={"prompt": "x"}), foreign("b", asked={"prompt": "x"}))
    assert one.definition == other.definition
    (changed,) = results(foreign("a", asked={"prompt": "y"}))
    assert changed.definition != one.definition


def test_a_definition__has_its_text() -> None:
    (run,) = read(foreign("a", asked={"prompt": "Add 1 and 2."})).runs
    assert run.texts == {run.results[0].definition: "prompt: Add 1 and 2.\n"}


def test_two_cases_of_one_name__are_refused() -> None:
    words = told(foreign("a", asked={"prompt": "x"}), foreign("a", asked={"prompt": "y"}))
    assert words.startswith(f'{PLACE}: two different cases are called "a"')


def test_two_names_that_look_alike__are_refused() -> None:
    assert 'two different cases are called "a b"' in told(foreign("a b", asked={}), foreign("a\nb", asked={}))


def test_no_trial_at_all__is_refused() -> None:
    assert "there is no trial in it" in told()


def test_more_trials_than_can_be_held__are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TRIALS", 2)
    assert "there are more than 2 trials" in told(foreign("a"), foreign("b"), foreign("c"))


# --- what is unknown --------------------------------------------------------------------------------------------------


def test_results_that_nothing_judges__are_refused_with_the_scores_that_could() -> None:
    words = told(foreign("a", None, scores={"helpful": 0.9, "short": 0.2}), foreign("b", None))
    assert "no trial says by itself whether it passed; its scores are helpful, short" in words
    assert "score: {helpful: 0.7}" in words


def test_results_with_neither_verdict_nor_score__are_refused() -> None:
    assert "no trial says whether it passed, and none has a score" in told(foreign("a", None))


def test_one_trial_that_nothing_judges__is_an_error_among_others() -> None:
    found = results(foreign("a"), foreign("b", None))
    assert [each.status for each in found] == [Status.PASSED, Status.ERROR]


def test_only_numbers__are_scores() -> None:
    scores = {"good": 0.5, "nan": nan, "infinite": inf, "none": None, "broken": Score(error="503")}
    (found,) = results(foreign("a", scores=scores))
    assert isinstance(found.details, ExternalDetails)
    assert found.details.scores == {"good": 0.5}


@pytest.mark.parametrize(
    ("scores", "choice", "main"),
    [
        ({"one": 0.5}, ScoreChoice(), 0.5),
        ({"one": 0.5, "two": 0.7}, ScoreChoice(), None),
        ({"one": 0.5, "score": 0.9}, ScoreChoice(), 0.9),
        ({"one": 0.5, "two": 0.7}, ScoreChoice(bounds={"two": Bounds(least=0.1)}), 0.7),
        ({}, ScoreChoice(), None),
    ],
)
def test_the_main_score__is_the_one_that_decides__the_harnesss_own__or_the_only_one(
    scores: dict[str, float], choice: ScoreChoice, main: float | None
) -> None:
    (found,) = results(foreign("a", scores=scores), how=Reading("inspect", choice, suite="bot"))
    assert isinstance(found.details, ExternalDetails)
    assert found.details.score == main


def main_scores(*trials: ForeignTrial) -> list[float | None]:
    return [one.details.score for one in results(*trials) if isinstance(one.details, ExternalDetails)]


def test_scores_of_different_scorers__are_not_mixed_in_one_mean() -> None:
    helpful, short = foreign("a", scores={"helpful": 0.9}), foreign("b", scores={"short": 0.1})
    assert main_scores(helpful, short) == [None, None]
    assert main_scores(helpful, foreign("b", scores={"score": 0.5})) == [None, 0.5]
    assert main_scores(helpful, foreign("b"), foreign("c", scores={"helpful": 0.5})) == [0.9, None, 0.5]


def test_the_score_of_the_whole_trial__has_one_name_alone() -> None:
    (found,) = results(foreign("a", scores={"score": 0.5, "helpful": 0.9}))
    assert isinstance(found.details, ExternalDetails)
    assert (found.details.score, found.details.scores) == (0.5, {"helpful": 0.9})


def test_tokens_cost_and_time__stay_unknown_where_they_are() -> None:
    (known, unknown) = results(foreign("a", usage=Usage(input_tokens=3, cost_usd=0.1), duration_ms=9), foreign("b"))
    assert (known.usage.input_tokens, known.usage.cost_usd, known.duration_ms) == (3, 0.1, 9)
    assert unknown.usage == Usage()
    assert isinstance(unknown.details, ExternalDetails)
    assert not unknown.details.timed


# --- conversations ----------------------------------------------------------------------------------------------------


def conversation() -> Trace:
    return Trace(messages=[Message(role="user", content=[Text(text="Hello")])])


class Kept(list[Trial]):
    def keep(self, trial: Trial) -> str:
        self.append(trial)
        return f"trials/{trial.result.id}.{trial.result.trial}.json"


def test_conversations__are_kept_and_named() -> None:
    kept = Kept()
    how = Reading("inspect", suite="bot", keep=kept.keep)
    found = results(foreign("a", trace=conversation), foreign("b", trace=lambda: None), foreign("c"), how=how)
    assert [each.trace for each in found] == ["trials/a.1.json", None, None]
    assert [(each.suite, each.kind, each.target, each.trace) for each in kept] == [
        ("bot", "external", "inspect", conversation())
    ]


def test_of_very_many_conversations__those_that_did_not_pass_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PASSED_TRACES", 1)
    monkeypatch.setattr(module, "MOST_TRACES", 3)
    how = Reading("inspect", suite="bot", keep=Kept().keep)
    statuses = ["passed", "passed", "failed", "failed", "failed"]
    trials = [foreign(str(number), status, trace=conversation) for number, status in enumerate(statuses)]
    assert [each.trace is not None for each in results(*trials, how=how)] == [True, False, True, True, False]


# --- the run as a whole -----------------------------------------------------------------------------------------------


def test_what_a_harness_planned__counts_for_its_run() -> None:
    (run,) = read(foreign("a"), planned=12).runs
    assert run.planned == 12


def test_the_harness_and_its_version__are_subject() -> None:
    (run,) = read(foreign("a"), version="0.3.285", subject={"prompt": "sha256:1"}).runs
    assert run.subject == {"harness": "inspect 0.3.285", "prompt": "sha256:1"}


def test_notes_and_times__are_the_readers() -> None:
    found = read(foreign("a"), notes=["one was cancelled"], made_at="2026-11-22T00:00:00Z", stopped="killed")
    assert (found.notes, found.made_at, found.stopped) == (["one was cancelled"], "2026-11-22T00:00:00Z", "killed")


def test_several_runs_of_a_harness__are_counted_together_and_said() -> None:
    files = [ForeignResults([foreign("a")]), ForeignResults([foreign("a")]), ForeignResults([foreign("b")])]
    assert read_results(files, BOT, PLACE).notes == [
        "inspect: 3 runs of the harness are counted together; name the files of one, if they aren't one"
    ]
    assert read(foreign("a")).notes == []


def test_a_score_that_no_trial_has__is_refused_with_those_that_there_are() -> None:
    how = Reading("inspect", ScoreChoice("nosuch"), suite="bot")
    assert "no trial has the score nosuch. Scores: helpful." in told(foreign("a", scores={"helpful": 1.0}), how=how)
    assert "no trial has the score nosuch. Its trials have no score" in told(foreign("a"), how=how)


def test_a_score_that_broke_everywhere__is_one_all_the_same() -> None:
    how = Reading("inspect", ScoreChoice("judge"), suite="bot")
    (found,) = results(foreign("a", scores={"judge": Score(error="503")}), how=how)
    assert found.status is Status.ERROR


# --- memory -----------------------------------------------------------------------------------------------------------


def test_results__share_the_names_of_their_fields_and_a_cases_definition() -> None:
    usage = Usage(input_tokens=1, output_tokens=2)
    first, second = results(foreign("1", usage=usage), foreign("1", usage=usage.model_copy()))

    for one, other in ((first, second), (first.usage, second.usage), (first.details, second.details)):
        assert one.model_fields_set is other.model_fields_set
    assert first.definition is second.definition
