"""The three protocols through the official SDKs, behind one face: how the server's own tests talk to it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import anthropic
import openai

from support.model_server.api import Protocol
from support.model_server.script import TOOL, Tokens
from support.model_server.server import KEY, ModelServer
from support.patience import PATIENCE_S

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"commands": {"type": "string"}}, "required": ["commands"]}
ABOUT = "Runs bash commands."


@dataclass(frozen=True)
class Said:
    """An answer in words that are the same for all three. `calls` are id, name and arguments."""

    text: str
    calls: tuple[tuple[str, str, Any], ...]
    stop: str | None
    tokens: Tokens


class Speaker(ABC):
    """A client of one protocol. `ask` gives what the SDK gives."""

    protocol: ClassVar[Protocol]
    model: ClassVar[str]

    @abstractmethod
    async def ask(self, history: list[Any], *, stream: bool = False, **more: Any) -> Any:
        """One request: the SDK's object, with `stream` accumulated by the SDK."""

    @abstractmethod
    async def events(self, history: list[Any], **more: Any) -> list[Any]:
        """One streamed request: all of its events."""

    @abstractmethod
    def read(self, answer: Any) -> Said:
        """The answer in common words."""

    @abstractmethod
    def after(self, answer: Any, outputs: dict[str, str]) -> list[Any]:
        """What the history grows by: the answer and the calls' outputs by the calls' ids."""

    @abstractmethod
    async def close(self) -> None:
        """Closes the SDK's client."""

    def start(self, prompt: str) -> list[Any]:
        """A history of one user message."""
        return [{"role": "user", "content": prompt}]


class MessagesSpeaker(Speaker):
    """Anthropic Messages."""

    protocol: ClassVar[Protocol] = "messages"
    model: ClassVar[str] = "claude-haiku-4-5"

    def __init__(self, url: str, key: str = KEY, timeout: float = PATIENCE_S) -> None:
        self.client = anthropic.AsyncAnthropic(api_key=key, base_url=url, max_retries=0, timeout=timeout)

    def _params(self, history: list[Any], more: dict[str, Any]) -> dict[str, Any]:
        tools = [{"name": TOOL, "description": ABOUT, "input_schema": SCHEMA}]
        return {"model": self.model, "max_tokens": 1000, "messages": history, "tools": tools, **more}

    async def ask(self, history: list[Any], *, stream: bool = False, **more: Any) -> Any:
        if not stream:
            return await self.client.messages.create(**self._params(history, more))
        async with self.client.messages.stream(**self._params(history, more)) as stream_of:
            return await stream_of.get_final_message()

    async def events(self, history: list[Any], **more: Any) -> list[Any]:
        return [item async for item in await self.client.messages.create(**self._params(history, more), stream=True)]

    def read(self, answer: Any) -> Said:
        usage = answer.usage
        details = usage.output_tokens_details
        tokens = Tokens(
            input=usage.input_tokens,
            cache_read=usage.cache_read_input_tokens,
            cache_write=usage.cache_creation_input_tokens,
            output=usage.output_tokens,
            reasoning=details.thinking_tokens if details else 0,
        )
        text = "".join(block.text for block in answer.content if block.type == "text")
        calls = tuple((block.id, block.name, block.input) for block in answer.content if block.type == "tool_use")
        return Said(text, calls, answer.stop_reason, tokens)

    def after(self, answer: Any, outputs: dict[str, str]) -> list[Any]:
        results = [{"type": "tool_result", "tool_use_id": name, "content": text} for name, text in outputs.items()]
        said = {"role": "assistant", "content": answer.content}
        return [said, {"role": "user", "content": results}] if results else [said]

    async def close(self) -> None:
        await self.client.close()


class ChatSpeaker(Speaker):
    """OpenAI Chat Completions."""

    protocol: ClassVar[Protocol] = "chat"
    model: ClassVar[str] = "gpt-5"

    def __init__(self, url: str, key: str = KEY, timeout: float = PATIENCE_S) -> None:
        self.client = openai.AsyncOpenAI(api_key=key, base_url=url, max_retries=0, timeout=timeout)

    def _params(self, history: list[Any], more: dict[str, Any]) -> dict[str, Any]:
        function = {"name": TOOL, "description": ABOUT, "parameters": SCHEMA}
        return {
            "model": self.model,
            "messages": history,
            "tools": [{"type": "function", "function": function}],
            **more,
        }

    async def ask(self, history: list[Any], *, stream: bool = False, **more: Any) -> Any:
        if not stream:
            return await self.client.chat.completions.create(**self._params(history, more))
        more.setdefault("stream_options", {"include_usage": True})
        async with self.client.chat.completions.stream(**self._params(history, more)) as stream_of:
            return await stream_of.get_final_completion()

    async def events(self, history: list[Any], **more: Any) -> list[Any]:
        params = self._params(history, more)
        return [item async for item in await self.client.chat.completions.create(**params, stream=True)]

    def read(self, answer: Any) -> Said:
        choice, usage = answer.choices[0], answer.usage
        details = usage.prompt_tokens_details
        tokens = Tokens(
            input=usage.prompt_tokens - details.cached_tokens - details.cache_write_tokens,
            cache_read=details.cached_tokens,
            cache_write=details.cache_write_tokens,
            output=usage.completion_tokens,
            reasoning=usage.completion_tokens_details.reasoning_tokens,
        )
        calls = tuple(
            (call.id, call.function.name, json.loads(call.function.arguments))
            for call in choice.message.tool_calls or []
        )
        return Said(choice.message.content or "", calls, choice.finish_reason, tokens)

    def after(self, answer: Any, outputs: dict[str, str]) -> list[Any]:
        message = answer.choices[0].message
        said: dict[str, Any] = {"role": "assistant", "content": message.content}
        if message.tool_calls:
            said["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.function.name, "arguments": call.function.arguments},
                }
                for call in message.tool_calls
            ]
        return [said, *({"role": "tool", "tool_call_id": name, "content": text} for name, text in outputs.items())]

    async def close(self) -> None:
        await self.client.close()


class ResponsesSpeaker(Speaker):
    """OpenAI Responses."""

    protocol: ClassVar[Protocol] = "responses"
    model: ClassVar[str] = "gpt-5"

    def __init__(self, url: str, key: str = KEY, timeout: float = PATIENCE_S) -> None:
        self.client = openai.AsyncOpenAI(api_key=key, base_url=url, max_retries=0, timeout=timeout)

    def _params(self, history: list[Any], more: dict[str, Any]) -> dict[str, Any]:
        tool = {"type": "function", "name": TOOL, "description": ABOUT, "parameters": SCHEMA, "strict": False}
        return {"model": self.model, "input": history, "tools": [tool], **more}

    async def ask(self, history: list[Any], *, stream: bool = False, **more: Any) -> Any:
        if not stream:
            return await self.client.responses.create(**self._params(history, more))
        async with self.client.responses.stream(**self._params(history, more)) as stream_of:
            return await stream_of.get_final_response()

    async def events(self, history: list[Any], **more: Any) -> list[Any]:
        params = self._params(history, more)
        return [item async for item in await self.client.responses.create(**params, stream=True)]

    def read(self, answer: Any) -> Said:
        usage = answer.usage
        details = usage.input_tokens_details
        tokens = Tokens(
            input=usage.input_tokens - details.cached_tokens - details.cache_write_tokens,
            cache_read=details.cached_tokens,
            cache_write=details.cache_write_tokens,
            output=usage.output_tokens,
            reasoning=usage.output_tokens_details.reasoning_tokens,
        )
        calls = tuple(
            (item.call_id, item.name, json.loads(item.arguments))
            for item in answer.output
            if item.type == "function_call"
        )
        return Said(answer.output_text, calls, answer.status, tokens)

    def after(self, answer: Any, outputs: dict[str, str]) -> list[Any]:
        said = [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output]
        return [
            *said,
            *({"type": "function_call_output", "call_id": name, "output": text} for name, text in outputs.items()),
        ]

    async def close(self) -> None:
        await self.client.close()


def speaker(server: ModelServer, protocol: Protocol, *, key: str = KEY, timeout: float = PATIENCE_S) -> Speaker:
    """A client for this server."""
    if protocol == "messages":
        return MessagesSpeaker(server.messages_url, key, timeout)
    kind = ChatSpeaker if protocol == "chat" else ResponsesSpeaker
    return kind(server.openai_url, key, timeout)
