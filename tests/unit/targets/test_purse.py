"""The purse: what is put aside, what is charged, who waits, who is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evalward.records.trace import Message, Text, ToolUse, Usage
from evalward.targets.base import Request, ToolSpec
from evalward.targets.prices import Price
from evalward.targets.purse import Estimate, Purse, Reservation, SpentError, admitted, read_estimate
from evalward.targets.pursed import size_of

PRICE = Price(1.0, 10.0)
USED = Usage(input_tokens=100, output_tokens=10)  # 0.0002 at that price


def guess(read: int = 100, written: int = 100, price: Price | None = PRICE, least: int | None = None) -> Estimate:
    return Estimate(read, written, price, least)


def used(purse: Purse) -> list[float]:
    return [purse.used_usd, float(purse.used_tokens)]


@pytest.mark.parametrize(
    ("price", "usd"),
    [
        (Price(1.0, 10.0), 1100.0),
        (Price(1.0, 10.0, cache_read=0.1, cache_write=1.25), 1125.0),  # all of it may have to be put into the cache
        (Price(1.0, 10.0, up_to=99), 2200.0),  # beyond the length it costs more, and nobody says how much
        (Price(0.0, 0.0), 0.0),
        (None, None),
    ],
)
def test_an_estimate_is_at_the_dearest_price(price: Price | None, usd: float | None) -> None:
    cost = guess(price=price).usd
    assert cost == (None if usd is None else pytest.approx(usd / 1e6))


def test_bytes_are_taken_for_more_tokens_than_text_has() -> None:
    assert [read_estimate(size) for size in (0, 1, 2, 1001)] == [0, 1, 1, 501]


def test_a_request_is_as_long_as_all_that_is_in_it() -> None:
    def asked(*, system: str = "", text: str = "", told: Any = None, schema: Any = None) -> int:
        message = Message(role="user", content=[Text(text=text), ToolUse(id="", name="", input=told)])
        return size_of(Request(system, [message], [ToolSpec("", "", schema or {})], schema))

    least = asked()
    assert asked(system="x" * 1000) == asked(text="x" * 1000) == least + 1000
    assert asked(text="ß" * 1000) == least + 2000  # bytes, as they are sent
    assert asked(told=[1e15] * 1000) > least + 15_000  # written out, however short it came
    assert asked(schema={"a": "x" * 1000}) > least + 2000  # the tool's, and the answer's


def test_what_is_put_aside_counts_as_spent_until_it_is_settled() -> None:
    purse = Purse(usd=0.002)
    first = purse.reserve(guess())
    with pytest.raises(SpentError, match=r"budget: \$0.0000 of \$0.002 is spent, and the next request may cost"):
        purse.reserve(guess())
    first.settle(USED)
    assert used(purse) == pytest.approx([0.0002, 110])
    purse.reserve(guess())


@pytest.mark.parametrize(
    ("purse", "words"),
    [
        (Purse(usd=0.0002), r"budget: \$0.0002 of \$0.0002 is spent"),
        (Purse(tokens=110), "budget: 110 of 110 tokens are used"),
    ],
)
async def test_a_purse_that_is_spent_pays_nothing(purse: Purse, words: str) -> None:
    (await admitted((purse,), guess(least=None))).settle(USED)
    assert purse.spent is not None
    with pytest.raises(SpentError, match=words):
        purse.reserve(guess(0, 0))
    with pytest.raises(SpentError, match=words):
        await admitted((purse,), guess(0, 0))
    assert purse.refused == purse.spent


@pytest.mark.parametrize(
    ("usage", "usd", "tokens"),
    [
        (USED, 0.0002, 110),
        (Usage(input_tokens=100), 0.0011, 200),  # it told no output
        (Usage(), 0.0011, 200),
        (Usage(input_tokens=100, output_tokens=500), 0.0051, 600),  # more than was believed
        (Usage(input_tokens=100, cache_write_tokens=900, output_tokens=10), 0.0011, 1010),  # of unknown price
    ],
)
def test_what_is_charged(usage: Usage, usd: float, tokens: int) -> None:
    purse = Purse()
    purse.reserve(guess()).settle(usage)
    assert used(purse) == pytest.approx([usd, tokens])


def test_what_was_used_elsewhere_counts__as_far_as_it_is_known() -> None:
    purse = Purse(usd=0.001, tokens=500)
    purse.known(Usage(input_tokens=100, cache_read_tokens=50, output_tokens=10, cost_usd=0.0004))
    purse.known(Usage())
    assert used(purse) == pytest.approx([0.0004, 160])
    purse.known(Usage(cost_usd=0.0006))
    with pytest.raises(SpentError, match=r"budget: \$0.0010 of \$0.001 is spent"):
        purse.reserve(guess())


def test_forfeited_is_charged_released_is_not_and_only_the_first_word_counts() -> None:
    purse = Purse()
    reservation = purse.reserve(guess())
    reservation.forfeit()
    reservation.release()
    reservation.settle(USED)
    purse.reserve(guess()).release()
    assert used(purse) == pytest.approx([0.0011, 200])


def test_dollars_need_a_price_and_tokens_none() -> None:
    with pytest.raises(SpentError, match="the price of the model is unknown"):
        Purse(usd=1.0).reserve(guess(price=None))
    purse = Purse(tokens=300)
    purse.reserve(guess(price=None)).forfeit()
    assert purse.used_tokens == 200


@pytest.mark.parametrize(
    ("purse", "written"), [(Purse(usd=0.0006), 50), (Purse(tokens=130), 30), (Purse(usd=0.0006, tokens=130), 30)]
)
def test_an_answer_can_be_bounded_to_what_is_left(purse: Purse, written: int) -> None:
    assert purse.reserve(guess(least=16)).written == written


def test_an_answer_that_would_be_too_short_is_refused() -> None:
    with pytest.raises(SpentError):
        Purse(usd=0.0002).reserve(guess(least=16))


async def line_of(number: int, *purses: Purse) -> list[asyncio.Task[Reservation]]:
    """So many who want in, as far as they come by themselves."""
    waiting = [asyncio.create_task(admitted(purses, guess())) for _ in range(number)]
    for _ in range(5 * number):
        await asyncio.sleep(0)
    return waiting


def inside(waiting: list[asyncio.Task[Any]]) -> list[bool]:
    return [task.done() for task in waiting]


async def test_who_does_not_fit_waits_and_nobody_overtakes() -> None:
    purse = Purse(usd=0.0027)
    waiting = await line_of(4, purse)
    assert inside(waiting) == [True, True, False, False]
    waiting[0].result().settle(USED)
    await asyncio.sleep(0)
    small = asyncio.create_task(admitted((purse,), guess(1, 1)))
    await asyncio.sleep(0)
    assert not small.done()
    waiting[1].result().settle(USED)
    assert (await small).written == 1
    assert inside(waiting) == [True] * 4


async def test_both_purses_have_to_pay() -> None:
    own, shared = Purse(tokens=320), Purse(tokens=520)
    waiting = await line_of(2, own, shared)
    assert inside(waiting) == [True, False]
    other = await admitted((shared,), guess())
    waiting[0].result().settle(USED)
    last = await waiting[1]
    other.release()
    last.release()
    assert (own.used_tokens, shared.used_tokens) == (110, 110)


async def test_who_leaves_the_line_holds_nobody_up() -> None:
    purse = Purse(usd=0.0012)
    first, second, third = await line_of(3, purse)
    second.cancel()
    first.result().release()
    assert (await third).written == 100
    assert second.cancelled()


def test_what_is_kept_can_be_used_when_the_planned_trials_are_done() -> None:
    purse = Purse(usd=0.002, kept=0.25)
    purse.reserve(guess()).forfeit()
    told = r"budget: \$0.0011 of \$0.002 is spent, \$0.0005 is kept for the confirm stage, and the next"
    with pytest.raises(SpentError, match=told):
        purse.reserve(guess())
    purse.reserve(guess(written=20)).forfeit()
    purse.unlock()
    purse.reserve(guess(written=40)).forfeit()
    assert purse.used_usd == pytest.approx(0.0019)


def test_a_purse_without_what_is_kept_says_so() -> None:
    purse = Purse(tokens=240, kept=0.25)
    with pytest.raises(SpentError, match="0 of 240 tokens are used, 60 are kept for the confirm stage, and the next"):
        purse.reserve(guess(price=None))
    purse.reserve(guess(written=80, price=None)).forfeit()
    assert purse.spent == "budget: 180 of 240 tokens are used; the rest is kept for the confirm stage"
    with pytest.raises(SpentError, match="the rest is kept"):
        purse.reserve(guess(0, 0, price=None))
    purse.unlock()
    assert purse.spent is None


async def test_who_waits_for_what_is_kept_goes_on_when_it_is_unlocked() -> None:
    purse = Purse(usd=0.003, kept=0.5)
    first = purse.reserve(guess())
    waiting = asyncio.create_task(admitted((purse,), guess()))
    await asyncio.sleep(0)
    assert not waiting.done()
    purse.unlock()
    second = await waiting
    for each in (first, second):
        each.release()
