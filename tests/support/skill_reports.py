"""Trials, runs and reports of skill suites, as they would be left, for the tests of whoever measures or shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from evalward.records.base import digest
from evalward.records.baseline import Baseline
from evalward.records.comparison import SKILL_DESCRIPTION_OF, SKILL_OF
from evalward.records.report import Report, Run, Subject, Tool
from evalward.records.result import Result, Status
from evalward.records.trace import Usage
from evalward.suites.skill.details import ArmName, ArmOutcome, LoadedSkill, Origin, SkillDetails
from evalward.suites.skill.findings import interpret
from evalward.suites.skill.kind import SKILL
from evalward.suites.skill.metrics import measure
from support.written import make_baseline


def loaded(name: str, origin: Origin = "suite", how: Literal["called", "read"] = "called") -> LoadedSkill:
    """A skill that an agent loaded."""
    return LoadedSkill(name=name, origin=origin, how=how)


def query(
    skill: str = "csv",
    *won: str | LoadedSkill,
    wanted: bool = True,
    id_: str = "merge-two-tables",
    trial: int = 1,
    known: bool = True,
) -> Result:
    """A query that should (not) load a skill, and the skills that were loaded. Not `known`: nobody knows which."""
    took = [loaded(each) if isinstance(each, str) else each for each in won]
    triggered = any(each.name == skill and each.how == "called" for each in took)
    calls = [each for each in took if each.how == "called"]
    right = triggered if wanted else not triggered
    details = SkillDetails(
        asks="trigger",
        skill=skill,
        wants=skill if wanted else None,
        unwanted=[] if wanted else [skill],
        loaded=took,
        triggered=triggered if known else None,
        won=calls[0].name if calls else None,
        correct=right if known else None,
    )
    return _result(f"{skill}/trigger/{id_}", skill, trial, right, details)


def arm(
    name: ArmName,
    held: int,
    of: int = 4,
    *,
    status: str = "",
    tokens: int | None = 1_000,
    cost: float | None = 0.01,
    skill: str | None = "csv",
    duration_ms: int = 4_000,
) -> ArmOutcome:
    """An arm in which so many expectations hold; the arm `with` loads the skill."""
    return ArmOutcome(
        arm=name,
        status=Status(status or ("passed" if held == of else "failed")),
        expectations=of,
        held=held,
        usage=Usage(input_tokens=tokens, output_tokens=None if tokens is None else 0, cost_usd=cost),
        duration_ms=duration_ms,
        turns=3,
        loaded=[loaded(skill)] if skill and name == "with" else [],
    )


def task(id_: str, *arms: ArmOutcome, trial: int = 1, skill: str = "csv") -> Result:
    """A task and its arms; it ends as the arm `with` does."""
    main = next(each for each in arms if each.arm == "with")
    details = SkillDetails(asks="task", skill=skill, arms=list(arms), loaded=main.loaded, triggered=bool(main.loaded))
    return _result(f"{skill}/{id_}", skill, trial, main.status is Status.PASSED, details, duration_ms=main.duration_ms)


def _result(id_: str, skill: str, trial: int, passed: bool, details: SkillDetails, **more: Any) -> Result:
    return Result(
        id=id_,
        category=skill,
        definition=digest(id_),
        trial=trial,
        status=Status.PASSED if passed else Status.FAILED,
        reason=None if passed else "wrong_skill",
        score=float(passed),
        max_score=1.0,
        details=details,
        **more,
    )


def tasks(*pairs: tuple[int, int], trials: int = 1, of: int = 4) -> list[Result]:
    """A task for each pair: what holds with the skill, and without it."""
    return [
        task(f"t{number}", arm("with", held, of), arm("without", bare, of), trial=trial)
        for number, (held, bare) in enumerate(pairs)
        for trial in range(1, trials + 1)
    ]


def skill_run(
    results: Sequence[Result], target: str = "claude-code/haiku", descriptions: Mapping[str, str] = {}, **more: Any
) -> tuple[Run, dict[str, str]]:
    """A run of these trials, and the texts of its subject."""
    measurement = measure(results)
    texts = {digest(words): words for words in (f"{name}: {text}\n" for name, text in descriptions.items())}
    parts = {f"{SKILL_DESCRIPTION_OF}{name}": digest(f"{name}: {text}\n") for name, text in descriptions.items()}
    parts |= {f"{SKILL_OF}{name}": digest([name, text]) for name, text in descriptions.items()}
    run = Run(
        suite="skills",
        kind="skill",
        target=target,
        trials=max((each.trial for each in results), default=1),
        planned=len(results),
        subject=Subject.model_validate({"hash": digest(parts), **parts}),
        metrics=measurement.metrics,
        categories=measurement.categories,
        findings=interpret(results),
        cases=list(results),
        **{"random": True, **more},
    )
    return run, texts


def skill_report(results: Sequence[Result], descriptions: Mapping[str, str] = {}, **more: Any) -> Report:
    """A report of one run."""
    run, texts = skill_run(results, descriptions=descriptions, **more)
    return Report(tool=Tool(version="1"), created_at="2026-11-23T08:00:00Z", runs=[run], texts=texts)


def skill_base(report: Report) -> Baseline:
    """The baseline that a report makes."""
    return make_baseline(report, "report.json", None, {"skill": SKILL})
