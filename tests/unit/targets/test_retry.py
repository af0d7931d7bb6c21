"""Retries: bounded in number and time, with jitter, patient when asked."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.targets.failures import FAILURES, Cause, TargetError
from evalward.targets.retry import RetryPolicy, Timing, wait_before_retry, with_retries
from support.live import FakeTime

POLICY = RetryPolicy()


def failure(cause: Cause = Cause.OVERLOAD, retry_after: float | None = None) -> TargetError:
    return TargetError(cause, "It broke.", target="openai/m", retry_after=retry_after)


@dataclass
class Attempts:
    """Fails as it is told, then answers. `takes` is how long every attempt lasts."""

    time: FakeTime
    failures: list[TargetError]
    takes: float = 0.0
    made: int = 0
    heard: list[Cause] = field(default_factory=list)

    async def __call__(self) -> str:
        self.made += 1
        self.time.now += self.takes
        if self.failures:
            raise self.failures.pop(0)
        return "answer"

    async def run(self, policy: RetryPolicy = POLICY) -> tuple[str, float]:
        done = await with_retries(self, policy, self.time.timing(), lambda error: self.heard.append(error.cause))
        return done.value, done.waited_s


async def test_it_goes_on_until_there_is_an_answer() -> None:
    time = FakeTime()
    attempts = Attempts(time, [failure(), failure(Cause.NETWORK), failure(Cause.MALFORMED)])
    assert await attempts.run() == ("answer", 7.0)
    assert time.slept == [1, 2, 4]
    assert attempts.heard == [Cause.OVERLOAD, Cause.NETWORK, Cause.MALFORMED]


async def test_after_the_last_retry_the_last_failure_counts() -> None:
    attempts = Attempts(FakeTime(), [failure()] * 4 + [failure(Cause.NETWORK)] * 9)
    with pytest.raises(TargetError) as caught:
        await attempts.run()
    assert (attempts.made, caught.value.cause) == (5, Cause.NETWORK)
    assert caught.value.message == "It broke. (5 attempts)"


@pytest.mark.parametrize("cause", list(Cause))
async def test_only_what_the_table_says_is_retried(cause: Cause) -> None:
    attempts = Attempts(FakeTime(), [failure(cause)])
    if FAILURES[cause].retried:
        await attempts.run()
        assert attempts.made == 2
        return
    with pytest.raises(TargetError, match=r"^It broke\.$"):
        await attempts.run()
    assert attempts.made == 1


async def test_retry_after_is_waited_for_and_a_little_more() -> None:
    time = FakeTime()
    await Attempts(time, [failure(Cause.RATE_LIMIT, 17), failure(Cause.RATE_LIMIT, 0)]).run()
    assert time.slept == [18, 1]


async def test_too_long_a_wait_ends_it() -> None:
    time = FakeTime()
    with pytest.raises(TargetError):
        await Attempts(time, [failure(Cause.RATE_LIMIT, 121)]).run()
    assert time.slept == []


async def test_all_attempts_together_are_bounded() -> None:
    time = FakeTime()
    attempts = Attempts(time, [failure(Cause.TIMEOUT)] * 9, takes=300)
    with pytest.raises(TargetError):
        await attempts.run(RetryPolicy(total_s=700))
    assert attempts.made == 3  # a third begins at 303 s + 2 s, a fourth would at 909 s
    assert time.now < 1000


async def test_other_exceptions_are_none_of_its_business() -> None:
    async def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await with_retries(broken, POLICY, FakeTime().timing())


@given(st.integers(1, 40), st.one_of(st.none(), st.floats(0, 500)), st.randoms())
def test_every_wait_is_in_its_bounds(number: int, asked: float | None, random: object) -> None:
    timing = Timing(uniform=random.uniform)  # type: ignore[attr-defined]
    wait = wait_before_retry(failure(Cause.RATE_LIMIT, asked), number, POLICY, timing)
    if number > POLICY.retries or (asked is not None and asked > POLICY.longest_asked_s):
        assert wait is None
    elif asked is None:
        assert wait is not None
        assert 0 <= wait <= min(60, 2 ** (number - 1))
    else:
        assert wait is not None
        assert asked <= wait <= asked + 1


def test_jitter_is_full() -> None:
    waits = {wait_before_retry(failure(), 4, POLICY, Timing()) for _ in range(50)}
    assert len(waits) > 40
    assert min(wait or 0 for wait in waits) < 4 < max(wait or 0 for wait in waits)
