"""What the two OpenAI protocols share: the client, and what the families of models differ in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalward.targets.base import Reply, Request
from evalward.targets.models.http_client import client_options
from evalward.targets.models.on_demand import load_on_demand
from evalward.targets.models.reading import Json, reading
from evalward.targets.models.sending import answered
from evalward.targets.models.settings import LiveSettings, Secret

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from evalward.targets.models.batching import BatchApi

OUTPUT_NAME = "answer"  # what a schema of the answer is called; the API wants a name
NO_KEY = "none"  # the SDK insists on one; where we have none the header is left out

_REASONING = re.compile(r"(ft:)?(o[1-9]|gpt-([5-9]|[1-9][0-9]))(?![0-9a-z])")


def reasons(model: str) -> bool:
    """Whether it is one of the families that reason: o…, GPT-5 and later; also behind a gateway's prefix."""
    name = model.rpartition("/")[2]
    return _REASONING.match(name) is not None and "-chat" not in name


def newer(model: str) -> bool:
    """Whether the model takes `max_completion_tokens` instead of `max_tokens`, as the newer families do."""
    return _REASONING.match(model.rpartition("/")[2]) is not None


def load_sdk() -> None:
    """Load the SDK, as far as a client needs it."""
    load_on_demand("openai", "AsyncOpenAI", "AsyncStream", "DefaultAsyncHttpxClient", "Omit")


def make_client(settings: LiveSettings, key: Secret, most: int | None = None) -> AsyncOpenAI:
    """A client that takes nothing from the environment, retries nothing itself, and follows no redirect.

    `most`: the bytes that it reads of an answer.
    """
    load_sdk()
    import openai  # noqa: PLC0415 - costs a third of a second; only who asks a model pays it

    headers = dict(settings.headers)
    client = openai.AsyncOpenAI(
        api_key=key.reveal() or NO_KEY,
        base_url=settings.base_url,
        default_headers=headers,
        max_retries=0,
        timeout=settings.timeout_s,
        http_client=openai.DefaultAsyncHttpxClient(**client_options(settings, most)),
    )
    # Without OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID and OPENAI_PROJECT_ID, which no report would show.
    client._custom_headers = headers
    client.organization = client.project = None
    return client


def extra_headers(key: Secret) -> dict[str, Any] | None:
    """What every request says beside the client's headers: without a key, that none is to be sent.

    The SDK believes this of a request, not of a client.
    """
    from openai import Omit  # noqa: PLC0415 - has been loaded by who made the client

    return None if key else {"Authorization": Omit()}


@dataclass(frozen=True)
class Spoken:
    """What one of the two protocols does in its own way: its path, how it asks, how it is read."""

    path: str
    request_of: Callable[[Request, LiveSettings], Mapping[str, Any]]
    folded: Callable[[Iterable[Json]], Json]
    reply_of: Callable[[Json, int], Reply]


@dataclass(frozen=True)
class OpenAIBatchWay:
    """How one of the two protocols goes in batches: `endpoint` is what each request is for."""

    endpoint: str
    spoken: Spoken

    def __call__(self, settings: LiveSettings, key: Secret) -> BatchApi:
        """An API with a client of its own."""
        from evalward.targets.models.batching import RESULTS_LIMIT, BatchedMessages  # noqa: PLC0415
        from evalward.targets.models.openai_batches import OpenAIBatches  # noqa: PLC0415 - few runs can wait

        def asked(request: Request) -> Mapping[str, Any]:
            return self.spoken.request_of(request, settings)

        messages = BatchedMessages(asked, self.spoken.reply_of)
        return OpenAIBatches(make_client(settings, key, RESULTS_LIMIT), extra_headers(key), self.endpoint, messages)


def _stream_class() -> type:
    from openai import AsyncStream  # noqa: PLC0415 - has been loaded by who made the client

    return AsyncStream[object]


class OpenAIWire:
    """One protocol over the official SDK."""

    def __init__(self, settings: LiveSettings, key: Secret, spoken: Spoken) -> None:
        self._settings, self._spoken = settings, spoken
        self._client = make_client(settings, key)
        self._streamed = _stream_class() if settings.stream else None
        self._headers = extra_headers(key)

    async def ask(self, request: Request) -> Reply:
        """One attempt."""
        spoken = self._spoken
        body = spoken.request_of(request, self._settings)
        answer = await answered(
            self._client, spoken.path, body, spoken.folded, streamed=self._streamed, headers=self._headers
        )
        with reading():
            return spoken.reply_of(answer, len(request.messages))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
