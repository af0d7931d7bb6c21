"""Guidances for people: the table, the sentences, the place in the comment; and nothing hostile survives."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from evalward.commands.pipeline import Criteria
from evalward.decide.guidance import GuidanceResults, compare_guidance
from evalward.records.guidance import GuidanceComparison, GuidanceReport
from evalward.records.policy import Policy
from evalward.records.result import Result
from evalward.records.verdict import Judgement, Outcome, Verdict
from evalward.render.context import PageContext
from evalward.render.guidance import build_guidance, guidance_json, guidance_markdown, guidance_text
from evalward.render.markdown import COMMENT_LIMIT, comment, fit
from evalward.render.terminal import judgement_text
from evalward.suites.scenario.details import FailedCommand
from evalward.suites.scenario.guidance import READING
from support import judgements
from support.hostile import EVERYTHING, SNIPPETS, fill
from support.markdown import Rendered, rendered
from support.scenario_reports import scenario_report, scenario_run
from support.scenarios import trial


def results(errors: int, asked: int, command: str = "jot add --text x", count: int = 8) -> list[Result]:
    failed = [FailedCommand(subcommand="add", command=command, exit_code=2, said=f"error: {command}")] * errors
    told: dict[str, Any] = {"help_invocations": asked, "failed": failed}
    return [trial(counts=(10, 3, errors), interaction=told).model_copy(update={"trial": n + 1}) for n in range(count)]


def comparison(*columns: list[Result], names: tuple[str, ...] = ("v1", "v2", "v3"), **more: Any) -> GuidanceComparison:
    named = [
        GuidanceResults(name, found, {"AGENTS.md": f"sha256:{name:0>64}"})
        for name, found in zip(names, columns, strict=False)
    ]
    return compare_guidance("notes", "agent:x", named, READING, random=more.get("random", True), why="A why.")


BETTER = comparison(results(4, 5), results(0, 0))


def test_the_table() -> None:
    view = build_guidance(BETTER)
    assert view.headlines == [
        "`v2` against `v1`: better on `error_rate`, `help_seeking`, by more than chance.",
    ]
    error, asked = view.rows[:2]
    assert (error.name, error.values) == ("error_rate", ["40.0 % (32/80)", "0.0 % (0/80)"])
    assert error.differences[0].startswith("−40.0 pp (−")
    assert error.verdicts == ["better by more than chance (p = 0.0012)"]
    assert (asked.name, asked.values, asked.differences) == ("help_seeking", ["5", "0"], ["−5"])


def test_the_sentences() -> None:
    def headline(one: GuidanceComparison) -> str:
        return build_guidance(one, "headline").headlines[0]

    assert "worse on `error_rate`, `help_seeking`, by more than chance" in headline(
        comparison(results(0, 0), results(4, 5))
    )
    assert headline(comparison(results(1, 1), results(1, 1))) == "`v2` against `v1`: no difference."
    assert "too few trials" in headline(comparison(results(4, 5, count=1), results(0, 0, count=1)))
    exact = comparison(results(4, 5, count=1), results(0, 0, count=1), random=False)
    assert headline(exact) == "`v2` against `v1`: better on `error_rate`, `help_seeking`."
    nothing = GuidanceComparison(suite="s", target="t", not_measured="there is no key here")
    assert headline(nothing) == "The guidance versions could not be compared: there is no key here."


def test_it_leads_the_comment_before_the_tables_of_metrics() -> None:
    text = comment(judged(BETTER), PageContext())
    assert text.index("it got worse") < text.index("Guidance:") < text.index("better by more than chance")
    assert "Show" not in text.partition("Guidance:")[0]
    assert "`v1`" in text
    assert "Guidance: notes × agent:x" in judgement_text(judged(BETTER), colour=False, width=120)


def judged(*comparisons: GuidanceComparison) -> Judgement:
    report = scenario_report(scenario_run("agent:x", *results(0, 0))).model_copy(update={"guidance": list(comparisons)})
    found = Criteria(None, Policy()).compared(report).comparison
    return Judgement(comparison=found, verdict=Verdict(outcome=Outcome.FAIL, headline="it got worse"))


def test_a_long_comment_keeps_the_sentence() -> None:
    columns = [results(4, 5, "x" * 5_000) for _ in range(3)]
    many = [comparison(*columns).model_copy(update={"suite": f"s{n}" * 30}) for n in range(40)]
    text = fit(judged(*many), PageContext())
    assert len(text) <= COMMENT_LIMIT
    assert "no difference" in text


@pytest.mark.parametrize("text", [*(f"x{snippet} y" for snippet in SNIPPETS), EVERYTHING])
def test_hostile_names_commands_and_errors_change_no_element(text: str) -> None:
    for elements, other in zip(calm_elements(), documents(text), strict=True):
        assert "Guidance:" in other.text
        assert other.elements == list(elements)
        assert other.links() == []


def documents(text: str) -> list[Rendered]:
    """The table and the comment of a comparison that names everything so."""
    found = fill(BETTER, text)
    return [rendered(guidance_markdown([found])), rendered(comment(judged(found), judgements.context()))]


@cache
def calm_elements() -> tuple[tuple[str, ...], ...]:
    """What both are made of where nobody means harm."""
    return tuple(tuple(document.elements) for document in documents("calm"))


def test_hostile_names_commands_and_errors_reach_no_terminal() -> None:
    hostile = fill(BETTER, EVERYTHING)
    for text in (
        guidance_text([hostile], colour=False, width=100),
        judgement_text(judged(hostile), colour=False, width=100),
    ):
        assert "Guidance:" in text
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_json_can_be_read_again() -> None:
    assert GuidanceReport.model_validate_json(guidance_json([BETTER])).comparisons == [BETTER]
