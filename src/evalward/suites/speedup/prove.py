"""Proves a set of tasks without an agent: the human patch passes and is faster, and nothing at all is not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from evalward.config import LoadedConfig
from evalward.decide.statistics.timing import FEWEST_SAMPLES, slower
from evalward.records.problem import Problem
from evalward.records.target_id import target_id
from evalward.render.numbers import plural
from evalward.sandbox.base import SandboxError
from evalward.sandbox.process.temporary import temporary_folder
from evalward.suites.base import Proof, TrialBrokenError
from evalward.suites.speedup.details import BenchmarkSpeed, Samples, SpeedupDetails
from evalward.suites.speedup.measure.changes import ChangeRefusedError, apply_patch, put_back
from evalward.suites.speedup.measure.evidence import AGENT, NOP, ORACLE
from evalward.suites.speedup.task import SpeedupCase
from evalward.suites.speedup.trial import SpeedupContext, judge, session
from evalward.targets.base import TrialSkippedError
from evalward.targets.per_task import FileTarget


def patches_of(targets: Sequence[str], config: LoadedConfig) -> list[FileTarget]:
    """The targets of a suite that are patches."""
    names = [asked.name for asked in map(target_id, targets) if asked.form == "patch"]
    return [FileTarget("patch", name, config.config.patches[name], config.root) for name in names]


async def prove_cases(equipment: SpeedupContext, cases: Sequence[SpeedupCase], patches: Sequence[FileTarget]) -> Proof:
    """Measure every task's nop, twice over, and its human patch; try whether the patches of the suite apply."""
    problems: list[Problem] = []
    tried = 0
    for case in cases:
        try:
            with temporary_folder("speedup") as place:
                problems += await _prove(equipment, case, place)
                found = [await _refused(equipment, case, patch, place) for patch in patches]
        except (TrialBrokenError, SandboxError, OSError, ValueError) as error:
            message = error.message if isinstance(error, TrialBrokenError) else str(error)
            problems.append(_problem(case, message, "Fix the task."))
            continue
        tried += sum(each is not None for each in found)
        problems += [problem for each in found for problem in each or []]
    counts = f"{plural(len(cases), 'task')} measured with nop and oracle in turns"
    return Proof(problems, f"{counts}, {plural(tried, 'patch', 'patches')} tried")


def _problem(case: SpeedupCase, message: str, remedy: str, field: str = "") -> Problem:
    return Problem(place=case.place, field=field or case.id, message=message, remedy=remedy)


async def _prove(equipment: SpeedupContext, case: SpeedupCase, work: Path) -> list[Problem]:
    await asyncio.to_thread(case.fixture.copy_to, work / "original")
    await asyncio.to_thread(case.fixture.copy_to, work / AGENT)  # nothing is changed there
    nop, oracle, again = await _session(equipment, case, work)
    fast = _faster(case, again)
    if fast:  # a busy machine does that once in some hundred sessions, and a task of noise in the next one too
        fast &= _faster(case, (await _session(equipment, case, work))[-1])
    return [
        *_sound(case, nop, "the untouched code"),
        *_sound(case, oracle, "the human patch"),
        *_sound(case, again, "a second copy of the untouched code"),
        *_slow_oracle(case, oracle),
        *_fast_nothing(case, fast),
    ]


async def _session(equipment: SpeedupContext, case: SpeedupCase, work: Path) -> list[SpeedupDetails]:
    sides = (await session(equipment, case, work, (NOP, ORACLE, AGENT))).sides
    return [judge(case, name, name, sides) for name in (NOP, ORACLE, AGENT)]


def _sound(case: SpeedupCase, details: SpeedupDetails, what: str) -> list[Problem]:
    # not `pytest_failed`: the oracle's own failures are what that one forgives
    failed = [("tests", details.pytest_summary.status != "passed"), ("snapshots", details.snapshot_failed)]
    notes = "; ".join(note for note in details.notes if not note.startswith("MEASURED"))
    return [
        _problem(case, f"{what} fails its {word}: {notes}"[:500], "Fix the task.")
        for word, failing in failed
        if failing
    ]


def _slow_oracle(case: SpeedupCase, oracle: SpeedupDetails) -> list[Problem]:
    """The human patch has to be faster by the task's least effect, in one benchmark beyond chance."""
    if not oracle.resolved:
        return []
    found = oracle.oracle_speedup
    least = 1 + case.task.min_effect
    if found is None or found < least:
        shown = "not available" if found is None else f"{found:.3f}"
        message = f"the human patch is not faster: its speedup is {shown}, and min_effect wants {least:g}"
        return [_problem(case, message, "Fix the patch or the benchmarks.", "oracle")]
    if not any(is_faster(each, case.task.min_effect) for each in oracle.benchmarks if _enough(each.samples)):
        message = f"no benchmark shows beyond chance that the human patch is faster (speedup {found:.3f})"
        return [_problem(case, message, f"Measure {FEWEST_SAMPLES} rounds or more, or longer ones.", "rounds")]
    return []


def _faster(case: SpeedupCase, again: SpeedupDetails) -> set[str]:
    return {each.name for each in again.benchmarks if is_faster(each, case.task.min_effect)}


def _fast_nothing(case: SpeedupCase, fast: set[str]) -> list[Problem]:
    """`fast`: the benchmarks in which a copy without any change was faster than the code itself, twice."""
    if not fast:
        return []
    shown = ", ".join(name[:80] for name in sorted(fast)[:3])
    message = f"an unchanged copy is faster in {shown}, in two sessions: what is measured is noise"
    return [_problem(case, message, "Measure more rounds, longer ones, or on a quieter machine.", "benchmarks")]


def _enough(samples: Samples | None) -> bool:
    return samples is not None and min(len(samples.nop), len(samples.agent)) >= FEWEST_SAMPLES


def is_faster(benchmark: BenchmarkSpeed, min_effect: float) -> bool:
    """Whether the side took less time than the untouched code, by more than the least effect, and not by chance."""
    samples = benchmark.samples
    return samples is not None and slower(samples.agent, samples.nop, 1 + min_effect).slower


async def _refused(equipment: SpeedupContext, case: SpeedupCase, patch: FileTarget, work: Path) -> list[Problem] | None:
    """What is wrong with a patch of the suite; `None` when the task has none of it."""
    target = work / patch.id.replace(":", "-")
    try:
        await apply_patch(work / "original", patch.content(case), target, equipment.settings())
    except TrialSkippedError:
        return None
    except ChangeRefusedError as error:
        return [_problem(case, f"{patch.path_of(case.id)}: {error}", "Fix the patch.", patch.id)]
    changed = put_back(work / "original", target, case.task.protect)
    if changed:
        message = f"{patch.path_of(case.id)} changes {', '.join(changed[:3])}, which is put back before measuring"
        return [_problem(case, message, "Take it out of the patch, or out of `protect`.", patch.id)]
    return []
