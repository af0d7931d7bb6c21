"""Anthropic's Message Batches."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

from evalward.targets.models.batching import (
    BatchedMessages,
    BatchLine,
    BatchOutcome,
    BatchState,
    SdkBatches,
    checked_id,
    json_lines,
)
from evalward.targets.models.faults import Fault, reported
from evalward.targets.models.reading import Json, body_of, maybe, need

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_STREAMED = {"X-Stainless-Raw-Response": "stream"}  # the SDK's own word for an answer that it doesn't read


class AnthropicBatches(SdkBatches):
    """Batches over the official SDK.

    No cache is asked for: when which request of a batch is answered is not known, and a mark that nothing reads costs.
    """

    def __init__(self, client: AsyncAnthropic, messages: BatchedMessages) -> None:
        super().__init__(client, messages)
        self._client = client
        self._batches = self._client.messages.batches

    async def send(self, lines: Sequence[BatchLine]) -> BatchState:
        """Make a batch."""
        requests = [{"custom_id": line.custom_id, "params": line.body} for line in lines]
        answer = await self._batches.with_raw_response.create(requests=[], extra_body={"requests": requests})
        return _state(body_of(answer.http_response))

    async def look(self, batch: str) -> BatchState:
        """How far it is."""
        return _state(body_of((await self._batches.with_raw_response.retrieve(batch)).http_response))

    async def cancel(self, batch: str) -> BatchState:
        """Have it stop."""
        return _state(body_of((await self._batches.with_raw_response.cancel(batch)).http_response))

    async def outcomes(self, batch: BatchState) -> AsyncGenerator[BatchOutcome]:
        """What became of each request.

        Asked for at the configuration's address: the SDK's `results` goes, with the key, wherever the batch says.
        """
        from httpx2 import Response  # noqa: PLC0415

        path = f"/v1/messages/batches/{checked_id(batch.id)}/results"
        answer: Response = await self._client.get(path, cast_to=Response, options={"headers": _STREAMED})
        try:
            async for line in json_lines(answer.aiter_bytes()):
                outcome = _outcome(line)
                if outcome is not None:
                    yield outcome
        finally:
            await answer.aclose()


def _state(batch: Json) -> BatchState:
    return BatchState(checked_id(batch.get("id")), need(batch, "processing_status", str) == "ended")


def _outcome(line: Json) -> BatchOutcome | None:
    custom_id, result = maybe(line, "custom_id", str), maybe(line, "result", dict)
    if custom_id is None or result is None:
        return None
    match result.get("type"):
        case "succeeded":
            return BatchOutcome(custom_id, maybe(result, "message", dict) or {})
        case "errored":
            return BatchOutcome(custom_id, fault=_fault(maybe(result, "error", dict) or {}))
        case _:  # canceled, expired
            return BatchOutcome(custom_id)


def _fault(error: Json) -> Fault:
    """An errored line has the error's words alone: the status that would come with them live is theirs to tell."""
    inner = maybe(error, "error", dict) or error
    return reported(error, _STATUSES.get(maybe(inner, "type", str) or "", BROKEN))


BROKEN = 500
_STATUSES = {"invalid_request_error": 400, "not_found_error": 404}
