"""What a change can't have touched is not measured again: the baseline's trials stand.

Conservative by construction: a run stands only where everything is known that could speak against it, and each change
of a file is taken to matter unless the file is known not to. Whatever is unknown is measured.

Of a run that is measured, single cases stand where the suite says, file by file, which part of it a change touches, and
the baseline, on which parts a case depends. A case of which it doesn't say that depends on everything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct, field

from evalward.decide.links import ChangedLinks, changed_links
from evalward.decide.staleness import age_days
from evalward.records.baseline import Baseline, BaselineCase, BaselineProvenance, BaselineRun
from evalward.records.outline import OutlinedCase, OutlinedRun, PlanOutline
from evalward.records.patterns import matches_all_below, matches_any, matches_or_below
from evalward.records.report import Run
from evalward.records.unchanged import MeasuredBecause, StandingCase, Unchanged

UNRELATED = (
    "README",
    "README*.md",
    "README.rst",
    "README.txt",
    "CHANGELOG*.md",
    "CHANGELOG.rst",
    "CHANGELOG.txt",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
    "SUPPORT.md",
    "AUTHORS",
    "AUTHORS.md",
    "COPYING",
    "LICENSE",
    "LICENSE.md",
    "LICENSE.txt",
    "LICENSE-*",
    "NOTICE",
    ".github/FUNDING.yml",
    ".github/ISSUE_TEMPLATE/**",
    ".github/PULL_REQUEST_TEMPLATE.md",
    ".github/PULL_REQUEST_TEMPLATE/**",
    ".github/pull_request_template.md",
)
"""Files at the repository's top whose change matters to no suite that doesn't name them."""

ALWAYS_RELATED = (".github/workflows/**", ".github/actions/**", "action.yml", "action.yaml")
"""Files that say what is installed and what is run: no `paths:` leaves them out."""

_AHEAD_DAYS = -1
"""How far the clock of who made a baseline may be ahead of ours."""

RunName = tuple[str, str]
"""Suite and target."""

TouchedParts = frozenset[str] | None
"""The parts of a suite that a change touches, by their names; `None`: it may have touched all of it."""


def _one_piece(_file: str) -> TouchedParts:
    return None


class SuiteTerms(Struct, frozen=True):
    """What the configuration that judges says of a suite, in paths and patterns from the repository's top.

    `paths` are its `paths:`; `own` are the files that it is made of, as far as its keys name them. `edited`: the change
    gives it another entry, or edits something else of the configuration that its trials may depend on. `shared` are
    those of `own` on which all of its cases may depend; of any other file `parts` says which parts it touches.
    """

    always: bool = False
    paths: Sequence[str] = ()
    own: Sequence[str] = ()
    edited: bool = False
    shared: Sequence[str] = ()
    parts: Callable[[str], TouchedParts] = _one_piece

    def matters(self, file: str, opaque: bool = False) -> bool:
        """Whether a change of this file may have touched the suite; of an opaque one, of anything below it."""
        matches, excludes = (matches_or_below, matches_all_below) if opaque else (matches_any, matches_any)
        if matches(file, [*self.own, *ALWAYS_RELATED]) or self.parts(file) is not None:
            return True
        if excludes(file, [pattern[1:] for pattern in self.paths if pattern.startswith("!")]):
            return False
        return matches(file, self._named) if self._named else not excludes(file, UNRELATED)

    def parts_touched(self, file: str) -> TouchedParts:
        """The parts of the suite that a change of this file may touch, where it matters at all."""
        return None if matches_any(file, [*self.shared, *ALWAYS_RELATED]) else self.parts(file)

    def names(self, path: str) -> bool:
        """Whether the suite names this path, or something below it."""
        return matches_or_below(path, [*self.own, *self._named])

    @property
    def _named(self) -> Sequence[str]:
        return [pattern for pattern in self.paths if not pattern.startswith("!")]


class ChangeAtHand(Struct, frozen=True, dict=True):
    """What is known of a change. `files` are those that it changes, without the configuration; `None`: unknown.

    `config_edited`: it changes the configuration's file. `suites` are the terms of each suite, by name.
    `empty_repeats`: a change of nothing is made to have everything run once more. `opaque` are those of the files that
    other files stand behind: submodules, repositories in a folder, symbolic links. `links` are the repository's
    symbolic links: from the repository's top, and where each leads as it says itself, `""` where that isn't known.
    """

    files: Sequence[str] | None = None
    config_edited: bool = False
    empty_repeats: bool = True
    suites: Mapping[str, SuiteTerms] = field(default_factory=dict)
    opaque: Collection[str] = frozenset()
    links: Mapping[str, str] = field(default_factory=dict)

    def touching(self, terms: SuiteTerms) -> Iterator[str]:
        """The changed files that may have touched a suite of these terms, by themselves or through a link."""
        yield from self._by_themselves(terms)
        yield from self._through_links(terms)

    def parts_touched(self, terms: SuiteTerms, known: Collection[str]) -> TouchedParts:
        """The parts of a suite of these terms that the changed files may have touched.

        All of it, where one touches none that is `known`, where something else stands behind one, and where one may
        have touched the suite through a link.
        """
        touched: set[str] = set()
        for file in self._by_themselves(terms):
            parts = None if file in self.opaque else terms.parts_touched(file)
            if parts is None or parts.isdisjoint(known):
                return None
            touched |= parts
        return None if any(True for _ in self._through_links(terms)) else frozenset(touched)

    def _by_themselves(self, terms: SuiteTerms) -> Iterator[str]:
        return (file for file in self.files or () if terms.matters(file, file in self.opaque))

    def _through_links(self, terms: SuiteTerms) -> Iterator[str]:
        for link, file in self._links.leading_to.items():
            if terms.matters(link, link in self._links.opaque):
                yield file
        if self.files and any(terms.names(link) for link in self._links.unknown):
            yield self.files[0]

    @cached_property
    def _links(self) -> ChangedLinks:
        return changed_links(self.files or (), self.opaque, self.links)


class StandingLimit(Struct, frozen=True):
    """How old a baseline may be. `now` is ISO 8601; `days` 0: none is young enough."""

    now: str
    days: int

    def too_old(self, provenance: BaselineProvenance) -> bool:
        """Whether the baseline is older, or its age can't be known."""
        age = age_days(provenance.created_at, self.now)
        return self.days == 0 or age is None or not _AHEAD_DAYS <= age < self.days


def unchanged_runs(
    outline: PlanOutline, baseline: Baseline | None, change: ChangeAtHand, limit: StandingLimit
) -> dict[RunName, Unchanged]:
    """The runs whose trials in the baseline stand, as a whole or for some of their cases."""
    if baseline is None:
        return {}
    made, found = baseline.provenance, {}
    for run in outline.runs:
        whole = why_measured(run, outline, baseline, change, limit) is None
        cases = [] if whole else standing_cases(run, outline, baseline, change, limit)
        if whole or cases:
            count = len(run.cases) if whole else len(cases)
            stands = Unchanged(since=made.created_at, commit=made.commit, cases=count, of=cases)
            found[run.suite, run.target] = stands
    return found


def why_measured(
    run: OutlinedRun, outline: PlanOutline, baseline: Baseline | None, change: ChangeAtHand, limit: StandingLimit
) -> MeasuredBecause | None:
    """Why a run is measured; `None` where the baseline's trials stand."""
    found = _change_unknown(change) or _baseline_unfit(baseline, limit) or _by_terms(run, change)
    if found is None:
        touched = next(change.touching(change.suites[run.suite]), None)
        found = MeasuredBecause("file", touched) if touched is not None else _by_plan(run, outline)
    return found if found is not None or baseline is None else _differs(run, baseline)


def standing_cases(
    run: OutlinedRun, outline: PlanOutline, baseline: Baseline | None, change: ChangeAtHand, limit: StandingLimit
) -> list[StandingCase]:
    """The cases of a run whose trials in the baseline stand, each by itself.

    What has a run measured whatever files changed has all of its cases measured. Of the others one stands if baseline
    and plan say the same of what it asks, and of what it depends on and sees, all of its trials in the baseline are
    valid, and the change touches no part that it depends on. A part of which the baseline doesn't know may be anything.
    """
    found = _change_unknown(change) or _baseline_unfit(baseline, limit) or _by_terms(run, change)
    known = baseline_run(run, baseline)
    if found or known is None or _by_plan(run, outline):
        return []
    before = {case.id: case for case in known.cases}
    parts = {part for case in known.cases if case.depends for part in case.depends.parts}
    touched = change.parts_touched(change.suites[run.suite], parts)
    if touched is None:
        return []
    return [
        StandingCase(id=case.id, definition=case.definition, depends=case.depends)
        for case in run.cases
        if case.depends is not None
        and touched.isdisjoint(case.depends.parts)
        and (was := before.get(case.id)) is not None
        and _as_before(case, was, max(run.trials, case.trials, 1))
    ]


def _as_before(case: OutlinedCase, was: BaselineCase, trials: int) -> bool:
    """Whether the baseline has a case just so, with so many valid trials at least, and none that broke."""
    same = bool(case.definition) and (case.definition, case.depends) == (was.definition, was.depends)
    return same and trials <= was.valid_trials == len(was.trials)


def baseline_run(run: OutlinedRun | Run, baseline: Baseline | None) -> BaselineRun | None:
    """The baseline's run of the same suite, target and kind; `None` where it has none."""
    name = (run.suite, run.target, run.kind)
    runs = baseline.runs if baseline else ()
    return next((each for each in runs if (each.suite, each.target, each.kind) == name), None)


def _change_unknown(change: ChangeAtHand) -> MeasuredBecause | None:
    if change.files is None:
        return MeasuredBecause("change_unknown")
    if not change.files and not change.config_edited and change.empty_repeats:
        return MeasuredBecause("nothing_changed")
    return None


def _baseline_unfit(baseline: Baseline | None, limit: StandingLimit) -> MeasuredBecause | None:
    if baseline is None:
        return MeasuredBecause("no_baseline")
    return MeasuredBecause("baseline_too_old") if limit.too_old(baseline.provenance) else None


def _by_terms(run: OutlinedRun, change: ChangeAtHand) -> MeasuredBecause | None:
    terms = change.suites.get(run.suite)
    if terms is None:
        return MeasuredBecause("suite_unknown")
    if terms.always:
        return MeasuredBecause("always")
    return MeasuredBecause("configuration") if terms.edited else None


def _by_plan(run: OutlinedRun, outline: PlanOutline) -> MeasuredBecause | None:
    if run.both_sides:
        return MeasuredBecause("both_sides")
    chosen = outline.partial is not None and outline.partial.by_case
    return MeasuredBecause("selection") if chosen else None


def _differs(run: OutlinedRun, baseline: Baseline) -> MeasuredBecause | None:
    """What the run has otherwise than the baseline has it."""
    known = baseline_run(run, baseline)
    if known is None:
        return MeasuredBecause("not_in_baseline")
    if not run.subject or run.subject != known.subject.hash:
        return MeasuredBecause("subject")
    asked = {case.id: case.definition for case in run.cases}
    if not asked or asked != {case.id: case.definition for case in known.cases}:
        return MeasuredBecause("cases")
    if any(case.valid_trials < max(run.trials, 1) for case in known.cases):
        return MeasuredBecause("trials")
    return None
