"""The same requests by the SDKs alone: what nobody who asks a model can save."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import openai

from benchmarks.suites import MODELS, prompt
from evalward.suites.bash.prompt import SYSTEM
from evalward.suites.tool import INPUT_SCHEMA, TOOL_DESCRIPTION, TOOL_NAME
from support.model_server import KEY, Remote

OUTPUT = "1\n"


def ask(server: Remote, provider: str, cases: int, concurrency: int = 8) -> None:
    """Have so many conversations of two turns."""
    asyncio.run(_RAW[provider](server, cases, concurrency))


async def _anthropic(server: Remote, cases: int, concurrency: int) -> None:
    tool: Any = {"name": TOOL_NAME, "description": TOOL_DESCRIPTION, "input_schema": INPUT_SCHEMA}
    async with anthropic.AsyncAnthropic(api_key=KEY, base_url=server.messages_url, max_retries=0) as client:

        async def turn(messages: list[Any]) -> Any:
            return await client.messages.create(
                model=MODELS["anthropic"], max_tokens=16_000, system=SYSTEM, tools=[tool], messages=messages
            )

        async def one(number: int) -> None:
            messages: list[Any] = [{"role": "user", "content": prompt(number)}]
            said = await turn(messages)
            uses = [block.id for block in said.content if block.type == "tool_use"]
            results = [{"type": "tool_result", "tool_use_id": use, "content": OUTPUT} for use in uses]
            messages += [{"role": "assistant", "content": said.content}, {"role": "user", "content": results}]
            said = await turn(messages)
            assert uses
            assert said.stop_reason == "end_turn"

        await together(one, cases, concurrency)


async def _openai(server: Remote, cases: int, concurrency: int) -> None:
    function = {"name": TOOL_NAME, "description": TOOL_DESCRIPTION, "parameters": INPUT_SCHEMA}
    tool: Any = {"type": "function", "function": function}
    async with openai.AsyncOpenAI(api_key=KEY, base_url=server.openai_url, max_retries=0) as client:

        async def turn(messages: list[Any]) -> Any:
            answer = await client.chat.completions.create(model=MODELS["openai"], messages=messages, tools=[tool])
            return answer.choices[0].message

        async def one(number: int) -> None:
            messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt(number)}]
            said = await turn(messages)
            calls = [call.to_dict() for call in said.tool_calls or []]
            results = [{"role": "tool", "tool_call_id": call["id"], "content": OUTPUT} for call in calls]
            messages += [{"role": "assistant", "content": said.content, "tool_calls": calls}, *results]
            said = await turn(messages)
            assert calls
            assert said.content == "Done."

        await together(one, cases, concurrency)


async def together(one: Callable[[int], Awaitable[None]], cases: int, concurrency: int) -> None:
    """Do something for each number, so many at once."""
    gate = asyncio.Semaphore(concurrency)

    async def gated(number: int) -> None:
        async with gate:
            await one(number)

    await asyncio.gather(*(gated(number) for number in range(cases)))


_RAW: dict[str, Callable[[Remote, int, int], Any]] = {"anthropic": _anthropic, "openai": _openai}
