"""Kind `answer`: a question goes in, and a text has to be in the answer; a shell may help to find it."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from evalward.config import LoadedConfig, SandboxedSuite
from evalward.records.base import StrictRecord, digest
from evalward.records.case import Case
from evalward.records.metric import Measurement, ratio
from evalward.records.policy import Rule
from evalward.records.problem import Place
from evalward.records.result import Result
from evalward.records.trace import Message, Text
from evalward.suites.base import BaseKind, Prepared, TrialOutcome
from evalward.suites.defaults import result_of
from evalward.suites.lines import read_cases
from evalward.suites.loop import converse, keep
from evalward.suites.shells import shells_of
from evalward.suites.tool import load_prompting
from evalward.targets.base import Target

SYSTEM = "Answer in one sentence. You may look at files with the tool."


class AnswerSuite(SandboxedSuite):
    """Questions with a text that a right answer has in it."""

    max_turns: int = Field(default=5, ge=1, le=100, description="Turns after which a trial is ended")


class Question(StrictRecord):
    """One line of a case file. `files`: text by path, which the shell has."""

    id: str
    question: str
    expected: str
    files: dict[str, str] = {}


class AnswerCase(Case):
    """One question of a suite, with what `oracle` answers."""

    asked: Question

    def reference(self) -> list[Message]:
        return [Message(role="assistant", content=[Text(text=self.asked.expected)])]


def make_case(asked: Question, place: Place) -> AnswerCase:
    return AnswerCase(id=asked.id, category="answer", definition=digest(asked.model_dump()), place=place, asked=asked)


class AnswerKind(BaseKind):
    name = "answer"
    spec = AnswerSuite
    metric_ids = ("answer_rate",)
    default_rules = (Rule(metric="answer_rate", max_drop=0.05),)

    def prepare(self, spec: AnswerSuite, config: LoadedConfig) -> Prepared:
        cases = read_cases(spec, config, Question, make_case)
        prompting, shells = load_prompting(config.root, spec.system, None, SYSTEM), shells_of(spec, config)
        subject = {**prompting.subject, **shells.subject}
        return Prepared(spec, cases, subject, (prompting, shells), texts=prompting.texts)

    async def run_trial(self, suite: Prepared, case: AnswerCase, target: Target, trial: int) -> TrialOutcome:
        prompting, shells = suite.settings
        chat, asked, most = target.open(case, trial), case.asked, suite.spec.max_turns
        async with shells.open(asked.files, timeout_s=30) as shell:
            told = {"system": prompting.system, "tool": prompting.tool, "prompt": asked.question}
            trace = await converse(chat, shell, **told, max_turns=most)
        wrong = None if asked.expected in trace.messages[-1].text else "wrong_answer"
        return TrialOutcome(result_of(case, trial, trace, wrong), keep(trace))

    def measure(self, results: Sequence[Result]) -> Measurement:
        valid = [result for result in results if result.valid]
        rate = ratio(sum(result.score for result in valid), len(valid), "no valid trial")
        return Measurement(metrics={"answer_rate": rate}, categories={})


ANSWER = AnswerKind()
