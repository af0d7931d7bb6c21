"""Parts become one report, or a sentence that says what is missing or doesn't belong there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evalward.commands.pipeline import Criteria
from evalward.engine.parts import IncompleteError, NamedPart, merged, remeasured
from evalward.records.part import Part
from evalward.records.policy import Policy
from evalward.records.problem import InputError
from evalward.records.report import Provenance, Report, Tool
from evalward.records.result import NOT_RUN
from support.results import baseline, passes, report, result, run

PLAN = "sha256:plan"


def part(index: int, *cases: Any, total: int = 2, plan: str = PLAN, attempt: int = 1, **more: Any) -> NamedPart:
    """A part with these cases of the only run, in a folder of the shard's name."""
    said = Part(index=index, total=total, plan=plan, attempt=attempt)
    made = report(run(list(cases)), **more).model_copy(update={"part": said})
    return NamedPart(f"part-{index}" + (f".{attempt}" if attempt > 1 else ""), made)


def refusal(parts: Sequence[NamedPart]) -> str:
    with pytest.raises(InputError) as caught:
        merged(parts)
    (problem,) = caught.value.problems
    return str(problem)


def missing(*parts: NamedPart) -> str:
    with pytest.raises(IncompleteError) as caught:
        merged(parts)
    return str(caught.value)


def test_all_parts__are_the_report_of_one_machine() -> None:
    found = merged([part(2, *passes("b", "d")), part(1, result("c", "failed"), *passes("a"))]).report
    cases = [*passes("a", "b"), result("c", "failed"), *passes("d")]
    whole = report(remeasured(run(cases), cases))
    assert found == whole
    assert found.part is None


def test_a_trial_lies_in_the_folder_of_its_part() -> None:
    found = merged([part(1, result("a", trace="trials/a.json")), part(2, result("b", trace="trials/b.json"))])
    assert found.folders == {"trials/a.json": "part-1", "trials/b.json": "part-2"}


def test_a_shard_that_is_not_there__is_named() -> None:
    said = missing(part(2, *passes("a"), total=4), part(1, total=4))
    assert said.startswith("there is no part of 2 shards of 4: 3, 4.")


def test_a_shard_that_ended_early__is_named_with_what_it_left() -> None:
    cases = [*passes("a"), result("b", "skipped", reason=NOT_RUN), result("c", "skipped", reason=NOT_RUN)]
    cut = part(2, *cases, interrupted="budget: $1 of $1 is spent")
    assert missing(part(1), cut).startswith("shard 2/2 ended early (budget: $1 of $1 is spent): b, c.")


def test_of_two_parts_of_one_shard__that_of_the_later_attempt_holds() -> None:
    first, second = part(2, result("b", "failed")), part(2, *passes("b"), attempt=2)
    for given in ([part(1), first, second], [second, first, part(1)]):
        found = merged(given)
        assert found.report.runs[0].cases == passes("b")
        assert found.notes == ["shard 2/2: there are 2 parts of it; the newest counts (part-2.2)"]


def test_two_parts_that_nothing_puts_in_order__are_no_guess() -> None:
    first, second = part(2, *passes("b")), part(2, result("b", "failed"))
    copy = NamedPart("copy", second.report)
    said = refusal([part(1), first, copy])
    assert said == "copy: it is shard 2/2 of the same attempt and time as part-2, with other results. Keep one of them."
    assert refusal([part(1), copy, first]).startswith("part-2: it is shard 2/2 of the same attempt and time as copy")
    same = merged([part(1), first, NamedPart("copy", first.report)])
    assert same.notes == ["shard 2/2: there are 2 parts of it; the newest counts (copy)"]
    later = part(2, *passes("b"), attempt=2)
    assert merged([part(1), first, copy, later]).report.runs[0].cases == passes("b")


def test_a_shard_beyond_the_last__is_none() -> None:
    assert refusal([part(1), part(3)]) == (
        "part-3: it says that it is shard 3 of 2. Measure it again with `evalward run --shard I/N`."
    )


def test_the_later_attempt_holds__also_where_it_ended_early() -> None:
    assert "shard 2/2 ended early" in missing(part(1), part(2, *passes("b")), part(2, attempt=2, interrupted="stopped"))


@pytest.mark.parametrize(
    ("stranger", "why"),
    [
        (
            part(2, plan="sha256:other"),
            "it is of another plan: targets, cases, trials, prompts, versions or the baseline differ",
        ),
        (part(2, total=3), "it is of 3 shards, not of 2"),
        (part(2, tool=Tool(version="9.9")), "it was made by Evalward 9.9, not by 0.1.0"),
        (part(2, provenance=Provenance(commit="d" * 40)), f"it is of commit {'d' * 7}, not of abc"),
        (part(2, provenance=Provenance()), "it is of an unknown commit, not of abc"),
        (
            part(2, provenance=Provenance(commit="abc", config_sha256="sha256:x")),
            "it was measured with another configuration",
        ),
    ],
)
def test_a_stranger_is_refused_with_what_differs(stranger: NamedPart, why: str) -> None:
    assert refusal([part(1), stranger]) == (
        f"part-2: it doesn't belong to the same run as part-1: {why}. "
        "Judge the parts of one run together, all of one commit."
    )


def test_the_report_of_a_whole_run__is_no_part() -> None:
    whole = NamedPart("evalward-out", report(run(passes("a"))))
    assert refusal([whole]).startswith("evalward-out: its report is of a whole run, not of a shard.")


def test_no_part_at_all() -> None:
    assert refusal([]) == "parts: there is no part. Name their folders."


def test_one_part__is_neither_judged_nor_a_baseline() -> None:
    alone: Report = part(1, *passes("a")).report
    with pytest.raises(InputError, match="it holds shard 1/2, a part of a run"):
        Criteria(None, Policy()).decide(alone)
    with pytest.raises(InputError, match="it holds shard 1/2 only"):
        baseline(*alone.runs, part=alone.part)


def test_a_run_that_was_not_measured__stays_so() -> None:
    why = "there is no key here (KEY is not set)"
    made = [report(run([], not_measured=why), part=Part(index=n, total=2, plan=PLAN)) for n in (1, 2)]
    parts = [NamedPart(f"part-{number}", each) for number, each in enumerate(made)]
    assert [each.not_measured for each in merged(parts).report.runs] == [why]
