"""Layer 2: the ten gates. All of them run, in the order in which they are written; none stops another.

Commands run through the shell in the fixture's copy, after the agent has ended, each within its time limit. Gates on
output also want exit code 0: what a failing command printed proves nothing.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalward.records.base import clean_text
from evalward.render.numbers import plural
from evalward.sandbox.base import EndedCommand, FileTooLargeError
from evalward.suites.re2_pattern import compiled
from evalward.suites.scenario.assertion import holds, parse_assertion, parse_path, resolve
from evalward.suites.scenario.details import GateResult
from evalward.suites.scenario.gate_models import (
    CommandJsonPath,
    CommandOutputContains,
    CommandOutputMatches,
    CommandSucceeds,
    FileContains,
    FileExists,
    FileMatches,
    Gate,
    GraderGate,
    NoTranscriptErrors,
    ScriptGate,
)
from evalward.suites.scenario.interaction import ToolCommand
from evalward.suites.scenario.place import Workplace, excerpt, how_it_ended, run_shell

if TYPE_CHECKING:
    from evalward.suites.scenario.graded import Grading

MESSAGE_LIMIT = 500
SHOWN_COMMANDS = 3


@dataclass(frozen=True)
class GateEvidence:
    """What the gates look at. `commands` are the tool's, `None` where neither events nor a transcript exist.

    `grading`: runs the graders, `None` where the case has none.
    """

    place: Workplace
    commands: Sequence[ToolCommand] | None
    env: Mapping[str, str] = field(default_factory=dict)
    grading: Grading | None = None


Verdict = tuple[bool, str]
_CommandGate = CommandSucceeds | CommandOutputContains | CommandOutputMatches | CommandJsonPath | ScriptGate


async def evaluate_gates(gates: Sequence[Gate], evidence: GateEvidence) -> list[GateResult]:
    """Every gate's result. Raises `SandboxError` when the sandbox itself breaks."""
    return [await evaluate_gate(gate, evidence) for gate in gates]


async def evaluate_gate(gate: Gate, evidence: GateEvidence) -> GateResult:
    """One gate's result."""
    passed, message = await _JUDGES[type(gate)](gate, evidence)
    return GateResult(gate_type=gate.type, passed=passed, message=clean_text(message)[:MESSAGE_LIMIT])


async def _run(gate: _CommandGate, evidence: GateEvidence) -> EndedCommand:
    return await run_shell(evidence.place, gate.command, evidence.env, gate.timeout_secs)


async def _succeeded(gate: _CommandGate, evidence: GateEvidence) -> tuple[str | None, str]:
    """What the command printed, or `None` and how it ended instead."""
    if not gate.command.strip():
        return None, "the command is empty"
    done = await _run(gate, evidence)
    if done.timed_out or done.exit_code != 0:
        return None, f"`{excerpt(gate.command)}`: {how_it_ended(done, gate.timeout_secs)}"
    return done.stdout, ""


async def _command_succeeds(gate: CommandSucceeds, evidence: GateEvidence) -> Verdict:
    printed, why_not = await _succeeded(gate, evidence)
    return (False, why_not) if printed is None else (True, f"`{excerpt(gate.command)}`: exit code 0")


async def _output_contains(gate: CommandOutputContains, evidence: GateEvidence) -> Verdict:
    printed, why_not = await _succeeded(gate, evidence)
    if printed is None:
        return False, why_not
    return _found(gate.substring in printed, f"{excerpt(gate.substring)!r}", f"`{excerpt(gate.command)}`", printed)


async def _output_matches(gate: CommandOutputMatches, evidence: GateEvidence) -> Verdict:
    printed, why_not = await _succeeded(gate, evidence)
    if printed is None:
        return False, why_not
    found = compiled(gate.pattern).search(clean_text(printed)) is not None
    return _found(found, f"/{excerpt(gate.pattern)}/", f"`{excerpt(gate.command)}`", printed)


def _found(found: bool, substring: str, where: str, text: str) -> Verdict:
    if found:
        return True, f"{substring} is in {where}"
    there = f"it has {excerpt(text)!r}" if text.strip() else "it is empty"
    return False, f"{substring} isn't in {where}; {there}"


async def _json_path(gate: CommandJsonPath, evidence: GateEvidence) -> Verdict:
    printed, why_not = await _succeeded(gate, evidence)
    if printed is None:
        return False, why_not
    try:
        steps, assertion = parse_path(gate.path), parse_assertion(gate.assertion)
        document = json.loads(printed, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        there = f"it has {excerpt(printed)!r}" if printed.strip() else "it is empty"
        return False, f"the output of `{excerpt(gate.command)}` is not JSON ({error.msg}); {there}"
    except (ValueError, RecursionError) as error:
        return False, str(error)
    passed, there = holds(assertion, resolve(document, steps))
    return passed, f"{gate.path} {gate.assertion.strip()}: {there}"


def _no_constant(name: str) -> Any:
    raise ValueError(f"the output is not JSON: it contains {name}")


async def _file_exists(gate: FileExists, evidence: GateEvidence) -> Verdict:
    there = evidence.place.file_type(gate.path)
    return (True, f"{gate.path} is a {there}") if there else (False, f"{gate.path} doesn't exist")


def _text(path: str, place: Workplace) -> tuple[str | None, str]:
    """The file's text, or `None` and why there is none."""
    there = place.file_type(path)
    if there is None:
        return None, f"{path} doesn't exist"
    try:
        content = place.read_file(path) if there == "file" else None
    except FileTooLargeError as error:  # the agent's doing, no fault of the sandbox's
        return None, f"{path}: {error}"
    if content is None:
        return None, f"{path} can't be read" if there == "file" else f"{path} is a {there}, no file"
    try:
        return content.decode("utf-8"), ""
    except UnicodeDecodeError:
        return None, f"{path} is not UTF-8 text"


async def _file_contains(gate: FileContains, evidence: GateEvidence) -> Verdict:
    text, why_not = _text(gate.path, evidence.place)
    return (
        (False, why_not)
        if text is None
        else _found(gate.substring in text, f"{excerpt(gate.substring)!r}", gate.path, text)
    )


async def _file_matches(gate: FileMatches, evidence: GateEvidence) -> Verdict:
    text, why_not = _text(gate.path, evidence.place)
    if text is None:
        return False, why_not
    return _found(compiled(gate.pattern).search(text) is not None, f"/{excerpt(gate.pattern)}/", gate.path, text)


async def _no_transcript_errors(_: NoTranscriptErrors, evidence: GateEvidence) -> Verdict:
    commands = evidence.commands
    if commands is None:
        return False, "there are neither events nor a transcript of the run"
    if not commands:
        return True, "no command of the tool was run"
    failed = [command for command in commands if command.failed]
    if failed:
        names = "; ".join(f"`{excerpt(command.text)}` ({_code(command)})" for command in failed[:SHOWN_COMMANDS])
        return False, f"{_of(len(failed), len(commands))} failed: {names}"
    unknown = sum(command.exit_code is None for command in commands)
    if unknown:
        them = "it may have failed" if unknown == 1 else "they may have failed"
        return False, f"the exit code of {_of(unknown, len(commands))} is unknown, so {them}"
    return True, f"{plural(len(commands), 'command')}, no failure"


def _of(some: int, total: int) -> str:
    if total == 1:
        return "the only command"
    return f"{some:,} of {total:,} commands" if some < total else f"all {total:,} commands"


def _code(command: ToolCommand) -> str:
    return "ended with the run" if command.killed else f"exit code {command.exit_code}"


async def _script(gate: ScriptGate, evidence: GateEvidence) -> Verdict:
    done = await _run(gate, evidence)
    if done.timed_out:
        return False, f"{gate.description}: {how_it_ended(done, gate.timeout_secs)}"
    answer = _script_answer(done.stdout)
    if answer is None:
        passed = done.exit_code == 0
        return passed, gate.description if passed else f"{gate.description}: {how_it_ended(done, gate.timeout_secs)}"
    message = answer.get("message")
    return answer["passed"], message if isinstance(message, str) and message.strip() else gate.description


async def _grader(gate: GraderGate, evidence: GateEvidence) -> Verdict:
    return (False, "not graded") if evidence.grading is None else await evidence.grading.verdict(gate)


def _script_answer(stdout: str) -> dict[str, Any] | None:
    """The JSON object with a boolean `passed` that a script printed: it overrides the exit code, both ways."""
    try:
        value = json.loads(stdout)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("passed"), bool) else None


_JUDGES: dict[type[Any], Callable[[Any, GateEvidence], Awaitable[Verdict]]] = {
    CommandSucceeds: _command_succeeds,
    CommandOutputContains: _output_contains,
    CommandOutputMatches: _output_matches,
    CommandJsonPath: _json_path,
    FileExists: _file_exists,
    FileContains: _file_contains,
    FileMatches: _file_matches,
    NoTranscriptErrors: _no_transcript_errors,
    ScriptGate: _script,
    GraderGate: _grader,
}
