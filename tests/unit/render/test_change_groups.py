"""Equal reasons are one line with a count, in the comment and at the terminal."""

from __future__ import annotations

from evalward.records.comparison import CaseChange, Tally
from evalward.render.context import PageContext
from evalward.render.markdown import comment
from evalward.render.terminal import judgement_text
from support import comparisons, judgements


def gone(number: int, **changes: object) -> CaseChange:
    known: dict[str, object] = {"before": Tally(passed=1, trials=1), "now": None, "note": None, **changes}
    return comparisons.broken_case(f"case-{number:02}").model_copy(update={"change": "missing", "checks": [], **known})


def texts(*cases: CaseChange, missing: bool = False) -> tuple[str, str]:
    """At the terminal and in the comment, each on one line."""
    run = comparisons.run(cases=list(cases), missing=missing)
    judgement = judgements.failed().model_copy(update={"comparison": comparisons.comparison(run)})
    shown = judgement_text(judgement, colour=False, width=200), comment(judgement, PageContext())
    return " ".join(shown[0].split()), " ".join(shown[1].split())


def test_cases_of_a_target_that_was_not_run() -> None:
    terminal, markdown = texts(*map(gone, range(20)), missing=True)
    assert "Other changes: 20" in terminal
    name = f"{comparisons.SUITE} × {comparisons.TARGET}"
    assert f"20 cases missing: {name} was not run case-00, case-01, case-02 and 17 more" in terminal
    assert terminal.count("was not run") == 1
    assert "| 20 cases: `case-00`, `case-01`, `case-02` and 17 more | | missing | passed | – |" in markdown


def test_one_outage_has_one_cause() -> None:
    cases = [gone(n, change="not_valid", note="the provider can't be reached") for n in range(5)]
    terminal, markdown = texts(*cases, gone(7))
    assert "5 cases not valid: the provider can't be reached case-00, case-01, case-02 and 2 more" in terminal
    assert "missing: case-07 (" in terminal
    for text in (terminal, markdown):
        assert text.count("the provider can't be reached") == 1


def test_two_that_are_alike_keep_their_lines() -> None:
    terminal, markdown = texts(gone(1), gone(2))
    assert "missing: case-01 (" in terminal
    assert "missing: case-02 (" in terminal
    assert "cases:" not in markdown.split("Other changes")[1]


def test_status_is_what_parts_them() -> None:
    cases = [gone(n, before=Tally(passed=n % 2, trials=1)) for n in range(6)]
    terminal, _ = texts(*cases)
    assert "3 cases missing: passed → nothing case-01" in terminal
    assert "3 cases missing: failed → nothing case-00" in terminal
