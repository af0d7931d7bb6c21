"""`replay:NAME`: the model messages of an earlier recording, with the tool calls executed again.

It costs nothing, needs no key, and isolates one question: did our tool get better or worse for what models really
typed? It can't see a changed prompt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TypeAlias

from pydantic import ValidationError

from evalward.opening import MIB, glob_inside, kind_inside, name_below, read_inside
from evalward.records.base import digest
from evalward.records.case import Case
from evalward.records.json_text import NoJsonError, read_json
from evalward.records.model_words import in_words
from evalward.records.problem import InputError, Place, Problem, wrong
from evalward.records.result import TRIAL_SCHEMA, Trial
from evalward.records.target_id import TargetId
from evalward.records.trace import Message, Trace, Turn, Usage
from evalward.targets.base import Chat, Free, Reply, Request, TrialSkippedError
from evalward.targets.context import TargetContext

Key = tuple[str, int]  # case id and trial number
MOST_BYTES = 100 * MIB  # more than GitHub takes


class ReplayChat:
    """Feeds the recorded messages, whatever the tool answers today."""

    def __init__(self, recording: Trace) -> None:
        free = None if recording.total is None else recording.total.repeated
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
        return Reply(message, turn.model_copy(update={"usage": turn.usage.repeated, "wall_ms": 0, "working_ms": 0}))


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
        recorded = [
            [*key, [[m.model_dump(mode="json") for m in trial.trace.messages] for trial in self._trials[key]]]
            for key in sorted(self._trials)
        ]
        return {"recording": digest(recorded)}

    def open(self, case: Case, trial: int) -> Chat:
        """The recorded conversation of this trial; refused when the case has changed since."""
        recorded = self._trials.get((case.id, trial))
        if recorded is None:
            raise TrialSkippedError("not_recorded", f"the recording {self.name} has no trial {trial} of this case")
        same = next((one for one in recorded if one.result.definition == case.definition), None)
        if same is not None and not same.result.valid:
            raise TrialSkippedError(
                "not_recorded", f"trial {trial} of this case ended in an error when {self.name} was recorded"
            )
        if same is None:
            raise TrialSkippedError(
                "definition_differs", f"the case has changed since {self.name} was recorded: record it again"
            )
        return ReplayChat(same.trace)


Recorded: TypeAlias = tuple[str, Trial]
"""A trial, and the file that it was read from, as people call it."""
NOT_REPLAYED = frozenset({"oracle", "nop"})
"""Targets that cost nothing to run again, so that a recording with others beside them is meant to be of those."""
MOST_SHOWN = 5


def recorded(asked: TargetId, context: TargetContext) -> Replay:
    """The target `replay:NAME`."""
    root, path = context.loaded.root, context.entry(context.loaded.config.recordings, asked)
    return load_recording(asked.name, root / path, shown=path, root=root)


def load_recording(name: str, path: Path, shown: str | None = None, root: Path | None = None) -> Replay:
    """A recording: a folder of trial files (as `run` and `--record` leave them), a `.jsonl` file with one trial a line,
    or a pattern of such files. Of several targets, `oracle` and `nop` are passed over.

    `shown` is its name for people; below `root` nothing on the way to it is a link. Raises `InputError` when there is
    none, when a trial can't be read or is there twice, or when it holds trials of several other targets.
    """
    place = shown or str(path)
    top = root or path.parent
    found = _trials(top, name_below(top, path), place)
    if not found:
        raise wrong(
            place,
            f"recording {name!r} holds no trial",
            "A recording is what `evalward run --record` or `--output` left, or a .jsonl file with one trial a line.",
        )
    _refuse_twins(name, place, (trial for _, trial in found))
    return Replay(name, [trial for _, trial in _of_one_target(name, place, found)])


def _of_one_target(name: str, place: str, found: Sequence[Recorded]) -> Sequence[Recorded]:
    """The trials of the one target that was measured: beside it a run has recorded what needs no model, too."""
    files: dict[str, str] = {}
    for file, trial in found:
        files.setdefault(trial.target, file)
    measured = {target: file for target, file in files.items() if target not in NOT_REPLAYED} or files
    if len(measured) == 1:
        return [each for each in found if each[1].target in measured]
    shown = "; ".join(f"{target}: {file}" for target, file in sorted(measured.items())[:MOST_SHOWN])
    message = f"recording {name!r} holds trials of several targets ({shown})"
    remedy = "Name the file of one of them; for several suites a pattern, such as DIR/*.MODEL*.jsonl."
    raise wrong(place, message, remedy)


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


def _trials(root: Path, name: str, place: str) -> list[Recorded]:
    """All trials of a recording, each with its file. `place` is what people call it."""
    try:
        kind = kind_inside(root, name)
        if kind == "file":
            return list(_read_trials(root, name, place))
        if kind is None:
            return [each for file in _matching(root, name) for each in _read_trials(root, file, file)]
        below = f"{name}/trials" if kind_inside(root, f"{name}/trials") == "folder" else name
        files = [*glob_inside(root / below, "**/*.json"), *glob_inside(root / below, "*.jsonl")]
        base = f"{place}/trials" if below != name else place
        return [each for file in files for each in _read_trials(root, f"{below}/{file}", f"{base}/{file}")]
    except OSError as error:
        raise wrong(place, f"the recording can't be read: {error.strerror}", "Check its permissions.") from error


def _matching(root: Path, pattern: str) -> list[str]:
    return glob_inside(root, pattern) if "*" in pattern and pattern.endswith(".jsonl") else []


def _read_trials(root: Path, name: str, place: str) -> Iterator[Recorded]:
    data = read_inside(root, name, MOST_BYTES)
    if name.endswith(".json"):
        yield place, _parse_trial(place, 1, data)
        return
    for number, line in enumerate(BytesIO(data), 1):
        if line.strip() and not line.lstrip().startswith((b"#", b"//")):
            yield place, _parse_trial(place, number, line)


def _parse_trial(place: str, line: int, text: bytes) -> Trial:
    try:
        data = read_json(text)
        if not isinstance(data, dict) or data.get("schema") != TRIAL_SCHEMA:
            raise wrong(place, f"this is not a trial: its schema isn't {TRIAL_SCHEMA}", "Record it again.", line=line)
        return Trial.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        problem = Problem(
            place=Place(file=place, line=line),
            field=".".join(map(str, first["loc"])),
            message=in_words(first)[0],
            remedy="Record it again, or fix the file.",
        )
        raise InputError(problem) from error
    except NoJsonError as error:
        raise wrong(place, f"not valid JSON: {error}", "Record it again.", line=line) from error
