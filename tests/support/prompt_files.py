"""Prompt files in a folder, and the suite that is made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from evalward.config import JudgeConfig, LoadedConfig
from evalward.config.load import parse_config
from evalward.records.case import Case
from evalward.records.trace import Message, StopReason, Text, Trace, Turn, Usage
from evalward.suites.judge.judge import Judge
from evalward.suites.judge.who import Judges
from evalward.suites.prompt.spec import PromptSuite
from evalward.suites.prompt.trial import PromptPrepared, prepare
from evalward.targets.base import Chat, Free, Reply, Request
from support.judging import ScriptedJudge

CAPITALS: Mapping[str, Any] = {
    "name": "Capitals",
    "model": "openai/gpt-4o",
    "modelParameters": {"temperature": 0.5, "maxTokens": 50},
    "messages": [
        {"role": "system", "content": "Answer in one word."},
        {"role": "user", "content": "What is the capital of {{input}}?"},
    ],
    "testData": [{"input": "France", "expected": "Paris"}, {"id": "italy", "input": "Italy", "expected": "Rome"}],
    "evaluators": [{"name": "right", "string": {"equals": "{{expected}}"}}],
}
"""Two rows and an evaluator that compares texts."""

TONE = {
    "name": "tone",
    "llm": {
        "modelId": "openai/gpt-4o",
        "prompt": "Is this a friendly answer about {{input}}?\n{{completion}}",
        "choices": [{"choice": "no", "score": 0}, {"choice": "somewhat", "score": 0.5}, {"choice": "yes", "score": 1}],
    },
}


def write_prompts(root: Path, files: Mapping[str, Any], **suite: Any) -> LoadedConfig:
    """The files (by their names below prompts/, without suffix; a text as it is) and a suite of them, read."""
    for name, content in files.items():
        path = root / "prompts" / f"{name}.prompt.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), "utf-8")
    given = {"name": "p", "kind": "prompt", "cases": "prompts/**/*.prompt.yml", "targets": ["oracle"], **suite}
    more = given.pop("config", {})
    return parse_config(json.dumps({"version": 1, "suites": [given], **more}), "evalward.yml", root)


def prepared(root: Path, files: Mapping[str, Any], **suite: Any) -> PromptPrepared:
    """The suite, ready to run."""
    loaded = write_prompts(root, files, **suite)
    spec = loaded.config.suites[0]
    assert isinstance(spec, PromptSuite)
    return prepare(spec, loaded)


class Answering(Free):
    """A target that gives one answer, and keeps what it was asked. An exception is raised instead."""

    id = "answering/x"
    random = True
    subject: Mapping[str, str] = {}

    def __init__(self, answer: str | Exception, stop: StopReason = "end") -> None:
        self.requests: list[Request] = []
        self._answer, self._stop = answer, stop

    def open(self, case: Case, trial: int) -> Chat:
        return AnsweringChat(self)

    def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        if isinstance(self._answer, Exception):
            raise self._answer
        usage = Usage(input_tokens=10, output_tokens=2, cost_usd=0.5)
        said = Message(role="assistant", content=[Text(text=self._answer)])
        return Reply(said, Turn(usage=usage, stop=self._stop, wall_ms=7, working_ms=7))


class AnsweringChat:
    """One question to it."""

    recording: Trace | None = None

    def __init__(self, target: Answering) -> None:
        self._target = target

    async def send(self, request: Request) -> Reply:
        return self._target.reply(request)


def with_judge(suite: PromptPrepared, *answers: Any) -> PromptPrepared:
    """The suite with a judge who gives these answers."""
    judge = Judge(ScriptedJudge(list(answers)))
    return structs.replace(suite, judges=Judges({None: judge}, JudgeConfig()))
