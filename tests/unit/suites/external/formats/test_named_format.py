"""A format that is named, and files of another one."""

from __future__ import annotations

import pytest

from evalward.records.problem import InputError
from evalward.suites.external.formats.find import read_files
from support.foreign.files import in_memory, stored

PLACE = "evalward.yml"


def test_a_file_of_another_format__is_refused_with_that_ones_name() -> None:
    with pytest.raises(InputError) as caught:
        read_files([stored("promptfoo/arms.json")], "inspect", PLACE)
    (problem,) = caught.value.problems
    assert str(problem) == (
        "promptfoo/arms.json: it is results of promptfoo, not of the format inspect. Name the format promptfoo, or "
        "none: on the command line auto."
    )


def test_a_file_that_no_format_knows__is_read_as_it_is_named() -> None:
    with pytest.raises(InputError, match="a JUnit XML file can't be read"):
        read_files([in_memory("nothing of it", "r.xml")], "junit", PLACE)
