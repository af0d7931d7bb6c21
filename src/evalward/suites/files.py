"""The case files that a suite's patterns name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evalward.config import LoadedConfig
from evalward.config.words import field_name
from evalward.opening import glob_inside
from evalward.records.case import Case
from evalward.records.problem import InputError, Place, Problem


def case_files(
    suite: str, patterns: Sequence[str], config: LoadedConfig, problems: list[Problem], key: str = "cases"
) -> list[str]:
    """The files that the patterns match, without repetition, as paths from the configuration's folder.

    A pattern that matches none, or a link, is a problem. `key` is where the suite has the patterns.
    """
    found: dict[str, None] = {}
    for number, pattern in enumerate(patterns):
        line = config.line(*config.suite_path(suite, key, number))
        try:
            files = glob_inside(config.root, pattern)
        except InputError as error:
            problems += error.problems
            continue
        if not files:
            problems.append(
                Problem(
                    place=Place(file=config.file, line=line),
                    field=field_name(config.suite_path(suite, key)),
                    message=f"no file matches {pattern!r}",
                    remedy=f"Patterns count from the folder of {config.file}.",
                )
            )
        found |= dict.fromkeys(files)
    return list(found)


def repeated_ids(cases: Sequence[Case], field: str = "id", shown: Callable[[str], str] = repr) -> list[Problem]:
    """A problem for each case whose id an earlier one has. `field` is what its file calls the id."""
    seen: dict[str, Place] = {}
    problems: list[Problem] = []
    for case in cases:
        if case.id in seen:
            message = f"the {field} {shown(case.id)} is already used at {seen[case.id]}"
            problems.append(Problem(place=case.place, field=field, message=message, remedy="Give it another one."))
        seen.setdefault(case.id, case.place)
    return problems
