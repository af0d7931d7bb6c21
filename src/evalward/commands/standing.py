"""Runs that an artifact leaves out as unchanged: whether the baseline's trials stand, is decided here once more.

The artifact only says which runs it left out. The changed files are GitHub's word, what matters the base's, and the
baseline is the base's, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

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
from evalward.render.escape import one_line
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
    """The runs that an artifact leaves out as unchanged, by its own word."""

    runs: Sequence[Run] = ()

    @classmethod
    def of(cls, report: Report) -> LeftOutRuns:
        """Those of the artifact's report, before anything of it is recomputed."""
        return cls([run for run in report.runs if run.unchanged is not None and run.not_measured and not run.cases])

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
        whys = ((run.name, why_measured(run, outline, side.baseline, change, limit)) for run in outline.runs)
        notes = [_refused(names, reason) for reason, names in asked.by_reason(whys).items()]
        runs = [run.model_copy(update={"unchanged": found.get((run.suite, run.target))}) for run in report.runs]
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
    suites = {name: replace(terms, edited=change.config_edited) for name, terms in change.suites.items()}
    return replace(change, suites=suites), []


def _outlined(runs: Iterable[Run], side: SideRules) -> Iterable[OutlinedRun]:
    """The runs as the base has them; what is evaluated is the artifact's word, like every result."""
    trials = {suite.name: suite.trials for suite in (side.config.suites if side.config else ())}
    for run in runs:
        known = baseline_run(run, side.baseline)
        cases = known.cases if known else []
        wanted = trials.get(run.suite, 1)
        yield OutlinedRun(
            suite=run.suite,
            kind=run.kind,
            target=run.target,
            trials=wanted,
            cases=[OutlinedCase(id=case.id, trials=wanted, definition=case.definition) for case in cases],
            both_sides=run.suite in side.policy.with_base,
            subject=run.subject.hash,
        )


def _refused(names: Sequence[str], reason: str) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    were = "was" if len(names) == 1 else "were"
    return one_line(
        f"{', '.join(names[:_MOST_NAMED])}{more} {were} left out as unchanged, which doesn't hold here: {reason}."
    )
