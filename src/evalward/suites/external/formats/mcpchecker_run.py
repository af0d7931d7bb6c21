"""One run of a task by mcpchecker: how it ended, what was checked, what the agent did."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from evalward.records.base import canonical
from evalward.records.problem import wrong
from evalward.records.result import CheckResult, Status
from evalward.records.trace import Block, Message, Text, ToolResult, ToolUse, Trace, Usage
from evalward.suites.external.formats.base import ForeignFile, ForeignTrial, Score
from evalward.suites.external.formats.values import count, mapping, rows, text, texts

VERIFYING = "verification failed: "
_CHECK_FAILED = re.compile(r"verify\[\d+\] failed: script execution failed: exit status \d+\b.*", re.DOTALL)
"""A script that looked and said no. What else stops a verification is no answer: no judge, no script to start."""
_IN_SETUP = " during setup"
MOST_STEPS = 2_000


def foreign_run(run: Mapping[str, Any], target: str, file: ForeignFile) -> ForeignTrial:
    """The trial that a result tells. Raises `InputError` where it names no task."""
    name = text(run.get("taskName"))
    if not name:
        raise wrong(file.name, "a run names no task", "Give every task a name.")
    status, reason = _ending(run)
    usage = used(mapping(mapping(run.get("tokenEstimate")).get("actual")))
    judged = run.get("judgeTokenUsage")
    path = text(run.get("taskPath"))
    return ForeignTrial(
        case=name,
        status=status,
        number=(count(run.get("runIndex")) or 0) + 1,
        target=target,
        category=text(run.get("difficulty")),
        asked={"task": name, "path": path.rpartition("/")[2] if path.startswith("/") else path},
        reason=reason,
        message=_message(run),
        scores=_scores(run),
        checks=list(_checks(run)),
        usage=usage,
        judge_usage=used(mapping(judged)) if isinstance(judged, dict) else None,
        trace=partial(_trace, run, usage),
    )


def _ending(run: Mapping[str, Any]) -> tuple[Status | None, str | None]:
    """How it ended: the time limit and the checks are the target's, all else that broke is not."""
    passed, held = run.get("taskPassed"), run.get("allAssertionsPassed")
    if not isinstance(passed, bool) or not isinstance(held, bool):
        return None, None
    if passed:
        return (Status.PASSED, None) if held else (Status.FAILED, "assertion")
    return _why(run)


def _why(run: Mapping[str, Any]) -> tuple[Status, str]:
    """Of a task that did not pass."""
    said, agent_broke = text(run.get("taskError")), run.get("agentExecutionError") is True
    if run.get("timedOut") is True:
        doing = agent_broke and not said.endswith(_IN_SETUP)
        return (Status.FAILED if doing else Status.ERROR), "timeout"
    if agent_broke:
        return Status.ERROR, "agent_error"
    if not isinstance(run.get("callHistory"), dict):  # which is written down when the agent has been let loose
        return Status.ERROR, "setup"
    if said.startswith(VERIFYING) and not _CHECK_FAILED.fullmatch(said.removeprefix(VERIFYING)):
        return Status.ERROR, "verification_error"
    return Status.FAILED, "verification"


def _message(run: Mapping[str, Any]) -> str:
    """What mcpchecker says of a run that did not pass: its error, or the assertions that don't hold."""
    broken = [f"{name}: {text(one.get('reason'))}" for name, one in _assertions(run) if one.get("passed") is False]
    return text(run.get("taskError")) or "; ".join(broken) or text(run.get("taskJudgeReason"))


def _assertions(run: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    found = mapping(run.get("assertionResults"))
    return [(name, one) for name, one in found.items() if isinstance(one, dict)]


def _scores(run: Mapping[str, Any]) -> dict[str, Score]:
    """The verification, and the share of assertions that hold; neither where the run broke before."""
    if _ending(run)[0] is Status.ERROR:
        return {}
    scores = {}
    if isinstance(run.get("taskPassed"), bool):
        scores["task"] = Score(value=float(run["taskPassed"]), passed=run["taskPassed"])
    holding = [one.get("passed") is True for _, one in _assertions(run)]
    if holding:
        scores["assertions"] = Score(value=sum(holding) / len(holding), passed=all(holding))
    return scores


def _checks(run: Mapping[str, Any]) -> Iterator[CheckResult]:
    for number, step in enumerate(rows(mapping(run.get("verifyOutput")).get("Steps")), 1):
        detail = text(step.get("error")) or text(step.get("message"))
        check = f"{number}. {text(step.get('type')) or 'verification'}"
        yield CheckResult(check=check, passed=step.get("success") is True, detail=detail)
    for name, one in _assertions(run):
        said = [text(one.get("reason")), *texts(one.get("details"))]
        detail = "; ".join(part for part in said if part)
        yield CheckResult(check=name, passed=one.get("passed") is True, detail=detail)


def used(told: Mapping[str, Any]) -> Usage:
    """What the agent's protocol counted. mcpchecker's own estimates are none: they leave the cache and prompts out."""
    read, written = count(told.get("cachedReadTokens")), count(told.get("cachedWriteTokens"))
    return Usage(
        input_tokens=_fresh(told, (read or 0) + (written or 0)),
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=count(told.get("outputTokens")),
        reasoning_tokens=count(told.get("thoughtTokens")),
    )


def _fresh(told: Mapping[str, Any], cached: int) -> int | None:
    """The input without the cache: agents count it in or not, and the sum tells. Unknown where it tells neither."""
    read, output, total = (count(told.get(key)) for key in ("inputTokens", "outputTokens", "totalTokens"))
    if read is None or not cached:
        return read
    if output is None or total is None:
        return None
    if total == read + output:
        return read - cached if read >= cached else None
    return read if total >= read + output + cached else None


def _trace(run: Mapping[str, Any], usage: Usage) -> Trace | None:
    """The agent's words and tools; what MCP servers were called where it told neither."""
    details = mapping(mapping(run.get("agentOutput")).get("agentDetails"))
    steps = rows(details.get("outputSteps"))[:MOST_STEPS]
    messages = [message for number, step in enumerate(steps, 1) for message in _of_step(number, step)]
    messages = messages or list(_of_servers(run))
    return Trace(messages=messages, total=usage, natural_stop=run.get("timedOut") is not True) if messages else None


def _of_step(number: int, step: Mapping[str, Any]) -> Iterator[Message]:
    called = step.get("toolCall")
    if isinstance(called, dict):
        failed = called.get("status") == "failed"
        name = text(called.get("title"))
        yield from _exchange(number, name, called.get("rawInput"), _shown(called.get("rawOutput")), failed=failed)
    elif step.get("type") == "message" and text(step.get("content")):
        yield Message(role="assistant", content=[Text(text=text(step.get("content")))])


def _of_servers(run: Mapping[str, Any]) -> Iterator[Message]:
    for number, call in enumerate(rows(mapping(run.get("callHistory")).get("ToolCalls"))[:MOST_STEPS], 1):
        sent = mapping(mapping(call.get("request")).get("Params")).get("arguments")
        answered = mapping(call.get("result"))
        said = "\n".join(text(part.get("text")) for part in rows(answered.get("content"))) or text(call.get("error"))
        failed = answered.get("isError") is True or call.get("success") is False
        yield from _exchange(
            number, f"{text(call.get('serverName'))}/{text(call.get('name'))}", sent, said, failed=failed
        )
    if text(run.get("taskOutput")):
        yield Message(role="assistant", content=[Text(text=text(run.get("taskOutput")))])


def _exchange(number: int, name: str, sent: Any, said: str, *, failed: bool) -> Sequence[Message]:
    name_of_call = f"call-{number}"
    asked: list[Block] = [ToolUse(id=name_of_call, name=name, input=sent)]
    answered: list[Block] = [ToolResult(tool_use_id=name_of_call, content=said, is_error=failed)]
    return [Message(role="assistant", content=asked), Message(role="tool_result", content=answered)]


def _shown(value: Any) -> str:
    return "" if value is None else text(value) or canonical(value)
