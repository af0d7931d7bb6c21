"""Cases that failed, tried again by the harness itself: its `rerun`, judged as its first trials were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalward.config import LoadedConfig
from evalward.records.problem import InputError
from evalward.records.result import Result, Status, by_case
from evalward.render.numbers import plural
from evalward.suites.external.formats.base import ForeignFile
from evalward.suites.external.formats.copies import fingerprint
from evalward.suites.external.formats.find import files_at, read_files
from evalward.suites.external.results import CaseOfTarget, Reading, read_results
from evalward.suites.external.spec import ExternalSuite
from evalward.suites.gathering import GatheredAgain, GatheredRun, Gatherer, HarnessEnd, Wanted

CLOCK_S = 2.0
"""By so much the clock of a file system may be behind ours."""
OWN_RESULTS = "the rerun handed in the run's own results"
RERUN_MISSING = "rerun_missing"
"""The reason of a fresh trial that the harness was asked for and that didn't come."""


def reading_of(spec: ExternalSuite, form: str, by: Gatherer) -> Reading:
    """How the files of a suite are read."""
    return Reading(
        form,
        spec.choice,
        spec.lower_is_better,
        target=spec.target or "",
        suite=spec.name,
        keep=by.keep,
        pool=spec.pool or spec.run is not None,  # what one command leaves is one run, in however many files
    )


def nothing_left(end: HarnessEnd, where: str, *, older: int = 0) -> str:
    """That a harness left no result, how it ended, and what it said last."""
    how = f"was ended at its time limit of {end.seconds:.0f} s" if end.timed_out else f"ended with {_code(end)}"
    new = f"new in {where}, only {plural(older, 'older file')}" if older else f"in {where}"
    last = end.last.splitlines()
    said = f": {last[-1].strip()}" if last else ""
    return f"the harness {how} and left nothing {new}{said}"


def say_last(end: HarnessEnd, by: Gatherer) -> None:
    """Show people what a harness said last: its results can't be used."""
    for line in end.last.splitlines():
        by.say(f"  | {line}")


def cut_short(end: HarnessEnd) -> str | None:
    """That a harness didn't come to its own end: what it left isn't whole, whatever it looks like."""
    if end.timed_out:
        return f"the harness was ended at its time limit of {end.seconds:.0f} s"
    if end.exit_code is not None and end.exit_code < 0:
        return f"the harness was ended by signal {-end.exit_code}"
    return None


def _code(end: HarnessEnd) -> str:
    return "no exit code" if end.exit_code is None else f"exit code {end.exit_code}"


@dataclass
class Again:
    """The fresh trials of a suite, of all its targets."""

    spec: ExternalSuite
    loaded: LoadedConfig
    by: Gatherer
    runs: Sequence[GatheredRun]
    wanted: Wanted
    _results: dict[str, list[Result]] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    def gathered(self) -> Mapping[str, GatheredAgain]:
        """By target, as many trials as are wanted of each case, or why there are fewer."""
        starts, unnamed = self.by.rerun(self.spec, self._by_raw_name())
        for why in dict.fromkeys(unnamed.values()):
            cases = [case for case, reason in unnamed.items() if reason == why]
            more = f" and {plural(len(cases) - 1, 'more case')}" if len(cases) > 1 else ""
            self._notes.append(f"{cases[0]}{more} can't be named to the harness: the id {why}")
        for start in starts:
            if start.end.refused is not None:
                self._notes.append(start.end.refused)
                break
            self._read(start.folder, start.end)
        return {target: self._of(target) for target in self.wanted}

    def _by_raw_name(self) -> Mapping[str, int]:
        """How often each case is to be tried, by the harness's name of it: as often as the target that wants most."""
        most: dict[str, int] = {}
        for run in self.runs:
            for case, trials in self.wanted.get(run.target, {}).items():
                name = run.again[case]
                most[name] = max(most.get(name, 0), trials)
        return most

    def _read(self, folder: Path, end: HarnessEnd) -> None:
        place = f"{self.loaded.file}, suite {self.spec.name}, rerun"
        files = files_at(folder, ["."])
        older = [file for file in files if file.changed is not None and file.changed < end.began - CLOCK_S]
        if not files or older:
            say_last(end, self.by)
            left = f"{older[0].name} is older than the rerun" if older else nothing_left(end, "the folder of its rerun")
            self._notes.append(left)
            return
        if (why := cut_short(end)) is not None:
            self._notes.append(why)
            return
        files = self._without_own(files)
        if not files:
            return
        try:
            form, read = read_files(files, self.spec.format, place)
            wanted = frozenset((target, case) for target, cases in self.wanted.items() for case in cases)
            how = reading_of(self.spec, form, self.by)
            found = read_results(read, how.again(wanted, self._taken()), place)
        except InputError as error:
            say_last(end, self.by)
            self._notes.append(error.problems[0].message)
            return
        self._notes += found.notes
        for run in found.runs:
            fresh = self._fresh(run.target, run.results, found.made_at)
            self._results.setdefault(run.target, []).extend(fresh)

    def _without_own(self, files: Sequence[ForeignFile]) -> list[ForeignFile]:
        """The files but for those of the run itself, which a command may have copied, or taken from a cache."""
        known = {content: name for run in self.runs for content, name in run.contents.items()}
        own = {file.name: name for file in files if (name := known.get(fingerprint(file))) is not None}
        for name in list(own.values())[:1]:
            self._notes.append(f"{OWN_RESULTS}, {name}")
        return [file for file in files if file.name not in own]

    def _fresh(self, target: str, results: Sequence[Result], made_at: str | None) -> list[Result]:
        """The results but for cases all of whose trials are those of the run, made at the same moment."""
        first = next((run for run in self.runs if run.target == target), None)
        if first is None or made_at is None or made_at != first.made_at:
            return list(results)
        before = by_case(first.results)
        own = {case for case, trials in by_case(results).items() if _told(trials) == _told(before.get(case, []))}
        if own:
            self._notes.append(OWN_RESULTS)
        return [one for one in results if one.id not in own]

    def _taken(self) -> Mapping[CaseOfTarget, int]:
        """How many trials each case has by now."""
        fresh = [(target, one) for target, results in self._results.items() for one in results]
        taken: Counter[CaseOfTarget] = Counter()
        for target, one in [*((run.target, one) for run in self.runs for one in run.results), *fresh]:
            taken[target, one.id] = max(taken[target, one.id], one.trial)
        return taken

    def _of(self, target: str) -> GatheredAgain:
        first = {one.id: one for run in self.runs if run.target == target for one in run.results}
        found = self._results.get(target, [])
        same = [one for one in found if one.definition == first[one.id].definition]
        fresh, taken = by_case(same), self._taken()
        kept: list[Result] = []
        for case, count in self.wanted[target].items():
            came = fresh.get(case, [])  # all that there are: a harness may not choose among them
            kept += [*came, *_missing(first[case], taken[target, case] + 1, count - len(came))]
        notes = list(dict.fromkeys(self._notes))
        if len(same) < len(found):
            notes.append("the rerun asks some cases otherwise than the run did")
        lacking = sum(one.reason == RERUN_MISSING for one in kept)
        if lacking:
            notes.append(f"{plural(lacking, 'trial')} of the rerun {'is' if lacking == 1 else 'are'} missing")
        return GatheredAgain(kept, "; ".join(notes) or None)


def _told(trials: Sequence[Result]) -> Sequence[str]:
    """What trials say, whatever their numbers and wherever their conversations lie."""
    return sorted(one.model_dump_json(exclude={"trial", "trace"}) for one in trials)


def _missing(like: Result, first: int, count: int) -> list[Result]:
    """Trials of a case that were asked for and didn't come: errors, for they may have been failures."""
    return [
        Result(
            id=like.id,
            category=like.category,
            definition=like.definition,
            trial=first + number,
            status=Status.ERROR,
            reason=RERUN_MISSING,
            message="the harness left no result of this trial",
        )
        for number in range(max(0, count))
    ]
