"""Kind `answer`: a question goes in, and a text has to be in the answer; a shell may help to find it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from evalward.config import LoadedConfig, SandboxedSuite
from evalward.records.base import Record, StrictRecord, digest
from evalward.records.case import Case
from evalward.records.metric import Measurement, ratio
from evalward.records.policy import Rule
from evalward.records.problem import InputError, Place, Problem
from evalward.records.report import Finding, Run
from evalward.records.result import OtherDetails, Result, Status
from evalward.records.trace import Message, Text
from evalward.suites.base import Prepared, Proof, TrialOutcome
from evalward.suites.files import case_files, repeated_ids
from evalward.suites.lines import read_lines
from evalward.suites.loop import converse, keep
from evalward.suites.shells import Shells, shells_of
from evalward.suites.tool import Prompting, load_prompting
from evalward.targets.base import Target


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
    """One question of a suite."""

    asked: Question

    def reference(self) -> list[Message]:
        """What `oracle` says."""
        return [Message(role="assistant", content=[Text(text=self.asked.expected)])]


@dataclass(frozen=True)
class Equipment:
    """What a suite's trials have in common."""

    prompting: Prompting
    shells: Shells


@dataclass(frozen=True)
class AnswerKind:
    """See `evalward.suites.base.Kind`."""

    name: str = "answer"
    spec: type[AnswerSuite] = AnswerSuite
    details: type[Record] = OtherDetails
    metric_ids: Sequence[str] = ("answer_rate",)
    default_rules: Sequence[Rule] = (Rule(metric="answer_rate", max_drop=0.05),)

    def prepare(self, spec: AnswerSuite, config: LoadedConfig) -> Prepared[AnswerSuite, AnswerCase, Equipment]:
        """The questions in the suite's files, its prompt and its shells."""
        problems: list[Problem] = []
        files = [
            read_lines(config.root, name, Question) for name in case_files(spec.name, spec.cases, config, problems)
        ]
        cases = [_case(line.value, line.place) for file in files for line in file.lines]
        problems += [problem for file in files for problem in file.problems] + repeated_ids(cases)
        if problems:
            raise InputError(problems)
        prompting = load_prompting(config.root, spec.system, None, "Answer in one sentence.")
        shells = shells_of(spec, config)
        return Prepared(spec, cases, {**prompting.subject, **shells.subject}, Equipment(prompting, shells))

    async def run_trial(
        self, suite: Prepared[AnswerSuite, AnswerCase, Equipment], case: AnswerCase, target: Target, trial: int
    ) -> TrialOutcome:
        """One conversation in a fresh shell, and what its last message says."""
        prompting, shells = suite.settings.prompting, suite.settings.shells
        chat = target.open(case, trial)
        async with shells.open(case.asked.files, 30) as shell:
            trace = await converse(
                chat,
                shell,
                system=prompting.system,
                tool=prompting.tool,
                prompt=case.asked.question,
                max_turns=suite.spec.max_turns,
            )
        right = case.asked.expected in trace.messages[-1].text
        result = Result(
            id=case.id,
            category=case.category,
            definition=case.definition,
            trial=trial,
            status=Status.PASSED if right else Status.FAILED,
            score=float(right),
            max_score=1.0,
            usage=trace.usage,
            duration_ms=trace.duration_ms,
            reason=None if right else "wrong_answer",
        )
        return TrialOutcome(result, keep(trace))

    async def prove(self, suite: Prepared[AnswerSuite, AnswerCase, Equipment]) -> Proof:
        """A question that says its own answer asks nothing."""
        given = [case for case in suite.cases if case.asked.expected in case.asked.question]
        problems = [Problem(place=case.place, message=f"{case.id!r} says its own answer") for case in given]
        return Proof(problems, f"{len(suite.cases)} questions read")

    def measure(self, results: Sequence[Result]) -> Measurement:
        """The share of right answers."""
        valid = [result for result in results if result.valid]
        rate = ratio(sum(result.score for result in valid), len(valid), "no valid trial")
        return Measurement(metrics={"answer_rate": rate}, categories={})

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:
        """Nothing beyond the rate."""
        return []

    def diagnose(self, runs: Sequence[Run]) -> list[Finding]:
        """Nothing beyond what each run shows."""
        return []


def _case(question: Question, place: Place) -> AnswerCase:
    definition = digest(question.model_dump())
    return AnswerCase(id=question.id, category="answer", definition=definition, place=place, asked=question)


ANSWER = AnswerKind()
