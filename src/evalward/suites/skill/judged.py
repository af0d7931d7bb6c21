"""A task's expectations: sentences, of which a judge says one by one whether each holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalward.opening import FolderEntry, beginning_inside, walk_inside
from evalward.records.judge import JudgeOutcome
from evalward.records.metric import EPSILON
from evalward.records.problem import InputError
from evalward.records.result import CheckResult
from evalward.records.trace import Trace
from evalward.suites.judge.ask import Gate, JudgeInput
from evalward.suites.judge.rubric import Criterion, JudgeOutput, Rubric
from evalward.suites.judge.transcript import shortened
from evalward.suites.judge.who import Judges
from evalward.suites.scenario.judged import NO_JUDGE
from evalward.suites.skill.case import SkillCase
from evalward.suites.skill.skill_file import PLACES

EXPECTED_HEAD, EXPECTED_TAIL = 4_000, 1_000
FILE_HEAD, FILE_TAIL = 1_500, 500
MOST_FILES, MOST_TOLD = 12, 60
"""Files whose text is shown, and whose names are."""
LARGEST = 200_000
"""Bytes that are read of a file."""
HOLDS = "1 if this holds of what was done and of what came of it, 0 if it doesn't or nothing shows it: "
ANSWER = JudgeOutput(require_fields=["scores", "issues"])


@dataclass(frozen=True)
class JudgedExpectations:
    """Each sentence as a check, with what the judge said. `error` says why nobody judged."""

    checks: list[CheckResult]
    outcome: JudgeOutcome | None = None
    error: str | None = None


@dataclass(frozen=True)
class WorkDone:
    """What is judged: the conversation, the checks, and the folder before and after, `None` where it wasn't kept.

    `name` is what a recorded judge knows it by.
    """

    name: str
    trace: Trace
    gates: Sequence[Gate]
    given: Path
    left: Path | None


async def judge_expectations(case: SkillCase, done: WorkDone, judges: Judges | None) -> JudgedExpectations:
    """What a judge says of each sentence, without being told which skills were installed."""
    rubric = asked_of(case)
    if rubric is None:
        return JudgedExpectations([])
    judge = judges.of() if judges is not None else None
    if judge is None or judges is None:
        return JudgedExpectations([], error=NO_JUDGE)
    shown = JudgeInput(done.name, case.prompt, done.trace, done.gates, more=_more(case, done))
    outcome = await judge.judge(shown, rubric, judges.threshold)
    if outcome.error is not None or not outcome.scores:
        return JudgedExpectations([], outcome, f"{judge.model} could not judge: {outcome.error or 'it gave no scores'}")
    scores = [outcome.scores[criterion.id] for criterion in rubric.criteria]
    checks = [
        CheckResult(check=sentence, passed=score >= judges.threshold - EPSILON, detail=f"the judge gave it {score:.2f}")
        for sentence, score in zip(case.expectations, scores, strict=True)
    ]
    held = all(check.passed for check in checks)
    return JudgedExpectations(checks, outcome.model_copy(update={"passed": held}))


def asked_of(case: SkillCase) -> Rubric | None:
    """The case's sentences as questions that are answered by yes or no; `None` without any."""
    rubric = case.rubric
    if rubric is None:
        return None
    criteria = [
        Criterion(id=each.id, weight=each.weight, description=f"{HOLDS}{each.description}"[:2_000])
        for each in rubric.criteria
    ]
    return Rubric(criteria=criteria, output=ANSWER)


def _more(case: SkillCase, done: WorkDone) -> list[tuple[str, str]]:
    parts = []
    if case.expected_output.strip():
        parts.append(("EXPECTED OUTPUT", shortened(case.expected_output, EXPECTED_HEAD, EXPECTED_TAIL)))
    if done.left is not None:
        parts.append(("FILES THAT IT LEFT", files_left(done.given, done.left)))
    return parts


def files_left(given: Path, left: Path) -> str:
    """The files that are new or changed, without the installed skills: names, and the texts of the first of them."""
    try:
        changed = [entry for entry in _files(left) if not _as_given(given, left, entry)]
    except (InputError, OSError):
        return "(They can't be read.)"
    if not changed:
        return "(None: the folder is as it was.)"
    texts = [_told(left, entry) for entry in changed[:MOST_FILES]]
    names = [entry.path for entry in changed[MOST_FILES:MOST_TOLD]]
    rest = [f"[… {len(changed) - MOST_TOLD} more files …]"] if len(changed) > MOST_TOLD else []
    return "\n\n".join([*texts, *names, *rest])


def _files(left: Path) -> list[FolderEntry]:
    return [
        entry
        for entry in walk_inside(left, ".", {".git", "__pycache__"})
        if entry.is_file and not any(entry.path.startswith(f"{place}/") for place in PLACES)
    ]


def _as_given(given: Path, left: Path, entry: FolderEntry) -> bool:
    """Whether the file was there before with this content, as far as it is read."""
    try:
        before = beginning_inside(given, entry.path, LARGEST)
    except (InputError, OSError):
        return False
    return before == beginning_inside(left, entry.path, LARGEST)


def _told(left: Path, entry: FolderEntry) -> str:
    content = beginning_inside(left, entry.path, LARGEST)
    if b"\0" in content:
        return f"{entry.path}: {entry.size:,} bytes, not text"
    text = shortened(content.decode("utf-8", "replace"), FILE_HEAD, FILE_TAIL)
    return f"{entry.path} ({entry.size:,} bytes):\n{text}"
