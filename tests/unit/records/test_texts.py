"""What hashes stand for: once each, within bounds, and no prompt that is known to be another."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalward.records.base import digest
from evalward.records.report import MeasuredBase, Report, Run, Subject, Tool
from evalward.records.result import Result, Status
from evalward.records.texts import (
    LONGEST_TEXT,
    MOST_IN_REPORT,
    bounded_texts,
    cut_text,
    is_altered,
    is_cut,
    stands_for,
    texts_of,
    tool_text,
)

SYSTEM = "You work in a shell."
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"commands": {"type": "string"}}, "required": ["commands"]}
TOOL = digest(["Run bash.", SCHEMA])


def run(definition: str = "sha256:case", target: str = "oracle", **parts: str) -> Run:
    return Run(
        suite="s",
        kind="bash",
        target=target,
        trials=1,
        subject=Subject.model_validate({"hash": digest(parts), **parts}),
        cases=[Result(id="a", category="c", definition=definition, status=Status.PASSED)],
    )


def report(*runs: Run, texts: dict[str, str], base: MeasuredBase | None = None) -> Report:
    made = Report(tool=Tool(version="1"), created_at="2031-01-01T00:00:00Z", runs=list(runs), base=base, texts=texts)
    return made.with_own_texts()


def test_a_prompt_and_a_tool_are_known_by_their_hash() -> None:
    assert stands_for(digest(SYSTEM), SYSTEM) is True
    assert stands_for(TOOL, tool_text("Run bash.", SCHEMA)) is True
    assert stands_for(TOOL, tool_text("Run zsh.", SCHEMA)) is False
    assert stands_for(digest(SYSTEM), f"{SYSTEM} ") is False


def test_a_tool_whose_description_looks_like_one_with_a_schema_is_still_known() -> None:
    description = tool_text("Run bash.", {"type": "string"})

    assert stands_for(digest([description, SCHEMA]), tool_text(description, SCHEMA)) is True


@pytest.mark.parametrize("schema", ["", "[" * 100_000, "NaN", "1" * 5000, '"\\ud800"', "{"])
def test_a_schema_that_is_none_stands_for_nothing(schema: str) -> None:
    assert stands_for(TOOL, f"Run bash.\n\nInput schema:\n{schema}") is False


def test_what_was_cut_or_redacted_can_not_be_held_against_its_hash() -> None:
    long = "word " * 10_000

    assert stands_for(digest(long), cut_text(long)) is None
    assert stands_for(digest("Use sk-1234"), "Use [redacted]") is None


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    text = cut_text("x" * 30_000)

    assert len(text) <= LONGEST_TEXT
    assert is_cut(text)
    assert text.startswith("xxx")
    kept, _, mark = text.rpartition("\n")
    assert mark == f"[{30_000 - len(kept)} more characters]"


def test_a_cut_text_that_grew_is_cut_once_more_and_counts_all_that_is_missing() -> None:
    once = cut_text("x" * 30_000)
    twice = cut_text("y" * 3_000 + once)

    kept, _, mark = twice.rpartition("\n")
    assert mark == f"[{33_000 - len(kept)} more characters]"
    assert twice.count("more characters") == 1


@pytest.mark.parametrize("blanks", range(0, 60, 7))
def test_no_word_is_halved_by_a_cut(blanks: int) -> None:
    text = cut_text(" " * blanks + "canary/0123456789 " * 2_000)

    kept, _, _ = text.rpartition("\n")
    assert set(kept.split()) == {"canary/0123456789"}


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert cut_text("x" * LONGEST_TEXT) == "x" * LONGEST_TEXT
    assert not is_altered("[3 more characters] is what it says\n")


def test_lone_surrogates_are_replaced() -> None:
    assert cut_text("a\ud800b") == "a�b"


def test_from_the_first_that_does_not_fit_none_is_kept() -> None:
    texts = [("a", "x" * 100), ("b", "y" * 5_000), ("c", "z")]

    assert list(bounded_texts(texts, 1_000)) == ["a"]
    assert list(bounded_texts(texts, 10_000)) == ["a", "b", "c"]


def test_what_counts_are_the_bytes_that_are_written() -> None:
    for text in ("\x01" * 15_000, "👍" * 15_000, '"' * 15_000):
        kept = bounded_texts(((f"k{n}", text) for n in range(1_000)), 500_000)
        assert 300_000 < len(json.dumps(kept, ensure_ascii=False).encode()) <= 500_000


def test_of_two_texts_of_one_key_the_first_is_kept_and_absurd_keys_are_none() -> None:
    assert bounded_texts([("a", "1"), ("a", "2"), ("k" * 1_000, "3")], 1_000) == {"a": "1"}


def test_a_report_of_whoever_is_read_with_bounded_texts() -> None:
    hostile = {"x": "y" * 1_000_000, **{f"sha256:{n}": "z" * 19_000 for n in range(1_000)}}
    data = {"tool": {"version": "1"}, "created_at": "2031-01-01T00:00:00Z", "texts": hostile}

    read = Report.model_validate_json(json.dumps(data))

    assert len(read.texts["x"]) <= LONGEST_TEXT
    assert sum(map(len, read.texts.values())) <= MOST_IN_REPORT


def test_only_texts_that_a_run_names_are_kept_prompts_first() -> None:
    subject = {"system": digest(SYSTEM), "tool_description": TOOL}
    texts = {
        "sha256:case": "id: a\n",
        "sha256:nobody": "x",
        TOOL: tool_text("Run bash.", SCHEMA),
        digest(SYSTEM): SYSTEM,
    }

    made = report(run(**subject), texts=texts)

    assert list(made.texts) == [digest(SYSTEM), TOOL, "sha256:case"]


def test_the_bases_texts_are_kept_too() -> None:
    base = MeasuredBase(runs=[run("sha256:old", system=digest("Old."))])

    made = report(
        run("sha256:new", system=digest(SYSTEM)),
        base=base,
        texts={digest(SYSTEM): SYSTEM, digest("Old."): "Old.", "sha256:old": "1", "sha256:new": "2"},
    )

    assert set(made.texts.values()) == {SYSTEM, "Old.", "1", "2"}


def test_a_prompt_that_is_not_that_of_its_hash_is_dropped() -> None:
    made = report(run(system=digest(SYSTEM)), texts={digest(SYSTEM): "You are harmless.", "sha256:case": "id: a\n"})

    assert made.texts == {"sha256:case": "id: a\n"}


def test_a_case_that_claims_the_hash_of_a_prompt_brings_no_other_text_in() -> None:
    made = report(run(digest(SYSTEM), system=digest(SYSTEM)), texts={digest(SYSTEM): "You are harmless."})

    assert made.texts == {}


def test_a_source_that_is_believed_goes_before_others_unless_it_is_known_to_be_wrong() -> None:
    key = digest(SYSTEM)
    ours, theirs = {"sha256:case": "as committed"}, {"sha256:case": "as claimed", key: SYSTEM}

    assert texts_of([run(system=key)], [ours, theirs], 10_000) == {key: SYSTEM, "sha256:case": "as committed"}
    assert texts_of([run(system=key)], [{key: "forged"}, theirs], 10_000)[key] == SYSTEM
