"""The kind `external`: what another harness measured is read, judged and compared as our own results are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from msgspec import structs

from evalward.config import LoadedConfig
from evalward.decide.kinds import PerTrial
from evalward.records.base import digest
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.problem import InputError, Place
from evalward.records.result import Details, Result
from evalward.render.numbers import plural
from evalward.suites.external.again import Again, cut_short, nothing_left, reading_of, say_last
from evalward.suites.external.committed import refuse_committed
from evalward.suites.external.dates import age_note
from evalward.suites.external.details import ExternalDetails
from evalward.suites.external.formats.base import ForeignFile
from evalward.suites.external.formats.copies import fingerprint
from evalward.suites.external.formats.find import files_at, read_files
from evalward.suites.external.metrics import measure, per_trial
from evalward.suites.external.results import read_results
from evalward.suites.external.spec import ExternalSuite
from evalward.suites.gathering import (
    Gathered,
    GatheredAgain,
    GatheredKind,
    GatheredRun,
    Gatherer,
    HarnessStart,
    NothingGatheredError,
    Wanted,
)
from evalward.suites.pooling import SCORED_IDS

IN_FOLDER = "{dir}/"
NO_RERUN = "the suite has no `rerun`, so the harness can't retry failed cases before a drop is reported"


@dataclass(frozen=True)
class ExternalKind(GatheredKind):
    """See `evalward.suites.base.Kind` and `evalward.suites.gathering`."""

    name: str = "external"
    spec: type[ExternalSuite] = ExternalSuite
    details: type[ExternalDetails] = ExternalDetails
    metric_ids: Sequence[str] = SCORED_IDS
    default_rules: Sequence[Rule] = (Rule(metric="pass_rate", max_drop=0.02),)

    def gathered_from(self, spec: ExternalSuite) -> str:
        """Its result files, and whether they are written by a command here."""
        where = ", ".join(spec.results)
        return (
            f"what its command leaves in {where}" if spec.run is not None else f"what an earlier step left in {where}"
        )

    def gather(self, spec: ExternalSuite, loaded: LoadedConfig, by: Gatherer) -> Gathered:
        """All that the result files hold, once the harness has written them."""
        if spec.run is None:
            given = files_at(loaded.root, spec.results)
            refuse_committed(loaded, given)
            found = self._read(spec, loaded, by, given)
            made_at = max((run.made_at for run in found.runs if run.made_at), default=None)
            return structs.replace(found, notes=[*found.notes, *age_note(made_at, by.now())])
        if spec.trials > 1 and "{trials}" not in str(spec.run):
            by.say(f"{spec.name}: its run has no {{trials}}, so the harness isn't asked for {spec.trials} of each case")
        before = {(file.name, file.changed, file.size) for file in files_at(loaded.root, _in_repository(spec))}
        with by.run(spec) as start:
            if start.end.refused is not None:
                raise NothingGatheredError(start.end.refused)
            files = results_of_run(spec, loaded, start)
            fresh = [file for file in files if (file.name, file.changed, file.size) not in before]
            if not fresh:
                say_last(start.end, by)
                raise NothingGatheredError(nothing_left(start.end, ", ".join(spec.results), older=len(files)))
            older = len(files) - len(fresh)
            if older:
                by.say(f"{spec.name}: {plural(older, 'result file')} older than this run left out")
            try:
                found = self._read(spec, loaded, by, fresh)
            except InputError:
                say_last(start.end, by)
                raise
            return structs.replace(found, stopped=cut_short(start.end) or found.stopped)

    def _read(
        self,
        spec: ExternalSuite,
        loaded: LoadedConfig,
        by: Gatherer,
        files: Sequence[ForeignFile],
    ) -> Gathered:
        with _at_results(spec, loaded):
            form, read = read_files(files, spec.format, loaded.file)
            found = read_results(read, reading_of(spec, form, by), loaded.file)
        trials = sum(len(run.results) for run in found.runs)
        by.say(f"{spec.name}: {plural(trials, 'trial')} of {', '.join(run.target for run in found.runs)}")
        contents = {fingerprint(file): file.name for file in files} if spec.rerun is not None else {}
        runs = [
            structs.replace(
                run.gathered,
                subject={**run.subject, **_judged_by(spec)},
                made_at=found.made_at,
                contents=contents,
            )
            for run in found.runs
        ]
        return Gathered(runs, found.notes, found.stopped)

    def gather_again(
        self, spec: ExternalSuite, loaded: LoadedConfig, by: Gatherer, runs: Sequence[GatheredRun], wanted: Wanted
    ) -> Mapping[str, GatheredAgain]:
        """What the harness's `rerun` gives: one for all targets, as it knows cases alone."""
        if spec.rerun is None:
            return {target: GatheredAgain([], NO_RERUN) for target in wanted}
        return Again(spec, loaded, by, runs, wanted).gathered()

    def per_trial(self, metric: str) -> PerTrial | None:
        """What single trials add to a metric."""
        return per_trial(metric)

    def measure(self, results: Sequence[Result]) -> Measurement:
        """Pass rate, scores, tokens, cost and time."""
        return measure(results)

    def as_failed(self, details: Details) -> Details:
        """The trial, had its scores all been as bad as scores from 0 to 1 can be."""
        if not isinstance(details, ExternalDetails):
            return details
        worst = {name: max(value, 1.0) if name in details.lower else 0.0 for name, value in details.scores.items()}
        return details.model_copy(update={"scores": worst, "score": None if details.score is None else 0.0})


@contextmanager
def _at_results(spec: ExternalSuite, loaded: LoadedConfig) -> Iterator[None]:
    """Mistakes that no single file has stand where the configuration names the files."""
    try:
        yield
    except InputError as error:
        suites = [suite.name for suite in loaded.config.suites]
        line = loaded.line("suites", suites.index(spec.name), "results") if spec.name in suites else None
        place = Place(file=loaded.file, line=line)
        field = f"suite {spec.name}, results {', '.join(spec.results)}"
        raise InputError(
            problem.but(place=place, field=field) if problem.place.file == loaded.file else problem
            for problem in error.problems
        ) from error


def _judged_by(spec: ExternalSuite) -> Mapping[str, str]:
    """What passes, where the suite says it: a change of it is named beside the numbers that it moves."""
    said = spec.model_dump(mode="json", by_alias=True, include={"score", "lower_is_better"}, exclude_defaults=True)
    return {"score": digest(said)} if said else {}


def results_of_run(spec: ExternalSuite, loaded: LoadedConfig, start: HarnessStart) -> list[ForeignFile]:
    """The result files of a run: those in its own folder, where `results` names that, and those of the repository."""
    own = [pattern.removeprefix(IN_FOLDER) for pattern in spec.results if pattern.startswith(IN_FOLDER)]
    return [*files_at(start.folder, own), *files_at(loaded.root, _in_repository(spec))]


def _in_repository(spec: ExternalSuite) -> list[str]:
    return [pattern for pattern in spec.results if not pattern.startswith(IN_FOLDER)]


EXTERNAL = ExternalKind()
