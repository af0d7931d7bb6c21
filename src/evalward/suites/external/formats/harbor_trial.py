"""One trial of harbor: its rewards, what broke it, and what it took."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from evalward.records.problem import wrong
from evalward.records.result import Status
from evalward.suites.external.formats.atif import trace_of
from evalward.suites.external.formats.base import ForeignFile, ForeignTrial, Score
from evalward.suites.external.formats.values import between, including_cache, mapping, number, text, word

CANCELLED = "cancelled"
REWARD = "reward"
"""The reward that decides, where a task has several."""
PASSING = 1.0
_OF_THE_TARGET = frozenset(
    {
        "AgentTimeoutError",
        "ContextWindowExceededError",
        "OutputTokenExceededError",
        "ContextLengthExceededError",
        "OutputLengthExceededError",
        "AgentSafetyRefusalError",
        "ContentPolicyViolationError",
    }
)
"""What an agent runs into by its own doing: the verifier looks at what it left, and the reward counts."""
_CANCELLED = frozenset({"CancelledError"})


def foreign_trial(file: ForeignFile, value: Mapping[str, Any], trajectory: ForeignFile | None) -> ForeignTrial:
    """The trial that a `result.json` tells. Raises `InputError` where it names no task."""
    task = text(value.get("task_name"))
    if not task:
        raise wrong(file.name, "the trial names no task", "Have harbor write it again.")
    scores = _scores(value)
    status, reason = _ending(value, scores)
    spent = mapping(value.get("agent_result"))
    usage = including_cache(
        spent.get("n_input_tokens"), spent.get("n_cache_tokens"), spent.get("n_output_tokens"), spent.get("cost_usd")
    )
    duration = _duration(value)
    return ForeignTrial(
        case=task,
        status=status,
        suite=text(value.get("source")),
        target=_target(value),
        asked={"task": task, "checksum": text(value.get("task_checksum")) or None},
        reason=reason,
        message=_message(value, scores),
        scores=scores,
        usage=usage,
        duration_ms=duration,
        trace=partial(trace_of, trajectory, duration, usage) if trajectory is not None else None,
    )


def _scores(value: Mapping[str, Any]) -> dict[str, Score]:
    rewards = mapping(mapping(value.get("verifier_result")).get("rewards"))
    deciding = REWARD if REWARD in rewards or len(rewards) != 1 else next(iter(rewards))
    return {name: _score(number(reward), name == deciding) for name, reward in rewards.items()}


def _score(value: float | None, decides: bool) -> Score:
    if value is None:
        return Score(error="the reward is not a number", decides=decides)
    return Score(value=value, passed=value >= PASSING if decides else None, decides=decides)


def _ending(value: Mapping[str, Any], scores: Mapping[str, Score]) -> tuple[Status | None, str | None]:
    """How the trial ended, and why in a word. An exception decides, but one of the target's with a reward."""
    kind = text(mapping(value.get("exception_info")).get("exception_type"))
    if kind in _CANCELLED:
        return Status.SKIPPED, CANCELLED
    passed = next((score.passed for score in scores.values() if score.decides), None)
    if value.get("exception_info") is not None and (kind not in _OF_THE_TARGET or passed is None):
        return Status.ERROR, word(kind, "exception")
    if passed is None:
        return None, None
    return (Status.PASSED, None) if passed else (Status.FAILED, kind or "reward")


def _message(value: Mapping[str, Any], scores: Mapping[str, Score]) -> str:
    said = text(mapping(value.get("exception_info")).get("exception_message"))
    if said:
        return said
    rewards = ", ".join(f"{name} {score.value:g}" for name, score in scores.items() if score.value is not None)
    return f"rewards: {rewards}" if rewards else "the verifier gave no reward"


def _duration(value: Mapping[str, Any]) -> int | None:
    """What the agent took; building its environment and verifying are no part of it."""
    spent = mapping(value.get("agent_execution"))
    return between(spent.get("started_at"), spent.get("finished_at"))


def _target(value: Mapping[str, Any]) -> str:
    """The agent with its model, as AGENT/PROVIDER/MODEL."""
    info = mapping(value.get("agent_info"))
    model = mapping(info.get("model_info"))
    parts = (text(info.get("name")), text(model.get("provider")), text(model.get("name")))
    return "/".join(part for part in parts if part)
