"""`recorded:PATH`: a judge whose answers stand in a file, for examples and tests without a key.

One JSON object a line: `id` of what is judged and `answers`, one per question about it (votes, and after an unusable
answer the second attempt). An object is sent as its JSON, a text as it is. It reads nothing of what it judges.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from evalward.config import LoadedConfig
from evalward.records.base import StrictRecord, digest
from evalward.records.case import Case
from evalward.records.problem import InputError, Problem
from evalward.records.trace import Message, Text, Trace, Turn, Usage
from evalward.suites.lines import parse_lines, read_lines
from evalward.targets.base import Chat, Free, Reply, Request, TrialSkippedError

FREE = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)


class RecordedAnswers(StrictRecord):
    """One line: the answers to the questions about one thing that is judged."""

    id: str = Field(min_length=1)
    answers: list[str | dict[str, Any]] = Field(min_length=1)


class RecordedVotes:
    """Gives a vote's answers one after the other; the last one again and again."""

    recording: Trace | None = None

    def __init__(self, answers: Sequence[str | dict[str, Any]]) -> None:
        self._answers = list(answers)

    async def send(self, request: Request) -> Reply:  # noqa: ARG002 - a recording doesn't listen
        """The next answer."""
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Reply(Message(role="assistant", content=[Text(text=text)]), Turn(usage=FREE))


class RecordedJudge(Free):
    """Answers by the id of what is judged. Vote n begins with the nth answer."""

    random = False

    def __init__(self, path: str, lines: Sequence[RecordedAnswers]) -> None:
        self.id = f"recorded:{path}"
        self._answers: dict[str, list[str | dict[str, Any]]] = {line.id: line.answers for line in lines}

    @property
    def subject(self) -> Mapping[str, str]:
        """What was recorded."""
        return {"recording": digest(self._answers)}

    def open(self, case: Case, trial: int) -> Chat:
        """The answers to the question of this vote; `TrialSkippedError` when none is recorded."""
        answers = self._answers.get(case.id)
        if answers is None:
            raise TrialSkippedError("not_recorded", f"the recorded judge has no answer about {case.id}")
        return RecordedVotes(answers[min(trial, len(answers)) - 1 :])


def load_recorded(path: str, loaded: LoadedConfig) -> RecordedJudge:
    """The recorded judge of a file below the config's folder: the base's, where one judges and has it.

    Raises `InputError` with all that is wrong with it, or when there is none.
    """
    base = loaded.base_file(path) if loaded.base_file is not None else None
    if base is not None:
        read = parse_lines(base.decode("utf-8-sig", "replace"), f"{path} (base)", RecordedAnswers)
    else:
        read = read_lines(loaded.root, path, RecordedAnswers)
    problems = list(read.problems)
    seen: set[str] = set()
    for line in read.lines:
        if line.value.id in seen:
            message = f"the id {line.value.id!r} occurs twice"
            problems.append(Problem(place=line.place, field="id", message=message, remedy="Join the two lines."))
        seen.add(line.value.id)
    if problems:
        raise InputError(problems)
    return RecordedJudge(path, [line.value for line in read.lines])
