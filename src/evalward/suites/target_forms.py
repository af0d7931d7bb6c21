"""Which targets a kind takes, where several kinds say it alike."""

from __future__ import annotations

from collections.abc import Mapping

from evalward.config.agents import AGENT_FORMS
from evalward.config.targets import FILE_FORMS, KNOWN_TARGETS, TargetForms

NO_FILES: Mapping[str, tuple[str, str]] = dict.fromkeys(
    FILE_FORMS, ("gives no answers", "It is for suites of kind speedup.")
)
"""What is said of targets that are files, where somebody has to answer or work."""


def talked_with(kind: str, refused: Mapping[str, tuple[str, str]] = {}) -> TargetForms:
    """Targets that are asked, turn by turn: no agents, no files, and nothing of what the kind itself refuses."""
    no_agent = (
        f"is an agent, which works by itself; suites of kind {kind} have none",
        f"Agents work on suites of kind scenario and speedup. Here: {', '.join(KNOWN_TARGETS)}.",
    )
    agents = dict.fromkeys([form for form in AGENT_FORMS if form not in KNOWN_TARGETS], no_agent)
    return TargetForms(refused={**refused, **agents, **NO_FILES})
