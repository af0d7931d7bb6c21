"""Proves the cases of a skill suite without a key: who loads what is wanted passes, and who does nothing does not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from evalward.records.problem import Problem
from evalward.records.result import CheckResult, Status
from evalward.render.numbers import plural
from evalward.suites.base import Proof, TrialBrokenError
from evalward.suites.skill.arm import ArmJob, ArmPlan, drop
from evalward.suites.skill.case import SkillCase
from evalward.suites.skill.context import SkillContext, SkillPrepared
from evalward.suites.skill.trial import run_skill
from evalward.targets.agents.base import Agent
from evalward.targets.agents.scripted import NopAgent, OracleAgent
from evalward.targets.base import TrialSkippedError

AT_ONCE = 4  # workspaces
LOOK = "Look at the checks, the solution and the files."


async def prove_skills(suite: SkillPrepared) -> Proof:
    """Load the skill of every query, run every task's solution, and do nothing; all that is wrong with the set."""
    places = asyncio.Semaphore(AT_ONCE)

    async def proven(case: SkillCase) -> list[Problem]:
        async with places:
            try:
                return await (_query(suite, case) if case.asks == "trigger" else _task(suite.settings, case))
            except TrialBrokenError as error:
                return [_problem(case, f"{case.id!r} can't be tried: {error.message}")]

    found = await asyncio.gather(*map(proven, suite.cases))
    queries = sum(case.asks == "trigger" for case in suite.cases)
    tasks = len(suite.cases) - queries
    solved = sum(case.asks == "task" and bool(case.solution) for case in suite.cases)
    return Proof([problem for problems in found for problem in problems], _summary(queries, tasks, solved))


def _summary(queries: int, tasks: int, solved: int) -> str:
    """What was tried; tasks in Anthropic's form have no solution."""
    parts = [f"{plural(queries, 'query', 'queries')} tried"] if queries else []
    parts += [f"{solved} of {tasks} tasks solved by their solution"] if solved else []
    return ", ".join([*parts, *([f"{plural(tasks - solved, 'task')} without a solution"] if solved < tasks else [])])


async def _query(suite: SkillPrepared, case: SkillCase) -> list[Problem]:
    try:
        outcome = await run_skill(suite, case, OracleAgent(), 1)
    except TrialSkippedError:
        return []
    drop(outcome.artifacts)
    if outcome.result.status is Status.PASSED:
        return []
    message = f"{case.id!r}: what should be loaded can't be: {outcome.result.message}"
    return [_problem(case, message, "Look at the name in SKILL.md and at what it says that no other skill says.")]


async def _task(context: SkillContext, case: SkillCase) -> list[Problem]:
    """Of its checks: what a judge would say nobody is asked."""
    if not case.checks:
        return []
    problems = []
    if case.solution:
        problems += [
            _problem(case, f"the solution of {case.id!r} fails the check {check.check}: {check.detail}")
            for check in await _checks(context, case, OracleAgent())
            if not check.passed
        ]
    if all(check.passed for check in await _checks(context, case, NopAgent())):
        remedy = "Add a check that fails as long as the task isn't done."
        problems.append(_problem(case, f"all checks of {case.id!r} pass when nothing is done", remedy))
    return problems


async def _checks(context: SkillContext, case: SkillCase, agent: Agent) -> Sequence[CheckResult]:
    plan = ArmPlan("with", {"suite": [context.named(case.skill)]})
    arm = await ArmJob(context, plan, case.model_copy(update={"expectations": []}), agent, 1).run()
    drop(arm.artifacts)
    return arm.checks


def _problem(case: SkillCase, message: str, remedy: str = LOOK) -> Problem:
    return Problem(place=case.place, message=message, remedy=remedy)
