"""Logs of inspect, with the fields, the order and the members that inspect_ai 0.3.285 writes."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, BinaryIO

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
MODEL = "mockllm/model"
USED = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 170, "input_tokens_cache_read": 50}


def scored(value: Any, explanation: str | None = None) -> dict[str, Any]:
    """What a scorer said."""
    words = {"answer": "the answer", "explanation": explanation} if explanation is not None else {}
    return {"value": value, **words, "history": []}


def user(text: str) -> dict[str, Any]:
    """A user's message."""
    return {"id": "u" * 22, "content": text, "source": "input", "role": "user"}


def assistant(text: str, *calls: tuple[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A model's message, with the tools that it calls."""
    made = [
        {"id": f"call_{number}", "function": name, "arguments": arguments, "type": "function"}
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    more = {"tool_calls": made} if made else {}
    return {"id": "a" * 22, "content": text, "source": "generate", "role": "assistant", **more, "model": MODEL}


def tool(content: str, error: str | None = None, call: int = 1) -> dict[str, Any]:
    """What a tool gave: after an error its content is empty."""
    more = {} if error is None else {"error": {"type": "unknown", "message": error}}
    return {
        "id": "t" * 22,
        "content": content,
        "role": "tool",
        "tool_call_id": f"call_{call}",
        "function": "bash",
    } | more


@dataclass(frozen=True)
class LoggedSample:
    """A sample as inspect logs it. `early` stands before the messages, `noise` in its events."""

    id: int | str = "one"
    epoch: int = 1
    input: Any = "How many lines has notes.txt?"
    target: Any = "42"
    scores: Mapping[str, Any] | None = field(default_factory=lambda: {"match": scored("C")})
    messages: Sequence[Mapping[str, Any]] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    model_usage: Mapping[str, Any] = field(default_factory=lambda: {MODEL: USED})
    role_usage: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    limit: str | None = None
    retries: int = 0
    total_time: float | None = 1.25
    invalid: str | None = None
    early: Mapping[str, Any] = field(default_factory=dict)
    noise: str = ""

    def summary(self) -> dict[str, Any]:
        """Its row in `summaries.json`."""
        return _told(
            {
                "id": self.id,
                "epoch": self.epoch,
                "input": thin(self.input),
                "target": self.target,
                "metadata": self.metadata,
                "scores": self.scores,
                "model_usage": self.model_usage,
                "role_usage": self.role_usage,
                "started_at": "2026-11-22T03:02:00.325799+00:00",
                "completed_at": "2026-11-22T03:02:06.607689+00:00",
                "total_time": self.total_time,
                "working_time": self.total_time,
                "uuid": "AEeUa9EWadrqVzvxLyQgE9",
                "error": self.error,
                "limit": self.limit,
                "limit_reason": self.limit and f"{self.limit.title()} limit exceeded.",
                "retries": self.retries,
                "completed": True,
                "message_count": len(self.messages),
                "turn_count": 1,
            }
        )

    def document(self) -> dict[str, Any]:
        """Itself, as `samples/{id}_epoch_{n}.json` and in a JSON log."""
        invalid = self.invalid and {"timestamp": "2026-11-22T04:00:00Z", "author": "ana", "reason": self.invalid}
        return _told(
            {
                "id": self.id,
                "epoch": self.epoch,
                "input": self.input,
                "target": self.target,
                **self.early,
                "messages": list(self.messages),
                "output": {"model": MODEL, "choices": [], "completion": ""},
                "scores": self.scores,
                "metadata": self.metadata,
                "store": {},
                "events": [{"event": "info", "data": self.noise}],
                "model_usage": self.model_usage,
                "role_usage": self.role_usage,
                "total_time": self.total_time,
                "working_time": self.total_time,
                "uuid": "AEeUa9EWadrqVzvxLyQgE9",
                "invalidation": invalid,
                "error": self.error and {"message": self.error, "traceback": "/home/runner/x.py", "traceback_ansi": ""},
                "error_retries": [{"message": "busy"}] * self.retries,
                "attachments": {},
                "limit": self.limit
                and {"type": self.limit, "limit": 3.0, "reason": f"{self.limit.title()} limit exceeded."},
            }
        )

    @property
    def member(self) -> str:
        """The name of its member."""
        return f"samples/{self.id}_epoch_{self.epoch}"


@dataclass(frozen=True)
class Logged:
    """A run of a task. `chosen` are the ids of its dataset; `None`: those of its samples."""

    samples: Sequence[LoggedSample] = (LoggedSample(),)
    status: str = "success"
    task: str = "shell_tasks"
    model: str = MODEL
    epochs: int = 1
    chosen: Sequence[int | str] | None = None
    scorers: Sequence[str] = ("match",)
    task_id: str = "ftUDewLRHxRot6NERiSwPq"
    created: str = "2026-11-22T03:01:40+00:00"
    error: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    solver: str = "generate"

    @property
    def invalidated(self) -> bool:
        """Whether somebody declared a sample invalid."""
        return any(sample.invalid for sample in self.samples)

    def start(self) -> dict[str, Any]:
        """`_journal/start.json`."""
        chosen = list(dict.fromkeys(sample.id for sample in self.samples)) if self.chosen is None else self.chosen
        return {
            "version": 2,
            "eval": {
                "eval_id": "haFp6zQPyoN5EqwWBxNEwK",
                "run_id": "QMha3EQwBeDzeyZ5rQNcLn",
                "created": self.created,
                "task": self.task,
                "task_id": self.task_id,
                "task_version": 0,
                "task_file": "shell_tasks.py",
                "dataset": {"name": "shell-cases", "samples": 12, "sample_ids": list(chosen), "shuffled": False},
                "model": self.model,
                "model_generate_config": {},
                "config": {"epochs": self.epochs, "fail_on_error": True, "log_samples": True, **self.config},
                "packages": {"inspect_ai": "0.3.285"},
                "scorers": [{"name": name, "options": {}, "metadata": {}} for name in self.scorers],
            },
            "plan": {"name": "plan", "steps": [{"solver": self.solver, "params": {}}], "config": {}},
        }

    def header(self) -> dict[str, Any]:
        """`header.json`."""
        start = self.start()
        more = {} if self.error is None else {"error": {"message": self.error, "traceback": "", "traceback_ansi": ""}}
        return {
            "version": start["version"],
            "status": self.status,
            "eval": start["eval"],
            "plan": start["plan"],
            "results": {"total_samples": len(self.samples), "completed_samples": len(self.samples), "scores": []},
            "stats": {"started_at": self.created, "completed_at": self.created, "model_usage": {}},
            **more,
            "invalidated": self.invalidated,
            "tags": [],
            "metadata": {},
        }

    def members(self) -> list[tuple[str, Any]]:
        """All members of its archive, in the order of writing."""
        summaries = [sample.summary() for sample in self.samples]
        return [*self.journal(), ("summaries.json", summaries), ("reductions.json", []), ("header.json", self.header())]

    def journal(self) -> list[tuple[str, Any]]:
        """The members of a run that was killed: samples, and journals of two summaries each."""
        found: list[tuple[str, Any]] = [("_journal/start.json", self.start())]
        for number, begin in enumerate(range(0, len(self.samples), 2), 1):
            part = self.samples[begin : begin + 2]
            found += [(f"{sample.member}.json", sample.document()) for sample in part]
            found.append((f"_journal/summaries/{number}.json", [sample.summary() for sample in part]))
        return found

    def chunked(self) -> list[tuple[str, Any]]:
        """The members as `inspect log convert-chunked` makes them."""
        summaries = [sample.summary() for sample in self.samples]
        whole = [("header.json", self.header()), ("summaries.json", summaries), ("_journal/start.json", self.start())]
        return [*whole, *(part for sample in self.samples for part in _chunks(sample))]

    def json_log(self) -> str:
        """The log as one document, as `--log-format json` writes it."""
        header = self.header()
        return json.dumps({**header, "samples": [sample.document() for sample in self.samples], "reductions": []})

    def eval_log(self, method: int = ZSTANDARD) -> bytes:
        """The log as an archive."""
        return archive(self.members(), method)


def archive(members: Iterable[tuple[str, Any]], method: int = ZSTANDARD) -> bytes:
    """A zip archive of these members."""
    made = BytesIO()
    write_archive(made, members, method)
    return made.getvalue()


def write_archive(stream: BinaryIO, members: Iterable[tuple[str, Any]], method: int = ZSTANDARD) -> None:
    """Write a zip archive: bytes as they are, other values as JSON, with bare NaN and Infinity."""
    with zipfile.ZipFile(stream, "w", method) as opened, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a name may stand in it twice
        for name, value in members:
            opened.writestr(name, value if isinstance(value, bytes) else json.dumps(value))


def thin(value: Any) -> Any:
    """An input as summaries have it: a long text is cut."""
    if isinstance(value, str) and len(value) > 5120:
        return value[:5120] + "...\n(content truncated)"
    return value


def _chunks(sample: LoggedSample) -> list[tuple[str, Any]]:
    document = sample.document()
    messages = document.pop("messages")
    metadata = document.pop("metadata")
    document.pop("events")
    return [
        (f"{sample.member}/sample.json", {**document, "message_refs": [[0, len(messages)]] if messages else []}),
        (f"{sample.member}/metadata.json", metadata),
        (f"{sample.member}/skeleton.json", {"version": 1, "counts": {"events": 1, "models": 1}}),
        *([(f"{sample.member}/messages/0.json", messages)] if messages else []),
        (f"{sample.member}/events/0.json", [{"event": "info"}]),
    ]


def _told(value: Mapping[str, Any]) -> dict[str, Any]:
    """Without the fields that are null, which inspect leaves out."""
    return {key: each for key, each in value.items() if each is not None}
