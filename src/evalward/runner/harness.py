"""Which suites' commands can be run here, and what is asked of the keeper to run some cases again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from evalward.config import LoadedConfig, Suite
from evalward.config.harness import HarnessSuite, needed_keys
from evalward.config.harness_words import ONE_ID, TRIALS, marks_in, unnameable
from evalward.config.words import field_name
from evalward.records.problem import InputError, Place, Problem
from evalward.sandbox.process.temporary import temporary_folder

MOST_IDS, LONGEST_LIST = 500, 20_000  # cases and characters of one command


class Rerun(Struct, frozen=True):
    """One start of `rerun`: for these cases, `trials` times each."""

    ids: Sequence[str]
    trials: int


class RerunPlan(Struct, frozen=True):
    """The starts that give cases their fresh trials, and the cases whose ids can't be handed over, with the reason."""

    starts: Sequence[Rerun]
    unnamed: Mapping[str, str]


def rerun_plan(suite: HarnessSuite, trials: Mapping[str, int]) -> RerunPlan:
    """How each case of `trials` is tried again so often: with `{trials}` in one start, else in so many starts."""
    command = suite.rerun
    if command is None:
        return RerunPlan([], {})
    why = {case: unnameable(case, command, shell=suite.shell) for case in trials}
    marks = marks_in(command)
    starts: list[Rerun] = []
    for number in sorted({trials[case] for case in trials if why[case] is None} - {0}):
        cases = [case for case in trials if trials[case] == number and why[case] is None]
        for ids in _lists(cases, one_each=ONE_ID in marks):
            starts += [Rerun(ids, number)] if TRIALS in marks else [Rerun(ids, 1)] * number
    return RerunPlan(starts, {case: reason for case, reason in why.items() if reason is not None})


def _lists(cases: Sequence[str], *, one_each: bool) -> Iterator[list[str]]:
    """The cases in lists that one command can hold."""
    part: list[str] = []
    for case in cases:
        full = len(part) >= (1 if one_each else MOST_IDS) or sum(map(len, part)) + len(case) > LONGEST_LIST
        if part and full:
            yield part
            part = []
        part.append(case)
    if part:
        yield part


@contextmanager
def results_folder() -> Iterator[tuple[Path, Path]]:
    """A new folder for the results of one command, and one that the command has as its home; both go with it."""
    with temporary_folder("harness") as made:
        results, home = made / "results", made / "home"
        results.mkdir()
        home.mkdir()
        yield results, home


def not_runnable(
    loaded: LoadedConfig,
    suites: Sequence[Suite],
    env: Mapping[str, str],
    withheld: Mapping[str, str],
    *,
    spare_keyless: bool,
) -> Mapping[str, str]:
    """Of the suites those whose commands can't be run here, by name, and why: they are not measured.

    Raises `InputError` with one problem per missing key, but for `spare_keyless`: on forks there are no secrets.
    """
    harnesses = [suite for suite in suites if isinstance(suite, HarnessSuite)]
    found = {suite.name: withheld[suite.name] for suite in harnesses if suite.name in withheld}
    missing = {
        suite.name: name
        for suite in harnesses
        if suite.name not in found
        for name in needed_keys(suite)
        if not env.get(name, "").strip()
    }
    if missing and not spare_keyless:
        raise InputError([_missing(loaded, suite, name) for suite, name in missing.items()])
    running = {suite.name for suite in harnesses if suite.run is not None}  # others have their results already
    return {
        **found,
        **{each: f"there is no key here ({missing[each]} is not set)" for each in missing.keys() & running},
    }


def _missing(loaded: LoadedConfig, suite: str, variable: str) -> Problem:
    path = loaded.suite_path(suite, "env")
    return Problem(
        place=Place(file=loaded.file, line=loaded.line(*path)),
        field=field_name(path),
        message=f"the command of {suite} needs a key, and {variable} is not set",
        remedy=f"Set {variable}, or leave the suite out with --suite.",
    )
