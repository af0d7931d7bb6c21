"""One question and one answer, as kinds share it whose targets answer once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from evalward.records.base import clean_text
from evalward.records.result import Status
from evalward.records.trace import Message, Text, Trace
from evalward.suites.base import TrialBrokenError
from evalward.targets.base import BrokeOffError, Chat, NoAnswerError, Reply, Request
from evalward.targets.failures import TargetError


@dataclass(frozen=True)
class SingleTurn:
    """What was said. `reply` is `None` where there is no answer that counts; `why` says then why not."""

    trace: Trace
    reply: Reply | None = None
    why: str = ""


def plain(message: Message) -> Message:
    """The words of an answer, as a file can hold them: there are no tools, and nothing is sent back."""
    text = clean_text(message.text)
    return Message(role="assistant", content=[Text(text=text)] if text else [])


async def ask_once(
    chat: Chat, request: Request, timeout_s: float, as_kept: Callable[[Message], Message] = plain
) -> SingleTurn:
    """One round trip. An answer that took longer than `timeout_s` doesn't count. `as_kept`: how the trace has it.

    Raises `TrialBrokenError` for what is a provider's fault, `BrokeOffError` for what is the target's own.
    """
    started = time.monotonic()
    trace = Trace(messages=list(request.messages))
    try:
        reply = await chat.send(request)
    except NoAnswerError as error:
        trace = trace.model_copy(update={"duration_ms": round((time.monotonic() - started) * 1000)})
        return SingleTurn(trace, why=clean_text(str(error)))
    except TargetError as error:
        if error.rule.counted is Status.FAILED:
            raise BrokeOffError(trace, error) from error
        raise TrialBrokenError(trace, error.cause, error.message, stops_run=error.rule.stops_run) from error
    try:
        heard = _heard(request, chat, reply, as_kept(reply.message))
    except Exception as error:
        raise BrokeOffError(trace.model_copy(update={"turns": [reply.turn]}), error) from error
    if heard.working_ms > timeout_s * 1000:
        took = f"the answer took {heard.working_ms / 1000:.1f} s, more than {timeout_s:g} s"
        return SingleTurn(heard, why=took)
    return SingleTurn(heard, reply)


def _heard(request: Request, chat: Chat, reply: Reply, kept: Message) -> Trace:
    return Trace(
        messages=[*request.messages, kept],
        turns=[reply.turn],
        natural_stop=reply.turn.stop == "end",
        duration_ms=chat.recording.duration_ms if chat.recording else reply.turn.wall_ms,
        working_ms=chat.recording.working_ms if chat.recording else reply.turn.working_ms,
        total=chat.recording.total if chat.recording else None,
    )
