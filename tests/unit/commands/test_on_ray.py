"""What a cluster's events come to: sentences, exit codes, and never a report of a part."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from evalward.cluster.orders import ClusterError, ClusterEvent
from evalward.commands.on_ray import Arrived, OnRay, collect, whole_of
from evalward.commands.world import World
from evalward.engine.parts import IncompleteError, NamedPart
from evalward.engine.selection import Selection
from evalward.records.outline import OutlinedCase, OutlinedRun
from evalward.records.part import Part
from evalward.records.problem import InputError
from evalward.records.report import Provenance, Report, Run, Subject, Tool
from evalward.records.result import NOT_RUN, Result, Status

CASES = ("one", "two", "three")


def result(name: str, status: Status) -> Result:
    reason = NOT_RUN if status is Status.SKIPPED else None
    return Result(id=name, category="c", definition="sha256:0", status=status, reason=reason)


def part(index: int, *names: str, ended: str | None = None) -> NamedPart:
    status = Status.SKIPPED if ended else Status.PASSED
    cases = [result(name, status) for name in names]
    run = Run(suite="s", kind="bash", target="t", trials=1, subject=Subject(hash="sha256:0"), cases=cases, planned=1)
    report = Report(
        tool=Tool(version="1"),
        created_at="2026-01-01T00:00:00Z",
        provenance=Provenance(),
        runs=[run],
        interrupted=ended,
        part=Part(index=index, total=3, plan="p"),
    )
    return NamedPart(f"bundle {index}", report)


def planned() -> list[OutlinedRun]:
    return [
        OutlinedRun(suite="s", kind="bash", target="t", trials=1, cases=[OutlinedCase(id=x, trials=1) for x in CASES])
    ]


def heard(*events: ClusterEvent, parts: Sequence[NamedPart] = ()) -> tuple[Arrived, str]:
    err = io.StringIO()
    world = World(out=io.StringIO(), err=err, now=lambda: "2026-01-01T00:00:00Z")
    arrived, known = Arrived(), {each.part.index: each for each in parts}
    collect(world, iter(events), arrived, lambda index: known[index])
    return arrived, err.getvalue()


BEGUN = ClusterEvent("begun", total=3, nodes=2, cpus=4)


def done(index: int) -> ClusterEvent:
    return ClusterEvent("part", index, 3, seconds=2.5, text="node-a")


def test_without_ray__the_remedy_is_the_extra() -> None:
    with pytest.raises(InputError) as found:
        heard(ClusterEvent("no-ray"))
    assert str(found.value) == '--on ray: Ray is not installed here. Install it: pip install "evalward[ray]".'


def test_a_cluster_that_cannot_be_reached__is_one_sentence_and_what_to_do() -> None:
    with pytest.raises(ClusterError) as found:
        heard(ClusterEvent("unreachable", text="nothing answers at a:1 (Connection refused)"))
    assert str(found.value) == (
        "The Ray cluster can't be reached: nothing answers at a:1 (Connection refused). "
        "Call this on a node of the cluster, or set RAY_ADDRESS to its HOST:PORT."
    )


def test_every_mistake_that_a_node_names__is_said() -> None:
    with pytest.raises(InputError) as found:
        heard(BEGUN, ClusterEvent("refused", 2, 3, text="evalward.yml:3: suites: no cases.\nevalward.yml:9: x."))
    assert [str(each) for each in found.value.problems] == [
        "bundle 2/3: evalward.yml:3: suites: no cases.",
        "bundle 2/3: evalward.yml:9: x.",
    ]


def test_progress__is_a_line_for_each_bundle() -> None:
    parts = [part(1, "one"), part(2, "two"), part(3, "three")]
    arrived, said = heard(BEGUN, done(3), done(1), done(2), ClusterEvent("ended"), parts=parts)
    assert said.splitlines() == [
        "Ray: 3 bundles on 2 nodes with 4 CPUs.",
        "bundle 3/3: 1 trial in 2.5 s on node-a; 1 of 3 done",
        "bundle 1/3: 1 trial in 2.5 s on node-a; 2 of 3 done",
        "bundle 2/3: 1 trial in 2.5 s on node-a; 3 of 3 done",
    ]
    assert [case.id for case in whole_of(arrived, planned()).report.runs[0].cases] == ["one", "three", "two"]


def test_a_bundle_that_failed__is_no_report_but_its_cases() -> None:
    failed = ClusterEvent("failed", 2, 3, text="exit code -9 on node-b: it was ended")
    arrived, said = heard(BEGUN, done(1), failed, done(3), parts=[part(1, "one"), part(3, "three")])
    assert "bundle 2/3 failed: exit code -9 on node-b: it was ended\n" in said
    with pytest.raises(IncompleteError) as found:
        whole_of(arrived, planned())
    assert str(found.value) == (
        "2 of 3 bundles came back whole (exit code -9 on node-b: it was ended). Not measured: two. The finished trials "
        "are kept: the same command with --resume and without --on ray runs the others here."
    )


def test_a_bundle_that_ended_early__is_no_report_either() -> None:
    parts = [part(1, "one"), part(2, "two", ended="the budget is spent"), part(3, "three")]
    arrived, _ = heard(BEGUN, done(1), done(2), done(3), parts=parts)
    with pytest.raises(IncompleteError, match=r"2 of 3 bundles .*ended early: the budget is spent.* measured: two\."):
        whole_of(arrived, planned())


def test_the_words_of_a_bundle__hold_where_the_checkout_has_another_path() -> None:
    chosen = Selection(("a-*",), ("openai/x", "nop"), ("--odd",), 3)
    ray = OnRay(Path("/checkout/ci/evalward.yml"), chosen)
    assert ray.words(Path("/checkout")) == [
        *("--config", "ci/evalward.yml", "--suite=a-*", "--target=openai/x", "--target=nop", "--case=--odd"),
        *("--trials", "3"),
    ]
    assert OnRay(Path("../evalward.yml"), Selection()).words(Path("/checkout/x")) == ["--config", "../evalward.yml"]
