"""The texts that a baseline keeps: those that its runs and cases name, through every way of updating it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalward.commands.baseline_ci import change_markdown
from evalward.decide.baseline import BaselineUpdate, dump_baseline, read_baseline, update_baseline
from evalward.decide.baseline_diff import diff_baselines
from evalward.decide.pooling import NamedReport
from evalward.decide.with_base import compared_with
from evalward.records.base import digest
from evalward.records.baseline import Baseline
from evalward.records.report import MeasuredBase, Report
from evalward.records.result import Result
from evalward.records.texts import MOST_IN_BASELINE
from evalward.render.baseline_diff import difference_markdown, difference_text
from support.results import KINDS, SUITE, passes, report, result, run

A, B = "sha256:a", "sha256:b"
TEXTS = {A: "id: a\n", B: "id: b\n"}


def measured(*rows: Result, texts: dict[str, str], parts: dict[str, str] | None = None, **more: Any) -> Report:
    return report(run(list(rows), random=True, parts=parts), texts=texts, **more)


def updated(now: Report, previous: Baseline | None, **more: Any) -> BaselineUpdate:
    return update_baseline([NamedReport(now, "r.json")], previous, KINDS, **more)


def made(*rows: Result, texts: dict[str, str], **more: Any) -> Baseline:
    return updated(measured(*rows, texts=texts, **more), None).baseline


def test_it_keeps_what_its_cases_and_prompts_stand_for_and_no_more() -> None:
    system = digest("Be brief.")
    texts = {"sha256:nobody": "x", **TEXTS, system: "Be brief."}

    kept = made(*passes("b", "a"), texts=texts, parts={"system": system})

    assert kept.texts == {system: "Be brief.", **TEXTS}
    assert list(kept.texts) == [system, A, B], "prompts first, then cases in the baseline's order"


def test_a_prompt_that_is_not_that_of_its_hash_does_not_get_into_it() -> None:
    system = digest("Be brief.")

    assert made(*passes("a"), texts={system: "Be harmless.", A: "id: a\n"}, parts={"system": system}).texts == {
        A: "id: a\n"
    }


def test_the_file_has_a_line_for_each_text_and_reads_back() -> None:
    kept = made(*passes("a", "b"), texts={A: "id: a\nprompt: Use \u202eit\x1b.\n", B: "id: b\n"})

    file = dump_baseline(kept)

    assert read_baseline(file, "b.json") == kept
    lines = [line for line in file.splitlines() if line.startswith('  "sha256:')]
    assert lines == [
        f'  "{A}": "id: a\\nprompt: Use \\u202eit\\u001b.\\n",',
        f'  "{B}": "id: b\\n"',
    ]
    assert list(json.loads(file)) == ["schema", "provenance", "runs", "texts"]


def test_a_baseline_without_texts_is_written_as_before() -> None:
    assert list(json.loads(dump_baseline(made(*passes("a"), texts={})))) == ["schema", "provenance", "runs"]


def test_the_first_texts_of_an_older_baseline_are_news_and_then_no_more() -> None:
    old = made(*passes("a"), texts={})
    now = measured(*passes("a"), texts={A: "id: a\n"}, created_at="2027-01-01T00:00:00Z")

    new = update_baseline([NamedReport(now, "r.json")], old, KINDS).baseline

    assert new.texts == {A: "id: a\n"}
    assert updated(now, new).baseline is new
    assert updated(measured(*passes("a"), texts={}), new).baseline is new, "a report without texts takes none away"


def test_a_foreign_report_changes_no_text_of_a_case_that_is_known() -> None:
    old = made(*passes("a"), texts={A: "id: a\n"})
    claimed = measured(*passes("a", "b"), texts={A: "forged", B: "id: b\n"})

    assert updated(claimed, old).baseline.texts == TEXTS


def test_what_no_case_names_any_more_goes() -> None:
    old = made(*passes("a", "b"), texts=TEXTS)
    other = measured(result("a", definition="sha256:a2"), result("b"), texts={"sha256:a2": "id: a2\n"})

    assert updated(other, old).baseline.texts == {"sha256:a2": "id: a2\n", B: "id: b\n"}


def test_pooling_keeps_the_texts_of_both_sides() -> None:
    old = made(result("a", duration_ms=1), texts={A: "id: a\n"})
    more = measured(result("a", duration_ms=2), result("b"), texts={B: "id: b\n"})

    pooled = updated(more, old, pool=True).baseline

    assert [len(case.trials) for case in pooled.runs[0].cases] == [2, 1]
    assert pooled.texts == TEXTS


def test_a_run_that_stays_as_it_was_keeps_its_texts() -> None:
    old = made(*passes("a"), texts={A: "id: a\n"}, parts={"system": "s1"})
    now = measured(
        result("a", "failed", definition="sha256:a2"), texts={"sha256:a2": "id: a2\n"}, parts={"system": "s2"}
    )

    update = updated(now, old, spare={(SUITE, now.runs[0].target): "it looks worse"})

    assert update.spared
    assert update.baseline.texts == {A: "id: a\n"}


def test_several_reports_bring_what_each_has() -> None:
    reports = [
        measured(
            *(result(case, trial=1, duration_ms=n) for case in "ab"), texts=texts, created_at=f"2027-01-0{n}T00:00:00Z"
        )
        for n, texts in ((1, {A: "id: a\n"}), (2, {B: "id: b\n"}))
    ]

    update = update_baseline([NamedReport(one, f"{n}.json") for n, one in enumerate(reports)], None, KINDS, pool=True)

    assert update.baseline.texts == TEXTS


def test_it_is_bounded_and_what_is_left_out_does_not_depend_on_the_reports_order() -> None:
    names = [f"c{number:03}" for number in range(200)]
    texts = {f"sha256:{name}": f"{name} " * 3_000 for name in names}

    forward = made(*passes(*names), texts=texts)
    backward = made(*passes(*reversed(names)), texts=dict(reversed(texts.items())))

    assert 0 < len(forward.texts) < len(names)
    assert len(json.dumps(forward.texts)) <= MOST_IN_BASELINE
    assert forward.texts == backward.texts
    assert list(forward.texts) == [f"sha256:{name}" for name in names[: len(forward.texts)]]
    assert updated(measured(*passes(*names), texts=texts), forward).baseline is forward


def test_the_bases_texts_stand_in_for_the_committed_ones() -> None:
    before = run([result("a", definition="sha256:old")])
    now = report(
        run([result("a", definition="sha256:new")]),
        base=MeasuredBase(commit="c", runs=[before]),
        texts={"sha256:old": "id: 1\n", "sha256:new": "id: 2\n"},
    )

    found = compared_with(now, made(*passes("b"), texts={B: "id: b\n"}), {SUITE}, KINDS)

    assert found is not None
    assert found.texts == {"sha256:old": "id: 1\n"}


# --- differences stay readable --------------------------------------------------------------------------------------


def test_a_difference_counts_texts_in_one_line_and_shows_none() -> None:
    old = made(*passes("a", "b"), texts=TEXTS)
    new = made(result("a", definition="sha256:a2"), result("b"), texts={"sha256:a2": "CANARY\n" * 500, B: "id: b\n"})

    difference = diff_baselines(old, new)

    assert (difference.texts_added, difference.texts_removed, difference.empty) == (1, 1, False)
    for text in (difference_text(difference, colour=False, width=100), difference_markdown(difference)):
        assert "Texts of prompts and cases: 1 new, 1 gone" in text
        assert "CANARY" not in text
        assert len(text.splitlines()) < 30
    assert "CANARY" not in difference.model_dump_json()


@pytest.mark.parametrize("texts", [{}, TEXTS])
def test_no_texts_came_and_none_went_is_not_worth_a_line(texts: dict[str, str]) -> None:
    same = made(*passes("a", "b"), texts=texts)

    assert "Texts" not in difference_text(diff_baselines(same, same), colour=False, width=100)
    assert "Texts" not in difference_text(diff_baselines(None, same), colour=False, width=100)
    assert diff_baselines(same, same).empty


def test_a_pull_request_that_only_adds_texts_says_so() -> None:
    old, new = (dump_baseline(made(*passes("a", "b"), texts=texts)) for texts in ({}, TEXTS))

    assert change_markdown(old, new) == (
        "Results are as before. It keeps other texts of prompts and cases, so that changes can be shown."
    )
