"""Judges without a network: scripted targets, rubrics, traces and answers, written down briefly."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalward.records.case import Case
from evalward.records.trace import Message, StopReason, Text, ToolCall, Trace, Turn, Usage
from evalward.suites.judge.ask import Gate, JudgeInput
from evalward.suites.judge.rubric import Criterion, Rubric
from evalward.targets.base import Chat, Free, Reply, Request

COST = Usage(input_tokens=900, output_tokens=100, cost_usd=0.001)
WEIGHTS = {"command_correctness": 0.30, "task_completion": 0.40, "efficiency": 0.30}


def rubric(**weights: float) -> Rubric:
    """A rubric of these criteria; the specification's example without any."""
    given = weights or WEIGHTS
    return Rubric(criteria=[Criterion(id=name, weight=w, description=f"It has {name}.") for name, w in given.items()])


def answer(weighted_score: Any = 0.83, **scores: Any) -> dict[str, Any]:
    """An answer with these scores; the specification's example without any."""
    return {
        "scores": scores or {"command_correctness": 0.85, "task_completion": 0.90, "efficiency": 0.70},
        "weighted_score": weighted_score,
        "confidence": 0.80,
        "issues": ["Retried 'create' 3 times"],
        "highlights": ["Searched to verify"],
    }


def judged(*said: str, task: str = "Add milk.", name: str = "one", gates: Sequence[Gate] = ()) -> JudgeInput:
    """Something to judge: an agent that said this."""
    messages = [Message(role="assistant", content=[Text(text=text)]) for text in said]
    return JudgeInput(name, task, Trace(messages=messages), gates)


def called(*commands: str, stdout: str = "ok", exit_code: int = 0) -> Trace:
    """A trace of these calls."""
    return Trace(tool_calls=[ToolCall(commands=c, stdout=stdout, exit_code=exit_code) for c in commands])


Answering = Callable[[Request], Any]


class ScriptedJudge(Free):
    """Answers from a list, or by looking at the question; keeps every question. Exceptions in the list are raised."""

    random = False

    def __init__(self, answers: Sequence[Any] | Answering, *, stop: StopReason = "end", usage: Usage = COST) -> None:
        self.id = "scripted/judge"
        self.subject: Mapping[str, str] = {"model": "judge"}
        self.requests: list[Request] = []
        self.opened: list[tuple[str, int]] = []
        self._answers = answers if callable(answers) else list(answers)
        self._stop, self._usage = stop, usage

    def open(self, case: Case, trial: int) -> Chat:
        self.opened.append((case.id, trial))
        return _Chat(self)

    def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        said = self._answers(request) if callable(self._answers) else self._answers.pop(0)
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        blocks: list[Any] = [Text(text=text)] if text else []
        return Reply(Message(role="assistant", content=blocks), Turn(usage=self._usage, stop=self._stop))


class _Chat:
    recording: Trace | None = None

    def __init__(self, judge: ScriptedJudge) -> None:
        self._judge = judge

    async def send(self, request: Request) -> Reply:
        return self._judge.reply(request)
