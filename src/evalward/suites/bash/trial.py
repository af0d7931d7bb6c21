"""One trial of a bash case: a conversation in a fresh shell, then the checks. Only who runs cases loads this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from evalward.config import LoadedConfig
from evalward.records.judge import JUDGE_ERROR
from evalward.records.result import GRADER_ERROR, UNREADABLE, CheckResult, Result, Status
from evalward.records.trace import Trace
from evalward.sandbox.base import NoWorkspaceError, SandboxError, Shell, cut
from evalward.suites.base import Prepared, Proof, TrialBrokenError, TrialOutcome
from evalward.suites.bash.case import BashCase
from evalward.suites.bash.checks import CheckEvidence
from evalward.suites.bash.details import BashDetails
from evalward.suites.bash.failures import SHOWN_COMMAND, SHOWN_STDERR, blamed_call, failures_of
from evalward.suites.bash.graded import CheckOutcomes, check_all
from evalward.suites.bash.judged import JudgedChecks, judge_checks, wants_judge
from evalward.suites.bash.load import load_cases
from evalward.suites.bash.prompt import NEW_SHELLS, SYSTEM
from evalward.suites.bash.spec import BashSuite
from evalward.suites.blame import blameless, unreadable
from evalward.suites.divergence import first_divergence
from evalward.suites.loop import broken_shell, converse, keep
from evalward.suites.shells import Shells, shells_of
from evalward.suites.tool import ToolPrompting, load_prompting
from evalward.targets.base import BrokeOffError, Chat, Target
from evalward.targets.failures import Cause

if TYPE_CHECKING:
    from evalward.suites.judge.who import JudgeNeeds


@dataclass(frozen=True)
class BashContext:
    """What a suite's trials have in common: what the model is told, and the shells it works with."""

    prompting: ToolPrompting
    shells: Shells


BashPrepared: TypeAlias = Prepared[BashSuite, BashCase, BashContext]


def prepare(spec: BashSuite, config: LoadedConfig) -> BashPrepared:
    """Cases, prompt and tool of a suite."""
    words = SYSTEM if spec.sandbox == "virtual" else NEW_SHELLS
    prompting = load_prompting(config.root, spec.system, spec.tool, words)
    cases, shells = load_cases(spec, config), shells_of(spec, config)
    subject = {**prompting.subject, **shells.subject}
    context = BashContext(prompting, shells)
    return Prepared(spec, cases, subject, context, judging=_wanted(cases), texts=prompting.texts)


async def run_trial(suite: BashPrepared, case: BashCase, target: Target, trial: int) -> TrialOutcome:
    """One conversation in a fresh shell, then the checks."""
    try:
        return await _run(suite, case, target, trial)
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


async def _run(suite: BashPrepared, case: BashCase, target: Target, trial: int) -> TrialOutcome:
    chat, (trace, checked) = await _once(suite.settings, case, target, trial)
    again = await _once(suite.settings, case, target, trial) if chat.recording else None
    try:
        same = None if again is None else _same((trace, checked), again[1])
        judged = await judge_checks(case, trace, checked.checks, suite.judges)
        details = _details(trace, chat, judged.checks, same).model_copy(update={"judgements": judged.outcomes})
        return TrialOutcome(_result(case, trial, judged, checked, trace=trace, details=details), keep(trace))
    except Exception as error:
        raise BrokeOffError(trace, error) from error


async def prove(suite: BashPrepared) -> Proof:
    """The oracle passes every check, doing nothing passes no case, each check fails on some wrong answer."""
    from evalward.suites.bash.prove import prove_cases  # noqa: PLC0415 - only `validate` proves

    return await prove_cases(suite.cases, suite.settings.shells)


Played = tuple[Trace, CheckOutcomes]


async def _once(equipment: BashContext, case: BashCase, target: Target, trial: int) -> tuple[Chat, Played]:
    """One conversation in a shell of its own, and what the checks say of it."""
    chat = target.open(case, trial)
    async with equipment.shells.open(case.task.files, case.timeout_s) as shell:
        return chat, await _played(equipment.prompting, case, chat, shell)


async def _played(prompting: ToolPrompting, case: BashCase, chat: Chat, shell: Shell) -> Played:
    trace = await converse(
        chat,
        shell,
        system=case.task.system or prompting.system,
        tool=prompting.tool,
        prompt=case.task.prompt,
        max_turns=case.max_turns,
    )
    evidence = CheckEvidence(trace.tool_calls, shell)
    try:
        checked = await check_all(case, trace, evidence)
    except NoWorkspaceError as error:
        raise TrialBrokenError(trace, Cause.SANDBOX, str(error), begun=True) from error
    except SandboxError as error:
        raise await broken_shell(shell, trace, error) from error
    except Exception as error:  # what the target did and left is all that the checks look at
        raise BrokeOffError(trace, error) from error
    return trace, checked


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
    outcomes = [[check.passed for check in played.checks] for _, played in (first, second)]
    return outcomes[0] == outcomes[1] and first_divergence(first[0].tool_calls, second[0].tool_calls) is None


def passed_all(checks: Sequence[CheckResult]) -> bool:
    """The specification's `all_passed`: weights don't matter, a failed check of weight 0 fails the task."""
    return all(check.passed for check in checks)


def _wanted(cases: Sequence[BashCase]) -> JudgeNeeds | None:
    if not any(map(wants_judge, cases)):
        return None
    from evalward.suites.judge.who import JudgeNeeds  # noqa: PLC0415 - only who wants a judge pays for one

    return JudgeNeeds()


def _result(
    case: BashCase, trial: int, judged: JudgedChecks, checked: CheckOutcomes, *, trace: Trace, details: BashDetails
) -> Result:
    """The result; a trial that judge or grader could not judge is an error, neither passed nor failed."""
    checks = judged.checks
    passed = passed_all(checks)
    outcome: dict[str, Any] = (
        {"status": Status.PASSED} if passed else {"status": Status.FAILED, "reason": _reason(trace)}
    )
    if judged.error is not None:
        outcome = {"status": Status.ERROR, "reason": JUDGE_ERROR, "message": judged.error}
    undecided = checked.undecided(checks)
    if undecided is not None:
        outcome = {"status": Status.ERROR, "reason": GRADER_ERROR, "message": undecided}
    return Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=trial,
        score=checked.score(checks),
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
