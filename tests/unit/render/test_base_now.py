"""What a run was compared with, where that is the base commit, measured now."""

from __future__ import annotations

from evalward.commands.pipeline import decide_report
from evalward.records.policy import Policy
from evalward.records.report import MeasuredBase, Report
from evalward.render import sentences as english
from evalward.render.context import PageContext
from evalward.render.markdown import fit
from evalward.render.terminal import judgement_text
from support.outcomes import DROP, TARGET, known, measured, steady, trials
from support.results import run

COMMIT = "0123456789abcdef"
SUITE = measured(steady(1)).runs[0].suite


def both(**costs: float | None) -> Report:
    """A suite of three cases on both sides; `costs` of the base's trials by case."""
    base = [
        one.model_copy(update={"usage": one.usage.model_copy(update={"cost_usd": costs.get(one.id)})})
        for one in trials(steady(3, "PP"))
    ]
    known_there = run(base, target=TARGET, trials=2, random=True)
    return measured(steady(3, "PP")).model_copy(update={"base": MeasuredBase(commit=COMMIT, runs=[known_there])})


def pages(now: Report) -> list[str]:
    found = decide_report(now, None, Policy(rules=[DROP], with_base=[SUITE]))
    return [fit(found, PageContext()), " ".join(judgement_text(found, colour=False, width=100).split())]


def test_commit_trials_and_cost_of_the_base__are_told() -> None:
    markdown, terminal = pages(both(c0=0.01, c1=0.02, c2=0.01))
    assert "compared with the base commit, measured now" in markdown
    assert "measured now, in turns with this: 6 trials of it, for &#36;0.0800." in markdown
    assert "Compared with the base commit 0123456," in terminal
    assert "baseline of" not in terminal


def test_cost_that_nobody_knows__is_not_told() -> None:
    markdown, _ = pages(both(c0=0.01, c1=None, c2=0.01))
    assert "in turns with this: 6 trials of it." in markdown


def test_new_base__is_neither_old_nor_thin() -> None:
    found = decide_report(both(), None, Policy(rules=[DROP], with_base=[SUITE]))
    assert english.warnings(found.verdict.notices) == []
    thin = decide_report(measured(steady(3)), known(steady(3)), Policy(rules=[DROP]))
    assert any("1 trial per case" in warning for warning in english.warnings(thin.verdict.notices))
