"""What batches saved is no change: compared and kept is what trials cost live."""

from __future__ import annotations

from evalward.decide.list_price import at_list_price
from evalward.records.baseline import baseline_trial
from evalward.records.report import Report, Run, Subject, Tool
from evalward.records.result import Result, Status
from evalward.records.trace import Usage, add_usage

LIVE = Usage(input_tokens=10, output_tokens=5, cost_usd=0.5)
HALF = Usage(input_tokens=10, output_tokens=5, cost_usd=0.25, batched=1, batch_usd=0.25)


def result(usage: Usage) -> Result:
    return Result(id="a", category="c", definition="d", status=Status.PASSED, usage=usage, duration_ms=0)


def report(*usages: Usage) -> Report:
    cases = [result(usage) for usage in usages]
    subject = Subject(hash="h")
    run = Run(suite="s", kind="prompt", target="t", trials=1, subject=subject, metrics={}, cases=cases)
    return Report(tool=Tool(version="0"), created_at="2026-11-23T08:00:00Z", runs=[run])


def test_a_sum_says_how_much_of_it_was_paid_in_batches() -> None:
    total = add_usage([LIVE, HALF, HALF])
    assert (total.cost_usd, total.batched, total.batch_usd) == (1.0, 2, 0.5)
    assert total.at_list_price.cost_usd == 1.5
    assert (total.at_list_price.batched, total.at_list_price.batch_usd) == (2, None)


def test_a_report_without_batches_is_itself() -> None:
    live = report(LIVE)
    assert at_list_price(live) is live
    assert LIVE.at_list_price is LIVE


def test_a_report_with_some_is_compared_at_their_full_price() -> None:
    compared = at_list_price(report(LIVE, HALF))
    assert [each.usage.cost_usd for each in compared.runs[0].cases] == [0.5, 0.5]


def test_a_baseline_keeps_the_full_price() -> None:
    assert baseline_trial(result(HALF)).usage.cost_usd == 0.5
    assert baseline_trial(result(HALF)).usage.batched == 1


def test_an_unknown_price_stays_unknown() -> None:
    unknown = Usage(input_tokens=1, output_tokens=1, batched=1)
    assert unknown.at_list_price.cost_usd is None
    assert add_usage([unknown, HALF]).at_list_price.cost_usd is None


def test_records_of_live_requests_say_nothing_of_batches() -> None:
    assert "batch" not in LIVE.model_dump_json()


def test_what_is_repeated_costs_nothing() -> None:
    assert HALF.repeated == Usage(input_tokens=10, output_tokens=5, cost_usd=0.0)
