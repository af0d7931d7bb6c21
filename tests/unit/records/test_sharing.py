"""What results have alike is held once, and nobody sees a difference."""

from __future__ import annotations

from evalward.records.sharing import share_alike
from evalward.records.trace import Usage
from support.results import result


def test_results_that_took_the_same_share_one_record_of_it() -> None:
    free = [result(name) for name in "abc"]
    paid = [result(name, usage=Usage(input_tokens=7)) for name in "de"]
    nothing = result("f", usage=Usage(input_tokens=0))
    before = [each.model_dump_json() for each in (*free, *paid, nothing)]
    share_alike([*free, *paid, nothing])
    assert free[0].usage is free[1].usage is free[2].usage
    assert paid[0].usage is paid[1].usage
    assert len({id(each.usage) for each in (*free, *paid, nothing)}) == 3  # unknown is not 0
    assert free[0].model_fields_set is free[2].model_fields_set
    assert [each.model_dump_json() for each in (*free, *paid, nothing)] == before
