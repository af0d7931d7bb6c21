"""Runs and cases that an artifact leaves out as unchanged: whether the baseline's trials stand, is decided once more.

The artifact only says which it left out, and of what it evaluated, what that was. The changed files are GitHub's word,
what matters the base's, and the baseline is the base's, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import structs

from evalward.commands.surfaces import Surfaces
from evalward.decide.unchanged import ChangeAtHand, StandingLimit, baseline_run, unchanged_runs, why_measured
from evalward.git import FileChange, OpaqueEntries, repository_path
from evalward.github.client import MAX_PULL_FILES, GitHub
from evalward.github.errors import GitHubError
from evalward.github.protect import changes_of_pull
from evalward.github.sides import SideRules
from evalward.github.unchanged import change_between, with_opaque
from evalward.records.outline import OutlinedCase, OutlinedRun, PlanOutline
from evalward.records.report import Report, Run
from evalward.records.unchanged import Unchanged
from evalward.render.escape import one_line
from evalward.render.numbers import plural
from evalward.render.sentences.measured import AskedSince

ALL_STAND = (
    "Nothing was measured. That the change touches nothing that the suites depend on was decided here, by GitHub's "
    "list of the changed files and the base's configuration and baseline."
)
_MOST_NAMED = 3


@dataclass(frozen=True)
class PullHead:
    """The commit that a pull request has to have while its files are listed: they are those of its newest one.

    `base` is the commit of its base, `None` where that isn't known.
    """

    repository: str
    number: int
    sha: str
    base: str | None

    def opaque_entries(self, client: GitHub) -> OpaqueEntries | None:
        """What other files stand behind in the base, `None` where that isn't known. Raises `GitHubError`."""
        return client.opaque_entries(self.repository, self.base) if self.base else None

    def files(self, client: GitHub) -> list[FileChange] | None:
        """The files that it changes, `None` where GitHub doesn't list all, or lists those of another commit.

        Raises `GitHubError`.
        """
        listed = client.pull_files(self.repository, self.number)
        same = client.pull_head(self.repository, self.number) == self.sha
        return changes_of_pull(listed) if same and len(listed) < MAX_PULL_FILES else None


@dataclass(frozen=True)
class LeftOutRuns:
    """The runs that an artifact leaves out as unchanged, wholly or in part, by its own word."""

    runs: Sequence[Run] = ()

    @classmethod
    def of(cls, report: Report) -> LeftOutRuns:
        """Those of the artifact's report, before anything of it is recomputed."""
        return cls([run for run in report.runs if _left_out(run) is not None])

    def decided(
        self, report: Report, surfaces: Surfaces, client: GitHub, head: PullHead | None, side: SideRules | None
    ) -> tuple[Report, list[str]]:
        """The report with those marked that stand, and why the others count as not measured."""
        if not self.runs or side is None or side.config is None:
            return report, []
        change, note = _change(surfaces, client, head, side)
        outline = PlanOutline(runs=list(_outlined(self.runs, side)), partial=report.partial)
        limit = StandingLimit(surfaces.world.now(), side.config.max_age_days)
        found = unchanged_runs(outline, side.baseline, change, limit)
        made = side.baseline.provenance.created_at if side.baseline else ""
        asked = AskedSince("the base", surfaces.settings.config, made, limit.days)
        whys = [
            (name, why_measured(run, outline, side.baseline, change, limit))
            for run, left in zip(outline.runs, self.runs, strict=True)
            if (name := _not_upheld(left, found.get((run.suite, run.target))))
        ]
        notes = [_refused(names, reason) for reason, names in asked.by_reason(whys).items()]
        runs = [_marked(run, found.get((run.suite, run.target))) for run in report.runs]
        return report.model_copy(update={"runs": runs}), [*note, *notes]


def _change(
    surfaces: Surfaces, client: GitHub, head: PullHead | None, side: SideRules
) -> tuple[ChangeAtHand, list[str]]:
    """What the pull request changes, and why that isn't known, if so. The head's configuration isn't read here: where
    it is changed, no suite stands.
    """
    remote, base, settings = surfaces.remote(client), side.config, surfaces.settings
    if remote is None or head is None or base is None:
        return ChangeAtHand(), []
    try:
        files = head.files(remote)
        entries = head.opaque_entries(remote) if files else None
    except GitHubError as error:
        return ChangeAtHand(), [f"The changed files could not be listed: {error}"]
    if files is None or (files and entries is None):
        return ChangeAtHand(), []
    prefix = surfaces.tree(client).prefix()
    file = repository_path(prefix, [settings.working_directory, settings.config])
    change = change_between(base, base, [each.path for each in files], file)
    change = with_opaque(change, [each.path for each in files if each.opaque], entries or OpaqueEntries())
    suites = {name: structs.replace(terms, edited=change.config_edited) for name, terms in change.suites.items()}
    return structs.replace(change, suites=suites), []


def _outlined(runs: Iterable[Run], side: SideRules) -> Iterable[OutlinedRun]:
    """The runs as the base has them; what is evaluated is the artifact's word, like every result."""
    trials = {suite.name: suite.trials for suite in (side.config.suites if side.config else ())}
    for run in runs:
        known, left = baseline_run(run, side.baseline), _left_out(run)
        wanted = trials.get(run.suite, 1)
        cases = left.of if left is not None and left.of else known.cases if known else []
        depends = {case.id: case.depends for case in cases} if left is not None and left.of else {}
        yield OutlinedRun(
            suite=run.suite,
            kind=run.kind,
            target=run.target,
            trials=wanted,
            cases=[
                OutlinedCase(id=case.id, trials=wanted, definition=case.definition, depends=depends.get(case.id))
                for case in cases
            ],
            both_sides=run.suite in side.policy.with_base,
            subject=run.subject.hash,
        )


def _left_out(run: Run) -> Unchanged | None:
    """What a run of the artifact says that it left out: all of it, or some cases of which it has no trial."""
    if run.not_measured is not None:
        return run.unchanged if not run.cases else None
    return run.standing.without({result.id for result in run.cases}) if run.standing is not None else None


def _not_upheld(run: Run, stands: Unchanged | None) -> str:
    """What of an artifact's run doesn't stand, by name; empty where all does that it left out."""
    left = _left_out(run)
    refused = left.ids - stands.ids if left is not None and stands is not None and stands.of else None
    if refused is None:
        return "" if stands is not None else run.name
    return f"{run.name} ({plural(len(refused), 'case')})" if refused else ""


def _marked(run: Run, stands: Unchanged | None) -> Run:
    """The run with what stands of it: as a whole only where nothing of it was measured."""
    if run.not_measured is not None:
        return run.model_copy(update={"unchanged": stands})
    return run.model_copy(update={"standing": stands if stands is not None and stands.of else None})


def _refused(names: Sequence[str], reason: str) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    were = "was" if len(names) == 1 else "were"
    return one_line(
        f"{', '.join(names[:_MOST_NAMED])}{more} {were} left out as unchanged, which doesn't hold here: {reason}."
    )
