"""The page of `evalward demo`: what changed, what broke, what to do, on one page, from a judgement."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalward.commands.spelling import show_case
from evalward.records.comparison import SubjectChange
from evalward.render.demo import Demo, demo_text
from support import comparisons, judgements
from support.hostile import EVERYTHING, fill
from support.showing import assert_seen

BEFORE = "You have a shell. It has no network. Say when you are done."
NOW = BEFORE.replace("It has", "Prefer Python. It has")


@pytest.fixture
def demo() -> Demo:
    prompt = SubjectChange(part="system", before="sha256:1", now="sha256:2")
    run = comparisons.run(cases=comparisons.changed_cases(), subject=[prompt])
    judgement = judgements.failed().model_copy(update={"comparison": comparisons.comparison(run)})
    return Demo(
        judgement=judgement,
        passed_again=judgements.passed(),
        failed_again=judgements.failed(),
        texts={"sha256:1": BEFORE, "sha256:2": NOW},
        check="evalward check --config d/pull-request.yml",
        show=show_case,
        comment="d/evalward-out/comment.md",
        page="d/evalward-out/report.html",
        opened=False,
    )


def lines(demo: Demo, width: int = 80) -> list[str]:
    return demo_text(demo, colour=False, width=width).splitlines()


def test_the_prompt_is_shown_as_a_diff_of_its_sentences(demo: Demo) -> None:
    assert "\n    You have a shell.\n  + Prefer Python.\n    It has no network.\n" in "\n".join(lines(demo))


def test_only_what_is_next_to_a_change_is_shown_with_it(demo: Demo) -> None:
    assert "Say when you are done." not in "\n".join(lines(demo))


def test_it_is_told_in_order(demo: Demo) -> None:
    text = "\n".join(lines(demo))
    parts = [
        "A pull request, checked by Evalward",
        "  + Prefer Python.",
        "$ evalward check --config d/pull-request.yml",
        "✗ Evalward: failed — tool_call_success_rate fell",
        "Exit code 1",
        "What broke: ",
        "How sure is that?",
        "What now?",
        "evalward show",
        "evalward init\n  Run",
    ]
    assert sorted(parts, key=text.index) == parts


def test_the_verdicts_of_replays_that_others_doubt_are_left_to_the_report(demo: Demo) -> None:
    assert not [line for line in lines(demo) if line.lstrip().startswith("?")]


def test_a_model_that_fails_by_chance_is_told_from_one_that_fails_for_good(demo: Demo) -> None:
    text = demo_text(demo, colour=False, width=500)
    broken = len(demo.judgement.comparison.runs[0].of("broken"))
    assert f"passed all tasks 5 times before, and fails these {broken} now." in text
    assert "tries each of them 4 more times:\n" in text
    assert "\n  ✓ if they pass: passed — nothing got worse" in text
    assert "\n  ✗ if they fail: failed — tool_call_success_rate fell 8.3 pp" in text


def test_a_browser_that_shows_the_page_is_named(demo: Demo) -> None:
    assert "  The report: d/evalward-out/report.html" in lines(demo)
    assert "  The report, open in your browser: d/evalward-out/report.html" in lines(replace(demo, opened=True))


def test_without_a_page_none_is_named(demo: Demo) -> None:
    text = "\n".join(lines(replace(demo, page=None)))
    assert "The report" not in text
    assert "d/evalward-out/comment.md" in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_only_commands_and_files_are_wider_than_the_terminal(demo: Demo, width: int) -> None:
    wide = [line for line in lines(demo, width) if len(line) > width]
    assert [line for line in wide if not line.lstrip("$ ").startswith(("evalward ", "d/"))] == []


def test_colours_only_where_they_are_wanted(demo: Demo) -> None:
    assert "\x1b" not in demo_text(demo, colour=False, width=80)
    assert "\x1b[32m+ Prefer Python.\x1b[0m" in demo_text(demo, colour=True, width=80)


def test_nothing_in_it_reaches_the_terminal_as_it_is(demo: Demo) -> None:
    (run,) = demo.judgement.comparison.runs
    hostile = run.model_copy(update={"cases": [fill(case, EVERYTHING) for case in run.cases]})
    judgement = demo.judgement.model_copy(update={"comparison": comparisons.comparison(hostile)})
    texts = {"sha256:1": BEFORE, "sha256:2": f"{BEFORE} {EVERYTHING}"}
    assert_seen(demo_text(replace(demo, judgement=judgement, texts=texts), colour=False, width=80))
