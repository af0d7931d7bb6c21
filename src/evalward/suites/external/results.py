"""From what another harness's files tell to runs of ours: cleaned, numbered, hashed, each trial's ending decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import isfinite
from typing import Any

from evalward.records.base import acyclic, clean_text, digest, fitting
from evalward.records.blocks import block_text
from evalward.records.problem import wrong
from evalward.records.report import HARNESS
from evalward.records.result import Result, Status, Trial
from evalward.records.trace import Trace
from evalward.render.numbers import plural
from evalward.suites.external.choice import UNJUDGED, ScoreChoice
from evalward.suites.external.dates import FileDates
from evalward.suites.external.details import MOST_SCORES, ExternalDetails
from evalward.suites.external.formats.base import MOST_TRIALS, ForeignResults, ForeignTrial, too_many
from evalward.suites.external.numbering import TrialNumbers
from evalward.suites.external.several import SeveralFiles, two_runs
from evalward.suites.external.unsaid import no_such_score, no_verdict, scores_of
from evalward.suites.gathering import GatheredRun

KIND = "external"
NO_CATEGORY = "general"
MOST_NAME = 200  # characters of an id, a category, a target
MOST_MESSAGE = 2_000
MOST_TRACES, MOST_PASSED_TRACES = 10_000, 2_000
"""Conversations that are kept: files of their own. Those of trials that didn't pass come first."""
MAIN_SCORE = "score"
"""What readers call the score that the harness itself gives the whole trial."""

CaseOfTarget = tuple[str, str]
"""A target and the id of a case."""
KeepTrial = Callable[[Trial], str]
"""Writes a trial down; the path that the report names."""


@dataclass(frozen=True)
class Reading:
    """How files are read as results of a suite.

    `grouped`: the harness's own groups (tasks, datasets, prompts) are one suite together, and part of the cases' ids.
    `lower` are the scorers where less is better. `target`: who is evaluated where the files don't say. `keep` writes
    conversations down, if anybody does. `pool`: several runs of the harness are counted together. `taken`: how many
    trials a case has already; `only`: the cases that are wanted.
    """

    format: str
    choice: ScoreChoice = field(default_factory=ScoreChoice)
    lower: Sequence[str] = ()
    target: str = ""
    suite: str | None = None
    keep: KeepTrial | None = None
    pool: bool = True
    taken: Mapping[CaseOfTarget, int] = field(default_factory=dict)
    only: Collection[CaseOfTarget] | None = None

    def again(self, only: Collection[CaseOfTarget], taken: Mapping[CaseOfTarget, int]) -> Reading:
        """The same for further trials of some cases, in whichever files."""
        return replace(self, only=only, taken=taken, pool=True)

    @property
    def grouped(self) -> bool:
        """Whether a suite was named that all groups belong to."""
        return self.suite is not None


@dataclass
class ExternalRun:
    """The results of one suite with one target, and what identifies them.

    `planned`: trials that there should be, where the files tell it. `texts`: what was asked, by definition. `raw` is
    the harness's own name of a case by ours, `again` what its command takes to try the case again; `definitions` are
    those of the cases.
    """

    suite: str
    target: str
    results: list[Result] = field(default_factory=list)
    planned: int | None = None
    subject: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    raw: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)

    @property
    def gathered(self) -> GatheredRun:
        """What a report has of it."""
        return GatheredRun(self.target, self.results, self.planned, self.subject, self.texts, self.again)


@dataclass(frozen=True)
class ExternalResults:
    """The runs, in the files' order; what a reader has to know of them; when they were made; why they aren't whole."""

    runs: Sequence[ExternalRun]
    notes: Sequence[str]
    made_at: str | None = None
    stopped: str | None = None


def read_results(found: Sequence[ForeignResults], how: Reading, place: str) -> ExternalResults:
    """All runs in what was found. `place` is where, for messages.

    Raises `InputError`: no trial at all, one case's name for two cases, more trials than can be held, several runs
    that aren't to be pooled, no verdict in the files where none was chosen.
    """
    maker = _Runs(how, place)
    with acyclic():
        for results in found:
            maker.add(results)
    return ExternalResults(
        runs=maker.finished(),
        notes=[
            *dict.fromkeys(clean_text(note) for results in found for note in results.notes),
            *maker.pooled(),
            *maker.old(),
            *maker.short(),
        ],
        made_at=max((results.made_at for results in found if results.made_at), default=None),
        stopped=next((results.stopped for results in found if results.stopped), None),
    )


class _Runs:
    """Collects trials as they come, so that none is held twice."""

    def __init__(self, how: Reading, place: str) -> None:
        self._how, self._place = how, place
        self._runs: dict[tuple[str, str], ExternalRun] = {}
        self._numbers: dict[tuple[str, str, str], TrialNumbers] = {}
        self._kept = self._passed_kept = self._count = 0
        self._named: set[str] = set()
        self._parts: Counter[tuple[str, str]] = Counter()
        self._several = SeveralFiles()
        self._dates = FileDates()
        self._pooled: set[tuple[str, str]] = set()

    def add(self, found: ForeignResults) -> None:
        """The trials of one run of the harness."""
        touched: dict[tuple[str, str], None] = {}
        self._several.begin(found)
        for trial in found.trials:
            self._count += 1
            if self._count > MOST_TRIALS:
                raise too_many(self._place, MOST_TRIALS)
            key = (self._suite(trial), _name(trial.target) or self._target())
            touched[key] = None
            run = self._runs.setdefault(key, ExternalRun(*key))
            self._append(run, trial, found)
        if touched:
            self._dates.add(found)
        for key in touched:
            self._parts[key] += 1
            self._runs[key].subject |= {HARNESS: f"{self._how.format} {found.version}".strip(), **found.subject}
        if found.planned is not None and len(touched) == 1:
            run = self._runs[next(iter(touched))]
            run.planned = (run.planned or 0) + found.planned

    def _suite(self, trial: ForeignTrial) -> str:
        return self._how.suite if self._how.suite is not None else _name(trial.suite) or self._how.format

    def _target(self) -> str:
        return self._how.target or self._how.format

    def _append(self, run: ExternalRun, trial: ForeignTrial, found: ForeignResults) -> None:
        name = self._case(trial)
        if self._how.only is not None and (run.target, name) not in self._how.only:
            return
        other = self._several.other((run.suite, run.target, name), trial)
        if other is not None:
            self._pooled.add((run.suite, run.target))
            if not self._how.pool:
                raise two_runs(found, other, trial, name, self._place, configured=self._how.grouped)
        asked = self._asked(trial, name)
        definition = digest([KIND, asked])
        if name not in run.raw:
            run.raw[name], run.definitions[name] = trial.case, definition
            run.again[name] = trial.again or trial.case
            run.texts.setdefault(definition, block_text(asked if isinstance(asked, dict) else {"asked": asked}))
        elif (run.raw[name], run.definitions[name]) != (trial.case, definition):
            raise wrong(self._place, f'two different cases are called "{name}"', "Give every case an id of its own.")
        definition = run.definitions[name]  # one text for all trials of the case
        number = self._numbers_of(run, name).take(trial.number)
        result = self._with_trace(run, trial, self._result(trial, name, definition, number))
        run.results.append(result)

    def _numbers_of(self, run: ExternalRun, name: str) -> TrialNumbers:
        """The numbers that trials of a case have."""
        key = (run.suite, run.target, name)
        if key not in self._numbers:
            self._numbers[key] = TrialNumbers(self._how.taken.get((run.target, name), 0))
        return self._numbers[key]

    def _asked(self, trial: ForeignTrial, name: str) -> Any:
        """What defines the case, as a record can hold it."""
        if trial.asked is None:
            return {"id": trial.case}
        try:
            return fitting(trial.asked)
        except ValueError as error:
            raise wrong(
                self._place, f'what the case "{name}" asks can\'t be held: {error}', "Make it smaller."
            ) from None

    def _case(self, trial: ForeignTrial) -> str:
        group = _name(trial.suite) if self._how.grouped else ""
        name = _name(trial.case)
        if not name:
            raise wrong(self._place, "a case has no name", "Give every case an id.")
        return f"{group}/{name}" if group else name

    def _result(self, trial: ForeignTrial, name: str, definition: str, number: int) -> Result:
        ending = self._how.choice.ending(trial)
        message = clean_text(ending.message)[:MOST_MESSAGE] or None
        passed = ending.status is Status.PASSED
        return Result(
            id=name,
            category=_name(trial.category) or NO_CATEGORY,
            definition=definition,
            trial=number,
            status=ending.status,
            score=float(passed),
            max_score=1.0,
            checks=list(trial.checks),
            usage=trial.usage,
            judge_usage=trial.judge_usage,
            duration_ms=trial.duration_ms or 0,
            reason=None if passed else ending.reason,
            message=message,
            details=self._details(trial),
        )

    def _details(self, trial: ForeignTrial) -> ExternalDetails:
        self._named.update(map(_name, trial.scores))
        scores = {
            _name(name): score.value
            for name, score in list(trial.scores.items())[:MOST_SCORES]
            if score.value is not None and isfinite(score.value) and _name(name)
        }
        chosen = self._how.choice.names
        own = None if chosen else scores.pop(MAIN_SCORE, None)  # it is `mean_score`, and needs no second name
        return ExternalDetails(
            format=self._how.format,
            timed=trial.duration_ms is not None,
            score=scores.get(_name(chosen[0])) if len(chosen) == 1 else own,
            scores=scores,
            lower=[name for name in scores if name in self._how.lower],
        )

    def _with_trace(self, run: ExternalRun, trial: ForeignTrial, result: Result) -> Result:
        """The result with the path of its conversation, where there is one and room for it."""
        if self._how.keep is None or trial.trace is None or self._kept >= MOST_TRACES:
            return result
        if result.status is Status.PASSED and self._passed_kept >= MOST_PASSED_TRACES:
            return result
        trace = trial.trace()
        if trace is None:
            return result
        self._kept += 1
        self._passed_kept += result.status is Status.PASSED
        return result.model_copy(update={"trace": self._how.keep(_trial(run, result, trace))})

    def pooled(self) -> list[str]:
        """That trials of several runs of the harness were counted together; parts of one run are no such runs."""
        return [
            f"{target}: {count} runs of the harness are counted together; name the files of one, if they aren't one"
            for (suite, target), count in self._parts.items()
            if (suite, target) in self._pooled
        ]

    def old(self) -> Sequence[str]:
        """That files are of another day, where nobody wanted several runs to be counted together."""
        return [] if self._how.pool else self._dates.notes()

    def short(self) -> list[str]:
        """That cases have fewer trials than most, where the files don't say how many there should be."""
        lacking = {run.target: _short(run) for run in self._runs.values() if run.planned is None}
        return [_lacking(target, cases) for target, cases in lacking.items() if cases]

    def _scored(self, results: list[Result]) -> list[Result]:
        return results if self._how.choice.names else _with_only_score(results)

    def finished(self) -> list[ExternalRun]:
        """The runs. Raises `InputError` where they say nothing."""
        runs = [
            replace(run, results=_ordered(self._scored(run.results)), planned=run.planned or _usual(run))
            for run in self._runs.values()
        ]
        if not runs:
            raise wrong(self._place, "there is no trial in it", "Let the harness run at least one case.")
        every = [result for run in runs for result in run.results]
        known = {name for result in every for name in scores_of(result)}
        unknown = [name for name in self._how.choice.names if _name(name) not in known | self._named]
        if unknown:
            raise no_such_score(self._place, unknown[0], sorted(known | self._named))
        if any(one.reason == UNJUDGED for one in every) and not any(one.valid for one in every):
            raise no_verdict(self._place, every, self._how.choice)
        return runs


def _lacking(target: str, cases: Mapping[str, int]) -> str:
    trials = sum(cases.values())
    has, one = ("has" if len(cases) == 1 else "have"), trials == 1
    counted = "the missing one counts as an error" if one else f"the {trials} missing ones count as errors"
    return f"{target}: {plural(len(cases), 'case')} {has} fewer trials than the others; {counted}"


def _trial(run: ExternalRun, result: Result, trace: Trace) -> Trial:
    return Trial(
        suite=run.suite,
        kind=KIND,
        target=run.target,
        subject=digest(dict(run.subject)),
        result=result,
        trace=trace,
    )


def _usual(run: ExternalRun) -> int:
    """How many trials there should be where the files don't say it: as many of each case as most cases have.

    So trials that a harness drops of single cases are missed. A case may have more, as one whose test was repeated.
    """
    return len(run.results) + sum(_short(run).values())


def _short(run: ExternalRun) -> Mapping[str, int]:
    """By case, how many trials it lacks to the number that most cases have."""
    made = Counter(result.id for result in run.results)
    often = Counter(made.values())
    usual = max(often, key=lambda trials: (often[trials], -trials), default=0)
    return {case: usual - trials for case, trials in made.items() if trials < usual}


def _ordered(results: Iterable[Result]) -> list[Result]:
    """Case by case in the order of the files, the trials of each by their numbers."""
    grouped: dict[str, list[Result]] = {}
    for result in results:
        grouped.setdefault(result.id, []).append(result)
    return [each for trials in grouped.values() for each in sorted(trials, key=lambda one: one.trial)]


def _with_only_score(results: list[Result]) -> list[Result]:
    """The results with the only scorer's score as that of the whole trial, where the harness gives none of its own.

    Of several scorers none stands for the trial, not even where a trial has one of them alone: a mean would mix them.
    """
    known = [one.details for one in results if isinstance(one.details, ExternalDetails)]
    names = {name for details in known for name in details.scores}
    if len(names) != 1 or any(details.score is not None for details in known):
        return results
    (name,) = names
    return [_scored(one, name) for one in results]


def _scored(result: Result, name: str) -> Result:
    details = result.details
    if not isinstance(details, ExternalDetails) or name not in details.scores:
        return result
    return result.model_copy(update={"details": details.model_copy(update={"score": details.scores[name]})})


@lru_cache(maxsize=4096)  # trials share most of theirs
def _name(text: str) -> str:
    """A name as tables can hold it: no control character, no line end, of bounded length."""
    cleaned = " ".join("".join(c if c.isprintable() else " " for c in clean_text(text)).split())
    return cleaned[:MOST_NAME]
