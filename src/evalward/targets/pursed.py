"""A model that is asked as long as the purse can pay it."""

from __future__ import annotations

from pydantic_core import to_json

from evalward.records.trace import Trace
from evalward.targets.base import Chat, Reply, Request
from evalward.targets.failures import Cause, TargetError
from evalward.targets.models.protocol import protocol_of
from evalward.targets.models.sampling import most_tokens
from evalward.targets.models.settings import LiveSettings
from evalward.targets.purse import UNBOUNDED, Estimate, Purse, SpentError, admitted, read_estimate

CHARGED = {Cause.TIMEOUT, Cause.NETWORK, Cause.MALFORMED, Cause.OURS}
"""Failures after which nobody knows what the provider has read and written."""


class PursedChat:
    """A chat that asks nothing which the purse can't pay."""

    def __init__(self, chat: Chat, settings: LiveSettings, purse: Purse) -> None:
        self._chat, self._settings, self._purse = chat, settings, purse

    @property
    def recording(self) -> Trace | None:
        """The chat's."""
        return self._chat.recording

    async def send(self, request: Request) -> Reply:
        """The chat's answer. Raises `TargetError`; its cause is `budget` when the purse is empty."""
        most = most_tokens(request, self._settings) or protocol_of(self._settings.provider).max_tokens or UNBOUNDED
        estimate = Estimate(read_estimate(size_of(request)), most, self._settings.price)
        try:
            reservation = await admitted((self._purse,), estimate)
        except SpentError as error:
            raise TargetError(Cause.BUDGET, error.message, target=self._settings.id) from None
        try:
            reply = await self._chat.send(request)
        except TargetError as error:
            if error.cause not in CHARGED:
                reservation.release()
            raise
        else:
            reservation.settle(reply.turn.usage)
            return reply
        finally:
            reservation.forfeit()  # does nothing where it is settled: who stopped waiting for the answer pays it


def size_of(request: Request) -> int:
    """How many bytes the request is, as JSON of ours: what providers want of it is about as long.

    Not as many as it came in: whoever sends it could write it shorter (1e15) than it is sent on.
    """
    return len(to_json(request))
