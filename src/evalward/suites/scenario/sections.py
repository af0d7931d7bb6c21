"""What people see of a scenario suite: a table with a row for each scenario.

What is given is text, not yet escaped: names are hostile.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalward.records.result import Result, Status
from evalward.records.sections import Row, Section, Table
from evalward.render.kinds import TrialText
from evalward.render.numbers import NOT_AVAILABLE, format_number, plural
from evalward.suites.scenario.lines import ScenarioLine, scenario_lines
from evalward.suites.scenario.metrics import details_of

NOTHING = "–"
_ALWAYS = ("gates", "commands (failed)", "first try", "completed")
_EXPLAINED = "First try: subcommands whose first use succeeded."
_SUMS = "Numbers are sums over the trials."
_GUESSED = "≈ was read from a transcript, where exit codes are guessed."


def sections(results: Sequence[Result]) -> list[Section]:
    """The scenarios of these trials; nothing where none was tried."""
    lines = scenario_lines(results)
    return [scenario_table(lines)] if lines else []


def trial_text(result: Result) -> TrialText:
    """The commands of the tool: those that went well, those that failed, and those of which nobody knows."""
    used = details_of(result).interaction
    unknown = f", {used.unknown_count:,} unknown" if used.unknown_count else ""
    well = used.total_commands - used.error_count - used.unknown_count
    return TrialText(calls=f"{well:,} ok, {plural(used.error_count, 'error')}{unknown}")


def scenario_table(lines: Sequence[ScenarioLine]) -> Table:
    """The scenarios of one run."""
    judged = any(line.judge_score is not None for line in lines)
    scored = any(line.composite_score is not None for line in lines)
    notes = [_EXPLAINED if any(line.first_tries is not None for line in lines) else ""]
    notes += [_SUMS if any(line.trials > 1 for line in lines) else ""]
    notes += [_GUESSED if any(line.approximate for line in lines) else ""]
    walls = dict.fromkeys(line.isolation for line in lines if line.isolation)
    notes += [f"Isolation: {'; '.join(walls)}." if walls else ""]
    return Table(
        title="Scenarios",
        head="scenario",
        columns=[*_ALWAYS, *(["judge"] if judged else []), *(["composite"] if scored else [])],
        rows=[_row(line, judged, scored) for line in lines],
        note=" ".join(note for note in notes if note),
    )


def passes(line: ScenarioLine) -> bool:
    """More than half of the valid trials passed: as the comparison has it."""
    return 2 * line.passed > line.valid


def _row(line: ScenarioLine, judged: bool, scored: bool) -> Row:
    ended, brief = status(line), outcome(line)
    if not line.valid:
        cells = [NOTHING] * (len(_ALWAYS) + judged + scored)
        return Row(id=line.id, status=ended, outcome=brief, cells=cells, brief=brief)
    guess = "≈ " if line.approximate else ""
    cells = [_of(line.gates_passed, line.gates_total), guess + commands(line), _first(line), _completed(line)]
    cells += [_judge(line)] if judged else []
    cells += [_score(line.composite_score)] if scored else []
    return Row(id=line.id, status=ended, outcome=brief, cells=cells, brief=_brief(line))


def _brief(line: ScenarioLine) -> str:
    """How it ended, and where it failed the gates that held."""
    failed = not passes(line)
    gates = f", gates {_of(line.gates_passed, line.gates_total)}" if failed and line.gates_total else ""
    ended = ", not completed" if failed and line.completed == 0 else ""
    return outcome(line) + gates + ended


def status(line: ScenarioLine) -> Status:
    """How it ended."""
    if not line.valid:
        return Status.SKIPPED if line.skipped else Status.ERROR
    return Status.PASSED if passes(line) else Status.FAILED


def outcome(line: ScenarioLine) -> str:
    """How it ended in words; of several trials how many passed."""
    if line.valid > 1:
        return f"{line.passed} of {line.valid} passed"
    return status(line).value


def commands(line: ScenarioLine) -> str:
    """`6 (2)`: those that failed; `6 (2, 1 unknown)` where it isn't known of all."""
    if not line.commands:
        return "none"
    if line.failed_commands is None:
        return f"{line.commands:,} (exit codes unknown)"
    unknown = f", {line.unknown_commands:,} unknown" if line.unknown_commands else ""
    return f"{line.commands:,} ({line.failed_commands:,}{unknown})"


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
