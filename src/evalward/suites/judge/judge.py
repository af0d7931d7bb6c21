"""A judge: a model that is asked about a trial, as often as votes are wanted, and what its answers come to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from evalward.records.base import Json, digest
from evalward.records.case import Case
from evalward.records.judge import JudgeOutcome, JudgeVote
from evalward.records.problem import Place
from evalward.records.trace import Message, Usage, add_usage
from evalward.render.names import spoken
from evalward.suites.judge.ask import PROMPT_VERSION, JudgeInput, question, repair
from evalward.suites.judge.cache import JudgeCache
from evalward.suites.judge.rubric import Rubric
from evalward.suites.judge.verdict import UnusableError, VoteOutcome, aggregate_votes, read_vote
from evalward.targets.base import Chat, Reply, Request, Target, TrialSkippedError
from evalward.targets.failures import TargetError

NO_ANSWERS = {"refusal", "content_filter", "context_length"}
NOTHING = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)


class JudgeQuestion(Protocol):
    """What a judge is asked, and how its answers are read. `id` names what is judged, for recorded judges."""

    @property
    def id(self) -> str:
        """Of what is judged."""
        ...

    @property
    def request(self) -> Request:
        """What is asked."""
        ...

    def read(self, text: str, *, repaired: bool = False) -> JudgeVote:
        """The vote that an answer is. Raises `UnusableError`."""
        ...

    def outcome(self, asked: Sequence[VoteOutcome], model: str) -> JudgeOutcome:
        """What the votes come to."""
        ...


@dataclass(frozen=True)
class RubricQuestion:
    """To score each criterion of a rubric."""

    id: str
    request: Request
    rubric: Rubric
    threshold: float

    def read(self, text: str, *, repaired: bool = False) -> JudgeVote:
        """See `read_vote`."""
        return read_vote(text, self.rubric, self.threshold, repaired=repaired)

    def outcome(self, asked: Sequence[VoteOutcome], model: str) -> JudgeOutcome:
        """See `aggregate_votes`."""
        return aggregate_votes(asked, model=model, rubric=self.rubric, threshold=self.threshold)


@dataclass(frozen=True)
class Judge:
    """A model target as a judge. `cache` is where usable answers are kept, `None` keeps none."""

    target: Target
    votes: int = 1
    cache: JudgeCache | None = None

    @property
    def model(self) -> str:
        """How reports call it."""
        return self.target.id

    @property
    def subject(self) -> Mapping[str, str]:
        """What identifies it: model, settings, number of votes and the version of our words to it."""
        return {"judge": digest([self.model, dict(self.target.subject), self.votes, PROMPT_VERSION])}

    async def judge(self, judged: JudgeInput, rubric: Rubric, threshold: float) -> JudgeOutcome:
        """What the votes on a rubric come to. Never raises for what a model or provider does: that is an `error`."""
        return await self.answer(RubricQuestion(judged.id, question(judged, rubric), rubric, threshold))

    async def answer(self, asked: JudgeQuestion) -> JudgeOutcome:
        """What the votes on a question come to. Raises as little as `judge`."""
        votes = (self._vote(asked, number) for number in range(1, self.votes + 1))
        return asked.outcome(await asyncio.gather(*votes), self.model)

    async def _vote(self, asked: JudgeQuestion, number: int) -> VoteOutcome:
        key = JudgeCache.key(*self._asked(asked.request, number))
        cached = self._cached(key, asked)
        if cached is not None:
            return VoteOutcome(cached, NOTHING)
        try:
            chat = self.target.open(_case(asked), number)
        except (TrialSkippedError, TargetError) as error:
            return VoteOutcome(None, NOTHING, error.message)
        given, answer = await _answered(chat, asked)
        if self.cache is not None and given.vote is not None:
            self.cache.put(key, answer)
        return given

    def _asked(self, request: Request, number: int) -> list[Json]:
        """All that an answer depends on, the number of the vote included: two votes are two answers."""
        messages = [message.model_dump(mode="json") for message in request.messages]
        model = [self.model, dict(self.target.subject)]
        return [PROMPT_VERSION, model, request.system, messages, dict(request.output_schema or {}), number]

    def _cached(self, key: str, asked: JudgeQuestion) -> JudgeVote | None:
        text = self.cache.get(key) if self.cache is not None else None
        if text is None:
            return None
        try:
            return asked.read(text).model_copy(update={"cached": True})
        except UnusableError:
            return None


def _case(asked: JudgeQuestion) -> Case:
    """What is judged, as targets know it."""
    definition = digest([message.text for message in asked.request.messages])
    return Case(id=asked.id, category="judge", definition=definition, place=Place(file="judge"))


async def _answered(chat: Chat, asked: JudgeQuestion) -> tuple[VoteOutcome, str]:
    """The vote, after at most two attempts, and the text that it was read from."""
    usages: list[Usage] = []
    try:
        reply = await _sent(chat, asked.request, usages)
        try:
            return VoteOutcome(asked.read(_text(reply)), add_usage(usages)), _text(reply)
        except UnusableError as error:
            again = repair(asked.request, _words(reply.message), error.problems)
        reply = await _sent(chat, again, usages)
        return VoteOutcome(asked.read(_text(reply), repaired=True), add_usage(usages)), _text(reply)
    except UnusableError as error:
        message = f"the judge's answer can't be used, even on the second attempt: {error}"
        return VoteOutcome(None, add_usage(usages), message), ""
    except TargetError as error:
        return VoteOutcome(None, add_usage(usages) if usages else NOTHING, error.message), ""
    except _NoAnswerError as error:
        return VoteOutcome(None, add_usage(usages), str(error)), ""


class _NoAnswerError(Exception):
    """The judge refused, or could not read it: to ask again would bring the same."""


async def _sent(chat: Chat, request: Request, usages: list[Usage]) -> Reply:
    reply = await chat.send(request)
    usages.append(reply.turn.usage)
    if reply.turn.stop in NO_ANSWERS:
        raise _NoAnswerError(f"the judge gave no answer: {spoken(reply.turn.stop)}")
    return reply


def _text(reply: Reply) -> str:
    return reply.message.text


def _words(message: Message) -> Message:
    """The answer as it can be sent back: tool uses that nobody offered would want a result."""
    return message.model_copy(update={"content": [b for b in message.content if b.type in {"text", "opaque"}]})


def with_votes(judge: Judge, votes: int | None) -> Judge:
    """The judge with another number of votes, where one is given."""
    return judge if votes is None else replace(judge, votes=votes)
