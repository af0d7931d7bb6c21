"""What the numbers of a scenario run show: the specification's "Interpreting Interaction Metrics" and its "Diagnostic
Patterns", computed. They inform and never decide.

The specification says "high" and "low"; the numbers for it are ours and stand in one table. First tries are judged over
identities here (how many subcommands worked at once), not over all commands: a tool that is used often and well has a
low `first_try_success_rate` by the specification's formula, and nothing is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evalward.records.metric import Measurement
from evalward.records.report import Finding
from evalward.records.result import Result
from evalward.render.numbers import percent, percent_limit, plural
from evalward.suites.scenario.details import SubcommandStats
from evalward.suites.scenario.interaction import OTHERS
from evalward.suites.scenario.metrics import details_of, was_judged
from evalward.suites.trial_findings import trial_finding

ERROR_HIGH, ERROR_LOW = 0.25, 0.10  # share of the commands
HELP_HIGH, HELP_LOW = 2.0, 1.0  # calls a trial: one look at --help is no trouble
FIRST_TRY_LOW = 0.70  # share of the subcommands whose first use succeeded
RETRY_HIGH = 0.30  # share of a subcommand's commands that follow a failure of it
RETRY_LEAST = 2  # such commands, before a subcommand is blamed
COMMANDS_HIGH = 15.0  # a completed trial
COMPLETION_LOW = 0.80  # share of the trials

SHOWN_FAILURES = 3
FAILURE_LENGTH = 160


@dataclass(frozen=True)
class _Numbers:
    """What the signals look at; `None` is not available."""

    errors: float | None
    help_calls: float | None
    first_tries: float | None
    commands: float | None
    completion: float | None


def interpret(results: Sequence[Result], measurement: Measurement) -> list[Finding]:
    """The findings of one run: what can't be trusted first, then the patterns."""
    valid = [result for result in results if result.valid]
    numbers = _numbers(valid, measurement)
    return [
        *_changed_judges(valid),
        *_trust(valid),
        *_patterns(valid, numbers),
        *_subcommands(valid),
        *_evaluators(valid),
    ]


def _numbers(valid: Sequence[Result], measurement: Measurement) -> _Numbers:
    found = [details_of(result).interaction for result in valid]
    used = [one for one in found if one.total_commands]
    tried = [one.first_tries for one in used if one.first_tries is not None]
    known = sum(count for _, count in tried)
    done = [one for one in used if one.completed]
    return _Numbers(
        errors=measurement.metrics["error_rate"].value,
        help_calls=sum(one.help_invocations for one in used) / len(used) if used else None,
        first_tries=sum(worked for worked, _ in tried) / known if known else None,
        commands=sum(one.total_commands for one in done) / len(done) if done else None,
        completion=measurement.metrics["completion_rate"].value,
    )


# ------------------------------------------------------------------------------------------- what can't be trusted


def _changed_judges(valid: Sequence[Result]) -> Iterator[Finding]:
    """Agents that laid hands on what judges them: to no effect, but somebody should know."""
    found = [r for r in valid if details_of(r).put_back]
    if found:
        names = list(dict.fromkeys(name for r in found for name in details_of(r).put_back))
        more = f" and {len(names) - SHOWN_FAILURES} more" if len(names) > SHOWN_FAILURES else ""
        yield trial_finding(
            "changed_what_judges",
            "warning",
            f"In {plural(len(found), 'trial')} the agent changed files that judge it: its versions were not used",
            evidence=", ".join(map(_line, names[:SHOWN_FAILURES])) + more,
            advice="Read the trace. If the task asks for such a change, say with protect: what agents may not change.",
            of=found,
        )


def _trust(valid: Sequence[Result]) -> Iterator[Finding]:
    silent = [r for r in valid if not details_of(r).interaction.total_commands]
    if silent:
        yield trial_finding(
            "no_target_command",
            "warning",
            f"{plural(len(silent), 'trial')} never used the tool, or its commands weren't recognised",
            evidence=f"{len(silent)} of {len(valid)} trials",
            advice="Read a trace. If the tool was used, give the scenario a tool.command_pattern that matches it.",
            of=silent,
        )
    hollow = [r for r in valid if not details_of(r).gates_total and not was_judged(details_of(r))]
    if hollow:
        yield trial_finding(
            "nothing_asserted",
            "warning",
            f"{plural(len(hollow), 'trial')} passed because nothing is asserted: no gate and no judge",
            evidence=f"{len(hollow)} of {len(valid)} trials",
            advice="Add a gate that fails when the task isn't done.",
            of=hollow,
        )
    unknown = [r for r in valid if details_of(r).interaction.unknown_count]
    if unknown:
        count = sum(details_of(r).interaction.unknown_count for r in unknown)
        yield trial_finding(
            "unknown_exit_codes",
            "info",
            plural(count, "command has an unknown exit code", "commands have unknown exit codes")
            + ": neither failed nor succeeded",
            evidence=f"in {plural(len(unknown), 'trial')}",
            advice="A call has one exit code: that of `tool a; tool b` or `tool a | head` says nothing about `tool a`.",
            of=unknown,
        )
    guessed = [r for r in valid if details_of(r).approximate]
    if guessed:
        yield trial_finding(
            "approximate",
            "info",
            "Interaction is approximate: it was read from transcripts, where exit codes are guessed",
            evidence=f"{len(guessed)} of {len(valid)} trials",
            advice="Use an agent or an output form that gives events.",
            of=guessed,
        )
    broken = [r for r in valid if details_of(r).skipped_events]
    if broken:
        lines = sum(details_of(r).skipped_events for r in broken)
        yield trial_finding(
            "skipped_events",
            "warning",
            f"{plural(lines, 'line')} of the events can't be read, so commands may be missing",
            evidence=f"in {plural(len(broken), 'trial')}",
            of=broken,
        )


# ------------------------------------------------------------------------------------------- the patterns

_ERRORS = f"errors > {percent_limit(ERROR_HIGH)}"
_FEW_ERRORS = f"errors ≤ {percent_limit(ERROR_LOW)}"
_HELP = f"help > {HELP_HIGH:g} a trial"
_LITTLE_HELP = f"help ≤ {HELP_LOW:g} a trial"


def _patterns(valid: Sequence[Result], n: _Numbers) -> Iterator[Finding]:
    yield from _errors_and_help(valid, n)
    if n.first_tries is not None and n.first_tries < FIRST_TRY_LOW:
        yield trial_finding(
            "low_first_try",
            "warning",
            "Many subcommands fail when they are first used: the docs mislead, or the command line confuses",
            evidence=_with_failures(f"{percent(n.first_tries)} of the subcommands worked at once", valid),
            threshold=f"< {percent_limit(FIRST_TRY_LOW)}",
            advice="Fix the guidance where the first commands went wrong.",
            of=_with_errors(valid),
        )
    if n.commands is not None and n.commands > COMMANDS_HIGH:
        long = [r for r in valid if details_of(r).completed and _commands(r) > COMMANDS_HIGH]
        yield trial_finding(
            "many_commands",
            "info",
            "The task gets done, by a detour: the docs describe the commands and not the workflow",
            evidence=f"{n.commands:.1f} commands a completed trial",
            threshold=f"> {COMMANDS_HIGH:g}",
            advice='Add a section "common workflows" to the guidance.',
            of=long,
        )
    if n.completion is not None and n.completion < COMPLETION_LOW:
        yield trial_finding(
            "not_completed",
            "warning",
            "Many runs don't come to their own end: time-outs, crashes, or the agent gave up",
            evidence=f"{percent(n.completion)} completed",
            threshold=f"< {percent_limit(COMPLETION_LOW)}",
            advice="Read how they ended; a longer timeout helps only agents that are nearly done.",
            of=[r for r in valid if details_of(r).completed is False],
        )


@dataclass(frozen=True)
class _Pattern:
    id: str
    holds: Callable[[float, float], bool]
    good: bool
    message: str
    threshold: str
    advice: str = ""


_TABLE = (
    _Pattern(
        "clear_docs",
        lambda errors, asked: errors <= ERROR_LOW and asked <= HELP_LOW,
        True,
        "Few errors and little need of help: the docs are clear and the tool is easy to use",
        f"{_FEW_ERRORS}, {_LITTLE_HELP}",
    ),
    _Pattern(
        "wrong_examples",
        lambda errors, asked: errors > ERROR_HIGH and asked <= HELP_HIGH,
        False,
        "Many errors and little need of help: the model thinks that it knows the syntax, and doesn't",
        f"{_ERRORS}, help ≤ {HELP_HIGH:g} a trial",
        "Look for wrong or missing examples in the guidance.",
    ),
    _Pattern(
        "help_insufficient",
        lambda errors, asked: errors > ERROR_HIGH and asked > HELP_HIGH,
        False,
        "Many errors although help is asked for: the output of --help isn't enough",
        f"{_ERRORS}, {_HELP}",
        "Add examples to --help, and say what each argument is.",
    ),
    _Pattern(
        "docs_too_short",
        lambda errors, asked: errors <= ERROR_LOW and asked > HELP_HIGH,
        False,
        "Few errors, and much need of help: --help is good, and the docs say too little up front",
        f"{_FEW_ERRORS}, {_HELP}",
        "Add the examples that --help gives to AGENTS.md.",
    ),
)


def _errors_and_help(valid: Sequence[Result], n: _Numbers) -> Iterator[Finding]:
    errors, asked = n.errors, n.help_calls
    if errors is None or asked is None:
        return
    numbers = f"errors {percent(errors)}, help {asked:.1f} a trial"
    for pattern in _TABLE:
        if pattern.holds(errors, asked):
            yield trial_finding(
                pattern.id,
                "good" if pattern.good else "warning",
                pattern.message,
                evidence=numbers if pattern.good else _with_failures(numbers, valid),
                threshold=pattern.threshold,
                advice=pattern.advice,
                of=[] if pattern.good else _with_errors(valid),
            )


def _with_errors(valid: Sequence[Result]) -> list[Result]:
    return [r for r in valid if details_of(r).interaction.error_count]


def _commands(result: Result) -> int:
    return details_of(result).interaction.total_commands


def _with_failures(numbers: str, valid: Sequence[Result], subcommand: str | None = None) -> str:
    """The numbers, and the first commands behind them with what the tool said."""
    failed = [
        one
        for result in valid
        for one in details_of(result).interaction.failed
        if subcommand is None or one.subcommand == subcommand
    ]
    every = (_line(f"$ {one.command} → {one.exit_code}: {one.said}".rstrip(": ")) for one in failed)
    lines = list(dict.fromkeys(every))[:SHOWN_FAILURES]
    return "; ".join([numbers, *lines])


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= FAILURE_LENGTH else words[:FAILURE_LENGTH] + "…"


# ------------------------------------------------------------------------------------------- per subcommand


def _subcommands(valid: Sequence[Result]) -> Iterator[Finding]:
    """High retry rate on specific commands."""
    for name, stats in sorted(_pooled(valid).items()):
        share = stats.retries_after_failure / stats.total if stats.total else 0.0
        if name == OTHERS or stats.retries_after_failure < RETRY_LEAST or share <= RETRY_HIGH:
            continue
        numbers = f"{stats.retries_after_failure} of {stats.total} follow a failure of the same command"
        yield trial_finding(
            "retried_subcommand",
            "warning",
            f"`{name}` is retried again and again: its error messages don't help",
            evidence=_with_failures(numbers, valid, name),
            threshold=f"> {percent_limit(RETRY_HIGH)} of its uses, at least {RETRY_LEAST} retries",
            advice="Let the message say what was wrong and what a right command looks like.",
            of=[r for r in valid if _retried(r, name)],
        )


def _pooled(valid: Sequence[Result]) -> dict[str, SubcommandStats]:
    pooled: dict[str, SubcommandStats] = {}
    for result in valid:
        for name, stats in details_of(result).interaction.per_subcommand.items():
            so_far = pooled.get(name, SubcommandStats())
            pooled[name] = SubcommandStats(
                total=so_far.total + stats.total,
                errors=so_far.errors + stats.errors,
                retries=so_far.retries + stats.retries,
                retries_after_failure=so_far.retries_after_failure + stats.retries_after_failure,
            )
    return pooled


def _retried(result: Result, name: str) -> bool:
    stats = details_of(result).interaction.per_subcommand.get(name)
    return stats is not None and stats.retries_after_failure > 0


def _evaluators(valid: Sequence[Result]) -> Iterator[Finding]:
    broken = [r for r in valid if any(e.error for e in details_of(r).evaluators)]
    if broken:
        first = next(e for e in details_of(broken[0]).evaluators if e.error)
        yield trial_finding(
            "evaluator_errors",
            "warning",
            f"Evaluators gave errors in {plural(len(broken), 'trial')}",
            evidence=_line(f"{first.name}: {first.error}"),
            of=broken,
        )


# ------------------------------------------------------------------------------------------- words
