"""A judge: a model that is asked about a trial, as often as votes are wanted, and what its answers come to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from evalward.records.base import Json, digest
from evalward.records.case import Case
from evalward.records.judge import JudgeOutcome, JudgeVote
from evalward.records.problem import Place
from evalward.records.trace import Message, Usage, add_usage
from evalward.suites.judge.ask import PROMPT_VERSION, JudgeInput, question, repair
from evalward.suites.judge.cache import JudgeCache
from evalward.suites.judge.rubric import Rubric
from evalward.suites.judge.verdict import UnusableError, VoteOutcome, aggregate_votes, read_vote
from evalward.targets.base import Chat, Reply, Request, Target, TrialSkippedError
from evalward.targets.failures import TargetError

NO_ANSWERS = {"refusal", "content_filter", "context_length"}
NOTHING = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)


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
        """What the votes come to. Never raises for what a model or provider does: that is an outcome's `error`."""
        request = question(judged, rubric)
        votes = (self._vote(judged, request, rubric, threshold, number) for number in range(1, self.votes + 1))
        asked = await asyncio.gather(*votes)
        return aggregate_votes(asked, model=self.model, rubric=rubric, threshold=threshold)

    async def _vote(
        self, judged: JudgeInput, request: Request, rubric: Rubric, threshold: float, number: int
    ) -> VoteOutcome:
        key = JudgeCache.key(*self._asked(request, number))
        cached = self._cached(key, rubric, threshold)
        if cached is not None:
            return VoteOutcome(cached, NOTHING)
        try:
            chat = self.target.open(_case(judged, request), number)
        except (TrialSkippedError, TargetError) as error:
            return VoteOutcome(None, NOTHING, error.message)
        asked, answer = await _answered(chat, request, rubric, threshold)
        if self.cache is not None and asked.vote is not None:
            self.cache.put(key, answer)
        return asked

    def _asked(self, request: Request, number: int) -> list[Json]:
        """All that an answer depends on, the number of the vote included: two votes are two answers."""
        messages = [message.model_dump(mode="json") for message in request.messages]
        model = [self.model, dict(self.target.subject)]
        return [PROMPT_VERSION, model, request.system, messages, dict(request.output_schema or {}), number]

    def _cached(self, key: str, rubric: Rubric, threshold: float) -> JudgeVote | None:
        text = self.cache.get(key) if self.cache is not None else None
        if text is None:
            return None
        try:
            return read_vote(text, rubric, threshold).model_copy(update={"cached": True})
        except UnusableError:
            return None


def _case(judged: JudgeInput, request: Request) -> Case:
    """What is judged, as targets know it."""
    definition = digest([message.text for message in request.messages])
    return Case(id=judged.id, category="judge", definition=definition, place=Place(file="judge"))


async def _answered(chat: Chat, request: Request, rubric: Rubric, threshold: float) -> tuple[VoteOutcome, str]:
    """The vote, after at most two attempts, and the text that it was read from."""
    usages: list[Usage] = []
    try:
        reply = await _sent(chat, request, usages)
        try:
            return VoteOutcome(read_vote(_text(reply), rubric, threshold), add_usage(usages)), _text(reply)
        except UnusableError as error:
            again = repair(request, _words(reply.message), error.problems)
        reply = await _sent(chat, again, usages)
        vote = read_vote(_text(reply), rubric, threshold, repaired=True)
        return VoteOutcome(vote, add_usage(usages)), _text(reply)
    except UnusableError as error:
        message = f"the judge's answer can't be used, also at the second attempt: {error}"
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
        raise _NoAnswerError(f"the judge gave no answer: {reply.turn.stop.replace('_', ' ')}")
    return reply


def _text(reply: Reply) -> str:
    return reply.message.text


def _words(message: Message) -> Message:
    """The answer as it can be sent back: tool uses that nobody offered would want a result."""
    return message.model_copy(update={"content": [b for b in message.content if b.type in {"text", "opaque"}]})


def with_votes(judge: Judge, votes: int | None) -> Judge:
    """The judge with another number of votes, where one is given."""
    return judge if votes is None else replace(judge, votes=votes)
