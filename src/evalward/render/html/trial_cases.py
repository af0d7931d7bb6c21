"""Which trials the page shows: run by run the cases, what needs a look first, each with its trials of both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field, structs

from evalward.records.comparison import CaseChange, Comparison, Tally
from evalward.records.report import Run
from evalward.records.result import Result, Status, by_case
from evalward.render.anchors import case_anchor, trial_anchor
from evalward.render.context import ShowCommand
from evalward.render.conversation import Said, TrialView, told_by, trial_view, view_of
from evalward.render.entries import certainty
from evalward.render.kept import Sources
from evalward.render.names import spoken

_RANKS = (Status.FAILED, Status.ERROR, Status.SKIPPED, Status.PASSED)


class PageTrial(Struct, frozen=True):
    """A trial of the page, of which nothing is made before it is drawn: of very many cases most are left out."""

    anchor: str
    made_by: _Entries
    run: Run
    result: Result
    before: bool

    @property
    def status(self) -> Status:
        """How it ended."""
        return self.result.status

    def command(self) -> str:
        """What shows its case in a terminal; empty where nothing does."""
        show = self.made_by.show
        return show(self.result.id, self.run.suite, self.run.target) if show else ""

    def brief(self) -> TrialView:
        """What the report says of it, but not whether its conversation is there."""
        return structs.replace(trial_view(self.run, self.result, None, {}, before=self.before), missing="")

    def load(self) -> TrialView:
        """It with its conversation, read now."""
        return view_of(self.made_by.sources, self.run, self.result, before=self.before)


class PageCase(Struct, frozen=True):
    """A case with its trials; `before` are those of the base's side, `facts` what the comparison says of it."""

    anchor: str
    id: str
    status: Status
    broken: bool
    facts: list[str]
    now: list[PageTrial]
    before: list[PageTrial] = field(default_factory=list)

    @property
    def trials(self) -> list[PageTrial]:
        """Those of both sides."""
        return [*self.before, *self.now]

    @property
    def rank(self) -> int:
        """What needs a look first: broken, failed, errors, skipped, passed."""
        return 0 if self.broken else 1 + _RANKS.index(self.status)

    @property
    def wanted(self) -> bool:
        """True for a case that people open the page for."""
        return self.broken or self.status in {Status.FAILED, Status.ERROR}


class PageRun(Struct, frozen=True):
    """A run: its cases in order of rank, and what it says to the model in every trial."""

    name: str
    prompts: list[Said]
    cases: list[PageCase]


def runs_of(
    sources: Sources,
    comparison: Comparison | None = None,
    show: ShowCommand | None = None,
    given: set[str] | None = None,
) -> list[PageRun]:
    """The runs of the report, in its order; none without a report. `comparison` is its own, where there is one.

    `show` gives the command that shows a case in a terminal. `given` are the fragments that trials on the same page
    have; those of this report join them.
    """
    report = sources.report
    if report is None:
        return []
    anchors = _Anchors(set() if given is None else given)
    here = structs.replace(sources, kept_before=sources.kept)  # one for all, which finds the texts of the hashes once
    compared = comparison.runs if comparison else []
    changes = {(run.suite, run.target): {case.id: case for case in run.cases} for run in compared}
    base = {_key(run): run for run in report.base.runs} if report.base else {}
    return [
        _run(_Entries(here, run, base.get(_key(run), run), show, anchors), changes.get(_key(run), {}))
        for run in report.runs
    ]


def _key(run: Run) -> tuple[str, str]:
    return run.suite, run.target


def _run(make: _Entries, changes: Mapping[str, CaseChange]) -> PageRun:
    run, base = make.run, make.base
    now = by_case(run.tries)
    before = by_case([*(run.beside.base if run.beside else []), *(base.cases if base is not run else [])])
    cases = [make.case(results, before.get(name, []), changes.get(name)) for name, results in now.items()]
    return PageRun(run.name, make.prompts(), sorted(cases, key=lambda case: case.rank))


class _Entries(Struct, frozen=True):
    """Makes the entries of a run. Both sides' files lie in the report's own folder."""

    sources: Sources
    run: Run
    base: Run
    show: ShowCommand | None
    anchors: _Anchors

    def prompts(self) -> list[Said]:
        """What the models of both sides read beside the task, where it was kept."""
        texts = self.sources.texts()
        runs = [self.run] if self.base is self.run else [self.run, self.base]
        said = [told for run in runs for told in told_by(run, texts)]
        return list(dict.fromkeys(said))

    def case(self, results: Sequence[Result], before: Sequence[Result], change: CaseChange | None) -> PageCase:
        first = results[0]
        broken = change is not None and change.change == "broken"
        return PageCase(
            anchor=case_anchor(self.run.suite, self.run.target, first.id),
            id=first.id,
            status=_status(results),
            broken=broken,
            facts=_facts(first, change),
            now=[self._entry(self.run, result) for result in results],
            before=[self._entry(self.base, result, before=True) for result in before if broken],
        )

    def _entry(self, run: Run, result: Result, *, before: bool = False) -> PageTrial:
        return PageTrial(self.anchors.of(self.run, result, "-base" if before else ""), self, run, result, before)


class _Anchors(Struct, frozen=True):
    """The fragments of trials: one that was given already gets an addition."""

    given: set[str]

    def of(self, run: Run, result: Result, side: str = "") -> str:
        """The fragment of a trial."""
        first = anchor = trial_anchor(run.suite, run.target, result.id, result.trial) + side
        number = 1
        while anchor in self.given:
            number += 1
            anchor = f"{first}-{number}"
        self.given.add(anchor)
        return anchor


def _status(results: Sequence[Result]) -> Status:
    """How a case ended: most of its valid trials decide, and without one the first."""
    tally = Tally.of(results)
    if tally is None:
        return results[0].status
    return Status.PASSED if tally.passes else Status.FAILED


def _facts(result: Result, change: CaseChange | None) -> list[str]:
    facts = [result.category] if result.category else []
    if change is not None and change.change not in {"same", "added"}:
        facts.append(spoken(change.change))
    if change is not None and change.before is not None:
        facts.append(f"baseline: {change.before}")
    if change is not None and change.now is not None:
        facts.append(f"now: {change.now}")
    certain = certainty(change) if change is not None else ""
    return [*facts, *([certain] if certain else []), *([result.place] if result.place else [])]
