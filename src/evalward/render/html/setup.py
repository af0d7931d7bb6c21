"""What was measured with: commits, configuration, versions, and the parts of every subject, with their hashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from evalward.records.baseline import Baseline
from evalward.records.comparison import Comparison, RunComparison
from evalward.records.report import Report, Run
from evalward.records.verdict import Verdict
from evalward.render.html.links import Links
from evalward.render.html.sides import baseline_run_of
from evalward.render.kept import Sources
from evalward.render.names import short_hash
from evalward.render.numbers import plural
from evalward.render.reports import when

MOST_PARTS = 200  # of one subject


class SetupFact(Struct, frozen=True):
    """A name and a value; `link` leads to the repository, `code`: it is a hash or a name of a program's."""

    name: str
    value: str
    link: str = ""
    code: bool = False


class SubjectPart(Struct, frozen=True):
    """A part of a subject on both sides: hashes or versions, cut short; `changed` where both are known and differ."""

    name: str
    before: str
    now: str
    changed: bool


class RunSetup(Struct, frozen=True):
    """One run: how it was measured, and with what. `compared`: there is another side."""

    name: str
    facts: list[str]
    parts: list[SubjectPart]
    compared: bool


class SetupView(Struct, frozen=True):
    """Everything about how it was measured."""

    facts: list[SetupFact] = field(default_factory=list)
    runs: list[RunSetup] = field(default_factory=list)


def judgement_setup(comparison: Comparison, verdict: Verdict, sources: Sources, links: Links) -> SetupView:
    """What a judgement rests on, as far as report and baseline are at hand."""
    report, baseline = sources.report, sources.baseline
    facts = [
        *(report_facts(report, links) if report else []),
        *_baseline_facts(comparison, baseline, links),
        SetupFact("Policy profile", verdict.profile or "none"),
        SetupFact("Fails the check on", verdict.fail_on, code=True),
    ]
    return SetupView(facts, [_compared(run, sources) for run in comparison.runs])


def report_setup(reports: Sequence[Report], links: Links) -> SetupView:
    """What reports rest on that nothing was compared with."""
    facts = [fact for report in reports for fact in report_facts(report, links)]
    return SetupView(facts, [_alone(run) for report in reports for run in report.runs])


def report_facts(report: Report, links: Links) -> list[SetupFact]:
    """Where a report comes from."""
    origin = report.provenance
    found = [
        SetupFact("Measured", when(report.created_at)),
        SetupFact("Measured by", f"{report.tool.name} {report.tool.version}"),
        SetupFact("Commit", short_hash(origin.commit), links.commit(origin.commit), code=True),
        SetupFact("Configuration", short_hash(origin.config_sha256), code=True),
        SetupFact("Platform", origin.platform or "–"),
    ]
    return [fact for fact in found if fact.value != "–"]


def _baseline_facts(comparison: Comparison, baseline: Baseline | None, links: Links) -> list[SetupFact]:
    if comparison.baseline is None:
        return [SetupFact("Baseline", "none")]
    commit = comparison.baseline_commit
    found = [
        SetupFact("Baseline", comparison.baseline, code=True),
        SetupFact("Baseline of", when(comparison.baseline_created_at or "") or "–"),
        SetupFact("Baseline's commit", short_hash(commit), links.commit(commit), code=True),
        SetupFact("Baseline made by", f"evalward {baseline.provenance.evalward}" if baseline else "–"),
    ]
    accepted = baseline.provenance.accepted if baseline else []
    found += [SetupFact("Accepted", str(each)) for each in accepted]
    return [fact for fact in found if fact.value != "–"]


def _compared(run: RunComparison, sources: Sources) -> RunSetup:
    report = sources.report
    now = next((each for each in report.runs if each.name == run.name), None) if report else None
    then = (run.replaced.suite, run.replaced.target) if run.replaced else (run.suite, run.target)
    before = baseline_run_of(sources.baseline, *then)
    changed = {change.part: (change.before, change.now) for change in run.subject}
    known_now: Mapping[str, str] = now.subject.parts if now else {}
    known_before: Mapping[str, str] = before.subject.parts if before else {}
    names = dict.fromkeys([*changed, *sorted({*known_now, *known_before})])
    parts = [
        _part(name, *changed.get(name, (known_before.get(name), known_now.get(name))), changed=name in changed)
        for name in names
    ]
    return RunSetup(run.name, _facts(run), parts[:MOST_PARTS], compared=not run.added)


def _part(name: str, before: str | None, now: str | None, *, changed: bool) -> SubjectPart:
    return SubjectPart(name, short_hash(before), short_hash(now), changed)


def _facts(run: RunComparison) -> list[str]:
    random = "random" if run.random else "deterministic"
    replay = ", replays a recording" if run.replay else ""
    found = [f"kind {run.kind}", random + replay, f"{plural(run.trials, 'trial')} per case"]
    if run.baseline_trials is not None:
        found.append(f"{run.baseline_trials} in the baseline")
    return found


def _alone(run: Run) -> RunSetup:
    facts = [f"kind {run.kind}", "random" if run.random else "deterministic", f"{plural(run.trials, 'trial')} per case"]
    parts = [_part(name, None, value, changed=False) for name, value in sorted(run.subject.parts.items())]
    return RunSetup(run.name, facts, parts[:MOST_PARTS], compared=False)
