"""The page of a history: what it says, where it leads, how large it is, and what strangers' names can do to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evalward.decide.history_file import History, read_history
from evalward.decide.past import PastOptions, past_of
from evalward.records.history import CaseCount, HistoryEntry
from evalward.records.metric import Metric
from evalward.records.past import Past, Release
from evalward.records.policy import Rule
from evalward.records.verdict import Outcome
from evalward.render.anchors import run_anchor
from evalward.render.html.history_page import MOST_CASES, MOST_RUNS, history_page
from evalward.render.html.links import Links
from support.histories import entry, long_history
from support.hostile import EVERYTHING, SNIPPETS
from support.html_pages import HtmlPage, faults

SITE = "https://github.com/acme/tools"
RULES = [Rule(metric="pass_rate", floor=0.88, max_drop=0.02), Rule(metric="tool_call_success_rate", floor=0.75)]


def past(entries: Sequence[HistoryEntry], **options: Any) -> Past:
    return past_of(History(entries), PastOptions(**{"rules": RULES, **options}))


def page(made: Past, address: str = SITE) -> HtmlPage:
    found = HtmlPage(history_page(made, Links.at(address)))
    assert list(faults(found, f"{address}/commit/")) == []
    return found


def words(found: HtmlPage) -> str:
    return " ".join(found.all("body")[0].text.split())


def test_index__leads_to_every_suite_and_target() -> None:
    found = page(past([entry(1), entry(2, target="openai/m"), entry(3, suite="other")]))
    fragments = [link[1:] for link in found.links() if link.startswith("#run-")]
    assert fragments == [
        run_anchor("other", "anthropic/m"), run_anchor("tools", "anthropic/m"), run_anchor("tools", "openai/m"),
    ]  # fmt: skip
    assert [each.attributes["id"] for each in found.all("section")[1:]] == fragments


def index(found: HtmlPage) -> tuple[list[str], list[list[str]]]:
    """The heads of the index's table, and its rows."""
    start, end = (found.elements.index(found.all(tag)[number]) for tag, number in (("table", 0), ("section", 1)))
    table = found.elements[start:end]
    heads = [each.text.strip() for each in table if each.attributes.get("scope") == "col"]
    cells = [each.text.strip() for each in table if each.tag == "td"]
    width = len(heads) - 1
    return heads, [cells[at : at + width] for at in range(0, len(cells), width)]


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome.PASS, "✓ The last check passed (2026-01-03, commit 0000000 , main)."),
        (Outcome.FAIL, "✗ The last check failed (2026-01-03, commit 0000000 , main)."),
        (Outcome.INCONCLUSIVE, "? The last check was inconclusive (2026-01-03, commit 0000000 , main)."),
        (Outcome.ERROR, "! The last check could not be judged (2026-01-03, commit 0000000 , main)."),
    ],
)
def test_last_check__is_said_once_and_of_no_target(outcome: Outcome, said: str) -> None:
    other = Outcome.FAIL if outcome is Outcome.PASS else Outcome.PASS
    entries = [entry(1, outcome=other), entry(2, outcome=outcome), entry(2, target="openai/m", outcome=outcome)]
    found = page(past(entries))
    assert words(found).count("The last check") == 1
    assert said in words(found)
    assert next(link for link in found.links() if not link.startswith("#")) == f"{SITE}/commit/{2:040x}"
    heads, rows = index(found)
    assert heads == ["Suite × target", "Now", "Moves beyond chance", "Failing", "Flaky", "Runs", "Last run"]
    assert [row[0] for row in rows] == ["pass_rate 100.0 % (83.9 % to 100.0 %)"] * 2


def test_last_check__is_the_newest_with_a_verdict_whatever_the_target() -> None:
    entries = [
        entry(3, outcome=Outcome.FAIL, target="z/m", commit=None, ref=None), entry(2, outcome=Outcome.PASS), entry(4),
    ]  # fmt: skip
    assert "The last check failed (2026-01-04)." in words(page(past(entries)))
    assert "The last check" not in words(page(past([entry(4)])))


def test_last_runs__say_that_the_verdict_is_the_checks() -> None:
    table = page(past([entry(1, outcome=Outcome.FAIL)])).all("table")[-1]
    assert " ".join(table.text.split()) == (
        "The last runs, tools × anthropic/m Day Commit Branch Check pass_rate "
        "2026-01-02 0000000 main ✗ failed 100.0 % (20/20)"
    )


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["overall_rate", "total_passed", "csr", "pass_rate"], "pass_rate"),
        (["overall_rate", "outcome_pass_rate", "csr"], "csr"),
        (["own", "overall_rate", "outcome_pass_rate"], "outcome_pass_rate"),
        (["own", "other"], "own"),
    ],
)
def test_index__shows_the_metric_that_people_look_for_first(names: list[str], shown: str) -> None:
    values = {name: Metric(value=(number + 1) / 10) for number, name in enumerate(names)}
    made = past([entry(1).model_copy(update={"metrics": values})], rules=[Rule(metric=name, floor=0) for name in names])
    assert index(page(made))[1][0][0] == f"{shown} {names.index(shown) + 1}0.0 %"
    assert [each.metric for each in made.runs[0].metrics] == names  # the plots keep the policy's order


def test_section__says_what_moved_with_which_commit() -> None:
    entries = [entry(day, [f"c{n:03d}" for n in range(8)] if day >= 20 else ["c000"], 30) for day in range(30)]
    found = page(past(entries))
    assert "beyond chance (p < 0.001; 30 cases, 10 runs before, 5 after)" in words(found)
    assert "pass_rate 96.7 % → 73.3 % ▼ worse −23.3 pp" in words(found)
    assert f"{SITE}/commit/{20:040x}" in found.links()
    assert "c001, c002" in words(found)


def test_section__names_failing_and_flaky_cases() -> None:
    found = page(past([entry(day, ["c001", *(["c002"] if day % 2 else [])]) for day in range(8)]))
    said = words(found)
    assert "Failing cases: 1 " in said
    assert "Broken" not in said
    assert index(found)[1][0][2:4] == ["1", "1"]
    assert "c001 fails since 2026-01-01 (0000000), 8 runs; no run is known in which it passed" in said
    assert "Flaky cases: 1 " in said
    assert "c002 passes 50.0 % (4 of 8 trials in 8 runs)" in said


def test_section__draws_limits_intervals_and_releases() -> None:
    made = past([entry(day) for day in range(12)], releases=[Release(name="v1.4", at="2026-01-05T00:00:00Z")])
    drawn = [each.text for each in page(made).all("title")[1:]]
    assert drawn[0].startswith(
        "pass_rate in 12 runs: 100.0 % (2026-01-01 (0000000)), last 100.0 % (95 % interval 83.9 % to 100.0 %)"
    )
    assert "floor 88 %, anchor 100.0 % (2026-01-01), releases: v1.4" in drawn[0]


def test_section__says_where_money_and_tokens_went() -> None:
    money = {"cost_usd": Metric(value=None, unit="usd", better="lower", reason="the price is unknown")}
    said = words(page(past([entry(day, metrics=money) for day in range(3)])))
    assert "Cost and tokens cost_usd not available" in said
    assert "$0" not in said


def test_section__of_a_run_that_no_rule_protects_says_so() -> None:
    assert "Metrics (no rule protects them)" in words(page(past([entry(1)], rules=[])))
    assert "Protected metrics" in words(page(past([entry(1)])))


def test_section__of_parts_only() -> None:
    said = words(page(past([entry(1, partial=True)])))
    assert "No complete run was measured." in said
    assert "partial" in said


def test_empty_history() -> None:
    assert "The history has no run." in words(page(past([])))


def test_lines_that_cannot_be_read_are_counted() -> None:
    made = past_of(read_history("<<<<<<<\nx\n" + long_history(2, 3)), PastOptions())
    assert "2 lines that can't be read left out" in words(page(made))


def test_links__none_where_the_repository_is_unknown() -> None:
    found = page(past([entry(day, ["c000"] if day > 2 else [], random=False) for day in range(5)]), "x")
    assert all(link.startswith("#") for link in found.links())
    assert "0000000" in words(found)


@pytest.mark.parametrize(
    "address",
    [
        "", "github.com/a/b", "javascript:alert(1)//a/b", "https://user@github.com/a/b", "https://github.com/a",
        "https://github.com/a/b/c", "https://github.com/a/b?x=1", "https://github.com/a/b#x", "https:///a/b",
        'https://x"onload="y/a/b', "https://github.com/a/../b", "https://github.com/-/b",
    ],
)  # fmt: skip
def test_links__what_is_no_address_of_a_repository_leads_nowhere(address: str) -> None:
    assert Links.at(address).commit("a" * 40) == ""


@pytest.mark.parametrize("address", [SITE, SITE + "/", SITE + ".git", "http://ghe.example:8080/acme/tools"])
def test_links__of_a_repository(address: str) -> None:
    assert Links.at(address).commit("a" * 40).endswith("/acme/tools/commit/" + "a" * 40)
    assert Links.at(address).commit("a" * 40 + "?x") == ""


def test_the_same_history_gives_the_same_bytes() -> None:
    text = long_history(40, 12, ("a/m", "b/m"))
    first, second = (history_page(past(read_history(text).entries), Links.at(SITE)) for _ in range(2))
    assert first == second


def test_size__a_year_of_daily_runs_of_300_cases_stays_under_3_mb() -> None:
    text = long_history(365, 300, ("anthropic/m", "openai/m"))
    made = history_page(past(read_history(text).entries), Links.at(SITE))
    assert made.count("2026-12-31 (") > 2  # each point says its numbers
    assert len(made.encode()) < 1_000_000


def test_size__what_a_file_of_many_suites_holds_is_bounded_and_said() -> None:
    made = past([entry(1, suite=f"s{n:04d}") for n in range(MOST_RUNS + 7)])
    found = page(made)
    assert len(found.all("section")) == MOST_RUNS + 1
    assert "and 7 more; select them with --suite and --target" in words(found)


def test_size__many_failing_cases_are_counted() -> None:
    failed = [f"c{n:03d}" for n in range(MOST_CASES + 20)]
    said = words(page(past([entry(day, failed, 200) for day in range(3)])))
    assert "Failing cases: 120" in said
    assert "and 20 more" in said


@pytest.mark.parametrize("text", [EVERYTHING, *SNIPPETS])
def test_hostile__names_are_shown_and_do_nothing(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()  # no file has half a surrogate pair
    hostile: dict[str, Any] = {
        "suite": text, "target": text, "commit": text, "ref": text, "at": text, "subject": text,
        "metrics": {text: Metric(value=0.5, numerator=1.0, denominator=2.0)}, "cases": {text: "d", "c000": "d"},
    }  # fmt: skip
    entries = [
        entry(day, random=False).model_copy(
            update={**hostile, "report": str(day), "others": {text: CaseCount(0, day % 2, 0, 0)}}
        )
        for day in range(4)
    ]
    made = past(entries, rules=[Rule(metric=text or "x", floor=0.1)], releases=[Release(name=text, at=text)])
    assert len(page(made).all("section")) == 2


@pytest.mark.parametrize("value", [1e308, -1e308, 5e-324, -0.0, 1e15])
def test_hostile__numbers(value: float) -> None:
    odd = {
        "pass_rate": Metric(value=value, numerator=value, denominator=-value),
        "cost_usd": Metric(value=value, unit="usd"),
    }
    made = past([entry(day, metrics=odd if day % 2 else {}, trials=10**15 if day % 2 else 1) for day in range(6)])
    assert not {"nan", "inf"} & {part for each in page(made).all("path") for part in each.attributes["d"].split()}


def test_hostile__times_far_apart() -> None:
    for times in (["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"], ["", "x"], ["9" * 500, "2026-01-01"]):
        page(past([entry(day, at=at) for day, at in enumerate(times)]))


def test_hostile__a_name_of_a_megabyte_is_cut() -> None:
    made = history_page(
        past([entry(day, ["c000"], suite="s" * 1_000_000, ref="r" * 1_000_000) for day in range(4)]), Links()
    )
    assert len(made) < 200_000
