"""What the server answers: for each conversation a list of answers, one per turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Stop = Literal[
    "auto", "end", "tool_use", "length", "refusal", "content_filter", "pause", "context_window", "failed", "other"
]
TOOL = "bash"


@dataclass(frozen=True)
class Tokens:
    """Usage in the convention of `evalward.records.trace.Usage`; each protocol shows it in its own.

    `input` is without cache, `output` includes `reasoning`.
    """

    input: int = 100
    cache_read: int = 0
    cache_write: int = 0
    output: int = 20
    reasoning: int = 0

    @property
    def all_input(self) -> int:
        """What OpenAI calls input: with cache reads and writes."""
        return self.input + self.cache_read + self.cache_write


@dataclass(frozen=True)
class Call:
    """A tool call. `arguments` as a text is sent as it is, be it JSON or not."""

    arguments: dict[str, object] | str
    name: str = TOOL


@dataclass(frozen=True)
class Answer:
    """One turn of the model.

    `stop`: "auto" is "tool_use" with calls and "end" without. `thinking` becomes a thinking block (Messages) or a
    reasoning item (Responses) that has to come back unaltered or, Responses only, together with what followed it not
    at all; Chat doesn't show it. `redacted`: the thinking is sent encrypted. `extra` adds a block of a type that no
    client knows. `usage`: tell the tokens (gateways don't always).
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    redacted: bool = False
    stop: Stop = "auto"
    tokens: Tokens = Tokens()
    extra: bool = False
    usage: bool = True

    @property
    def reason(self) -> Stop:
        """Why it stops, "auto" resolved."""
        if self.stop != "auto":
            return self.stop
        return "tool_use" if self.calls else "end"


DONE = Answer(text="Done.", tokens=Tokens(input=120, output=5))


@dataclass(frozen=True)
class Conversation:
    """The answers to a conversation whose first user text contains `match` (a regular expression if `regex`)."""

    match: str
    answers: tuple[Answer, ...]
    regex: bool = False

    def fits(self, prompt: str) -> bool:
        """Whether this is the conversation that begins with `prompt`."""
        return bool(re.search(self.match, prompt)) if self.regex else self.match in prompt


@dataclass(frozen=True)
class Script:
    """All conversations; the first that fits is played.

    `default` is played when none fits; `None` makes that a 500 which names the prompt, so that a test fails loudly.
    After the last answer the model says "Done.".
    """

    conversations: tuple[Conversation, ...] = ()
    default: tuple[Answer, ...] | None = None

    def answer(self, prompt: str, turn: int) -> Answer | None:
        """The answer in turn `turn` (from 0) of the conversation that begins with `prompt`."""
        fitting = (item.answers for item in self.conversations if item.fits(prompt))
        answers = next(fitting, self.default)
        if answers is None:
            return None
        return answers[turn] if turn < len(answers) else DONE

    def answer_to(self, body: object, prompt: str, turn: int) -> Answer | None:
        """The same, for scripts that look at the whole request."""
        return self.answer(prompt, turn)


def bash(command: str, *, thinking: str = "", text: str = "", tokens: Tokens = Tokens()) -> Answer:
    """A turn that runs one script with the bash tool."""
    return Answer(text=text, calls=(Call({"commands": command}),), thinking=thinking, tokens=tokens)


def oracle_like(
    scripts: Mapping[str, Sequence[str]], *, thinking: str = "", tokens: Tokens = Tokens(), say: str = "Done."
) -> Script:
    """A model that knows the solutions: for each prompt (or a part of it) its bash scripts, one a turn, then `say`.

    Longer prompts are tried first, so that one which contains another is found.
    """
    end = Answer(text=say, tokens=tokens)
    return Script(
        tuple(
            Conversation(prompt, (*_turns(scripts[prompt], thinking, tokens), end))
            for prompt in sorted(scripts, key=len, reverse=True)
        )
    )


def _turns(commands: Iterable[str], thinking: str, tokens: Tokens) -> list[Answer]:
    return [bash(command, thinking=thinking, tokens=tokens) for command in commands]
