"""The changed prompts and redefined cases of a run as texts; or why there is none to show."""

from __future__ import annotations

import pytest

from evalward.decide.compare import compare
from evalward.decide.kinds import NOTHING, UNKNOWN
from evalward.decide.succession import align
from evalward.records.base import digest
from evalward.records.baseline import Baseline, BaselineProvenance, baseline_case, baseline_run
from evalward.records.comparison import RunComparison
from evalward.records.report import MeasuredBase, Report, Run, Subject, Tool
from evalward.records.result import Result, Status
from evalward.records.texts import cut_text, tool_text
from evalward.render.changed_texts import (
    LEFT_OUT_BEFORE,
    LEFT_OUT_NOW,
    NO_TEXTS_BEFORE,
    NO_TEXTS_NOW,
    PARTLY,
    SAME_CASE,
    SAME_PROMPT,
    ChangedText,
    changed_texts,
)
from evalward.render.kept import Sources
from evalward.render.text_diff import DiffLine

OLD, NEW = "Be brief.\nNever delete.\n", "Be brief.\nNever ever delete.\n"
TOOL = digest(["Run bash.", {"type": "object"}])


def run(*cases: tuple[str, str], suite: str = "s", target: str = "m", **parts: str) -> Run:
    return Run(
        suite=suite,
        kind="bash",
        target=target,
        trials=1,
        random=True,
        planned=len(cases),
        subject=Subject.model_validate({"hash": digest(parts), **parts}),
        cases=[Result(id=i, category="c", definition=d, status=Status.PASSED) for i, d in cases],
    )


def sources(before: Run | None, now: Run, old: dict[str, str], new: dict[str, str]) -> Sources:
    report = Report(tool=Tool(version="1"), created_at="2031-01-01T00:00:00Z", runs=[now], texts=new)
    return Sources(report=report, baseline=None if before is None else baseline(before, old))


def baseline(before: Run, texts: dict[str, str]) -> Baseline:
    cases = [baseline_case(result, [result]) for result in before.cases]
    return Baseline(
        provenance=BaselineProvenance(created_at="2031-01-01T00:00:00Z", evalward="1"),
        runs=[baseline_run(before, cases, NOTHING)],
        texts=texts,
    )


def compared(found: Sources, suites: tuple[str, ...] = ()) -> RunComparison:
    assert found.report is not None
    return compare(align(found.report, found.baseline), {"bash": UNKNOWN}, suites).runs[0]


def changed(found: Sources) -> list[ChangedText]:
    return changed_texts(compared(found), found)


def marked(text: ChangedText) -> list[str]:
    assert text.diff is not None
    lines = [part for part in text.diff.parts if isinstance(part, DiffLine) and part.mark != "same"]
    return [f"{part.mark}: {''.join(span.text for span in part.spans)}" for part in lines]


def test_a_changed_prompt_is_shown_line_by_line() -> None:
    found = sources(
        run(("a", "d"), system=digest(OLD)), run(("a", "d"), system=digest(NEW)), {digest(OLD): OLD}, {digest(NEW): NEW}
    )

    (text,) = changed(found)

    assert (text.what, text.name, text.title, text.note) == ("prompt", "system", "System prompt", "")
    assert marked(text) == ["removed: Never delete.", "added: Never ever delete."]


def test_a_changed_tool_is_shown_with_its_schema() -> None:
    old, new = tool_text("Run bash.", {"type": "object"}), tool_text("Run sh.", {"type": "object"})
    key = digest(["Run sh.", {"type": "object"}])
    found = sources(
        run(("a", "d"), tool_description=TOOL), run(("a", "d"), tool_description=key), {TOOL: old}, {key: new}
    )

    (text,) = changed(found)

    assert text.title == "Tool description"
    assert marked(text) == ["removed: Run bash.", "added: Run sh."]


def test_a_redefined_case_is_shown_by_its_id_and_no_other_case_is() -> None:
    found = sources(
        run(("a", "d1"), ("b", "e")),
        run(("a", "d2"), ("b", "e")),
        {"d1": "id: a\nx: 1\n", "e": "?"},
        {"d2": "id: a\nx: 2\n"},
    )

    (text,) = changed(found)

    assert (text.what, text.name) == ("case", "a")
    assert marked(text) == ["removed: x: 1", "added: x: 2"]


def test_versions_have_no_text_and_are_not_listed() -> None:
    assert changed(sources(run(("a", "d"), bashkit="1"), run(("a", "d"), bashkit="2"), {"d": "x"}, {"d": "x"})) == []


def test_a_part_that_is_new_is_all_added() -> None:
    found = sources(run(("a", "d")), run(("a", "d"), guidance="g"), {}, {"g": "=== AGENTS.md\n"})

    (text,) = changed(found)

    assert (text.title, marked(text)) == ("Guidance", ["added: === AGENTS.md"])


def test_a_baseline_of_an_earlier_version_says_so() -> None:
    now = run(("a", "d2"), system=digest(NEW))
    found = sources(run(("a", "d1"), system=digest(OLD)), now, {}, {digest(NEW): NEW, "d2": "id: a\n"})

    assert [(text.name, text.diff, text.note) for text in changed(found)] == [
        ("system", None, NO_TEXTS_BEFORE),
        ("a", None, NO_TEXTS_BEFORE),
    ]


def test_a_report_without_texts_says_so() -> None:
    found = sources(run(("a", "d1")), run(("a", "d2")), {"d1": "id: a\n"}, {})

    assert [text.note for text in changed(found)] == [NO_TEXTS_NOW]


def test_a_text_that_was_left_out_says_so() -> None:
    before, now = run(("a", "d1"), ("b", "e1")), run(("a", "d2"), ("b", "e2"))
    found = sources(before, now, {"e1": "id: b\n"}, {"d2": "id: a\n"})

    assert [(text.name, text.note) for text in changed(found)] == [("a", LEFT_OUT_BEFORE), ("b", LEFT_OUT_NOW)]


def test_a_case_that_reads_the_same_refers_to_something_that_changed() -> None:
    found = sources(run(("a", "d1")), run(("a", "d2")), {"d1": "id: a\n"}, {"d2": "id: a\n"})

    (text,) = changed(found)

    assert (text.diff, text.note) == (None, SAME_CASE)


def test_prompts_that_differ_only_where_they_were_cut_say_so() -> None:
    old, new = "word " * 10_000, "word " * 10_000 + "end"
    found = sources(
        run(("a", "d"), system=digest(old)),
        run(("a", "d"), system=digest(new)),
        {digest(old): cut_text(old)},
        {digest(new): cut_text(old)},
    )

    (text,) = changed(found)

    assert (text.diff, text.note) == (None, SAME_PROMPT)


def test_what_was_redacted_is_shown_with_a_note() -> None:
    found = sources(
        run(("a", "d"), system=digest(OLD)),
        run(("a", "d"), system=digest(NEW)),
        {digest(OLD): OLD},
        {digest(NEW): "Be brief.\nUse [redacted].\n"},
    )

    (text,) = changed(found)

    assert text.note == PARTLY
    assert marked(text) == ["removed: Never delete.", "added: Use [redacted]."]


@pytest.mark.parametrize("forged", ["You are harmless.", NEW.upper()])
def test_a_prompt_that_a_foreign_report_forges_is_never_shown(forged: str) -> None:
    found = sources(
        run(("a", "d"), system=digest(OLD)),
        run(("a", "d"), system=digest(NEW)),
        {digest(OLD): OLD},
        {digest(NEW): forged, "d": "x"},
    )

    (text,) = changed(found)

    assert (text.diff, text.note) == (None, LEFT_OUT_NOW)
    assert forged not in found.texts().values()


def test_a_foreign_report_can_not_say_what_the_baseline_had() -> None:
    found = sources(run(("a", "d1")), run(("a", "d2")), {"d1": "was: 1\n"}, {"d1": "was: 2\n", "d2": "is: 2\n"})

    (text,) = changed(found)

    assert marked(text) == ["removed: was: 1", "added: is: 2"]


def test_what_is_compared_with_the_base_now_has_the_bases_texts_from_the_report() -> None:
    before, now = run(("a", "d1"), system=digest(OLD)), run(("a", "d2"), system=digest(NEW))
    report = Report(
        tool=Tool(version="1"),
        created_at="2031-01-01T00:00:00Z",
        runs=[now],
        base=MeasuredBase(commit="c", runs=[before]),
        texts={digest(OLD): OLD, digest(NEW): NEW, "d1": "id: a\nx: 1\n", "d2": "id: a\nx: 2\n"},
    )
    aligned = align(report, baseline(before, {}))

    texts = changed_texts(compare(aligned, {"bash": UNKNOWN}, ("s",)).runs[0], Sources(report=report))

    assert [text.diff is not None for text in texts] == [True, True]


def test_a_run_that_took_anothers_place_is_held_against_that_one() -> None:
    before, now = run(("a", "d1"), target="openai/old"), run(("a", "d2"), target="openai/new")
    found = sources(before, now, {"d1": "x: 1\n"}, {"d2": "x: 2\n"})

    assert compared(found).replaced is not None
    assert marked(changed(found)[0]) == ["removed: x: 1", "added: x: 2"]


def test_without_the_records_of_either_side_there_is_nothing_to_show_and_that_is_said() -> None:
    found = sources(run(("a", "d1"), system=digest(OLD)), run(("a", "d2"), system=digest(NEW)), {}, {})

    texts = changed_texts(compared(found), Sources())

    assert [(text.name, text.note) for text in texts] == [("system", NO_TEXTS_BEFORE)]
