"""One trial of a skill case. Not written yet: whoever runs one gets an error."""

from __future__ import annotations

from evalward.records.trace import Trace
from evalward.suites.base import TrialBrokenError, TrialOutcome
from evalward.suites.skill.case import SkillCase
from evalward.suites.skill.context import SkillPrepared
from evalward.targets.agents.base import Agent
from evalward.targets.base import Target


async def run_skill(
    suite: SkillPrepared,  # noqa: ARG001
    case: SkillCase,  # noqa: ARG001
    target: Target | Agent,  # noqa: ARG001
    trial: int,  # noqa: ARG001
) -> TrialOutcome:
    """Raises `TrialBrokenError`: skills can't be measured by this version."""
    raise TrialBrokenError(Trace(), "sandbox", "this version can't measure skills yet", stops_run=True)
