"""skill-creator's `benchmark.json`: the runs of a skill's evals, with the skill and without it.

The arms (`with_skill`, `without_skill`, `old_skill`) are targets: trials of different targets are pooled in no metric,
and each arm is compared with its own past. As suites they would end in one run where a suite of the configuration
takes them all. A run passes when all its expectations hold. The file's `tokens` are left out: it has one number for
input and output, and the length of the output in characters where that number is unknown.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from evalward.records.moments import latest
from evalward.records.problem import wrong
from evalward.records.result import CheckResult, Status
from evalward.suites.external.formats.base import ForeignFile, ForeignResults, ForeignTrial, Score
from evalward.suites.external.formats.values import count, mapping, milliseconds, number, outline, rows, text, whole

TITLE = "a benchmark of skill-creator"
FILE = "benchmark.json"
RATE = "pass_rate"
_BENCHMARK = frozenset({"metadata", "runs"})
_RUN = frozenset({"runs.eval_id", "runs.configuration"})
_METADATA = frozenset({"metadata.skill_name", "metadata.evals_run"})
_MOST_NAMES, _MOST_NAME = 8, 60  # in a note
_REMEDY = "Have skill-creator aggregate its runs again."


class SkillCreator:
    """The format."""

    title = TITLE

    def recognises(self, file: ForeignFile, head: bytes) -> bool:  # noqa: ARG002 - the protocol's
        """By the keys of its object and of the first run in it."""
        keys = outline(head)
        return keys >= _BENCHMARK and (keys >= _RUN or keys >= _METADATA)

    def belongs(self, name: str) -> bool:
        """By its fixed name."""
        return posixpath.basename(name) == FILE

    def read(self, files: Sequence[ForeignFile]) -> Sequence[ForeignResults]:
        """Each file one run. Raises `InputError`."""
        return [_results(file) for file in files if self.belongs(file.name) or self.recognises(file, file.head())]


FORMAT = SkillCreator()


def _results(file: ForeignFile) -> ForeignResults:
    value = mapping(whole(file, TITLE))
    about, runs = mapping(value.get("metadata")), rows(value.get("runs"))
    if not runs:
        raise wrong(file.name, "there is no run in it", "Let skill-creator run at least one eval.")
    asked = _expectations(runs)
    trials = [_trial(run, about, asked, file) for run in runs]
    _refuse_twice(trials, file)
    made_at = latest([about.get("timestamp")])
    return ForeignResults(trials, made_at=made_at, notes=_notes(trials, asked), file=file.name)


def _expectations(runs: Sequence[Mapping[str, Any]]) -> Mapping[str, list[str] | None]:
    """What each eval expects; `None` where its runs were graded by different words, which then define nothing."""
    found: dict[str, list[str] | None] = {}
    for run in runs:
        expected = [text(one.get("text")) for one in rows(run.get("expectations"))]
        if expected:
            name = _eval(run)
            found[name] = expected if found.setdefault(name, expected) == expected else None
    return found


def _trial(
    run: Mapping[str, Any], about: Mapping[str, Any], asked: Mapping[str, list[str] | None], file: ForeignFile
) -> ForeignTrial:
    name, arm = _eval(run), text(run.get("configuration"))
    if not name or not arm:
        raise wrong(file.name, "a run has no eval_id or no configuration", _REMEDY)
    counted, graded = mapping(run.get("result")), rows(run.get("expectations"))
    status = _status(counted, graded)
    rate = number(counted.get(RATE)) if status is not None else None
    return ForeignTrial(
        case=name,
        status=status,
        number=count(run.get("run_number")) or None,
        suite=_told(about.get("skill_name")),
        target="/".join(part for part in (_told(about.get("executor_model")), arm) if part),
        asked={"eval": name, "expectations": asked.get(name)},
        reason=None if status is Status.PASSED else "expectation" if status is Status.FAILED else None,
        message=_message(graded, status),
        scores={} if rate is None else {RATE: Score(value=rate, passed=status is Status.PASSED)},
        checks=[_check(one) for one in graded],
        duration_ms=milliseconds(counted.get("time_seconds")) or None,
    )


def _eval(run: Mapping[str, Any]) -> str:
    """The eval's id, mostly a whole number."""
    found = run.get("eval_id")
    return text(found) or ("" if (known := count(found)) is None else str(known))


def _told(value: Any) -> str:
    """A name in the metadata; what the aggregating script puts there for people to fill in is none."""
    found = text(value)
    return "" if found.startswith("<") and found.endswith(">") else found


def _status(counted: Mapping[str, Any], graded: Sequence[Mapping[str, Any]]) -> Status | None:
    """Passed when every expectation holds, by the counts as by the list. A run without grading counts none."""
    passed, total = count(counted.get("passed")), count(counted.get("total"))
    if passed is None or not total or not all(isinstance(one.get("passed"), bool) for one in graded):
        return None
    return Status.PASSED if passed >= total and all(one["passed"] for one in graded) else Status.FAILED


def _message(graded: Sequence[Mapping[str, Any]], status: Status | None) -> str:
    if status is None:
        return "the run was not graded"
    return "; ".join(text(one.get("text")) for one in graded if one.get("passed") is False)


def _check(one: Mapping[str, Any]) -> CheckResult:
    return CheckResult(check=text(one.get("text")), passed=one.get("passed") is True, detail=text(one.get("evidence")))


def _refuse_twice(trials: Sequence[ForeignTrial], file: ForeignFile) -> None:
    seen: set[tuple[str, str, int]] = set()
    for trial in trials:
        if trial.number is None:
            continue
        key = (trial.target, trial.case, trial.number)
        if key in seen:
            raise wrong(file.name, f"run {trial.number} of eval {trial.case} occurs in it twice", _REMEDY)
        seen.add(key)


def _notes(trials: Sequence[ForeignTrial], asked: Mapping[str, list[str] | None]) -> list[str]:
    """What is easily overlooked: runs without a grading are left out of the file, and graders change the words."""
    arms: dict[str, set[tuple[str, int | None]]] = defaultdict(set)
    for trial in trials:
        arms[trial.target].add((trial.case, trial.number))
    notes = []
    if len({frozenset(runs) for runs in arms.values()}) > 1:
        counts = ", ".join(f"{arm[:_MOST_NAME]} {len(runs)}" for arm, runs in list(arms.items())[:_MOST_NAMES])
        notes.append(f"the arms have not the same runs: {counts}; skill-creator leaves out those without a grading")
    reworded = [name for name, expected in asked.items() if expected is None]
    if reworded:
        evals = ", ".join(name[:_MOST_NAME] for name in reworded[:_MOST_NAMES])
        notes.append(f"the expectations differ between runs of eval {evals}: its id alone defines it")
    return notes
