"""Under each case that broke stands the command that shows it; the comment says once how to fetch what it reads."""

from __future__ import annotations

import re
import shlex

import pytest

from evalward.commands.spelling import show_case, shown_by
from evalward.records.comparison import CaseChange, RunComparison, Tally
from evalward.records.verdict import Judgement, Outcome, Verdict
from evalward.render.markdown import COMMENT_LIMIT, comment, fit, summary
from evalward.render.names import told_apart
from evalward.render.terminal import judgement_text
from support.comparisons import comparison, run
from support.hostile import EVERYTHING, fill
from support.judgements import context

FAILED, PASSED = Tally(passed=0, trials=1), Tally(passed=1, trials=1)


def broken(case: str) -> CaseChange:
    return CaseChange(id=case, category="c", change="broken", before=PASSED, now=FAILED)


def judged(*runs: RunComparison) -> Judgement:
    verdict = Verdict(outcome=Outcome.FAIL, headline="something broke")
    return Judgement(comparison=comparison(*runs), verdict=verdict)


def one(*cases: CaseChange, suite: str = "s", target: str = "oracle") -> RunComparison:
    return run(suite=suite, target=target, cases=list(cases))


def commands(text: str) -> list[str]:
    return re.findall(r"→ `?(evalward show [^`\n]*)", text)


def test_the_comment_has_a_command_for_each_case_that_broke_or_is_new() -> None:
    new = CaseChange(id="n", category="c", change="added", now=FAILED)
    gone = CaseChange(id="gone", category="c", change="missing", before=PASSED)
    text = comment(judged(one(broken("a"), new, gone)), context())
    assert commands(text) == ["evalward show a", "evalward show n"]
    assert "  - → `evalward show a`\n" in text


def test_suite_and_target_are_named_where_the_id_alone_says_too_little() -> None:
    first = one(broken("a"), broken("only"))
    text = comment(
        judged(first, one(broken("a"), target="nop"), one(broken("a"), suite="z", target="oracle")), context()
    )
    assert commands(text) == [
        "evalward show --suite s --target oracle a",
        "evalward show only",
        "evalward show --target nop a",
        "evalward show --suite z a",
    ]


def test_how_to_fetch_the_run_is_said_once() -> None:
    text = comment(judged(one(broken("a"), broken("b"))), context())
    assert text.count("gh run download 123456") == 1
    assert "gh run download" not in comment(judged(one()), context())
    assert "gh run download" not in comment(judged(one(broken("a"))), context(), "headline")


def test_without_a_command_there_is_none() -> None:
    text = comment(judged(one(broken("a"))), context(show=None, download=""))
    assert "evalward show" not in text
    assert "How to look at a trial" not in text


def test_the_terminal_has_the_command_whole_however_narrow_it_is() -> None:
    case = "a-case-with-a-name-that-is-longer-than-the-terminal-is-wide"
    found = judged(one(broken(case)))
    text = judgement_text(found, colour=False, width=40, show=shown_by("out/report.json"))
    before, _, after = text.partition("\n      → evalward show")
    command = re.match(r"(?:.* \\\n)*.*\n", after)
    assert before
    assert command
    assert shlex.split(command[0].replace("\\\n", "")) == ["--report", "out/report.json", case]
    assert "evalward show" not in judgement_text(found, colour=False, width=40)


@pytest.mark.parametrize("count", [1, 60])
def test_hostile_names_stay_code_and_the_comment_fits(count: int) -> None:
    cases = [fill(broken(f"{number}"), f"{number} {EVERYTHING}") for number in range(count)]
    found = judged(one(*cases))
    text = fit(found, context())
    assert len(text) <= COMMENT_LIMIT
    assert "evalward show" in text
    assert all(line.isprintable() for line in commands(text))
    assert "evalward show" in summary(found, context())


@pytest.mark.parametrize(
    ("runs", "named"),
    [
        ([], (None, None)),
        ([("s", "t")], (None, None)),
        ([("s", "t"), ("s", "u")], (None, "t")),
        ([("s", "t"), ("z", "t")], ("s", None)),
        ([("s", "t"), ("z", "u")], (None, "t")),
        ([("s", "t"), ("s", "u"), ("z", "t")], ("s", "t")),
    ],
)
def test_no_more_is_named_than_tells_a_run_apart(
    runs: list[tuple[str, str]], named: tuple[str | None, str | None]
) -> None:
    assert told_apart(("s", "t"), runs) == named


def test_the_spelled_command_is_the_one_that_pages_take() -> None:
    assert shown_by("x/report.json")("a", None, "t") == show_case("a", target="t", report="x/report.json")
