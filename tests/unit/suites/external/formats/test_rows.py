"""Our own rows for harnesses without a format: strict, and every message names the line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalward.records.problem import InputError
from evalward.records.result import Status
from evalward.suites.external.choice import Bounds, ScoreChoice
from evalward.suites.external.formats.base import ForeignTrial, recognised
from evalward.suites.external.formats.rows import FORMAT
from evalward.suites.external.results import Reading, read_results
from support.foreign.files import in_memory
from support.patience import little_work

PASSED = '{"case": "greet", "status": "passed"}'


def trials_of(*lines: str) -> list[ForeignTrial]:
    """The trials in a file of these lines."""
    (found,) = FORMAT.read([in_memory("\n".join(lines), "out.jsonl")])
    return list(found.trials)


def row(**keys: Any) -> str:
    return json.dumps({"case": "greet", **keys})


def test_a_row_with_every_key() -> None:
    (trial,) = trials_of(
        row(
            trial=2,
            target="openai/gpt-5",
            status="failed",
            scores={"politeness": 0.5, "exact": False},
            input_tokens=120,
            output_tokens=9,
            cost_usd=0.0004,
            duration_ms=850,
            asked={"prompt": "Say hello."},
            category="manners",
            message="it said goodbye",
        )
    )
    assert (trial.case, trial.number, trial.target, trial.category) == ("greet", 2, "openai/gpt-5", "manners")
    assert (trial.status, trial.reason, trial.message) == (Status.FAILED, "failed", "it said goodbye")
    assert {name: (score.value, score.passed) for name, score in trial.scores.items()} == {
        "politeness": (0.5, None),
        "exact": (0.0, False),
    }
    assert (trial.usage.input_tokens, trial.usage.output_tokens, trial.usage.cost_usd) == (120, 9, 0.0004)
    assert (trial.duration_ms, trial.asked) == (850, {"prompt": "Say hello."})


def test_what_a_row_leaves_out_is_unknown() -> None:
    (trial,) = trials_of(PASSED)
    assert (trial.status, trial.number, trial.asked, trial.duration_ms) == (Status.PASSED, None, None, None)
    assert (trial.usage.input_tokens, trial.usage.cost_usd) == (None, None)


def test_a_score_decides_where_no_status_does() -> None:
    exact, polite = trials_of(row(scores={"exact": True}), row(case="b", scores={"polite": 0.5}))
    assert ScoreChoice(scorer="exact").ending(exact).status is Status.PASSED
    assert ScoreChoice().ending(polite).status is Status.ERROR
    assert ScoreChoice(bounds={"polite": Bounds(least=0.7)}).ending(polite).status is Status.FAILED


def test_rows_become_results() -> None:
    (found,) = FORMAT.read([in_memory("\n".join([PASSED, "", PASSED, row(case="b", status="error")]))])
    (run,) = read_results([found], Reading("rows"), "out.jsonl").runs
    assert [(one.id, one.trial, one.status) for one in run.results] == [
        ("greet", 1, Status.PASSED),
        ("greet", 2, Status.PASSED),
        ("b", 1, Status.ERROR),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not a JSON object"),
        ("[]", "not a JSON object"),
        ('{"case": "a", "status": "passed", "status": "failed"}', "occurs in it twice"),
        (row(), "it has no status and no score, so how the trial ended is unknown"),
        (row(status="green"), "status: "),
        (row(status="passed", tokens=1), "tokens: unknown key"),
        (row(status="passed", input_token=1), "input_token: unknown key. Did you mean input_tokens?"),
        (row(status="passed", input_tokens="12"), "input_tokens: "),
        (row(status="passed", input_tokens=-1), "input_tokens: "),
        (row(status="passed", input_tokens=1.5), "input_tokens: "),
        (row(status="passed", cost_usd=float("nan")), "NaN is not JSON"),
        (row(status="passed", trial=0), "trial: "),
        (row(status="passed", trial=True), "trial: "),
        (row(status="passed", scores={"a": "high"}), "scores.a: a score is a number, or true or false."),
        ('{"status": "passed"}', "case: the key is missing"),
        (row(case="", status="passed"), "case: "),
        (row(case="\ud800", status="passed"), "half a character"),
        ('{"case": "b", "status": "passed", "asked": ' + "[" * 300 + "]" * 300 + "}", "nested too deeply"),
    ],
)
def test_a_mistake_is_refused_with_its_line(line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        trials_of(PASSED, "", line, "{")
    assert str(caught.value).startswith("out.jsonl:3: ")
    assert message in str(caught.value)


def test_a_trial_told_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"out\.jsonl:2: line 1 has trial 1 of this case already"):
        trials_of(row(trial=1, status="passed"), row(trial=1, status="failed"))
    assert len(trials_of(row(trial=1, status="passed"), row(trial=1, status="failed", target="other"))) == 2


def test_a_case_that_asks_two_things_is_refused() -> None:
    with pytest.raises(InputError, match=r"out\.jsonl:2: asked: line 1 has a different case under the same name"):
        trials_of(row(status="passed", asked="a"), row(status="passed", asked="b"))


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_no_row_is_never_green(text: str) -> None:
    with pytest.raises(InputError, match="there is no row in it"):
        trials_of(text)


def test_a_cut_file_is_refused() -> None:
    with pytest.raises(InputError, match=r"out\.jsonl:2: not a JSON object"):
        trials_of(PASSED, PASSED[:-1])


def test_it_is_recognised_by_its_first_row() -> None:
    for text in (
        PASSED,
        f"\ufeff{PASSED}\r\n{PASSED}\r\n",
        row(scores={"a": 1}),
        row(status="passed", asked={"x": [1]}),
    ):
        assert recognised(in_memory(text)) == "rows"
    for text in ('{"case": "a"}', '{"case": "a", "status": "passed", "vars": {}}', f"[{PASSED}]", "", "[]"):
        assert not FORMAT.recognises(in_memory(text), text.encode())


def test_more_rows_than_a_report_holds__are_refused_before_the_first_is_read() -> None:
    lines = [PASSED] * 49_999 + ["", "no JSON at all", " "]
    with pytest.raises(InputError, match="not a JSON object"):
        trials_of(*lines)
    with little_work(5), pytest.raises(InputError, match="there are more than 50,000 trials") as caught:
        trials_of("no JSON at all", *[PASSED] * 50_000)
    assert "Split them" in str(caught.value)
