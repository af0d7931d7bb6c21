"""What results have alike is held once, and nobody sees a difference."""

from __future__ import annotations

from evalward.records import sharing
from evalward.records.baseline import BaselineTrial
from evalward.records.report import Run
from evalward.records.result import CheckResult, Result
from evalward.records.trace import Usage
from support.results import result, run


def read(*results: Result) -> list[Result]:
    return Run.model_validate_json(run(results).model_dump_json()).cases


def test_results_of_which_nothing_is_known_share_the_record_of_it() -> None:
    one, other, paid, free = read(
        result("a", usage=Usage()),
        result("b", usage=Usage()),
        result("c", usage=Usage(input_tokens=7)),
        result("d", usage=Usage(input_tokens=0)),
    )
    assert one.usage is other.usage
    assert (one.usage.input_tokens, paid.usage.input_tokens, free.usage.input_tokens) == (None, 7, 0)
    assert one.model_fields_set is other.model_fields_set
    assert paid.usage.model_fields_set is free.usage.model_fields_set


def test_plain_details_are_held_once() -> None:
    def details(**values: object) -> dict[str, object]:
        return {"kind": "external", "format": "rows", **values}

    one, same, timed, scored, alike = read(
        result("a", details=details()),
        result("b", details=details()),
        result("c", details=details(timed=True)),
        result("d", details=details(scores={"quality": 0.5})),
        result("e", details=details(scores={"quality": 0.5})),
    )
    assert one.details is same.details
    assert len({id(each.details) for each in (one, timed, scored, alike)}) == 4
    assert scored.details == alike.details
    told, untold = (
        BaselineTrial.model_validate({"status": "passed", "details": each})
        for each in (details(timed=False), details())
    )
    assert told.details.model_fields_set == {"kind", "format", "timed"}
    assert untold.details.model_fields_set == {"kind", "format"}


def test_results_that_share_the_names_of_their_fields_stay_as_they_are() -> None:
    checks = [CheckResult(check="exit_code:0", passed=True, detail="0")]
    one, same, other = read(result("a", checks=checks), result("b", checks=checks), result("c", message="why"))
    short, like = BaselineTrial(status="passed"), BaselineTrial(status="failed")
    assert short.model_fields_set is like.model_fields_set
    assert short.model_fields_set == {"status"}
    changed = short.model_copy(update={"score": 0.5})
    assert changed.model_fields_set == {"status", "score"}
    assert like.model_fields_set == {"status"}
    assert one.model_fields_set is same.model_fields_set
    assert one.checks[0].model_fields_set is same.checks[0].model_fields_set
    assert (one.message, other.message) == (None, "why")


def test_what_was_given_is_written_as_it_was() -> None:
    told, untold = BaselineTrial(status="passed", usage=Usage(cost_usd=None)), BaselineTrial(status="passed")
    assert told.usage.model_dump(exclude_unset=True) == {"cost_usd": None}
    assert untold.usage.model_dump(exclude_unset=True) == {}


def test_names_that_any_file_can_make_up_are_not_kept_for_ever() -> None:
    for number in range(2 * sharing.MOST_HELD):
        read(result("a", details={"kind": "foreign", f"key-{number}": 1}))
    assert len(sharing._NAMES) <= sharing.MOST_HELD + 3


def test_no_more_are_values() -> None:
    for number in range(2 * sharing.MOST_HELD):
        read(result("a", details={"kind": "external", "format": f"rows{number}"}))
    assert len(sharing._PARTS) <= sharing.MOST_HELD + 3
