"""What one skill trial says to a comparison and to people, and what its arms say to a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalward.decide.kinds import NO_EVIDENCE, CaseEvidence, Contrast
from evalward.decide.statistics.permutation import CaseValues
from evalward.records.policy import Arm
from evalward.records.result import Details, Result, Status
from evalward.render.entries import answer_lines
from evalward.render.kinds import TrialText
from evalward.suites.skill.details import UPLIFTS, ArmOutcome, LoadedSkill, SkillDetails
from evalward.suites.skill.metrics import PER_TRIAL, details_of, values_of

NO_SKILL = "(no skill)"
"""What stands for a skill where none was loaded, or none should be."""
_ANSWER = 600  # characters of what a trial was to do, and did


def evidence(result: Result) -> CaseEvidence:
    """Whether a replay went as recorded; what was loaded in place of what its checks say."""
    details = result.details
    if not isinstance(details, SkillDetails):
        return NO_EVIDENCE
    return CaseEvidence(replayed=details.replayed, diverged=details.diverged_at is not None)


def expected_skill(details: SkillDetails) -> str:
    """The skill that a query should load; for one that should load none which it must not."""
    if details.wants is not None:
        return details.wants
    return f"not {', '.join(details.unwanted) or details.skill}"


def loaded_words(loaded: Sequence[LoadedSkill]) -> str:
    """The skills in the order in which they were loaded: `xlsx (read), then csv`."""
    return ", then ".join(_loaded(each) for each in loaded) or NO_SKILL


def _loaded(skill: LoadedSkill) -> str:
    notes = [note for holds, note in ((skill.how == "read", "read"), (skill.subagent, "by a sub-agent")) if holds]
    return f"{skill.name} ({', '.join(notes)})" if notes else skill.name


def as_failed(details: Details) -> Details:
    """The trial, had it gone wrong in all: no skill loaded where one should be, and its own where none should."""
    if not isinstance(details, SkillDetails):
        return details
    arms = [_failed(arm) if arm.arm == "with" else arm for arm in details.arms]
    update: dict[str, Any] = {"arms": arms}
    if details.asks == "trigger":
        taken = details.wants is None
        loaded = [LoadedSkill(name=details.skill, origin="suite", how="called")] if taken else []
        update |= {"loaded": loaded, "triggered": taken, "won": details.skill if taken else None, "correct": False}
    return details.model_copy(update=update)


def _failed(arm: ArmOutcome) -> ArmOutcome:
    return arm.model_copy(update={"held": 0, "status": Status.FAILED})


def contrast(metric: str, arm: Arm, results: Sequence[Result]) -> Contrast | None:
    """The arms of an uplift, case by case, over the trials that tell it in both."""
    if metric not in UPLIFTS or arm != "without":
        return None
    cases: dict[str, CaseValues] = {}
    for result in results:
        values = values_of(result, metric)
        if values is not None:
            known = cases.get(result.id, CaseValues((), ()))
            cases[result.id] = CaseValues((*known.before, values[1]), (*known.now, values[0]))
    others = [details_of(result).arm(arm) for result in results]
    tried = sum(other is not None and other.status is not Status.SKIPPED for other in others)
    shape = PER_TRIAL[metric]
    return Contrast(cases, shape.unit, shape.better, tried)


def trial_text(result: Result) -> TrialText:
    """Turns of the agent and loaded skills; of a failed query what it should have loaded."""
    details = result.details
    if not isinstance(details, SkillDetails):
        return TrialText()
    arm = details.arm("with")
    turns = "" if arm is None or arm.turns is None else f"{arm.turns:,}"
    session = ""
    if result.status is Status.FAILED and details.asks == "trigger":
        session = answer_lines(expected_skill(details), loaded_words(details.loaded), _ANSWER)
    return TrialText(turns=turns, session=session)
