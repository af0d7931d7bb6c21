"""The kind `external`: what another harness measured is read, judged and compared as our own results are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalward.config import LoadedConfig
from evalward.decide.kinds import PerTrial
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.result import Details, Result
from evalward.render.numbers import plural
from evalward.suites.external.details import ExternalDetails
from evalward.suites.external.formats.find import files_at, read_files
from evalward.suites.external.metrics import METRIC_IDS, measure, per_trial
from evalward.suites.external.results import ExternalResults, Reading, read_results
from evalward.suites.external.spec import ExternalSuite
from evalward.suites.gathering import Gathered, GatheredAgain, GatheredKind, Gatherer

NO_RERUN = "the suite has no `rerun`, by which the harness tries failed cases again before a drop is believed"


@dataclass(frozen=True)
class ExternalKind(GatheredKind):
    """See `evalward.suites.base.Kind` and `evalward.suites.gathering`."""

    name: str = "external"
    spec: type[ExternalSuite] = ExternalSuite
    details: type[ExternalDetails] = ExternalDetails
    metric_ids: Sequence[str] = METRIC_IDS
    default_rules: Sequence[Rule] = (Rule(metric="pass_rate", max_drop=0.02),)

    def gather(self, spec: ExternalSuite, loaded: LoadedConfig, by: Gatherer) -> Gathered:
        """All that the result files hold."""
        found = self._read(spec, loaded, spec.results, by)
        trials = sum(len(run.results) for run in found.runs)
        by.say(f"{spec.name}: {plural(trials, 'trial')} of {', '.join(run.target for run in found.runs)}")
        return Gathered([run.gathered for run in found.runs], found.notes, found.stopped)

    def _read(
        self, spec: ExternalSuite, loaded: LoadedConfig, patterns: Sequence[str], by: Gatherer
    ) -> ExternalResults:
        place = f"{loaded.file}, suite {spec.name}, results {', '.join(patterns)}"
        form, found = read_files(files_at(loaded.root, patterns), spec.format, place)
        how = Reading(form, spec.choice, spec.lower_is_better, target=spec.target or "", suite=spec.name, keep=by.keep)
        return read_results(found, how, place)

    def gather_again(
        self,
        spec: ExternalSuite,  # noqa: ARG002
        loaded: LoadedConfig,  # noqa: ARG002
        by: Gatherer,  # noqa: ARG002
        target: str,  # noqa: ARG002
        wanted: Mapping[str, Sequence[int]],  # noqa: ARG002
    ) -> GatheredAgain:
        """What the harness's `rerun` gives."""
        return GatheredAgain([], NO_RERUN)

    def per_trial(self, metric: str) -> PerTrial | None:
        """What single trials add to a metric."""
        return per_trial(metric)

    def measure(self, results: Sequence[Result]) -> Measurement:
        """Pass rate, scores, tokens, cost and time."""
        return measure(results)

    def as_failed(self, details: Details) -> Details:
        """The trial, had its scores all been 0."""
        if not isinstance(details, ExternalDetails):
            return details
        worst = dict.fromkeys(details.scores, 0.0)
        return details.model_copy(update={"scores": worst, "score": None if details.score is None else 0.0})


EXTERNAL = ExternalKind()
