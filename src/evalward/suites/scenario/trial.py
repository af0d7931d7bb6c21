"""One trial: a fresh copy of the fixture, an agent that works in it, and then the three layers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evalward.records.base import clean_text
from evalward.records.events import Event, dump_events, events_of
from evalward.records.result import GRADER_ERROR, UNREADABLE, Result, Status
from evalward.records.target_id import target_id
from evalward.records.trace import Trace
from evalward.sandbox.base import NoWorkspaceError, SandboxError
from evalward.sandbox.process import Network, SandboxLimits, Workspace, WorkspaceSettings
from evalward.sandbox.process.temporary import temporary_folder
from evalward.suites.base import TrialBrokenError, TrialOutcome
from evalward.suites.blame import blameless, unreadable
from evalward.suites.judge.ask import Gate
from evalward.suites.judge.judge import Judge
from evalward.suites.loop import keep
from evalward.suites.scenario.artifacts import keep_artifacts, script_events
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.details import EvaluatorResult, GateResult, Interaction, ScenarioDetails
from evalward.suites.scenario.gate_models import Gate as WrittenGate
from evalward.suites.scenario.gates import GateEvidence, evaluate_gates
from evalward.suites.scenario.interaction import ToolCommand, interaction_of, tool_commands
from evalward.suites.scenario.judged import JudgedScenario, judge_trial
from evalward.suites.scenario.judging import JudgingRoom, StageFolder, judges_settings
from evalward.suites.scenario.naming import check_of, how_it_went, name_of
from evalward.suites.scenario.outcome import JUDGE_ERROR, LayerOutcome, composite_score, outcome_of
from evalward.suites.scenario.recorded import parted
from evalward.suites.scenario.results_folder import EVENTS, TRANSCRIPT, ResultsFolder
from evalward.suites.scenario.scripts import (
    ScriptContext,
    ScriptRun,
    check_health,
    run_evaluators,
    run_post_scripts,
    run_setup,
)
from evalward.suites.scenario.transcript import transcript_commands
from evalward.suites.scenario.unread import About, unread_result
from evalward.suites.scenario.watched import WatchedPlace
from evalward.targets.agents.base import AgentJob, AgentRun, Worker
from evalward.targets.agents.scripted import OracleAgent
from evalward.targets.base import BrokeOffError, TrialSkippedError
from evalward.targets.failures import Cause, TargetError

if TYPE_CHECKING:
    from evalward.suites.scenario.graded import Grading

SHOWN_FILES = 20
SETUP_FAILED, HEALTH_FAILED = "setup_failed", "health_check_failed"


@dataclass(frozen=True)
class Walls:
    """How the workspaces of a suite are made."""

    limits: SandboxLimits
    network: Network
    allow_unisolated: bool = False
    judges_network: Network = "none"

    def settings(self, agent: Worker) -> WorkspaceSettings:
        """For one agent, which has to find what it is installed in."""
        return WorkspaceSettings(
            limits=self.limits,
            network=self.network,
            readable=tuple(agent.readable),
            allow_unisolated=self.allow_unisolated,
        )

    def work(self, case: ScenarioCase, agent: Worker, place: Path) -> StageFolder:
        """The stages of one trial, with the walls around those who judge it."""
        return StageFolder(case, judges_settings(self.settings(agent), self.judges_network), place)


@dataclass(frozen=True)
class _Worked:
    """What the agent did, and how it is read."""

    run: AgentRun
    events: Sequence[Event]
    commands: Sequence[ToolCommand]
    interaction: Interaction


@dataclass(frozen=True)
class _Verdict:
    """The layers beside interaction."""

    gates: list[GateResult]
    evaluators: list[EvaluatorResult]
    judged: JudgedScenario
    outcome: LayerOutcome


async def run_scenario(
    walls: Walls, case: ScenarioCase, agent: Worker, trial: int, judge: Judge | None = None
) -> TrialOutcome:
    """One trial. Raises `TrialSkippedError`, and `TrialBrokenError` for whatever is no doing of the agent's.

    What the agent does or leaves that can't be read, copied or judged is its own failure: `unreadable_result`.
    """
    with temporary_folder("judging") as place:
        work = walls.work(case, agent, place)
        try:
            given = await asyncio.to_thread(work.shown, all_of_it=agent.id == OracleAgent.id)
            workspace = await Workspace.create(given, walls.settings(agent))
        except (SandboxError, OSError) as error:
            raise TrialBrokenError(Trace(), Cause.SANDBOX, str(error)) from error
        async with workspace:
            return await _ScenarioStage(workspace, work, agent, trial, judge).play()


class _ScenarioStage:
    """A workspace with everybody who is to appear in it, and what is judged of it elsewhere."""

    def __init__(self, workspace: Workspace, work: StageFolder, agent: Worker, trial: int, judge: Judge | None) -> None:
        self._workspace, self._work, self._agent, self._trial = workspace, work, agent, trial
        self._case, self._judge = work.case, judge
        self._trace = Trace()
        self._room: JudgingRoom | None = None
        with workspace.ours():
            self._results = ResultsFolder(workspace.tmp)

    async def play(self) -> TrialOutcome:
        try:
            setup = await self._prepared()
            await asyncio.to_thread(self._work.remember, self._workspace, self._results)
        except SandboxError as error:
            raise TrialBrokenError(Trace(), Cause.SANDBOX, str(error)) from error
        try:
            return await self._played(setup)
        except (TrialBrokenError, TrialSkippedError):
            raise
        except Exception as error:  # the agent had begun: what breaks us now is what it did or left
            return await self._broke(error)

    async def _played(self, setup: Sequence[ScriptRun]) -> TrialOutcome:
        """From the agent's first step on. Whatever is raised, it is the agent's doing unless somebody else is named."""
        worked = await self._worked()
        self._trace = keep(worked.run.trace)
        await self._workspace.end_processes()  # what the agent left running must not meddle with the judging
        await asyncio.to_thread(self._work.take, self._workspace)
        self._work.earlier.append(self._workspace.folder)
        await self._workspace.close()
        return await self._judged_elsewhere(worked, setup)

    async def _judged_elsewhere(self, worked: _Worked, setup: Sequence[ScriptRun]) -> TrialOutcome:
        """Post scripts, gates, evaluators, judge: none of them in the workspace that the agent had."""

        def context_of(workspace: Workspace, results: ResultsFolder) -> ScriptContext:
            return self._script_context(worked, workspace, results)

        async with JudgingRoom(self._work, context_of) as room:
            self._room = room
            post = await run_post_scripts(room, self._case.scenario.scripts.post, self._context(room.workspace))
            verdict = await self._judged(worked, room)
            await room.finished()
            result = self._result(worked, verdict)
            events = [
                *script_events("setup_command", setup),
                *worked.events,
                *script_events("post_script", post),
            ]
            try:
                kept = await self._artifacts(room.workspace, result, worked.run.transcript, events)
                return TrialOutcome(result, self._trace, kept)
            except (OSError, SandboxError) as error:
                await self._not_ours(self._trace, error)
                blamed = {"status": Status.FAILED, "reason": UNREADABLE, "message": unreadable(error)}
                return TrialOutcome(result.model_copy(update=blamed), self._trace)

    async def _broke(self, error: Exception) -> TrialOutcome:
        trace = self._trace
        if isinstance(error, BrokeOffError):
            trace, error = keep(error.trace), error.error
        await self._not_ours(trace, error)
        return TrialOutcome(self._unreadable(trace, unreadable(error)), trace)

    async def _not_ours(self, trace: Trace, error: Exception) -> None:
        """Raises `TrialBrokenError` where it is a provider's or the harness's fault, and not the agent's."""
        if isinstance(error, NoWorkspaceError):
            raise TrialBrokenError(trace, Cause.SANDBOX, str(error), begun=True) from error
        lost = isinstance(error, SandboxError) and await self._lost()
        ours = blameless(trace, error, lost=lost)
        if ours is not None:
            raise ours from error

    async def _lost(self) -> bool:
        """Has the sandbox ended that was in use?"""
        if self._room is None:
            return await self._workspace.lost()
        return self._room.is_open and await self._room.workspace.lost()

    def _unreadable(self, trace: Trace, why: str) -> Result:
        about = About(self._case, self._trial, self._agent.id, self._workspace.isolation.words())
        return unread_result(about, self._gates, trace, why)

    # --------------------------------------------------------------------------------------- before the agent

    async def _prepared(self) -> list[ScriptRun]:
        """Setup and health check: where they fail there is nothing that an agent could be blamed for."""
        case, context = self._case, self._context(self._workspace, self._results)
        setup = await run_setup(self._workspace, case.scenario.setup.commands, context)
        if setup and not setup[-1].succeeded:
            raise TrialBrokenError(Trace(), SETUP_FAILED, f"the scenario's setup failed: {setup[-1].words()}")
        if case.tool.health_check:
            health = await check_health(self._workspace, case.tool.health_check, context)
            if not health.succeeded:
                why = f"{case.tool.binary} isn't usable, its health check failed: {health.words()}"
                raise TrialBrokenError(Trace(), HEALTH_FAILED, why)
        return setup

    def _context(
        self,
        workspace: Workspace,
        results: ResultsFolder | None = None,
        transcript: Path | None = None,
        events: Path | None = None,
    ) -> ScriptContext:
        agent, model = who(self._agent.id)
        return ScriptContext(
            scenario=self._case.id,
            agent=agent,
            model=model,
            fixture_dir=str(workspace.folder),
            results_dir="" if results is None else str(results.path),
            transcript=None if transcript is None else str(transcript),
            events=None if events is None else str(events),
            tool_env=self._case.tool.env,
        )

    # --------------------------------------------------------------------------------------- the agent

    async def _worked(self) -> _Worked:
        case, workspace = self._case, self._workspace
        cost = case.scenario.cost
        watched = WatchedPlace(workspace, case.pattern)
        job = AgentJob(
            prompt=case.prompt,
            workspace=watched,
            timeout_s=case.timeout_s,
            env=case.tool.env,
            max_turns=case.max_turns,
            budget_usd=cost.max_usd if cost else None,
            listener=None if workspace.isolation.network == "open" else workspace.listener,
        )
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            run = await self._agent.work(case, self._trial, job)
        except TargetError as error:
            raise TrialBrokenError(Trace(), error.cause, error.message, stops_run=error.rule.stops_run) from error
        except SandboxError as error:  # it had not begun: from then on it is a `BrokeOffError`
            raise TrialBrokenError(Trace(), Cause.SANDBOX, str(error)) from error
        events = watched.heard(events_of(run.trace, started, command=[self._agent.id], exit_code=run.exit_code))
        commands = _commands(case, run, events)
        pattern = case.pattern if run.structured else case.transcript_pattern
        interaction = interaction_of(commands, completed=run.completed, per_subcommand=pattern.has_subcommands)
        return _Worked(run, events, commands, interaction)

    # --------------------------------------------------------------------------------------- after the agent

    def _script_context(self, worked: _Worked, workspace: Workspace, results: ResultsFolder) -> ScriptContext:
        """What scripts are told after the run."""
        transcript = results.write(TRANSCRIPT, clean_text(worked.run.transcript))
        events = results.write(EVENTS, dump_events(worked.events))
        return self._context(workspace, results, transcript, events)

    async def _judged(self, worked: _Worked, room: JudgingRoom) -> _Verdict:
        case, context = self._case, self._context(room.workspace)
        grading = self._grading(worked, room)
        evidence = GateEvidence(room, worked.commands, context.env, grading)
        gates = await evaluate_gates(case.scenario.evaluation.gates, evidence)
        if self._work.incomplete is not None:
            gates = [gate.model_copy(update={"passed": False, "message": self._work.incomplete}) for gate in gates]
        evaluators = await run_evaluators(room, case.scenario.scripts.evaluators, context)
        named = [
            Gate(name_of(gate), found.passed, found.message) for gate, found in zip(self._gates, gates, strict=True)
        ]
        judged = await judge_trial(case, worked.run.trace, named, self._judge)
        return _Verdict(
            gates, evaluators, judged, outcome_of(gates, judged.judgement, grading.faults if grading else ())
        )

    def _grading(self, worked: _Worked, room: JudgingRoom) -> Grading | None:
        """Who runs the case's graders, if it has any."""
        case = self._case
        if not case.graders:
            return None
        from evalward.graders.grading import ToGrade  # noqa: PLC0415 - few suites have graders
        from evalward.suites.scenario.graded import Grading  # noqa: PLC0415

        answered = ToGrade.of(case, case.prompt, worked.run.trace)
        return Grading(case.graders, answered, room, self._work.settings.allow_unisolated)

    def _result(self, worked: _Worked, verdict: _Verdict) -> Result:
        case, run, outcome = self._case, worked.run, verdict.outcome
        passed = sum(gate.passed for gate in verdict.gates)
        return Result(
            id=case.id,
            category=case.category,
            definition=case.definition,
            trial=self._trial,
            status=_status(outcome),
            score=float(passed),
            max_score=float(len(verdict.gates)),
            checks=[check_of(gate, found) for gate, found in zip(self._gates, verdict.gates, strict=True)],
            usage=run.trace.usage,
            judge_usage=verdict.judged.outcome.usage if verdict.judged.outcome else None,
            duration_ms=run.trace.duration_ms,
            reason=outcome.reason,
            message=_message(outcome, run, case.timeout_s),
            details=self._details(worked, verdict),
        )

    def _details(self, worked: _Worked, verdict: _Verdict) -> ScenarioDetails:
        run, gates, judgement = worked.run, verdict.gates, verdict.judged.judgement
        passed = sum(gate.passed for gate in gates)
        return ScenarioDetails(
            interaction=worked.interaction,
            gates=gates,
            gates_passed=passed,
            gates_total=len(gates),
            judge_score=judgement.score,
            judge_passed=None if judgement.score is None else judgement.passed,
            judge_error=judgement.error,
            judge=verdict.judged.outcome,
            composite_score=composite_score(
                self._case.scenario.evaluation.composite,
                judge=judgement.score,
                gates_passed=passed,
                gates_total=len(gates),
                first_try=worked.interaction.first_try_success_rate,
            ),
            evaluators=verdict.evaluators,
            completed=run.completed,
            approximate=not run.structured,
            replayed=run.recording is not None,
            diverged_at=parted(run.recording.tool_calls, run.trace.tool_calls) if run.recording else None,
            skipped_events=run.skipped,
            isolation=self._workspace.isolation.words(),
            agent=self._agent.id,
            put_back=self._work.changed[:SHOWN_FILES],
            claims={name: value for name, value in run.claims.items() if isinstance(value, str | int | float)},
        )

    @property
    def _gates(self) -> Sequence[WrittenGate]:
        return self._case.scenario.evaluation.gates

    async def _artifacts(
        self, workspace: Workspace, result: Result, transcript: str, events: Sequence[Event]
    ) -> Path | None:
        try:
            return await asyncio.to_thread(keep_artifacts, workspace, result, self._case.prompt, transcript, events)
        except OSError as error:
            raise SandboxError(f"the artifacts can't be written: {error.strerror or error}") from error


def who(target: str) -> tuple[str, str]:
    """Agent and model of a target's id, as scripts are told them."""
    asked = target_id(target)
    if asked.form == "model":
        return "builtin", target
    return (asked.name, "") if asked.form == "agent" else (asked.head, asked.name)


def _commands(case: ScenarioCase, run: AgentRun, events: Sequence[Event]) -> list[ToolCommand]:
    """The target's commands: from events, or from the transcript of an agent that tells only words."""
    if not run.structured:
        return transcript_commands(run.transcript, case.transcript_pattern)
    return tool_commands(events, case.pattern, killed=True if run.timed_out else None)


def _status(outcome: LayerOutcome) -> Status:
    """A judge or a grader that gives nothing is no fault of the agent, unless gates have failed anyway."""
    if outcome.passed:
        return Status.PASSED
    return Status.ERROR if outcome.reason in {JUDGE_ERROR, GRADER_ERROR} else Status.FAILED


def _message(outcome: LayerOutcome, run: AgentRun, timeout_s: float) -> str | None:
    if outcome.message is None:
        return None
    parts = [outcome.message] if run.completed else [outcome.message, how_it_went(run, timeout_s)]
    return "; ".join([*parts, *([f"its last request was refused: {run.refused}"] if run.refused else [])])
