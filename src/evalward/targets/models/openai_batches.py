"""OpenAI's Batch API: a file of requests goes in, files of answers and of errors come out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

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
from evalward.targets.models.reading import Json, body_of, maybe, need, need_objects

if TYPE_CHECKING:
    from openai import AsyncOpenAI

ENDED = {"completed", "expired", "cancelled", "failed"}
NOT_DONE = {"batch_expired", "batch_cancelled"}
"""What the lines of requests say that nothing was done for."""


class OpenAIBatches(SdkBatches):
    """Batches over the official SDK."""

    def __init__(
        self, client: AsyncOpenAI, headers: Mapping[str, Any] | None, endpoint: str, messages: BatchedMessages
    ) -> None:
        super().__init__(client, messages)
        self._client, self._headers, self._endpoint = client, headers, endpoint
        self._batches = self._client.batches.with_raw_response

    async def send(self, lines: Sequence[BatchLine]) -> BatchState:
        """Leave the requests in a file, and make a batch of it."""
        uploads = self._client.files.with_raw_response
        content = b"".join(self._line(line) for line in lines)
        file = body_of(
            (
                await uploads.create(file=("evalward.jsonl", content), purpose="batch", extra_headers=self._headers)
            ).http_response
        )
        endpoint: Any = self._endpoint
        batch = await self._batches.create(
            completion_window="24h",
            endpoint=endpoint,
            input_file_id=checked_id(file.get("id")),
            extra_headers=self._headers,
        )
        return _state(body_of(batch.http_response))

    def _line(self, line: BatchLine) -> bytes:
        request = {"custom_id": line.custom_id, "method": "POST", "url": self._endpoint, "body": line.body}
        return to_json(request) + b"\n"

    async def look(self, batch: str) -> BatchState:
        """How far it is."""
        return _state(body_of((await self._batches.retrieve(batch, extra_headers=self._headers)).http_response))

    async def cancel(self, batch: str) -> BatchState:
        """Have it stop."""
        return _state(body_of((await self._batches.cancel(batch, extra_headers=self._headers)).http_response))

    async def outcomes(self, batch: BatchState) -> AsyncGenerator[BatchOutcome]:
        """What became of each request."""
        files = self._client.files.with_streaming_response
        for file in batch.files:
            async with files.content(file, extra_headers=self._headers) as content:
                async for line in json_lines(content.iter_bytes()):
                    outcome = _outcome(line)
                    if outcome is not None:
                        yield outcome


def _state(batch: Json) -> BatchState:
    status = need(batch, "status", str)
    files = [batch.get(name) for name in ("output_file_id", "error_file_id")]
    return BatchState(
        checked_id(batch.get("id")),
        status in ENDED,
        fault=_refusal(batch) if status == "failed" else None,
        files=[checked_id(file) for file in files if file is not None],
    )


def _refusal(batch: Json) -> Fault:
    """Why the batch failed as a whole, by its first error."""
    errors = maybe(batch, "errors", dict) or {}
    found = need_objects(errors, "data") if errors.get("data") else []
    return reported(found[0], REFUSED) if found else Fault(reported({}, BROKEN).cause, "the batch failed")


def _outcome(line: Json) -> BatchOutcome | None:
    custom_id = maybe(line, "custom_id", str)
    if custom_id is None:
        return None
    error, response = maybe(line, "error", dict), maybe(line, "response", dict)
    if error is not None:
        fault = None if error.get("code") in NOT_DONE else reported(error, BROKEN)
        return BatchOutcome(custom_id, fault=fault)
    if response is None:
        return None
    status, body = maybe(response, "status_code", int) or BROKEN, maybe(response, "body", dict) or {}
    return BatchOutcome(custom_id, body) if status == OK else BatchOutcome(custom_id, fault=reported(body, status))


OK, REFUSED, BROKEN = 200, 400, 500
