"""What the runner sends, agents print, GitHub tells, and people label."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evalward.github.event import plan_event, read_payload
from evalward.records.report import Report
from evalward.suites.judge.labelled import load_labelled
from evalward.suites.judge.rubric import Criterion, Rubric
from evalward.targets.agents.program import READERS
from evalward.wire.faults import error_of
from evalward.wire.frames import CALL, Frame, Frames, WireError, send
from evalward.wire.messages import HeadConfig, KeptTrial, Settled, asks, replies
from evalward.wire.reading import BrokenMessageError, parse, read
from support.fuzzing.folders import write_files
from support.fuzzing.projects import CONFIG as HEAD
from support.fuzzing.projects import recording
from support.fuzzing.reader import Reader
from support.fuzzing.records import reports
from support.github_events import pull_request

LABELLED: dict[str, Any] = {
    "id": "a",
    "task": "Do it.",
    "transcript": "I did.\n\nDone.",
    "gates": [{"name": "g", "passed": True, "message": "m"}],
    "guidance": "g",
    "label": "pass",
    "scores": {"clear": 0.5},
}
FAULT: dict[str, Any] = {
    "kind": "input",
    "message": "m",
    "problems": [{"place": {"file": "a", "line": 1}, "message": "m", "remedy": "r"}],
    "cause": "key",
    "target": "t",
    "retry_after": 1.0,
    "number": 2,
}
ENVIRONMENT = {
    "GITHUB_EVENT_NAME": "pull_request",
    "GITHUB_REPOSITORY": "a/b",
    "GITHUB_SHA": "a" * 40,
    "GITHUB_REF": "refs/pull/1/merge",
    "GITHUB_ACTOR": "x",
}
ASK: dict[str, Any] = {
    "provider": "openai",
    "model": "m",
    "request": {
        "system": "s",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "t"}]}],
        "tools": [{"name": "bash", "description": "d", "input_schema": {"type": "object"}}],
    },
}
REPLY: dict[str, Any] = {
    "message": {"role": "assistant", "content": [{"type": "text", "text": "t"}]},
    "turn": {"usage": {"input_tokens": 1, "output_tokens": 2}, "stop": "end", "model": "m"},
}


def _frames(data: bytes, folder: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(data[:100_000])
        ours.shutdown(socket.SHUT_WR)
        frames = Frames()
        try:
            while frames.receive(theirs):
                list(frames.take())
        finally:
            frames.close()


def _good_frames() -> bytes:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for number in (1, 2):
            send(ours, Frame(CALL, number, "keep", b'{"a": 1}'))
        return theirs.recv(10_000)


def _labelled(data: bytes, folder: Path) -> object:
    rubric = Rubric(criteria=[Criterion(id="clear", weight=1, description="d")])
    file = write_files(folder, {"labelled.jsonl": data}) / "labelled.jsonl"
    return [one.judged("x", "more") for one in load_labelled(file, rubric)]


def _event(data: bytes, folder: Path) -> object:
    return plan_event(ENVIRONMENT, read_payload(write_files(folder, {"event.json": data}) / "event.json"))


def _output(name: str) -> Callable[[bytes, Path], object]:
    return lambda data, _: READERS[name](data.decode("utf-8", "replace"))


def _message(model: Any) -> Callable[[bytes, Path], object]:
    return lambda data, _: read(model, data).model_dump_json()


def _json(data: bytes) -> Any:
    return json.loads(data)


BROKEN = (BrokenMessageError,)
OTHERS: tuple[Reader, ...] = (
    Reader("labelled", "jsonl", lambda: [LABELLED, {**LABELLED, "id": "b"}], _labelled),
    Reader("event payload", "json", pull_request, _event),
    Reader("frames", "text", _good_frames, _frames, (WireError,)),
    Reader("failure frame", "json", lambda: FAULT, lambda data, _: error_of(data)),
    Reader("report frame", "json", lambda: _json(reports()[0]), _message(Report), BROKEN),
    Reader("trial frame", "json", lambda: {"trial": recording()[0], "apart": None}, _message(KeptTrial), BROKEN),
    Reader(
        "settled frame",
        "json",
        lambda: {"answers": [{**REPLY, "main": True}], "fault": FAULT},
        _message(Settled),
        BROKEN,
    ),
    Reader(
        "head frame",
        "json",
        lambda: {"config": HEAD, "file": "f", "root": "/", "sha256": "s"},
        _message(HeadConfig),
        BROKEN,
    ),
    Reader("ask frame", "json", lambda: ASK, lambda data, _: parse(asks(), data), BROKEN),
    Reader("reply frame", "json", lambda: REPLY, lambda data, _: parse(replies(), data), BROKEN),
    *(
        Reader(
            f"output of {name}",
            "text",
            lambda: b'{"type": "result", "usage": {"input_tokens": 1}}\n' * 3,
            _output(name),
            (),
        )
        for name in READERS
    ),
)
