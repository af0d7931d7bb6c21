"""What is told of a mistake fits on a screen, whatever was wrong."""

from __future__ import annotations

from evalward.records.problem import InputError, Place, Problem


def test_a_message_is_cut() -> None:
    place = Place(file="x" * 5_000, line=3)
    told = str(Problem(place=place, message="m" * 100_000, remedy="r" * 100_000, field="f" * 100_000))
    assert len(told) < 4_000
    assert told.count("…") == 4


def test_so_is_what_is_changed_later() -> None:
    problem = Problem(place=Place(file="a.yml", line=3), message="can't be read", remedy="Name a file.")
    longer = problem.but(message=f"{'x' * 100_000}: {problem.message}", field="f" * 100_000)
    assert len(str(longer)) < 4_000
    assert (longer.place, longer.remedy) == (problem.place, problem.remedy)


def test_many_problems_are_told_as_many() -> None:
    place = Place(file="a.jsonl")
    error = InputError(Problem(place=place, message=f"number {n}") for n in range(20_000))
    assert len(error.problems) == 1_001
    assert str(error.problems[-1]) == "a.jsonl: there are more problems, which are not shown."
