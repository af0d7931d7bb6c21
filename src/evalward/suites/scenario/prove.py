"""Proves scenarios without a key: the solution passes every gate, and whoever does nothing fails at least one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from evalward.records.problem import Problem
from evalward.records.result import GRADER_ERROR
from evalward.render.numbers import plural
from evalward.sandbox.base import SandboxError
from evalward.sandbox.process.temporary import remove_ours
from evalward.suites.base import Proof, TrialBrokenError
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.details import GateResult, ScenarioDetails
from evalward.suites.scenario.trial import HEALTH_FAILED, SETUP_FAILED, Walls, run_scenario
from evalward.targets.agents.base import Agent
from evalward.targets.agents.scripted import NopAgent, OracleAgent

AT_ONCE = 4  # workspaces
LOOK = "Look at the gates, the solution and the fixture."
ELSEWHERE = (
    "Gates judge in a second copy of the folder, without the agent's HOME and without network: "
    "is what they look at in the folder, and none of it put back (protect:)?"
)
WHERE_FIRST = "Look at setup.commands, tool.health_check and the fixture: no agent has been started yet."


async def prove_cases(cases: Sequence[ScenarioCase], walls: Walls) -> Proof:
    """Run every case's solution, and nothing; all that is wrong with the set."""
    places = asyncio.Semaphore(AT_ONCE)

    async def proven(case: ScenarioCase) -> list[Problem]:
        async with places:
            return await _prove(case, walls)

    found = await asyncio.gather(*map(proven, cases))
    solved = sum(bool(case.scenario.solution) for case in cases)
    without = f", {len(cases) - solved} without a solution" if solved < len(cases) else ""
    summary = (
        f"{solved} of {len(cases)} solutions run{without}, and doing nothing tried on {plural(len(cases), 'scenario')}"
    )
    return Proof([problem for problems in found for problem in problems], summary)


async def _prove(case: ScenarioCase, walls: Walls) -> list[Problem]:
    problems = await _unusable_graders(case, walls)
    if problems:
        return problems
    try:
        solved = await _gates(case, OracleAgent(), walls) if case.scenario.solution else []
        idle = await _gates(case, NopAgent(), walls)
    except TrialBrokenError as error:
        remedy = WHERE_FIRST if error.reason in {SETUP_FAILED, HEALTH_FAILED} else LOOK
        return [Problem(place=case.place, message=f"{case.id!r} can't be tried: {error.message}", remedy=remedy)]
    problems += [
        Problem(
            place=case.place,
            field=f"evaluation.gates[{number}]",
            message=f"the solution of {case.id!r} fails the gate {gate.gate_type}: {gate.message}",
            remedy=f"{LOOK} {ELSEWHERE}",
        )
        for number, gate in enumerate(solved)
        if not gate.passed
    ]
    if idle and all(gate.passed for gate in idle):
        message = f"all gates of {case.id!r} pass when nothing is done"
        remedy = "Add a gate that fails as long as the task isn't done."
        problems.append(Problem(place=case.place, field="evaluation.gates", message=message, remedy=remedy))
    return problems


async def _unusable_graders(case: ScenarioCase, walls: Walls) -> list[Problem]:
    """Graders whose function can't be found, looked up where they run."""
    if not case.graders:
        return []
    from evalward.graders.grading import Grader, GraderError  # noqa: PLC0415 - few suites have graders

    problems = []
    for source in case.graders.values():
        try:
            await Grader(source, allow_unisolated=walls.allow_unisolated).look_up()
        except (GraderError, SandboxError) as error:
            remedy = "Fix the grader, or the name in the gate."
            problems.append(Problem(place=case.place, field="evaluation.gates", message=str(error), remedy=remedy))
    return problems


async def _gates(case: ScenarioCase, agent: Agent, walls: Walls) -> list[GateResult]:
    outcome = await run_scenario(walls, case, agent, 1)
    if outcome.artifacts is not None:
        await asyncio.to_thread(remove_ours, outcome.artifacts)
    result = outcome.result
    if result.reason == GRADER_ERROR:
        raise TrialBrokenError(outcome.trace, GRADER_ERROR, result.message or "a grader gave no answer")
    details = outcome.result.details
    return details.gates if isinstance(details, ScenarioDetails) else []
