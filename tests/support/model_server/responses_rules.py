"""The rules of a Responses input: calls and their outputs, reasoning items, ids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from support.model_server import openai_rules
from support.model_server import responses_fields as fields
from support.model_server.api import RejectedError
from support.model_server.wire import digest, opened

NO_REASONING = "0" * 8
OUTPUT = (fields.FunctionCall, fields.Reasoning, fields.Future)


@dataclass(frozen=True)
class Ids:
    """The ids of one answer's items, from which the server sees what belongs together without keeping anything."""

    prompt: str
    turn: int
    thinking: str

    @property
    def reasoning(self) -> str:
        """The reasoning item's."""
        return f"rs_{digest('rs', self.thinking)}"

    @property
    def _tail(self) -> str:
        return self.reasoning[-8:] if self.thinking else NO_REASONING

    @property
    def message(self) -> str:
        """The message's."""
        return f"msg_{self._tail}_{digest(self.prompt, self.turn)}"

    def call(self, number: int) -> tuple[str, str]:
        """A function call's `call_id` and `id`."""
        call_id = f"call_{self.turn:03d}{digest(self.prompt, self.turn, number)}"
        return call_id, f"fc_{self._tail}_{digest(call_id)}"


def check(items: Sequence[fields.Item], *, stored: bool) -> None:
    """Raises `RejectedError` at the first broken rule. `stored`: the service keeps what it said (`store`)."""
    _check_outputs(items)
    for number, item in enumerate(items):
        if isinstance(item, fields.Message):
            _check_parts(number, item)
        elif isinstance(item, fields.Reference):
            raise _unknown(item.id, stored=stored)
        elif isinstance(item, fields.Reasoning):
            _check_reasoning(number, item, items, stored=stored)
        elif isinstance(item, fields.Future) and item.id != f"fi_{digest('fi', item.note)}":
            raise _unknown(item.id, stored=stored)
        _check_id(number, item, items, stored=stored)


def runs(items: Sequence[fields.Item]) -> Iterator[list[fields.Item]]:
    """The model's own items, as many at a time as follow each other."""
    run: list[fields.Item] = []
    for item in items:
        if _is_output(item):
            run.append(item)
        elif run:
            yield run
            run = []
    if run:
        yield run


def answered(items: Sequence[fields.Item]) -> int:
    """How many answers of the model the input holds. Calls of one answer may have their outputs in between."""
    count, last = 0, None
    for run in runs(items):
        calls = [item.call_id for item in run if isinstance(item, fields.FunctionCall)]
        turn = calls[0][:8] if calls and calls[0].startswith("call_") else None
        if turn is None or turn != last:
            count += 1
        last = turn
    return count


def first_text(items: Sequence[fields.Item]) -> str | None:
    """The first user message's text."""
    for item in items:
        if isinstance(item, fields.Message) and item.role == "user":
            return "\n".join(part.text for part in item.content if part.type in {"plain", "input_text"})
    return None


def _is_output(item: fields.Item) -> bool:
    return isinstance(item, OUTPUT) or (isinstance(item, fields.Message) and item.role == "assistant")


def _check_outputs(items: Sequence[fields.Item]) -> None:
    open_calls: list[str] = []
    for item in items:
        if isinstance(item, fields.FunctionCall):
            if item.call_id in open_calls:
                raise openai_rules.invalid(f"Duplicate function call with call_id {item.call_id}.", "input")
            open_calls.append(item.call_id)
        elif isinstance(item, fields.FunctionCallOutput):
            if item.call_id not in open_calls:
                message = f"No tool call found for function call output with call_id {item.call_id}."
                raise openai_rules.invalid(message, "input")
            open_calls.remove(item.call_id)
    if open_calls:
        raise openai_rules.invalid(f"No tool output found for function call {open_calls[0]}.", "input")


def _check_parts(number: int, message: fields.Message) -> None:
    assistant = message.role == "assistant"
    wanted = ("output_text", "refusal") if assistant else ("input_text", "input_image", "input_file")
    for place, part in enumerate(message.content):
        if part.type != "plain" and part.type not in wanted:
            values = " and ".join(f"'{name}'" for name in wanted)
            param = f"input[{number}].content[{place}]"
            raise openai_rules.invalid(
                f"Invalid value: '{part.type}'. Supported values are: {values}.", param, "invalid_value"
            )


def _check_reasoning(number: int, item: fields.Reasoning, items: Sequence[fields.Item], *, stored: bool) -> None:
    text = "\n".join(part.text for part in item.summary)
    hidden = None
    if item.encrypted_content is not None:
        hidden = opened(item.encrypted_content)
        if hidden is None:
            raise openai_rules.invalid(
                f"The encrypted content {item.encrypted_content[:8]}... could not be verified. Reason: Encrypted "
                "content could not be decrypted or parsed.",
                code="invalid_encrypted_content",
            )
    elif not stored:
        raise _unknown(item.id, stored=False)
    known = {f"rs_{digest('rs', told)}" for told in (text, hidden) if told}
    if not re.fullmatch(r"rs_[0-9a-f]{24}", item.id) or (known and known != {item.id}):
        raise _unknown(item.id, stored=stored)
    following = items[number + 1] if number + 1 < len(items) else None
    if following is None or not _is_output(following):
        message = f"Item '{item.id}' of type 'reasoning' was provided without its required following item."
        raise openai_rules.invalid(message, "input")


def _check_id(number: int, item: fields.Item, items: Sequence[fields.Item], *, stored: bool) -> None:
    if not isinstance(item, fields.FunctionCall | fields.Message) or not item.id:
        return
    if isinstance(item, fields.Message) and item.role != "assistant":
        return  # a client's own name for what it says itself: the service never gave it
    prefix = "fc" if isinstance(item, fields.FunctionCall) else "msg"
    if not item.id.startswith(prefix):
        message = f"Invalid 'input[{number}].id': '{item.id}'. Expected an ID that begins with '{prefix}'."
        raise openai_rules.invalid(message, f"input[{number}].id", "invalid_value")
    found = re.fullmatch(rf"{prefix}_([0-9a-f]{{8}})_([0-9a-f]{{24}})", item.id)
    if not found or (isinstance(item, fields.FunctionCall) and found[2] != digest(item.call_id)):
        raise _unknown(item.id, stored=stored)
    if found[1] not in {NO_REASONING, _reasoning_before(number, items)}:
        raise openai_rules.invalid(
            f"Item '{item.id}' of type '{item.type}' was provided without its required 'reasoning' item: "
            f"'rs_…{found[1]}'.",
            "input",
        )


def _reasoning_before(number: int, items: Sequence[fields.Item]) -> str | None:
    """The end of the id of the reasoning item which this answer began with; outputs may lie in between."""
    for item in reversed(items[:number]):
        if isinstance(item, fields.Reasoning):
            return item.id[-8:]
        if isinstance(item, fields.Message) and item.role != "assistant":
            return None
    return None


def _unknown(identity: str, *, stored: bool) -> RejectedError:
    message = f"Item with id '{identity}' not found."
    if not stored:
        message += (
            " Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this "
            "item from your input."
        )
    return RejectedError(404, "invalid_request_error", message, "input")
