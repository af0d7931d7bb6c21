"""What a trial leaves for people: transcript, events, metrics, an evaluation to read, the fixture as it was left."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evalward.records.base import clean_text
from evalward.records.events import Event, OtherEvent, dump_events
from evalward.records.judge import JudgeOutcome
from evalward.records.result import Result, Status
from evalward.render.escape import md_block, md_cell, md_code, md_prose
from evalward.render.numbers import plural
from evalward.sandbox.base import cut
from evalward.sandbox.process import Workspace
from evalward.sandbox.process.temporary import new_folder, remove_ours
from evalward.suites.scenario.details import ScenarioDetails
from evalward.suites.scenario.outcome import tier_word
from evalward.suites.scenario.scripts import ScriptRun

METRICS, EVALUATION, EVENTS = "metrics.json", "evaluation.md", "events.jsonl"
FIXTURE, LEFT_OUT = "fixture", "fixture-left-out.txt"
FIXTURE_MB = 20
MOST_FILES = 5_000
LONGEST_PATH = 1_000  # bytes below the fixture: they have to fit wherever people keep them
# What actions/upload-artifact takes in no path, and what is no UTF-8.
_ODD = re.compile('["<>|*?:\\\\\\x00-\\x1f\\x7f\\ud800-\\udfff]')
MOST_CHARACTERS = 5_000_000  # of transcript and events each


def script_events(kind: str, runs: Sequence[ScriptRun]) -> list[Event]:
    """Setup and post commands as events."""
    return [
        OtherEvent.model_validate(
            {
                "event": kind,
                "command": run.command,
                "exit_code": run.exit_code,
                "timed_out": run.timed_out,
                "stdout": cut(run.stdout),
                "stderr": cut(run.stderr),
            }
        )
        for run in runs
    ]


def keep_artifacts(workspace: Workspace, result: Result, prompt: str, transcript: str, events: Sequence[Event]) -> Path:
    """A new folder with everything; blocking. Raises `SandboxError` or `OSError` and then leaves none."""
    folder = new_folder("artifacts")
    try:
        _write(folder / "transcript.raw.txt", cut(transcript, MOST_CHARACTERS))
        _write(folder / EVENTS, _bounded(events))
        _write(folder / METRICS, json.dumps(metrics_of(result), indent=2, ensure_ascii=False) + "\n")
        _write(folder / EVALUATION, evaluation_of(result, prompt, transcript))
        _keep_fixture(workspace, folder)
    except BaseException:
        remove_ours(folder)
        raise
    return folder


def _write(path: Path, text: str) -> None:
    path.write_text(clean_text(text), "utf-8")


def _bounded(events: Sequence[Event]) -> str:
    """Whole lines, as many as there is room for."""
    text = dump_events(events)
    return text if len(text) <= MOST_CHARACTERS else text[: text.rfind("\n", 0, MOST_CHARACTERS) + 1]


def _keep_fixture(workspace: Workspace, folder: Path) -> None:
    """The fixture without links: whoever uploads the folder would follow them out of it."""
    fixture = folder / FIXTURE
    copied = workspace.copy_to(fixture, FIXTURE_MB)
    notes = []
    if copied.files > MOST_FILES:
        shutil.rmtree(fixture)
        notes.append(f"{copied.files} files: more than {MOST_FILES}, so none is kept")
    for link in [path for path in fixture.rglob("*") if path.is_symlink()]:
        notes.append(f"{_shown(link.relative_to(fixture))} -> {_shown(link.readlink())}")
        link.unlink()
    notes += _without_odd_names(fixture)
    if copied.skipped:
        what = plural(copied.skipped, "entry that is", "entries that are")
        notes.append(f"{what} too large ({FIXTURE_MB} MB together) or no files")
    if notes:
        _write(folder / LEFT_OUT, "".join(f"{note}\n" for note in notes))


def _without_odd_names(fixture: Path) -> list[str]:
    """Remove what can't be uploaded: one such name, and GitHub refuses the whole artifact."""
    notes = []
    for place, folders, files in os.walk(fixture):
        room = LONGEST_PATH - len(os.fsencode(place)) + len(os.fsencode(fixture))
        odd = [name for name in (*folders, *files) if _ODD.search(name) or len(os.fsencode(name)) > room]
        folders[:] = [name for name in folders if name not in odd]
        for name in odd:
            path = Path(place) / name
            notes.append(f"{_shown(path.relative_to(fixture))}: a name that an artifact can't have")
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return notes


def _shown(path: Path) -> str:
    """A path of the agent's in one line."""
    return ascii(str(path))[1:-1]


# ------------------------------------------------------------------------------------------- metrics.json


def metrics_of(result: Result) -> dict[str, Any]:
    """The three layers of one trial, under the specification's names."""
    details = _details(result)
    interaction = details.interaction
    return {
        "scenario": result.id,
        "trial": result.trial,
        "agent": details.agent,
        "interaction": {
            **interaction.model_dump(mode="json"),
            **interaction.rates(),
        },
        "approximate": details.approximate,
        "gates": [gate.model_dump(mode="json") for gate in details.gates],
        "gates_passed": details.gates_passed,
        "gates_total": details.gates_total,
        "judge_score": details.judge_score,
        "judge_error": details.judge_error,
        "judge_response": None if details.judge is None else details.judge.model_dump(mode="json"),
        "composite_score": details.composite_score,
        "evaluators": [evaluator.model_dump(mode="json") for evaluator in details.evaluators],
        "outcome": "Pass" if result.status is Status.PASSED else {"Fail": {"reason": result.message or result.reason}},
        "status": result.status.value,
    }


def _details(result: Result) -> ScenarioDetails:
    return result.details if isinstance(result.details, ScenarioDetails) else ScenarioDetails()


# ------------------------------------------------------------------------------------------- evaluation.md


def evaluation_of(result: Result, prompt: str, transcript: str) -> str:
    """The trial as people read it. Everything that an agent, a tool or a fixture wrote is escaped."""
    details = _details(result)
    parts = [
        f"# {md_cell(result.id)}",
        f"**{result.status.value.capitalize()}**" + (f": {md_prose(result.message)}" if result.message else ""),
        f"{md_cell(details.agent)}, trial {result.trial}, {result.duration_ms / 1000:.1f} s, "
        f"{_ended(details)}; {md_cell(details.isolation or 'isolation not known')}",
        "## Task\n\n" + md_block(prompt),
        "## Gates\n\n" + _gates(details),
        "## Interaction\n\n" + _interaction(details),
        *_judge(details),
        *_composite(details),
        *_evaluators(details),
        "## End of the transcript\n\n" + md_block(transcript[-4000:], 4000),
    ]
    return "\n\n".join(parts) + "\n"


def _ended(details: ScenarioDetails) -> str:
    return "completed" if details.completed else "not completed"


def _gates(details: ScenarioDetails) -> str:
    if not details.gates:
        return "None."
    rows = [
        f"| {'passed' if gate.passed else '**failed**'} | {md_code(gate.gate_type)} | {md_cell(gate.message, 300)} |"
        for gate in details.gates
    ]
    head = f"{details.gates_passed} of {details.gates_total} passed."
    return "\n".join([head, "", "| | gate | what was there |", "|---|---|---|", *rows])


def _interaction(details: ScenarioDetails) -> str:
    one = details.interaction
    counts = {
        "total_commands": one.total_commands,
        "unique_commands": one.unique_commands,
        "error_count": one.error_count,
        "retry_count": one.retry_count,
        "help_invocations": one.help_invocations,
        "unknown_count": one.unknown_count,
    }
    rows = [f"| {name} | {'not available' if value is None else value} |" for name, value in counts.items()]
    rows += [f"| {name} | {'not available' if rate is None else f'{rate:.3f}'} |" for name, rate in one.rates().items()]
    note = ["Approximate: read from the transcript, where exit codes are guessed.", ""] if details.approximate else []
    failed = [
        f"- {md_code(item.command)} → {'unknown' if item.exit_code is None else item.exit_code}"
        + (f": {md_cell(item.said, 200)}" if item.said else "")
        for item in one.failed
    ]
    failed_lines = ["", "Failed commands:", "", *failed] if failed else []
    return "\n".join([*note, "| metric | value |", "|---|---|", *rows, *failed_lines])


def _judge(details: ScenarioDetails) -> list[str]:
    if details.judge_error is not None:
        return [f"## Judge\n\nNo score: {md_cell(details.judge_error, 300)}"]
    if details.judge_score is None:
        return []
    head = f"## Judge\n\n{details.judge_score:.3f}, {'passed' if details.judge_passed else 'failed'}"
    return [head if details.judge is None else "\n\n".join([head, *_judge_lines(details.judge)])]


def _judge_lines(judge: JudgeOutcome) -> list[str]:
    """Scores by criterion, and the judge's words, which are a model's."""
    agree = f", {judge.agreement * 100:.0f} % of {len(judge.votes)} votes agree" if judge.agreement is not None else ""
    confidence = "" if judge.confidence is None else f", confidence {judge.confidence:.2f}"
    rows = [f"| {md_code(name)} | {score:.3f} |" for name, score in judge.scores.items()]
    lists = {"Issues": judge.issues, "Highlights": judge.highlights, "Notes": judge.notes}
    return [
        f"{md_code(judge.model)}, {judge.threshold:.2f} wanted{agree}{confidence}",
        "\n".join(["| criterion | score |", "|---|---|", *rows]),
        *(
            f"{name}:\n\n" + "\n".join(f"- {md_cell(line, 300)}" for line in lines)
            for name, lines in lists.items()
            if lines
        ),
    ]


def _composite(details: ScenarioDetails) -> list[str]:
    score = details.composite_score
    return [] if score is None else [f"## Composite score\n\n{score:.3f} ({tier_word(score)})"]


def _evaluators(details: ScenarioDetails) -> list[str]:
    if not details.evaluators:
        return []
    lines = []
    for one in details.evaluators:
        score = "no score" if one.score is None else f"{one.score:g}"
        numbers = "".join(f", {md_cell(name)} {value:g}" for name, value in one.metrics.items())
        words = f": {md_cell(one.summary, 300)}" if one.summary else ""
        error = f" (error: {md_cell(one.error, 300)})" if one.error else ""
        lines.append(f"- {md_code(one.name)}: {score}{numbers}{words}{error}")
    return ["## Evaluators\n\n" + "\n".join(lines)]
