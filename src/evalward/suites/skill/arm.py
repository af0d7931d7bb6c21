"""One arm of a trial: an agent works in a folder in which certain skills are installed; through a scenario's stage."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalward.opening import beginning_inside
from evalward.records.case import Case
from evalward.records.judge import JUDGE_ERROR
from evalward.records.result import UNREADABLE, CheckResult, Result, Status
from evalward.records.trace import Trace, Usage
from evalward.sandbox.process.temporary import remove_ours, temporary_folder
from evalward.suites.base import TrialBrokenError, TrialOutcome
from evalward.suites.judge.ask import Gate
from evalward.suites.judge.who import Judges
from evalward.suites.scenario.artifacts import EVALUATION, FIXTURE, METRICS
from evalward.suites.scenario.builtin import BuiltInAgent
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.details import ScenarioDetails
from evalward.suites.scenario.model import Evaluation, Scenario, ScenarioTool, Task
from evalward.suites.scenario.outcome import GATES_FAILED
from evalward.suites.scenario.trial import run_scenario
from evalward.suites.skill.case import SkillCase
from evalward.suites.skill.context import SkillContext
from evalward.suites.skill.details import ArmName, ArmOutcome, Origin
from evalward.suites.skill.install import assemble, listing
from evalward.suites.skill.judged import JudgedExpectations, WorkDone, judge_expectations
from evalward.suites.skill.loads import SkillTexts, loaded_skills
from evalward.suites.skill.skill_file import PLACES, Skill
from evalward.suites.tool import ToolPrompting
from evalward.targets.agents.base import Agent, AgentJob, AgentRun, Worker
from evalward.targets.agents.driver import DrivenAgent
from evalward.targets.base import Target, TrialSkippedError, talks

API_ERROR, LACKING = "api_error", "missing_program"
NOT_SHOWN = "loads_not_shown"
NO_TOOL = ScenarioTool(binary="evalward-skill", command_pattern=r"[^\s\S]")
"""Skills are no command-line tool: no command is one of its."""
CHECKS_FAILED, EXPECTATIONS_FAILED = "checks_failed", "expectations_failed"
LARGEST_TEXT = 1 << 20


@dataclass(frozen=True)
class ArmPlan:
    """An arm: its name, and the skills that are installed in it, by origin."""

    name: ArmName
    skills: Mapping[Origin, Sequence[Skill]] = field(default_factory=dict)

    @property
    def installed(self) -> list[Skill]:
        """All of them."""
        return [skill for several in self.skills.values() for skill in several]


@dataclass(frozen=True)
class ArmRun:
    """What came of an arm. `checks` are the case's checks and its judged sentences; `run` is what the agent itself did.

    `artifacts` is a folder for people, made for this run.
    """

    outcome: ArmOutcome
    checks: Sequence[CheckResult]
    trace: Trace
    run: AgentRun | None
    details: ScenarioDetails
    judged: JudgedExpectations
    artifacts: Path | None

    @property
    def usage(self) -> Usage:
        """The agent's."""
        return self.outcome.usage


class ArmAgent:
    """An agent of whom is kept what it did, and whose fault at its model is nobody's failure."""

    def __init__(self, agent: Worker, *, queried: bool) -> None:
        """`queried`: it matters which skills it loads, so that an agent that shows only words can't be measured."""
        self._agent, self._queried = agent, queried
        self.run: AgentRun | None = None

    @property
    def id(self) -> str:
        """The agent's."""
        return self._agent.id

    @property
    def readable(self) -> Sequence[Path]:
        """The agent's."""
        return self._agent.readable

    async def work(self, case: Case, trial: int, job: AgentJob) -> AgentRun:
        """As the agent's. Raises `TrialBrokenError` as well: the agent ended because its model failed it."""
        run = self.run = await self._agent.work(case, trial, job)
        fault = run.api_error or run.refused
        if fault is not None and run.limit is None and not run.completed and not run.timed_out:
            raise TrialBrokenError(run.trace, API_ERROR, f"the agent's model failed it: {fault}", begun=True)
        if run.lacking is not None:
            why = f"{self.id} can't load skills here: {run.lacking} is not installed"
            raise TrialBrokenError(run.trace, LACKING, why, stops_run=True, begun=True)
        if self._queried and not run.structured:
            why = f"{self.id} prints only words, so nothing shows which skills it loads: give it output: events"
            raise TrialSkippedError(NOT_SHOWN, why)
        return run


@dataclass(frozen=True)
class ArmJob:
    """An arm of one trial of a case."""

    context: SkillContext
    plan: ArmPlan
    case: SkillCase
    target: Target | Agent
    trial: int
    judges: Judges | None = None

    async def run(self) -> ArmRun:
        """Run and judge it. Raises `TrialSkippedError` and `TrialBrokenError`, as `run_scenario`, and `InputError`."""
        with temporary_folder("skills") as given:
            await asyncio.to_thread(assemble, given, self.case, self.plan.installed)
            texts = await asyncio.to_thread(_texts, self.plan, self.case, given)
            worker = _agent_of(self.target, self.context.prompting, self.plan)
            agent = ArmAgent(worker, queried=self.case.asks == "trigger")
            stage = await run_scenario(self.context.walls, stage_case(self.case, given), agent, self.trial)
            try:
                return await self._judged(stage, agent.run, given, texts)
            except BaseException:
                drop(stage.artifacts)
                raise

    async def _judged(self, stage: TrialOutcome, run: AgentRun | None, given: Path, texts: SkillTexts) -> ArmRun:
        result = stage.result
        details = result.details if isinstance(result.details, ScenarioDetails) else ScenarioDetails()
        judged = await self._expectations(stage, given)
        if stage.artifacts is not None:
            _without_measures(stage.artifacts)
        checks = [*result.checks, *judged.checks]
        loaded = loaded_skills(stage.trace, texts)
        outcome = _outcome(self.plan.name, result, judged, checks).model_copy(
            update={"loaded": loaded, "turns": len(stage.trace.turns)}
        )
        return ArmRun(outcome, checks, stage.trace, run, details, judged, stage.artifacts)

    async def _expectations(self, stage: TrialOutcome, given: Path) -> JudgedExpectations:
        """What a judge says of the sentences. Work that can't be read holds none; of a fault nothing is said."""
        result = stage.result
        if result.reason == UNREADABLE:
            return JudgedExpectations([_not_held(sentence) for sentence in self.case.expectations])
        if result.status is Status.ERROR:
            return JudgedExpectations([])
        left = None if stage.artifacts is None else stage.artifacts / FIXTURE
        name = self.case.id if self.plan.name == "with" else f"{self.case.id}@{self.plan.name}"
        gates = [Gate(check.check, check.passed, check.detail) for check in result.checks]
        done = WorkDone(name, stage.trace, gates, given, left if left is not None and left.is_dir() else None)
        return await judge_expectations(self.case, done, self.judges)


def drop(artifacts: Path | None) -> None:
    """Remove a folder of files for people that nobody will get."""
    if artifacts is not None:
        remove_ours(artifacts)


def _agent_of(target: Target | Agent, prompting: ToolPrompting, plan: ArmPlan) -> Worker:
    """The target, if it works by itself; else the built-in agent, which is told of the skills. A replay has its arm."""
    if not talks(target):
        return target
    system = "\n\n".join(filter(None, (prompting.system, listing(plan.installed))))
    told = replace(prompting, system=system)
    if plan.name == "with":
        return BuiltInAgent(target, told)
    return BuiltInAgent(target, told, lambda recording: recording.arms.get(plan.name))


def stage_case(case: SkillCase, fixture: Path) -> ScenarioCase:
    """The case as a scenario's stage takes it: its prompt and checks, and the folder that was made for this arm.

    Files of skills are visible, also where a check or the solution runs them.
    """
    scenario = Scenario(
        name=case.id,
        template_folder=".",
        tool=NO_TOOL,
        task=Task(prompt=case.prompt),
        evaluation=Evaluation(gates=case.checks),
        solution=case.reference_commands,
        visible=list(PLACES),
    )
    return ScenarioCase(
        id=case.id,
        category=case.category,
        definition=case.definition,
        place=case.place,
        scenario=scenario,
        tool=NO_TOOL,
        root=fixture,
        folder=".",
        fixture=fixture,
        timeout_s=case.timeout_s,
        max_turns=case.max_turns,
        graders=case.graders,
    )


def _texts(plan: ArmPlan, case: SkillCase, given: Path) -> SkillTexts:
    texts = [beginning_inside(given, path, LARGEST_TEXT).decode("utf-8", "replace") for path in case.files]
    return SkillTexts.of(plan.skills, case.prompt, texts)


# ------------------------------------------------------------------------------------------- what came of it


def _not_held(sentence: str) -> CheckResult:
    return CheckResult(check=sentence, passed=False, detail="not judged")


def _without_measures(artifacts: Path) -> None:
    """What a scenario says of commands of its tool would say nothing here."""
    for name in (METRICS, EVALUATION):
        (artifacts / name).unlink(missing_ok=True)


def _outcome(name: ArmName, result: Result, judged: JudgedExpectations, checks: Sequence[CheckResult]) -> ArmOutcome:
    status, reason, message = result.status, result.reason, result.message
    failed = [check for check in judged.checks if not check.passed]
    if reason == GATES_FAILED and message is not None:
        reason, message = CHECKS_FAILED, message.replace("gates passed", "checks held", 1)
    if judged.error is not None:
        status, reason, message = Status.ERROR, JUDGE_ERROR, judged.error
    elif failed and status is Status.PASSED:
        status, reason = Status.FAILED, EXPECTATIONS_FAILED
        held = len(judged.checks) - len(failed)
        message = f"{held} of {len(judged.checks)} expectations held; not: {failed[0].check}"
    return ArmOutcome(
        arm=name,
        status=status,
        reason=reason,
        message=message,
        expectations=len(checks),
        held=sum(check.passed for check in checks),
        usage=result.usage,
        duration_ms=result.duration_ms,
    )


def ended_badly(run: AgentRun | None, target: Target | Agent) -> str | None:
    """Why the agent's end says nothing of what it would have loaded; `None` where it came to one of its own.

    A limit of the suite is an end that was asked for. What a script of ours or a model in our own loop does is an
    answer, however it ends; the exit code of a program may mean anything.
    """
    if run is None or run.limit is not None:
        return None
    if run.timed_out:
        return "its time was up before it had loaded a skill"
    ended = crashed(run, target)
    return None if ended is None else f"{ended} before it had loaded a skill"


def crashed(run: AgentRun | None, target: Target | Agent) -> str | None:
    """That a program ended, and not well, before a limit was reached; `None` where it didn't, or can't."""
    if run is None or run.limit is not None or run.timed_out or run.completed or not isinstance(target, DrivenAgent):
        return None
    return f"the agent ended with exit code {run.exit_code}"
