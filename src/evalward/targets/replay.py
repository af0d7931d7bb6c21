"""`replay:NAME`: the model messages of an earlier recording, with the tool calls executed again.

It costs nothing, needs no key, and isolates one question: did our tool get better or worse for what models really
typed? It can't see a changed prompt.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from evalward.records.base import digest
from evalward.records.case import Case
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.result import TRIAL_SCHEMA, Trial
from evalward.records.trace import Message, Trace, Turn, Usage
from evalward.targets.base import Chat, Free, Reply, Request, TrialSkippedError

Key = tuple[str, int]  # case id and trial number


class ReplayChat:
    """Feeds the recorded messages, whatever the tool answers today."""

    def __init__(self, recording: Trace) -> None:
        free = None if recording.total is None else _free(recording.total)
        self.recording: Trace | None = recording.model_copy(update={"total": free})
        self._messages: Iterator[Message] = (m for m in recording.messages if m.role == "assistant")
        self._turns = iter(recording.turns)

    async def send(self, request: Request) -> Reply:  # noqa: ARG002 - a recording doesn't listen
        """The next recorded message: turns and tokens as recorded, cost 0."""
        message = next(self._messages, None)
        if message is None:  # the recording ended before today's loop does
            nothing = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)
            return Reply(Message(role="assistant", content=[]), Turn(usage=nothing, stop="other"))
        turn = next(self._turns, Turn(stop="tool_use" if message.tool_uses else "end"))
        return Reply(message, turn.model_copy(update={"usage": _free(turn.usage), "wall_ms": 0, "working_ms": 0}))


def _free(usage: Usage) -> Usage:
    return usage.model_copy(update={"cost_usd": 0.0})


class Replay(Free):
    """A recording as a target. `trials` is what was recorded of one target, in any order."""

    random = False

    def __init__(self, name: str, trials: Iterable[Trial]) -> None:
        self.id = f"replay:{name}"
        self.name = name
        self._trials: dict[Key, list[Trial]] = defaultdict(list)
        for trial in trials:
            self._trials[trial.result.id, trial.result.trial].append(trial)

    @cached_property
    def subject(self) -> Mapping[str, str]:
        """The recording's identity: what was said, not when or how fast."""
        said = [
            [*key, [[m.model_dump(mode="json") for m in trial.trace.messages] for trial in self._trials[key]]]
            for key in sorted(self._trials)
        ]
        return {"recording": digest(said)}

    def open(self, case: Case, trial: int) -> Chat:
        """The recorded conversation of this trial; refused when the case has changed since."""
        recorded = self._trials.get((case.id, trial))
        if recorded is None:
            raise TrialSkippedError("not_recorded", f"the recording {self.name} has no trial {trial} of this case")
        same = next((one for one in recorded if one.result.definition == case.definition), None)
        if same is not None and not same.result.valid:
            raise TrialSkippedError("not_recorded", f"trial {trial} of this case broke when {self.name} was recorded")
        if same is None:
            raise TrialSkippedError(
                "definition_differs", f"the case has changed since {self.name} was recorded: record it again"
            )
        return ReplayChat(same.trace)


def load_recording(name: str, path: Path, shown: str | None = None) -> Replay:
    """A recording: a folder of trial files (as `run` leaves them), or a `.jsonl` file with one trial a line.

    `shown` is its name for people. Raises `InputError` when there is none, when a trial can't be read or is there
    twice, or when it holds trials of several targets.
    """
    place = shown or str(path)
    trials = [trial for file in _trial_files(path) for trial in _read_trials(file, _shown(file, path, place))]
    if not trials:
        raise wrong(
            place,
            f"recording {name!r} holds no trial",
            "A recording is a folder that `evalward run --output` made, or a .jsonl file with one trial a line.",
        )
    _refuse_twins(name, place, trials)
    targets = sorted({trial.target for trial in trials})
    if len(targets) > 1:
        raise wrong(
            place,
            f"recording {name!r} holds trials of several targets: {', '.join(targets[:5])}",
            "Name the folder of one of them, below trials/.",
        )
    return Replay(name, trials)


def _refuse_twins(name: str, place: str, trials: Iterable[Trial]) -> None:
    """Two recordings of one trial: which of them counted would be chance, or choice."""
    seen: set[tuple[str, str, str, int, str]] = set()
    for trial in trials:
        result = trial.result
        key = (trial.suite, trial.target, result.id, result.trial, result.definition)
        if key in seen:
            message = f"recording {name!r} holds trial {result.trial} of {result.id!r} twice"
            raise wrong(place, message, "Keep one of them.")
        seen.add(key)


def _trial_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path] if path.is_file() else []
    folder = path / "trials" if (path / "trials").is_dir() else path
    return sorted(folder.glob("**/*.json")) + sorted(folder.glob("*.jsonl"))


def _shown(file: Path, path: Path, place: str) -> str:
    """A trial file's name for people: below the recording's own."""
    return place if file == path else f"{place}/{file.relative_to(path).as_posix()}"


def _read_trials(file: Path, place: str) -> Iterator[Trial]:
    if file.suffix == ".json":
        yield _parse_trial(place, 1, file.read_text("utf-8", errors="replace"))
        return
    with file.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.lstrip().startswith(("#", "//")):
                yield _parse_trial(place, number, line)


def _parse_trial(place: str, line: int, text: str) -> Trial:
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("schema") != TRIAL_SCHEMA:
            raise wrong(place, f"this is no trial: its schema isn't {TRIAL_SCHEMA}", "Record it again.", line=line)
        return Trial.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        problem = Problem(
            place=Place(file=place, line=line),
            field=".".join(map(str, first["loc"])),
            message=first["msg"],
            remedy="Record it again, or mend the file.",
        )
        raise InputError(problem) from error
    except (ValueError, RecursionError) as error:
        raise wrong(place, f"not valid JSON: {error}", "Record it again.", line=line) from error
