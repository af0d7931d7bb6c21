"""One trial of a bash case: a conversation in a fresh shell, then the checks. Only who runs cases loads this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalward.config import BashSuite, LoadedConfig, Suite
from evalward.records.case import Case
from evalward.records.judge import JUDGE_ERROR
from evalward.records.result import UNREADABLE, CheckResult, Result, Status
from evalward.records.trace import Trace
from evalward.sandbox.base import SandboxError, Shell, cut
from evalward.suites.base import Prepared, Proof, TrialBrokenError, TrialOutcome
from evalward.suites.bash.case import BashCase
from evalward.suites.bash.checks import Evidence, evaluate
from evalward.suites.bash.details import BashDetails
from evalward.suites.bash.failures import SHOWN_COMMAND, SHOWN_STDERR, blamed_call, failures_of
from evalward.suites.bash.judged import Judged, judge_checks, wants_judge
from evalward.suites.bash.load import load_cases
from evalward.suites.bash.prompt import NEW_SHELLS, SYSTEM
from evalward.suites.bash.shells import Shells, shells_of
from evalward.suites.blame import blameless, unreadable
from evalward.suites.divergence import first_divergence
from evalward.suites.loop import broken_shell, converse, keep
from evalward.suites.tool import Prompting, load_prompting
from evalward.targets.base import BrokeOffError, Chat, Evaluated, Target, talks
from evalward.targets.failures import Cause, TargetError

if TYPE_CHECKING:
    from evalward.suites.judge.who import Wanted


@dataclass(frozen=True)
class Equipment:
    """What a suite's trials have in common: what the model is told, and the shells it works with."""

    prompting: Prompting
    shells: Shells


def prepare(spec: Suite, config: LoadedConfig) -> Prepared:
    """Cases, prompt and tool of a suite."""
    assert isinstance(spec, BashSuite)  # noqa: S101 - the registry gives each kind its own suites
    words = SYSTEM if spec.sandbox == "virtual" else NEW_SHELLS
    prompting = load_prompting(config.root, spec.system, spec.tool, words)
    cases, shells = load_cases(spec, config), shells_of(spec, config)
    subject = {**prompting.subject, **shells.subject}
    return Prepared(spec, cases, subject, Equipment(prompting, shells), judging=_wanted(cases))


async def run_trial(suite: Prepared, case: Case, target: Evaluated, trial: int) -> TrialOutcome:
    """One conversation in a fresh shell, then the checks."""
    assert isinstance(case, BashCase)  # noqa: S101
    assert isinstance(suite.settings, Equipment)  # noqa: S101
    assert talks(target)  # noqa: S101 - the plan gives each kind its own targets
    try:
        return await _run(suite, suite.settings, case, target, trial)
    except TrialBrokenError as error:  # what is written down is cut, as of any other trial
        kept = keep(error.trace)
        raise TrialBrokenError(
            kept, error.reason, error.message, stops_run=error.stops_run, begun=error.begun
        ) from error
    except BrokeOffError as broke:
        ours = blameless(keep(broke.trace), broke.error)
        if ours is not None:
            raise ours from broke
        return _unreadable(case, trial, keep(broke.trace), broke.error)


async def _run(suite: Prepared, equipment: Equipment, case: BashCase, target: Target, trial: int) -> TrialOutcome:
    chat, (trace, checks) = await _once(equipment, case, target, trial)
    again = await _once(equipment, case, target, trial) if chat.recording else None
    try:
        same = None if again is None else _same((trace, checks), again[1])
        judged = await judge_checks(case, trace, checks, suite.judges)
        details = _details(trace, chat, judged.checks, same).model_copy(update={"judgements": judged.outcomes})
        return TrialOutcome(_result(case, trial, judged, trace, details), keep(trace))
    except Exception as error:
        raise BrokeOffError(trace, error) from error


async def prove(suite: Prepared) -> Proof:
    """The oracle passes every check, doing nothing passes no case, each check fails on some wrong answer."""
    from evalward.suites.bash.prove import prove_cases  # noqa: PLC0415 - only `validate` proves

    assert isinstance(suite.settings, Equipment)  # noqa: S101
    cases = [case for case in suite.cases if isinstance(case, BashCase)]
    return await prove_cases(cases, suite.settings.shells)


Played = tuple[Trace, list[CheckResult]]


async def _once(equipment: Equipment, case: BashCase, target: Target, trial: int) -> tuple[Chat, Played]:
    """One conversation in a shell of its own, and what the checks say of it."""
    try:
        chat = target.open(case, trial)
        async with equipment.shells.open(case) as shell:
            return chat, await _played(equipment.prompting, case, chat, shell)
    except TargetError as error:
        raise TrialBrokenError(Trace(), error.cause, error.message, stops_run=error.rule.stops_run) from error
    except SandboxError as error:
        raise TrialBrokenError(Trace(), Cause.SANDBOX, str(error)) from error


async def _played(prompting: Prompting, case: BashCase, chat: Chat, shell: Shell) -> Played:
    trace = await converse(
        chat,
        shell,
        system=case.task.system or prompting.system,
        tool=prompting.tool,
        prompt=case.task.prompt,
        max_turns=case.max_turns,
    )
    evidence = Evidence(trace.tool_calls, shell)
    try:
        checks = [evaluate(item.check, item.weight, evidence) for item in case.task.expectations]
    except SandboxError as error:
        raise await broken_shell(shell, trace, error) from error
    except Exception as error:  # what the target did and left is all that the checks look at
        raise BrokeOffError(trace, error) from error
    return trace, checks


def _unreadable(case: BashCase, trial: int, trace: Trace, error: Exception) -> TrialOutcome:
    """A failure in every check: what can't be read or judged is the target's own doing."""
    checks = [
        CheckResult(check=item.check, passed=False, detail="not judged", weight=item.weight)
        for item in case.task.expectations
    ]
    calls = trace.tool_calls
    details = BashDetails(
        tool_calls=len(calls),
        tool_calls_ok=sum(call.exit_code == 0 for call in calls),
        turns=len(trace.turns),
        working_ms=trace.working_ms,
    )
    result = Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=trial,
        status=Status.FAILED,
        max_score=sum(check.weight for check in checks),
        checks=checks,
        usage=trace.usage,
        duration_ms=trace.duration_ms,
        reason=UNREADABLE,
        message=unreadable(error),
        details=details,
    )
    return TrialOutcome(result, trace)


def _same(first: Played, second: Played) -> bool:
    """Two executions of a replay gave the same: a case of which that holds needs no statistics."""
    outcomes = [[check.passed for check in checks] for _, checks in (first, second)]
    return outcomes[0] == outcomes[1] and first_divergence(first[0].tool_calls, second[0].tool_calls) is None


def passed_all(checks: Sequence[CheckResult]) -> bool:
    """The specification's `all_passed`: weights don't matter, a failed check of weight 0 fails the task."""
    return all(check.passed for check in checks)


def _wanted(cases: Sequence[BashCase]) -> Wanted | None:
    if not any(map(wants_judge, cases)):
        return None
    from evalward.suites.judge.who import Wanted  # noqa: PLC0415 - only who wants a judge pays for one

    return Wanted()


def _result(case: BashCase, trial: int, judged: Judged, trace: Trace, details: BashDetails) -> Result:
    """The result; a trial that the judge could not judge is an error, neither passed nor failed."""
    checks = judged.checks
    passed = passed_all(checks)
    outcome: dict[str, Any] = (
        {"status": Status.PASSED} if passed else {"status": Status.FAILED, "reason": _reason(trace)}
    )
    if judged.error is not None:
        outcome = {"status": Status.ERROR, "reason": JUDGE_ERROR, "message": judged.error}
    return Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=trial,
        score=sum(check.weight for check in checks if check.passed),
        max_score=sum(check.weight for check in checks),
        checks=checks,
        usage=trace.usage,
        judge_usage=judged.usage,
        duration_ms=trace.duration_ms,
        details=details,
        **outcome,
    )


def _reason(trace: Trace) -> str:
    if trace.turns and trace.turns[-1].stop in {"refusal", "content_filter", "context_length", "length", "other"}:
        return trace.turns[-1].stop
    return "checks_failed" if trace.natural_stop or not trace.turns else "turn_limit"


def _details(trace: Trace, chat: Chat, checks: Sequence[CheckResult], same: bool | None) -> BashDetails:
    blamed = None if passed_all(checks) else blamed_call(trace.tool_calls)
    recorded = chat.recording
    return BashDetails(
        tool_calls=len(trace.tool_calls),
        tool_calls_ok=sum(call.exit_code == 0 for call in trace.tool_calls),
        turns=len(trace.turns),
        natural_stop=trace.natural_stop,
        working_ms=trace.working_ms,
        replayed=recorded is not None,
        diverged_at=first_divergence(recorded.tool_calls, trace.tool_calls) if recorded else None,
        deterministic=same,
        failing_command=cut(blamed.commands, SHOWN_COMMAND) if blamed else None,
        failing_stderr=cut(blamed.stderr, SHOWN_STDERR) if blamed and blamed.stderr else None,
        failures=failures_of(trace.tool_calls),
    )
