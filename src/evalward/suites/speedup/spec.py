"""Suites of optimisation tasks: how much faster a change makes a program, measured beside the human patch."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from evalward.config.agents import AGENT_FORMS
from evalward.config.fields import SomeTexts, Text
from evalward.config.suite import IsolatedSuite, Network
from evalward.config.targets import FILE_FORMS, MODEL_FORMS, TargetForms

_FORMS = (*FILE_FORMS, *AGENT_FORMS)
_CHANGES_NOTHING = ("changes no code, which suites of kind speedup are about", f"Here: {', '.join(_FORMS)}.")


class SpeedupSuite(IsolatedSuite):
    """Optimisation tasks: untouched code, human patch and an agent's change, measured in turns."""

    takes: ClassVar[TargetForms] = TargetForms(
        forms=_FORMS,
        agents=tuple(form for form in AGENT_FORMS if form not in {"oracle", "nop"}),
        refused=dict.fromkeys(("replay:NAME", "program:NAME", *MODEL_FORMS), _CHANGES_NOTHING),
    )

    kind: Literal["speedup"] = Field(description="The family of evaluation")
    cases: SomeTexts = Field(description="YAML files, one task each; patterns such as evals/speedup/*.yaml")
    system: Text | None = Field(
        default=None, description="File with instructions for agents in addition to the task's prompt"
    )
    trials: int = Field(default=1, ge=1, le=100, description="Executions of each task by each target")
    rounds: int = Field(
        default=6,
        ge=1,
        le=1000,
        description="How often each side is measured, in turns; at least 6 to distinguish a slowdown from chance",
    )
    timeout_s: float = Field(
        default=600, gt=0, le=14_400, allow_inf_nan=False, description="Seconds for one command of a task"
    )
    agent_timeout_s: float = Field(
        default=1800, gt=0, le=86_400, allow_inf_nan=False, description="Seconds for an agent's work on one task"
    )
    network: Network = Field(
        default="loopback", description="What tasks and agents can reach: everything, only this machine, or nothing"
    )
    allow_unisolated: bool = Field(
        default=False, description="In a workflow, run tasks and agents even without full isolation"
    )
    memory_mb: int = Field(default=4096, ge=64, le=1_000_000, description="Memory of one side of a task, in MB")
    disk_mb: int = Field(default=2048, ge=1, le=1_000_000, description="Disk of one side of a task, in MB")
