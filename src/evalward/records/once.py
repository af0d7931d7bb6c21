"""A file has one run of a suite and target: of two, nothing could say which one counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from pydantic import AfterValidator


class _OfTarget(Protocol):
    @property
    def suite(self) -> str: ...

    @property
    def target(self) -> str: ...


R = TypeVar("R", bound=_OfTarget)


def each_once(runs: Sequence[R]) -> Sequence[R]:
    """The runs. Raises `ValueError` where two are of the same suite and target."""
    known: set[tuple[str, str]] = set()
    for run in runs:
        key = run.suite, run.target
        if key in known:
            raise ValueError(f"two runs are of the suite {run.suite!r} and the target {run.target!r}")
        known.add(key)
    return runs


EACH_ONCE = AfterValidator(each_once)
