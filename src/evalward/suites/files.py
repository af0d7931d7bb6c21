"""The case files that a suite's patterns name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from evalward.config import LoadedConfig
from evalward.records.case import Case
from evalward.records.problem import Place, Problem


def case_files(suite: str, patterns: Sequence[str], config: LoadedConfig, problems: list[Problem]) -> list[Path]:
    """The files that the patterns match, without repetition. A pattern that matches none is a problem."""
    found: dict[Path, None] = {}
    index = [spec.name for spec in config.config.suites].index(suite)
    for number, pattern in enumerate(patterns):
        files = _matching(config.root, pattern)
        if not files:
            line = config.line("suites", index, "cases", number)
            problems.append(
                Problem(
                    place=Place(file=config.file, line=line),
                    field=f"suites[{index}].cases",
                    message=f"no file matches {pattern!r}",
                    remedy=f"Patterns count from the folder of {config.file}.",
                )
            )
        found |= dict.fromkeys(files)
    return list(found)


def _matching(root: Path, pattern: str) -> list[Path]:
    try:
        return sorted(path for path in root.glob(pattern) if path.is_file())
    except (ValueError, IndexError, NotImplementedError):  # what pathlib says to `.`, `**x` and the like
        return []


def shown(file: Path, root: Path) -> str:
    """The file's path as people wrote it: relative to the configuration's folder."""
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)


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
