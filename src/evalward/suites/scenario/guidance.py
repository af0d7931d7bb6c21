"""What scenario results say about the guidance: the specification's table, and what the guidance should say instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalward.decide.guidance import ComparedRow, GuidanceReading
from evalward.records.report import Finding
from evalward.records.result import Result
from evalward.suites.scenario.details import FailedCommand
from evalward.suites.scenario.findings import interpret
from evalward.suites.scenario.metrics import details_of, measure

ROWS = (
    ComparedRow("error_rate", "error_rate"),
    ComparedRow("help_invocations", "help_seeking"),
    ComparedRow("first_try_success_rate", "first_try_success"),
    ComparedRow("retry_rate", "retry_rate"),
    ComparedRow("iteration_ratio", "iteration_ratio", mirrors="retry_rate"),
    ComparedRow("total_commands", "commands"),
    ComparedRow("completion_rate", "completion"),
    ComparedRow("gate_pass_rate", "gates"),
    ComparedRow("judge_score", "judge"),
    ComparedRow("outcome_pass_rate", "outcome"),
)
"""The specification's names; `iteration_ratio` is 1 − `retry_rate`, so it is no evidence of its own."""

MOST_ADVICE = 5
LEAST_TRIALS = 2  # in which a command fails, before the guidance is told what to say about it
SHOWN_COMMAND, SHOWN_SAID = 120, 120
_DIAGNOSES = ("wrong_examples", "help_insufficient", "docs_too_short", "many_commands", "low_first_try")


def advise(results: Sequence[Result], findings: Sequence[Finding]) -> list[str]:
    """What the guidance should say: commands that fail again and again with what worked instead, then the patterns'."""
    valid = [result for result in results if result.valid]
    advice = [_words(group, len(valid)) for group in _failing(valid)]
    patterns = [finding.advice for name in _DIAGNOSES for finding in findings if finding.id == name and finding.advice]
    return list(dict.fromkeys([*advice, *patterns]))[:MOST_ADVICE]


@dataclass(frozen=True)
class _Failing:
    """One way in which a subcommand fails, and in how many trials."""

    first: FailedCommand
    trials: int
    worked: str | None


def _failing(valid: Sequence[Result]) -> Iterator[_Failing]:
    """By number of trials, the most first: failures of one subcommand with the same error."""
    groups: dict[tuple[str, str], list[tuple[int, FailedCommand]]] = {}
    for number, result in enumerate(valid):
        for failed in details_of(result).interaction.failed:
            groups.setdefault((failed.subcommand, _error(failed)), []).append((number, failed))
    counted = sorted(groups.values(), key=lambda group: -len({number for number, _ in group}))
    for group in counted:
        trials = len({number for number, _ in group})
        if trials >= min(LEAST_TRIALS, len(valid)):
            worked = next((failed.worked for _, failed in group if failed.worked is not None), None)
            yield _Failing(group[0][1], trials, worked)


def _error(failed: FailedCommand) -> str:
    """The line that says what was wrong: the first with the word error, else the first; of a traceback the last."""
    lines = [line.strip() for line in failed.said.splitlines() if line.strip()]
    if not lines:
        return f"exit code {failed.exit_code}"
    if lines[0].startswith("Traceback"):
        return lines[-1]
    return next((line for line in lines if "error" in line.lower()), lines[0])


def _words(group: _Failing, trials: int) -> str:
    failed = group.first
    how = f"`{_code(failed.command, SHOWN_COMMAND)}` failed in {group.trials} of {trials} trials"
    error = f": {_code(_error(failed), SHOWN_SAID)}"
    if group.worked is None:
        return f"{how}{error}. Say what to write instead."
    return f"{how}{error}. Show an example that works: `{_code(group.worked, SHOWN_COMMAND)}`"


def _code(text: str, limit: int) -> str:
    """In one line, and without what would end a code span of a sentence."""
    words = " ".join(text.replace("`", "'").split())
    return words if len(words) <= limit else words[: limit - 1] + "…"


READING = GuidanceReading(measure, ROWS, interpret, advise)
"""How guidances of scenario suites are compared."""
