"""Labelled transcripts: what people, or facts, say about agents' work, to hold a judge against."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from evalward.records.base import StrictRecord
from evalward.records.problem import InputError, Problem, wrong
from evalward.records.trace import Message, Text, Trace
from evalward.suites.judge.ask import Gate, JudgeInput
from evalward.suites.judge.rubric import Rubric
from evalward.suites.lines import JsonLine, read_lines

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class LabelledGate(StrictRecord):
    """A check's outcome that the judge is shown."""

    name: str
    passed: bool
    message: str = ""


class Labelled(StrictRecord):
    """One line of a labelled set: what was asked, what happened (as text or as a trace), and the right verdict."""

    id: str = Field(min_length=1, max_length=200)
    task: str = Field(min_length=1)
    transcript: str | None = None
    trace: Trace | None = None
    gates: list[LabelledGate] = []
    guidance: str | None = None
    label: Literal["pass", "fail"]
    scores: dict[str, Share] = {}

    @model_validator(mode="after")
    def _one_of_two(self) -> Labelled:
        if (self.transcript is None) == (self.trace is None):
            raise ValueError("give either `transcript` or `trace`")
        return self

    @property
    def passes(self) -> bool:
        """The right verdict."""
        return self.label == "pass"

    def judged(self, name: str = "", more: str = "") -> JudgeInput:
        """What the judge is shown. `more` is added as the agent's last words."""
        trace = self.trace or _trace_of(self.transcript or "")
        if more:
            trace = trace.model_copy(update={"messages": [*trace.messages, _assistant(more)]})
        gates = [Gate(gate.name, gate.passed, gate.message) for gate in self.gates]
        return JudgeInput(name or self.id, self.task, trace, gates, self.guidance)


def _assistant(text: str) -> Message:
    return Message(role="assistant", content=[Text(text=text)])


def _trace_of(transcript: str) -> Trace:
    """A transcript as a trace: one piece for each paragraph, so that only its middle is left out when it is long."""
    return Trace(messages=[_assistant(part) for part in transcript.split("\n\n") if part.strip()], natural_stop=True)


def load_labelled(path: Path, rubric: Rubric) -> Sequence[Labelled]:
    """The lines of a JSONL file. Raises `InputError` with every problem of it."""
    read = read_lines(path.parent, path.name, Labelled, str(path))
    problems = [*read.problems, *_problems(read.lines, rubric)]
    if problems:
        raise InputError(problems)
    if not read.lines:
        raise wrong(str(path), "the file holds no transcript", "Write one JSON object per line.")
    return [line.value for line in read.lines]


def _problems(lines: Sequence[JsonLine[Labelled]], rubric: Rubric) -> list[Problem]:
    known = {criterion.id for criterion in rubric.criteria}
    seen: set[str] = set()
    problems = []
    for line in lines:
        if line.value.id in seen:
            message = f"the id {line.value.id!r} occurs twice"
            problems.append(Problem(place=line.place, field="id", message=message, remedy="Give it another one."))
        seen.add(line.value.id)
        for name in line.value.scores:
            if name not in known:
                message, remedy = f"{name!r} is not a criterion of the rubric", f"Criteria: {', '.join(sorted(known))}."
                problems.append(Problem(place=line.place, field="scores", message=message, remedy=remedy))
    return problems
