"""Scenarios with several guidances: the variants that they name, or what another commit has."""

from __future__ import annotations

from evalward.config import LoadedConfig
from evalward.engine.control import Ended
from evalward.engine.keeping import Records
from evalward.engine.plan import Plan, PlannedRun
from evalward.git import GitTree
from evalward.records.problem import wrong
from evalward.runner.guidance_base import commit_guidance
from evalward.runner.guidance_runs import Comparing, Version, compare_versions
from evalward.runner.measure import guidance_runner, refuse_missing_keys
from evalward.runner.outside import Outside
from evalward.runner.suite_variants import compare_suite_variants
from evalward.suites.scenario.case import ScenarioCase
from evalward.suites.scenario.variants import Guidance, load_variant
from evalward.wire.messages import GuidanceCompared, GuidanceOrder


def compare(
    loaded: LoadedConfig, plan: Plan, records: Records, outside: Outside, order: GuidanceOrder
) -> GuidanceCompared:
    """Run the scenarios with each guidance. Raises `InputError` where there is nothing to compare."""
    refuse_missing_keys(loaded, plan)
    comparing = _against(loaded, order.against) if order.against is not None else _variants(plan)
    records.ready()
    ended = Ended()
    run = guidance_runner(loaded, records, outside, ended, resume=order.resume)
    found = compare_versions(plan, comparing, run)
    if order.against is None:
        found += compare_suite_variants(plan, run)
    if not found:
        raise wrong(loaded.file, "there is nothing to compare", _remedy(order.against))
    return GuidanceCompared(found=found, interrupted=ended.reason)


def _remedy(against: str | None) -> str:
    if against is not None:
        return f"The guidance of {against} is the same, for every scenario that both have."
    return (
        "Give a scenario, or a suite that takes them, `variants:`, or say with --against which commit's guidance to "
        "compare with."
    )


def _variants(plan: Plan) -> Comparing:
    """Every variant that a scenario names, in the order in which they are written."""
    cases = [case for run in plan.runs for case in run.cases if isinstance(case, ScenarioCase)]
    names = dict.fromkeys(name for case in cases for name in case.scenario.variants)

    def version(name: str) -> Version:
        def chosen(run: PlannedRun, case: ScenarioCase) -> Guidance | None:  # noqa: ARG001 - the same for all targets
            return load_variant(case, name)

        return Version(name, chosen)

    return Comparing([version(name) for name in names], why="The fixture's own guidance, and its variants.")


def _against(loaded: LoadedConfig, revision: str) -> Comparing:
    """The guidance of a commit, and that of the files here."""
    tree = GitTree(loaded.root)
    sha, prefix = tree.resolve(revision), tree.prefix()
    if sha is None or prefix is None:
        raise wrong("--against", f"there is no commit {revision!r} here", "Name a branch, a tag or a commit.")
    other = commit_guidance(tree, sha, prefix, loaded.root, name=revision)
    why = f"The guidance of `{revision}` ({sha[:7]}), and that of the files here."
    return Comparing([Version(revision, other.guidance)], why=why, reversed=True)
