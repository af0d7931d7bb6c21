"""The kind `bash`: load its cases, run one trial, score it, measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalward.config import BashSuite, LoadedConfig, Suite
from evalward.records.case import Case
from evalward.records.metric import Measurement
from evalward.records.policy import Rule
from evalward.records.report import Finding
from evalward.records.result import BashDetails, CheckResult, Result, Status
from evalward.records.trace import ToolCall, Trace
from evalward.sandbox.base import cut
from evalward.sandbox.virtual import VirtualShell, bashkit_version
from evalward.suites.base import Prepared, TrialOutcome
from evalward.suites.bash.case import BashCase
from evalward.suites.bash.checks import Evidence, evaluate
from evalward.suites.bash.divergence import first_divergence
from evalward.suites.bash.findings import interpret
from evalward.suites.bash.load import load_cases
from evalward.suites.bash.loop import converse, keep
from evalward.suites.bash.metrics import METRIC_IDS, measure
from evalward.suites.bash.prompt import Prompting, load_prompting
from evalward.targets.base import Chat, Target

SHOWN_STDERR = 500  # characters of a failing command's stderr that a report shows

# "Interpreting results" of the specification: a healthy profile has an overall rate above 90 % and a tool-call success
# rate above 80 %. The drops are ours: without them a config that names no rule would protect nothing.
DEFAULT_RULES = (
    Rule(metric="overall_rate", goal=0.90, max_drop=0.05),
    Rule(metric="pass_rate", max_drop=0.05),
    Rule(metric="tool_call_success_rate", goal=0.80, max_drop=0.05),
)


@dataclass(frozen=True)
class BashKind:
    """See `evalward.suites.base.Kind`."""

    name: str = "bash"
    metric_ids: Sequence[str] = METRIC_IDS
    default_rules: Sequence[Rule] = DEFAULT_RULES

    def prepare(self, spec: Suite, config: LoadedConfig) -> Prepared:
        """Cases, prompt and tool of a suite."""
        assert isinstance(spec, BashSuite)  # noqa: S101 - the registry gives each kind its own suites
        prompting = load_prompting(config.root, spec.system, spec.tool)
        cases = load_cases(spec, config)
        subject = {**prompting.subject, "bashkit": bashkit_version()}
        return Prepared(spec, cases, subject, prompting)

    async def run_trial(self, suite: Prepared, case: Case, target: Target, trial: int) -> TrialOutcome:
        """One conversation in a fresh shell, then the checks."""
        assert isinstance(case, BashCase)  # noqa: S101
        assert isinstance(suite.settings, Prompting)  # noqa: S101
        chat = target.open(case, trial)
        shell = VirtualShell(case.task.files, case.timeout_s)
        trace = await converse(
            chat,
            shell,
            system=case.task.system or suite.settings.system,
            tool=suite.settings.tool,
            prompt=case.task.prompt,
            max_turns=case.max_turns,
        )
        evidence = Evidence(trace.tool_calls, shell)
        checks = [evaluate(item.check, item.weight, evidence) for item in case.task.expectations]
        return TrialOutcome(_result(case, trial, checks, trace, chat), keep(trace))

    def measure(self, results: Sequence[Result]) -> Measurement:
        """The specification's metrics."""
        return measure(results)

    def findings(self, results: Sequence[Result], measurement: Measurement) -> list[Finding]:
        """What the numbers show: the specification's "Interpreting results"."""
        return interpret(results, measurement)


def _result(case: BashCase, trial: int, checks: list[CheckResult], trace: Trace, chat: Chat) -> Result:
    passed = all(check.passed for check in checks)  # weights don't matter: a failed check of weight 0 fails the task
    return Result(
        id=case.id,
        category=case.category,
        definition=case.definition,
        trial=trial,
        status=Status.PASSED if passed else Status.FAILED,
        score=sum(check.weight for check in checks if check.passed),
        max_score=sum(check.weight for check in checks),
        checks=checks,
        usage=trace.usage,
        duration_ms=trace.duration_ms,
        reason=None if passed else _reason(trace),
        details=_details(trace, chat, passed),
    )


def _reason(trace: Trace) -> str:
    if trace.turns and trace.turns[-1].stop in {"refusal", "content_filter", "length"}:
        return trace.turns[-1].stop
    return "checks_failed" if trace.natural_stop or not trace.turns else "turn_limit"


def _details(trace: Trace, chat: Chat, passed: bool) -> BashDetails:
    blamed = None if passed else _blamed(trace.tool_calls)
    recorded = chat.recording
    return BashDetails(
        tool_calls=len(trace.tool_calls),
        tool_calls_ok=sum(call.exit_code == 0 for call in trace.tool_calls),
        turns=len(trace.turns),
        natural_stop=trace.natural_stop,
        working_ms=trace.working_ms,
        replayed=recorded is not None,
        diverged_at=first_divergence(recorded.tool_calls, trace.tool_calls) if recorded else None,
        failing_command=cut(blamed.commands, 2000) if blamed else None,
        failing_stderr=cut(blamed.stderr, SHOWN_STDERR) if blamed and blamed.stderr else None,
    )


def _blamed(calls: Sequence[ToolCall]) -> ToolCall | None:
    """The call to look at first: the last one that failed, else the last."""
    failed = [call for call in calls if call.exit_code != 0 or call.stderr]
    candidates = failed or list(calls)
    return candidates[-1] if candidates else None


BASH = BashKind()
