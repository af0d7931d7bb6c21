"""A signal that a library makes an error of its own of ends us as any other: interrupted, and no fault of ours."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest
from pydantic import BaseModel, create_model
from pydantic_core import SchemaError, core_schema

from evalward import interrupts
from evalward.cli import guarded
from evalward.commands.world import World
from evalward.edge import SOURCE
from evalward.records.problem import wrong
from evalward.wire.errors import InterruptedRunError, OtherSideError
from evalward.wire.faults import error_of
from evalward.wire.peer import CallFailedError, CallingPeer
from support.patience import wait_until

SIGNALS = (signal.SIGINT, signal.SIGTERM)
RUNNER = """
import os, signal, sys
sys.path.insert(0, sys.argv.pop())
from evalward.runner import service

def interrupted(session, data):
    try:
        os.kill(os.getpid(), int(data))
    except KeyboardInterrupt:
        raise ValueError("a record can't be built") from None

def broken(session, data):
    raise ValueError("ours")

service.Service.__init__.__defaults__ = ({"interrupted": interrupted, "broken": broken},)
service.main()
"""


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """What `main` does at its beginning."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    interrupts.heed()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def ended(work: object) -> tuple[int, str]:
    """The exit code of a command that does this, and what it said."""
    err = StringIO()

    def command(_: World) -> int:
        assert callable(work)
        work()
        return 0

    code = guarded(World(out=StringIO(), err=err, now=lambda: "2026-11-25T08:00:00Z", env={}), command)
    return code, err.getvalue()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_record_whose_building_is_interrupted__is_an_interruption(number: signal.Signals) -> None:
    """What pydantic does: the exception is gone, and only its name is left, in a text."""

    class Odd:
        @classmethod
        def __get_pydantic_core_schema__(cls, *_: object) -> core_schema.CoreSchema:
            return core_schema.literal_schema([Unlucky()])

    class Unlucky:
        def __repr__(self) -> str:
            os.kill(os.getpid(), number)
            return "unlucky"

    def built() -> type[BaseModel]:
        return create_model("Record", odd=(Odd, ...))

    with pytest.raises(SchemaError, match="KeyboardInterrupt"):
        built()
    assert ended(built) == (130, "interrupted: finished trials are kept\n")


def test_without_a_signal__it_is_ours() -> None:
    def broken() -> None:
        raise ValueError("ours")

    code, said = ended(broken)
    assert (code, said.startswith("internal error: ValueError.")) == (3, True)


def test_a_users_mistake_stays_one() -> None:
    """It was found, whatever came later."""
    from evalward.records.problem import wrong

    def mistaken() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt:
            raise wrong("evalward.yml", "there is no such file") from None

    code, said = ended(mistaken)
    assert (code, said) == (2, "error: evalward.yml: there is no such file.\n")


def test_what_a_shell_starts_in_the_background__goes_on() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupts.heed()
    os.kill(os.getpid(), signal.SIGINT)
    assert not interrupts.seen()


def test_an_interruption_that_python_passes_over__is_no_pass() -> None:
    class Fading:
        def __del__(self) -> None:
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)

    assert ended(Fading) == (130, "interrupted: finished trials are kept\n")


def test_a_runner_that_is_signalled_between_two_jobs__does_not_begin_the_next() -> None:
    """It may have been ordered already."""
    with served(signal.SIGTERM) as (line, process):
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: "ShdPnd:\t0000000000000000" in Path(f"/proc/{process.pid}/status").read_text())
        assert failure(line, "broken", signal.SIGTERM) is InterruptedRunError


@pytest.mark.parametrize("number", SIGNALS)
def test_the_runner_says_that_it_was_interrupted(number: signal.Signals) -> None:
    with served(number) as (line, _):
        assert [failure(line, name, number) for name in ("broken", "interrupted")] == [
            OtherSideError,
            InterruptedRunError,
        ]


def failure(line: CallingPeer, job: str, number: signal.Signals) -> type[Exception]:
    """As what a job fails that is told the number of a signal."""
    with pytest.raises(CallFailedError) as failed:
        line.call(job, str(int(number)).encode())
    return type(error_of(failed.value.data))


@contextmanager
def served(number: signal.Signals) -> Iterator[tuple[CallingPeer, subprocess.Popen[bytes]]]:
    """A runner that has done a job, and waits."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        words = [sys.executable, "-I", "-c", RUNNER, str(theirs.fileno()), SOURCE]
        process = subprocess.Popen(words, pass_fds=[theirs.fileno()])
        theirs.close()
        line = CallingPeer(ours)
        try:
            assert failure(line, "broken", number) is OtherSideError
            yield line, process
        finally:
            line.close()
            process.wait()


@pytest.mark.parametrize("error", [RuntimeError("ours"), wrong("cases.jsonl", "there is no such file")])
def test_what_breaks_because_the_folder_is_gone__is_told_as_that(tmp_path: Path, error: Exception) -> None:
    err, folder = StringIO(), tmp_path / "work"
    folder.mkdir()
    world = World(out=StringIO(), err=err, now=lambda: "2026-11-25T08:00:00Z", env={}, cwd=folder)

    def command(_: World) -> int:
        folder.rmdir()
        raise error

    assert guarded(world, command) == 3
    assert err.getvalue().startswith(f"error: the folder that this was called in is gone: {folder}. Run it again ")
