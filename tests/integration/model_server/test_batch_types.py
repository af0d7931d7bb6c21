"""The server's batches are what the installed SDKs take them for: every field known, of its type, none left out."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai
import pytest
from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse
from openai.types import Batch, FileObject
from pydantic import BaseModel, TypeAdapter

from support.model_server import KEY, BatchRules, ModelServer

QUESTION = [{"role": "user", "content": "Hello."}]
FATES = {"expired me": "expired", "cancel me": "cancelled"}


def strict(record: BaseModel) -> None:
    """The record as it was sent has no field that the SDK doesn't know, and is of the SDK's types."""
    assert not record.model_extra
    TypeAdapter(type(record)).validate_python(record.model_dump(), strict=False)


def params(text: str) -> Any:
    return {"model": "claude-haiku-4-5", "max_tokens": 100, "messages": [{"role": "user", "content": text}]}


def test_message_batches() -> None:
    with ModelServer(batches=BatchRules(looks=1, fates=FATES)) as server:  # type: ignore[arg-type]
        client = anthropic.Anthropic(api_key=KEY, base_url=server.messages_url, max_retries=0)
        texts = ("Hello.", "expired me", "cancel me")
        requests: Any = [{"custom_id": f"id-{number}", "params": params(text)} for number, text in enumerate(texts)]
        requests.append({"custom_id": "id-3", "params": {**params("x"), "model": "claude-nothing"}})
        made = client.messages.batches.create(requests=requests)
        ended = client.messages.batches.retrieve(made.id)
        with pytest.raises(anthropic.NotFoundError):
            client.messages.batches.retrieve("msgbatch_nothing")
        lines = server.batches.made[made.id].results or b""
        client.close()
    strict(made)
    strict(ended)
    assert isinstance(ended, MessageBatch)
    assert (made.processing_status, ended.processing_status) == ("in_progress", "ended")
    assert ended.request_counts.model_dump() == {
        "processing": 0,
        "succeeded": 1,
        "errored": 1,
        "canceled": 1,
        "expired": 1,
    }
    for line in lines.splitlines():
        found = MessageBatchIndividualResponse.model_validate(json.loads(line))
        assert not found.model_extra
        assert not found.result.model_extra


@pytest.mark.parametrize("endpoint", ["/v1/chat/completions", "/v1/responses"])
def test_batches_of_files(endpoint: Any) -> None:
    asked: Any = {"messages": QUESTION} if "chat" in endpoint else {"input": QUESTION}
    lines = [
        {"custom_id": f"id-{number}", "method": "POST", "url": endpoint, "body": {"model": "gpt-5", **asked}}
        for number in range(2)
    ]
    with ModelServer(batches=BatchRules(looks=1)) as server:
        client = openai.OpenAI(api_key=KEY, base_url=server.openai_url, max_retries=0)
        content = "".join(json.dumps(line) + "\n" for line in lines).encode()
        file = client.files.create(file=("batch.jsonl", content), purpose="batch")
        made = client.batches.create(completion_window="24h", endpoint=endpoint, input_file_id=file.id)
        ended = client.batches.retrieve(made.id)
        answers = client.files.content(ended.output_file_id or "").content
        client.close()
    assert isinstance(file, FileObject)
    assert isinstance(ended, Batch)
    for record in (file, made, ended):
        strict(record)
    assert (made.status, ended.status) == ("in_progress", "completed")
    assert {json.loads(line)["custom_id"] for line in answers.splitlines()} == {"id-0", "id-1"}
    assert {json.loads(line)["response"]["status_code"] for line in answers.splitlines()} == {200}


def test_a_batch_is_cancelled() -> None:
    with ModelServer(batches=BatchRules(looks=None)) as server:
        client = anthropic.Anthropic(api_key=KEY, base_url=server.messages_url, max_retries=0)
        requests: Any = [{"custom_id": "id", "params": params("Hello.")}]
        made = client.messages.batches.create(requests=requests)
        strict(client.messages.batches.cancel(made.id))
        assert client.messages.batches.retrieve(made.id).request_counts.canceled == 1
        client.close()
