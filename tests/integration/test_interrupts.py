"""A signal that a library makes an error of its own of ends us as any other: interrupted, and no fault of ours."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO

import pytest
from pydantic import BaseModel, create_model
from pydantic_core import SchemaError, core_schema

from evalward import interrupts
from evalward.cli import guarded
from evalward.commands.world import World
from evalward.edge import SOURCE
from evalward.wire.errors import InterruptedRunError, OtherSideError
from evalward.wire.faults import error_of
from evalward.wire.peer import CallFailedError, CallingPeer

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
def heeded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What `main` does at its beginning."""
    monkeypatch.setattr(interrupts, "_seen", False)
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


@pytest.mark.parametrize("number", SIGNALS)
def test_the_runner_says_that_it_was_interrupted(number: signal.Signals) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        words = [sys.executable, "-I", "-c", RUNNER, str(theirs.fileno()), SOURCE]
        process = subprocess.Popen(words, pass_fds=[theirs.fileno()])
        theirs.close()
        line = CallingPeer(ours)
        failures = []
        for name in ("broken", "interrupted"):
            with pytest.raises(CallFailedError) as failed:
                line.call(name, str(int(number)).encode())
            failures.append(type(error_of(failed.value.data)))
        line.close()
        process.wait()
    assert failures == [OtherSideError, InterruptedRunError]
