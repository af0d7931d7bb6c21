"""Scenarios for people: a row each, and with several agents a table of scenarios and agents.

What is given is text, not yet escaped: names are hostile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evalward.records.result import Status
from evalward.records.scenario_line import ScenarioLine
from evalward.render.numbers import NOT_AVAILABLE, format_number, plural
from evalward.render.view import RESULTS, Badge, ScenarioMatrix, ScenarioRow, ScenarioTable, Some

NOTHING = "–"
_ALWAYS = ("gates", "commands (failed)", "first try", "completed")
_EXPLAINED = "First try: subcommands whose first use succeeded."
_SUMS = "Numbers are sums over the trials."
_GUESSED = "≈ was read from a transcript, where exit codes are guessed."


def scenario_table(lines: Sequence[ScenarioLine], limit: int, before: Mapping[str, str] = {}) -> ScenarioTable:
    """The scenarios of one run, those that didn't pass first. `before`: how the ones that changed used to end."""
    judged = any(line.judge_score is not None for line in lines)
    scored = any(line.composite_score is not None for line in lines)
    ordered = sorted(lines, key=passes)
    notes = [_EXPLAINED if any(line.first_tries is not None for line in lines) else ""]
    notes += [_SUMS if any(line.trials > 1 for line in lines) else ""]
    notes += [_GUESSED if any(line.approximate for line in lines) else ""]
    walls = dict.fromkeys(line.isolation for line in lines if line.isolation)
    notes += [f"Isolation: {'; '.join(walls)}." if walls else ""]
    return ScenarioTable(
        columns=[*_ALWAYS, *(["judge"] if judged else []), *(["composite"] if scored else [])],
        rows=Some([_row(line, judged, scored, before.get(line.id, "")) for line in ordered[:limit]], len(ordered)),
        note=" ".join(note for note in notes if note),
    )


def scenario_matrix(suite: str, runs: Mapping[str, Sequence[ScenarioLine]], limit: int) -> ScenarioMatrix | None:
    """Scenarios in rows, agents in columns; `None` for fewer than two agents, where a table says more."""
    if sum(bool(lines) for lines in runs.values()) < 2:
        return None
    names = list(dict.fromkeys(line.id for lines in runs.values() for line in lines))
    by_agent = [{line.id: line for line in lines} for lines in runs.values()]
    rows = [(name, [_cell(lines.get(name)) for lines in by_agent]) for name in names]
    return ScenarioMatrix(suite, list(runs), Some(rows[:limit], len(rows)))


def matrices(runs: Iterable[tuple[str, str, Sequence[ScenarioLine]]], limit: int) -> list[ScenarioMatrix]:
    """One for each suite that several agents did. `runs`: suite, target, lines."""
    suites: dict[str, dict[str, Sequence[ScenarioLine]]] = {}
    for suite, target, lines in runs:
        if lines:
            suites.setdefault(suite, {})[target] = lines
    found = [scenario_matrix(suite, agents, limit) for suite, agents in suites.items()]
    return [matrix for matrix in found if matrix is not None]


def passes(line: ScenarioLine) -> bool:
    """More than half of the valid trials passed: as the comparison has it."""
    return 2 * line.passed > line.valid


def _row(line: ScenarioLine, judged: bool, scored: bool, before: str) -> ScenarioRow:
    said = outcome(line) + (f"; {before} in the baseline" if before else "")
    if not line.valid:
        cells = [NOTHING] * (len(_ALWAYS) + judged + scored)
        return ScenarioRow(line.id, badge(line), said, cells)
    guess = "≈ " if line.approximate else ""
    cells = [_of(line.gates_passed, line.gates_total), guess + commands(line), _first(line), _completed(line)]
    cells += [_judge(line)] if judged else []
    cells += [_score(line.composite_score)] if scored else []
    return ScenarioRow(line.id, badge(line), said, cells)


def _cell(line: ScenarioLine | None) -> tuple[Badge | None, str]:
    """A cell of the matrix: how it ended, and where it failed the gates that held."""
    if line is None:
        return None, NOTHING
    failed = line.valid and not passes(line)
    gates = f", gates {_of(line.gates_passed, line.gates_total)}" if failed and line.gates_total else ""
    ended = ", not completed" if failed and line.completed == 0 else ""
    return badge(line), outcome(line) + gates + ended


def badge(line: ScenarioLine) -> Badge:
    """How it ended, as a badge."""
    if not line.valid:
        return RESULTS[Status.SKIPPED if line.skipped else Status.ERROR]
    return RESULTS[Status.PASSED if passes(line) else Status.FAILED]


def outcome(line: ScenarioLine) -> str:
    """How it ended in words; of several trials how many passed."""
    if line.valid > 1:
        return f"{line.passed} of {line.valid} passed"
    return badge(line).word


def commands(line: ScenarioLine) -> str:
    """`6 (2 failed)`."""
    if not line.commands:
        return "none"
    if line.failed_commands is None:
        return f"{line.commands:,} (exit codes unknown)"
    return f"{line.commands:,} ({line.failed_commands:,})"


def _first(line: ScenarioLine) -> str:
    return NOT_AVAILABLE if line.first_tries is None else _of(line.first_tries, line.identities)


def _completed(line: ScenarioLine) -> str:
    if line.completed is None:
        return NOT_AVAILABLE
    if line.valid == 1:
        return "yes" if line.completed else "no"
    return _of(line.completed, line.valid)


def _judge(line: ScenarioLine) -> str:
    if line.judge_score is None:
        return NOTHING
    missing = line.valid - line.judged
    return _score(line.judge_score) + (f" ({plural(missing, 'trial')} without)" if missing else "")


def _score(score: float | None) -> str:
    return NOTHING if score is None else format_number(score, "score")


def _of(part: int, whole: int) -> str:
    return f"{part:,}/{whole:,}" if whole else "none"
