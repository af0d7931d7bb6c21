"""What a result of an mcp trial says, beside status, checks and usage: the calls that were tried, and their numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from evalward.records.base import Cleaned, Count, Record, clean_text, fitting
from evalward.records.result import Details
from evalward.suites.mcp.case import Mode

MOST_KEPT = 50
"""Calls that a result keeps; the trial's file has all of them, and the numbers count all of them."""
LONGEST_KEPT = 2_000
"""Characters of one call's arguments that a result keeps."""
MOST_NAMES = 2_000
UNDECLARED = "(undeclared)"
"""What stands for a name that a model made up, which a baseline doesn't keep."""
_WORDS = 500

Expects = Literal["calls", "none", "neither"]
"""What a case is about: that calls are made, that none is, or only what is forbidden and what comes of it."""


class AttemptedCall(Record):
    """One call as a model tried it.

    `server` is the one whose tool it is, empty for a name that no server declares; `tool` is the tool as its server
    calls it, or the word that the model used. `arguments` are `None` where they are no JSON object; `raw` is then what
    they were. `known`: the name is declared. `valid`: the arguments fit the tool's input schema; `None` where that
    can't be said, as of unknown tools. `executed`: it was sent to the server, and `error`, how that ended: isError, a
    JSON-RPC error, a time-out or the server's death; `None` where it was not sent. `why` are the words for what is
    wrong, `invented` the arguments that the tool's input schema doesn't know.
    """

    server: Cleaned = ""
    tool: Cleaned
    arguments: dict[str, Any] | None = None
    raw: Cleaned | None = None
    known: bool = True
    valid: bool | None = None
    executed: bool = False
    error: bool | None = None
    why: Cleaned = ""
    invented: list[Cleaned] = Field(default_factory=list)


class ToolTally(Record):
    """One tool in one trial: how many of its calls were expected, were made and count, and match an expected one.

    `wrong` is 1 where it was taken first and another tool, or none, was expected. `server` is empty for tools of the
    suite's own server, the other server's name for those of a distractor.
    """

    tool: Cleaned
    server: Cleaned = ""
    expected: Count = 0
    called: Count = 0
    matched: Count = 0
    wrong: Count = 0


class InventedArgument(Record):
    """An argument that a model sent and that the tool's input schema doesn't know."""

    tool: Cleaned
    argument: Cleaned


class JudgedCalls(Record):
    """What the expectation of a case says of a trial's calls. Counts are over all calls, kept or not.

    `wanted` is the tool of the first expected call; `taken` that of the first counted one, `None` where no call
    counts; `taken_from` is the distractor whose tool it is, and `taken_known` false for a name that is not declared.
    `selected`: a tool that was expected there was taken. `matched` of `expected` calls were made, `counted` are all
    that `allow` doesn't take out. `args_matched` of `args_tried`: expected arguments that match, of those whose tool
    was called. `forbidden`: how many calls were, `None` where the case forbids nothing. `tools` has every declared tool
    that was expected or called.
    """

    expects: Expects = "neither"
    wanted: Cleaned | None = None
    taken: Cleaned | None = None
    taken_from: Cleaned = ""
    taken_known: bool = True
    selected: bool | None = None
    expected: Count = 0
    matched: Count = 0
    counted: Count = 0
    args_tried: Count = 0
    args_matched: Count = 0
    forbidden: Count | None = None
    tools: list[ToolTally] = []

    def summary(self) -> JudgedCalls:
        """Without the words of models: names that are not declared."""
        return self if self.taken_known else self.model_copy(update={"taken": UNDECLARED})


class McpDetails(Details):
    """What the metrics of an `mcp` trial need, and what people look at.

    `server` is the suite's own. `calls` are the first calls, cut; `total` counts all, `unknown` those of undeclared
    tools, `checked` those whose arguments a schema can judge, `valid` those that fit it; `executed` were sent, and
    `failed` of them ended in an error. `catalogue_tokens` is about what the server's tools take in every request,
    `None` where no list of them came. `unjudged` are tools whose input schema judged no arguments, `invented` the
    arguments that no schema knows. `asked` and `answer` are for people: the expected calls, and what was said at the
    end. `diverged_at` is the first call (from 1) that the server answered otherwise than recorded: of replays alone.
    `refused` are requests of the server that were refused, by method; `list_changed` is how often it said that its list
    of tools is another one, which models of the trial don't read.
    """

    kind: Literal["mcp"] = "mcp"
    mode: Mode = "select"
    server: Cleaned = ""
    calls: list[AttemptedCall] = Field(default_factory=list)
    judged: JudgedCalls = JudgedCalls()
    total: Count = 0
    unknown: Count = 0
    checked: Count = 0
    valid: Count = 0
    executed: Count = 0
    failed: Count = 0
    turns: Count = 0
    catalogue_tokens: Count | None = None
    unjudged: list[Cleaned] = Field(default_factory=list, max_length=MOST_NAMES)
    invented: list[InventedArgument] = Field(default_factory=list)
    asked: Cleaned | None = None
    answer: Cleaned | None = None
    replayed: bool = False
    diverged_at: int | None = None
    refused: dict[Cleaned, Count] = Field(default_factory=dict)
    list_changed: Count = 0

    @property
    def requests(self) -> int | None:
        """One for each turn."""
        return self.turns or None

    def summary(self) -> McpDetails:
        """The part that a baseline keeps: numbers, and the names of tools."""
        without: dict[str, Any] = {key: [] for key in ("calls", "unjudged", "invented")}
        without |= {"server": "", "asked": None, "answer": None, "refused": {}, "judged": self.judged.summary()}
        return self.model_copy(update=without)


def kept_calls(calls: Sequence[AttemptedCall]) -> list[AttemptedCall]:
    """The calls as a result keeps them: the first ones, long arguments as the beginning of their text."""
    return [_kept(call) for call in calls[:MOST_KEPT]]


def _kept(call: AttemptedCall) -> AttemptedCall:
    words = {"tool": call.tool[:_WORDS], "why": call.why[:_WORDS]}
    if call.arguments is None:
        return call.model_copy(update={**words, "raw": call.raw[:LONGEST_KEPT] if call.raw is not None else None})
    try:
        arguments = fitting(call.arguments)
        if len(text := written_arguments(arguments)) <= LONGEST_KEPT:
            return call.model_copy(update={**words, "arguments": arguments})
    except (ValueError, RecursionError):
        text = "(arguments that are nested too deeply)"
    return call.model_copy(update={**words, "arguments": None, "raw": text[:LONGEST_KEPT] + "…"})


def written_arguments(arguments: Any) -> str:
    """Arguments as people read them: JSON in one line."""
    return clean_text(json.dumps(arguments, ensure_ascii=False))
